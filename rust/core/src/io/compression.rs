//! Compressed input: what it is told by, how it is read, and the names that compressed files have.
//!
//! The first bytes tell, never a name: a pipe has none, and a file may be called anything.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use crate::error::DamagedData;

/// What compressed files' names end in, behind the ending of the plain file.
pub const ENDINGS: [&str; 2] = [".zst", ".gz"];

/// How many bytes it takes to tell at the most.
pub const MAGIC_LENGTH: usize = 4;

/// How the bytes of an input are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Zstandard frames (RFC 8878).
    Zstd,
    /// Members of gzip (RFC 1952).
    Gzip,
}

impl Compression {
    /// What `first`, the first bytes of an input, tells; `None` for plain bytes.
    #[must_use]
    pub fn of(first: &[u8]) -> Option<Self> {
        match *first {
            // A frame, or one to be skipped: tools put those first for their own purposes (RFC 8878, 3.1.2).
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstd),
            // Deflate is the only method there is.
            [0x1F, 0x8B, 0x08, ..] => Some(Self::Gzip),
            _ => None,
        }
    }

    /// Whether more bytes than `first` could tell more.
    #[must_use]
    pub fn may_follow(first: &[u8]) -> bool {
        let begins = |magic: [u8; MAGIC_LENGTH]| {
            let differs = |(one, other): (&u8, &u8)| one != other;
            first.len() < MAGIC_LENGTH && !first.iter().zip(&magic).any(differs)
        };
        let skippable = |kind: u8| begins([kind, 0x2A, 0x4D, 0x18]);
        Self::of(first).is_none()
            && (begins([0x28, 0xB5, 0x2F, 0xFD]) || begins([0x1F, 0x8B, 0x08, 0]) || (0x50..=0x5F).any(skippable))
    }

    /// As the program is called that does it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
        }
    }

    /// The plain bytes of `compressed`. Memory is bounded by the window of the format, 128 MiB at the most.
    ///
    /// # Errors
    /// When the decompressor cannot be set up.
    pub fn reader(self, compressed: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        let source = Source(compressed);
        let plain: Box<dyn Read + Send> = match self {
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(source)?),
            Self::Gzip => Box::new(Members { state: State::Between(BufReader::new(source)), any: false }),
        };
        Ok(Box::new(Plain { compression: self, plain }))
    }
}

/// Marks an error as the source's own, so that it can be told from what the decompressor says.
#[derive(Debug)]
struct OfTheSource(io::Error);

impl std::fmt::Display for OfTheSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for OfTheSource {}

struct Source<R>(R);

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(|error| io::Error::other(OfTheSource(error))),
            }
        }
    }
}

/// Plain bytes, with the errors of who reads them told apart.
struct Plain {
    compression: Compression,
    plain: Box<dyn Read + Send>,
}

impl Read for Plain {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.plain.read(buffer).map_err(|error| {
            if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<OfTheSource>) {
                let inner = error.into_inner().and_then(|inner| inner.downcast::<OfTheSource>().ok());
                return inner.map_or_else(|| io::ErrorKind::Other.into(), |source| source.0);
            }
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => "it is cut off".to_owned(),
                _ => error.to_string().to_lowercase(),
            };
            io::Error::new(io::ErrorKind::InvalidData, DamagedData { format: self.compression.name(), what })
        })
    }
}

/// The members of a gzip file, one after the other: logs that were compressed piece by piece are such files.
struct Members<R> {
    state: State<R>,
    /// Whether there was one already.
    any: bool,
}

enum State<R> {
    Between(BufReader<R>),
    Within(Box<GzDecoder<BufReader<R>>>),
    Behind,
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::Behind) {
                State::Behind => return Ok(0),
                State::Between(mut rest) => {
                    // Zeros fill up the last block of a tape; gzip itself passes over them.
                    if self.any && !skip_zeros(&mut rest)? {
                        return Ok(0);
                    }
                    self.any = true;
                    self.state = State::Within(Box::new(GzDecoder::new(rest)));
                }
                State::Within(mut member) => {
                    let count = member.read(buffer)?;
                    if count > 0 {
                        self.state = State::Within(member);
                        return Ok(count);
                    }
                    self.state = State::Between(member.into_inner());
                }
            }
        }
    }
}

/// Goes on to the first byte that is no zero; whether there is one.
fn skip_zeros(rest: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = rest.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let is_all = zeros == bytes.len();
        rest.consume(zeros);
        if !is_all {
            return Ok(true);
        }
    }
}

/// A reader whose first bytes were looked at.
pub struct Begun {
    /// What was read already; nothing when it is compressed.
    pub first: Vec<u8>,
    pub rest: Box<dyn Read + Send>,
    pub compressed: bool,
}

impl Begun {
    /// Reads up to `room` bytes with `read`, which gives none at the end.
    pub fn of(
        mut reader: Box<dyn Read + Send>,
        mut read: impl FnMut(&mut dyn Read) -> io::Result<Vec<u8>>,
    ) -> io::Result<Self> {
        let mut first = read(&mut reader)?;
        // A pipe may give less than it takes to tell.
        while !first.is_empty() && Compression::may_follow(&first) {
            let more = read(&mut reader)?;
            if more.is_empty() {
                break;
            }
            first.extend_from_slice(&more);
        }
        match Compression::of(&first) {
            None => Ok(Self { first, rest: reader, compressed: false }),
            Some(compression) => {
                let whole = Cursor::new(first).chain(reader);
                Ok(Self { first: Vec::new(), rest: compression.reader(whole)?, compressed: true })
            }
        }
    }
}

/// The name of the plain file: `x.jsonl` for `x.jsonl.gz`, and for `x.jsonl`.
#[must_use]
pub fn plain_name(name: &str) -> &str {
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Whether the name of the file at `path` is that of a compressed one.
#[must_use]
pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ENDINGS.iter().any(|ending| extension == &ending[1..]))
}

/// The path that a file has when it is not compressed.
#[must_use]
pub fn plain_path(path: &Path) -> PathBuf {
    if is_compressed(path) { path.with_extension("") } else { path.to_owned() }
}

/// The paths of a transcript's other forms: `x.jsonl.zst` and `x.jsonl.gz` of `x.jsonl`, and the other way round.
pub fn other_forms(path: &Path) -> Vec<PathBuf> {
    let plain = plain_path(path);
    if !plain.extension().is_some_and(|extension| extension == "jsonl" || extension == "json") {
        return Vec::new();
    }
    let compressed = ENDINGS.iter().map(|ending| {
        let mut name = plain.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    });
    std::iter::once(plain.clone()).chain(compressed).filter(|form| form != path).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(compressed: &[u8]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        let reader = Box::new(Cursor::new(compressed.to_vec()));
        let begun = Begun::of(reader, |reader| {
            // A pipe that gives a byte at a time.
            let mut byte = [0];
            let count = reader.read(&mut byte)?;
            Ok(byte[..count].to_vec())
        })?;
        plain.extend_from_slice(&begun.first);
        let mut rest = begun.rest;
        rest.read_to_end(&mut plain)?;
        Ok(plain)
    }

    #[test]
    fn every_form_gives_the_same_bytes() {
        let content = b"{\"type\":\"user\"}\n".repeat(10_000);
        let (zstd, gzip) = (zstd::encode_all(&content[..], 3).unwrap(), gzip(&content));
        let skippable = |kind: u8| [&[kind, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd].concat();
        let twice = content.repeat(2);
        assert_eq!(read(&content).unwrap(), content);
        assert_eq!(read(&zstd).unwrap(), content);
        assert_eq!(read(&gzip).unwrap(), content);
        assert_eq!(read(&skippable(0x50)).unwrap(), content);
        assert_eq!(read(&[skippable(0x5F), skippable(0x5A)].concat()).unwrap(), twice);
        assert_eq!(read(&[gzip.clone(), gzip.clone()].concat()).unwrap(), twice);
        assert_eq!(read(&[&gzip[..], &[0; 700], &gzip].concat()).unwrap(), twice);
        assert_eq!(read(&[&gzip[..], &[0; 700]].concat()).unwrap(), content);
    }

    #[test]
    fn what_only_begins_like_a_compressed_form_is_plain() {
        for plain in [&b""[..], b"(", b"\x28\xB5", b"\x1F\x8B", b"\x1F\x8B\x07\x00", b"P*M", b"PK\x03\x04", b"P*M!x"] {
            assert_eq!(read(plain).unwrap(), plain);
        }
    }

    #[test]
    fn damage_is_told_wherever_it_is() {
        let content: Vec<u8> = (0..3_000_u32).flat_map(u32::to_le_bytes).collect();
        for (format, whole) in [("zstd", zstd::encode_all(&content[..], 3).unwrap()), ("gzip", gzip(&content))] {
            for cut in 4..whole.len() {
                let error = read(&whole[..cut]).err().map(|error| error.to_string());
                assert_eq!(error, Some(format!("damaged {format} data: it is cut off")), "{cut}");
            }
        }
        // The checksum of zstd is optional, that of gzip is not.
        let mut broken = gzip(&content);
        let middle = broken.len() / 2;
        broken[middle] ^= 0x55;
        assert!(read(&broken).is_err_and(|error| error.to_string().starts_with("damaged gzip data: ")));
        let behind = [&gzip(&content)[..], b"more"].concat();
        assert!(read(&behind).unwrap_err().to_string().starts_with("damaged gzip data: "));
    }

    #[test]
    fn an_error_of_the_source_comes_out_as_it_is() {
        struct Torn(Cursor<Vec<u8>>);
        impl Read for Torn {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                match self.0.read(buffer)? {
                    0 => Err(io::Error::from_raw_os_error(5)),
                    count => Ok(count),
                }
            }
        }
        let content = b"x".repeat(10_000);
        for whole in [zstd::encode_all(&content[..], 3).unwrap(), gzip(&content)] {
            let compression = Compression::of(&whole).unwrap();
            let torn = Torn(Cursor::new(whole[..whole.len() / 2].to_vec()));
            let error = compression.reader(torn).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(5));
        }
    }

    #[test]
    fn only_transcripts_have_other_forms() {
        for (path, others) in [
            ("a/x.jsonl", &["a/x.jsonl.zst", "a/x.jsonl.gz"][..]),
            ("x.json", &["x.json.zst", "x.json.gz"]),
            ("x.jsonl.zst", &["x.jsonl", "x.jsonl.gz"]),
            ("x.jsonl.gz", &["x.jsonl", "x.jsonl.zst"]),
            ("x.zst", &[]),
            ("x.txt", &[]),
            ("x.txt.gz", &[]),
        ] {
            assert_eq!(other_forms(Path::new(path)), others.iter().map(PathBuf::from).collect::<Vec<_>>(), "{path}");
        }
    }
}
