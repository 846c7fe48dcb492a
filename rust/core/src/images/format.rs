//! What an image is, by its own first bytes: the declared media type is often wrong.

/// A format that is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageFormat {
    /// As in `Content-Type`.
    pub media_type: &'static str,
    /// Without a dot.
    pub extension: &'static str,
}

const fn format(media_type: &'static str, extension: &'static str) -> ImageFormat {
    ImageFormat { media_type, extension }
}

const PNG: ImageFormat = format("image/png", "png");
const JPEG: ImageFormat = format("image/jpeg", "jpg");
const GIF: ImageFormat = format("image/gif", "gif");
const WEBP: ImageFormat = format("image/webp", "webp");
const BMP: ImageFormat = format("image/bmp", "bmp");
const AVIF: ImageFormat = format("image/avif", "avif");
const HEIC: ImageFormat = format("image/heic", "heic");

impl ImageFormat {
    /// Every extension that [`ImageFormat::of`] gives.
    pub const EXTENSIONS: [&'static str; 7] = ["png", "jpg", "gif", "webp", "bmp", "avif", "heic"];

    /// The format of the image that `bytes` hold; `None` when they hold none that is known.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            // The header chunk must come first (PNG specification, 5.6).
            return (bytes.get(12..16) == Some(b"IHDR")).then_some(PNG);
        }
        if bytes.starts_with(b"\xFF\xD8\xFF") {
            return Some(JPEG);
        }
        if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
            return Some(GIF);
        }
        if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            return Some(WEBP);
        }
        // Two letters prove little: the four reserved bytes must be zero and the pixel data lie behind the headers.
        if bytes.starts_with(b"BM") && bytes.len() > 26 && bytes[6..10] == [0; 4] && bytes[10] >= 26 {
            return Some(BMP);
        }
        match (bytes.get(4..8), bytes.get(8..12)) {
            (Some(b"ftyp"), Some(b"avif" | b"avis")) => Some(AVIF),
            (Some(b"ftyp"), Some(b"heic" | b"heix" | b"hevc" | b"heim" | b"heis" | b"mif1" | b"msf1")) => Some(HEIC),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_signature() {
        let cases: [(&[u8], Option<&str>); 11] = [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", Some("png")),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIDAT\0\0", None),
            (b"\xFF\xD8\xFF\xE0rest", Some("jpg")),
            (b"GIF89a....", Some("gif")),
            (b"GIF88a....", None),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("webp")),
            (b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01", Some("bmp")),
            (b"BMore text that is no bitmap at all", None),
            (b"\0\0\0\x1cftypavif\0\0\0\0", Some("avif")),
            (b"\0\0\0\x18ftypheic\0\0\0\0", Some("heic")),
            (b"%PDF-1.7", None),
        ];
        for (bytes, extension) in cases {
            assert_eq!(ImageFormat::of(bytes).map(|format| format.extension), extension, "{}", bytes.escape_ascii());
        }
    }
}
