//! Images out of a transcript and back, byte for byte, in one pass and in memory bounded by the longest image.
//!
//! ```text
//! extract   an image's base64           -> retell-asset:assets/img-<sha256>.<extension>;
//!           `retell-asset:` in the text -> `retell-asset:~`
//! restore   a whole placeholder         -> the asset's bytes, in base64
//!           `retell-asset:~`            -> `retell-asset:`
//! ```
//! For every input, restore(extract(x)) == x: whatever looks like a placeholder in x is escaped, so all that are in
//! the result are extract's own; each ends with its `;`, so what follows is never taken for part of it; and only
//! base64 that encodes back to the same characters is swapped. Nothing is said about JSON, and none is parsed.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read, Write};

use base64_simd::STANDARD;
use memchr::memmem::Finder;
use sha2::{Digest, Sha256};

use super::format::ImageFormat;
use super::runs::{
    LOOK_BACK, LeftInline, Run, SHORTEST_RUN, can_begin, end_of_letters, image_of, looks_like_image, most_characters,
    next_run,
};

/// What every placeholder begins with.
const PREFIX: &[u8] = b"retell-asset:";
/// What another tool's placeholders begin with; they have no terminator.
const ENTIRE_PREFIX: &[u8] = b"entire-asset:";
/// What stands behind [`PREFIX`] where the text held it before.
const ESCAPE: u8 = b'~';
/// What stands behind the prefix in a placeholder.
const FOLDER: &[u8] = b"assets/";
/// What every asset's name begins with.
const NAME: &[u8] = b"img-";

/// Hexadecimal digits of a whole hash, and the fewest that other tools write.
const HASH_DIGITS: usize = 64;
const FEWEST_DIGITS: usize = 8;

/// How much is read at a time.
const CHUNK: usize = 1 << 20;

/// What is held back at a window's end, unless it is the input's: longer than anything that could be cut there and
/// is not a run.
const HELD_BACK: usize = 256;

/// An image that was lifted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// `img-<sha256 of the bytes>.<extension>`.
    pub name: String,
    /// By the bytes' own signature.
    pub media_type: &'static str,
    /// The image.
    pub data: Vec<u8>,
}

/// How placeholders are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlaceholderForm {
    /// This project's.
    #[default]
    Retell,
    /// Those of the tool `entire`, which can be read and are never written.
    Entire,
}

/// What extracting found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Images lifted, each occurrence counted.
    pub images: u64,
    /// Characters of base64 that they took.
    pub characters: u64,
    /// Images by media type.
    pub media_types: BTreeMap<&'static str, u64>,
    /// Runs that stand where an image can and were left, by reason.
    pub left_inline: BTreeMap<LeftInline, u64>,
    /// Bytes read.
    pub bytes_before: u64,
    /// Bytes written.
    pub bytes_after: u64,
}

/// What restoring found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Placeholders filled.
    pub images: u64,
    /// Names of placeholders that were left, in order, each once.
    pub missing: Vec<String>,
    /// Bytes read.
    pub bytes_before: u64,
    /// Bytes written.
    pub bytes_after: u64,
}

/// The name of an image: the same picture has the same name everywhere.
#[must_use]
pub fn asset_name(data: &[u8], format: ImageFormat) -> String {
    let mut name = String::with_capacity(NAME.len() + HASH_DIGITS + 5);
    name.push_str("img-");
    for byte in Sha256::digest(data) {
        for digit in [byte >> 4, byte & 15] {
            name.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    name.push('.');
    name.push_str(format.extension);
    name
}

/// Whether `data` is what `name` says: its hash begins with the digits in the name.
#[must_use]
pub fn matches_name(data: &[u8], name: &str) -> bool {
    let digits = name.strip_prefix("img-").and_then(|rest| rest.split('.').next()).unwrap_or_default();
    let format = ImageFormat { media_type: "", extension: "" };
    digits.len() >= FEWEST_DIGITS && asset_name(data, format)[NAME.len()..].starts_with(digits)
}

/// Writes `input` to `output` with its images swapped for placeholders; `keep` gets each, as often as it occurs.
/// Images of more than `cap` bytes stay.
///
/// # Errors
/// When reading, writing or keeping fails.
pub fn extract(
    input: &mut dyn Read,
    output: &mut dyn Write,
    cap: usize,
    keep: &mut dyn FnMut(Asset) -> io::Result<()>,
) -> io::Result<Extracted> {
    extract_by(CHUNK, input, output, cap, keep)
}

fn extract_by(
    chunk: usize,
    input: &mut dyn Read,
    output: &mut dyn Write,
    cap: usize,
    keep: &mut dyn FnMut(Asset) -> io::Result<()>,
) -> io::Result<Extracted> {
    let mut extractor =
        Extractor { cap, keep, found: Extracted::default(), prefix: Finder::new(PREFIX), in_long_run: false };
    let (before, after) =
        in_windows(chunk, input, output, LOOK_BACK, &mut |window, out| extractor.window(window, out))?;
    Ok(Extracted { bytes_before: before, bytes_after: after, ..extractor.found })
}

/// Writes `input` to `output` with its placeholders swapped for the images that `lookup` gives. One for which it
/// gives nothing stays.
///
/// # Errors
/// When reading, writing or looking up fails.
pub fn restore(
    input: &mut dyn Read,
    output: &mut dyn Write,
    form: PlaceholderForm,
    lookup: &mut dyn FnMut(&str) -> io::Result<Option<Vec<u8>>>,
) -> io::Result<Restored> {
    restore_by(CHUNK, input, output, form, lookup)
}

fn restore_by(
    chunk: usize,
    input: &mut dyn Read,
    output: &mut dyn Write,
    form: PlaceholderForm,
    lookup: &mut dyn FnMut(&str) -> io::Result<Option<Vec<u8>>>,
) -> io::Result<Restored> {
    let (mut restored, mut seen) = (Restored::default(), HashSet::new());
    let prefix = Finder::new(if form == PlaceholderForm::Retell { PREFIX } else { ENTIRE_PREFIX });
    let mut step = |window: &Window<'_>, out: &mut dyn Write| {
        restore_window(window, out, form, &prefix, &mut restored, &mut seen, lookup)
    };
    let (before, after) = in_windows(chunk, input, output, 0, &mut step)?;
    Ok(Restored { bytes_before: before, bytes_after: after, ..restored })
}

/// Whether `transcript` holds a whole placeholder of this project's.
#[must_use]
pub fn has_placeholders(transcript: &[u8]) -> bool {
    memchr::memmem::find_iter(transcript, PREFIX)
        .any(|at| placeholder(&transcript[at..], PlaceholderForm::Retell).is_some())
}

/// Part of the input.
struct Window<'w> {
    bytes: &'w [u8],
    /// Up to here it was handled before; it is there to be looked back at.
    from: usize,
    /// Of the first byte in the input.
    offset: u64,
    /// Whether the input ends with it.
    last: bool,
}

/// Goes through `input` in windows: `step` handles one from its `from` on and says up to where. Keeps `look_back`
/// bytes before that. Gives the bytes read and written.
fn in_windows(
    chunk: usize,
    input: &mut dyn Read,
    output: &mut dyn Write,
    look_back: usize,
    step: &mut dyn FnMut(&Window<'_>, &mut dyn Write) -> io::Result<usize>,
) -> io::Result<(u64, u64)> {
    let mut output = Counting { output, written: 0 };
    let mut buffer = Vec::new();
    let (mut from, mut offset, mut read) = (0, 0_u64, 0_u64);
    loop {
        let filled = buffer.len();
        // A long run makes the window grow: by doubling, so that it is looked at a bounded number of times.
        let more = chunk.max(filled - from);
        buffer.resize(filled + more, 0);
        let count = fill(input, &mut buffer[filled..])?;
        buffer.truncate(filled + count);
        read += count as u64;
        let last = count < more;
        from = step(&Window { bytes: &buffer, from, offset, last }, &mut output)?;
        if last {
            return Ok((read, output.written));
        }
        let kept = from.saturating_sub(look_back);
        buffer.drain(..kept);
        offset += kept as u64;
        from -= kept;
    }
}

fn fill(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

struct Counting<'o> {
    output: &'o mut dyn Write,
    written: u64,
}

impl Write for Counting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.output.write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

struct Extractor<'e> {
    cap: usize,
    keep: &'e mut dyn FnMut(Asset) -> io::Result<()>,
    found: Extracted,
    prefix: Finder<'static>,
    /// Whether the window before ended in a run that is past the cap.
    in_long_run: bool,
}

impl Extractor<'_> {
    fn window(&mut self, window: &Window<'_>, out: &mut dyn Write) -> io::Result<usize> {
        let bytes = window.bytes;
        let (mut written, mut from) = (window.from, window.from);
        if self.in_long_run {
            from = end_of_letters(bytes, from);
            self.in_long_run = from == bytes.len() && !window.last;
        }
        let end = loop {
            // `from` is behind every run that was judged: none is judged twice.
            let Some(run) = next_run(bytes, from, window.offset) else { break self.safe_end(window, written, from) };
            if run.open && !window.last {
                if run.end - run.start <= most_characters(self.cap) {
                    break run.start.min(self.safe_end(window, written, from));
                }
                self.in_long_run = true;
                if can_begin(bytes, run.start) {
                    let is_image = looks_like_image(&bytes[run.start..run.end]);
                    self.leave(if is_image { LeftInline::TooLarge } else { LeftInline::NotAnImage });
                }
                break self.safe_end(window, written, bytes.len());
            }
            from = run.end;
            if run.end - run.start >= SHORTEST_RUN && can_begin(bytes, run.start) {
                written = self.run(bytes, run, written, out)?;
            }
        };
        self.text(&bytes[written..end], out)?;
        Ok(end)
    }

    /// Lifts the image that `run` is, if it is one. Gives up to where everything is written.
    fn run(&mut self, bytes: &[u8], run: Run, written: usize, out: &mut dyn Write) -> io::Result<usize> {
        let characters = &bytes[run.start..run.end];
        let (data, format) = match image_of(characters, self.cap) {
            Ok(image) => image,
            Err(reason) => {
                self.leave(reason);
                return Ok(written);
            }
        };
        self.text(&bytes[written..run.start], out)?;
        let name = asset_name(&data, format);
        for part in [PREFIX, FOLDER, name.as_bytes(), b";"] {
            out.write_all(part)?;
        }
        self.found.images += 1;
        self.found.characters += characters.len() as u64;
        *self.found.media_types.entry(format.media_type).or_default() += 1;
        (self.keep)(Asset { name, media_type: format.media_type, data })?;
        Ok(run.end)
    }

    fn leave(&mut self, reason: LeftInline) {
        *self.found.left_inline.entry(reason).or_default() += 1;
    }

    /// Writes text, with whatever looks like the beginning of a placeholder escaped.
    fn text(&self, text: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let mut rest = text;
        while let Some(found) = self.prefix.find(rest) {
            let behind = found + PREFIX.len();
            out.write_all(&rest[..behind])?;
            out.write_all(&[ESCAPE])?;
            rest = &rest[behind..];
        }
        out.write_all(rest)
    }

    /// Up to where text can be written when the window is not the last: not into what may be cut at its end, if
    /// possible not before `judged`, up to where runs have been judged, and not into the middle of a prefix, which can
    /// begin with the last letters of a run.
    fn safe_end(&self, window: &Window<'_>, written: usize, judged: usize) -> usize {
        if window.last {
            return window.bytes.len();
        }
        let part = PREFIX.len() - 1;
        let end = window.bytes.len().saturating_sub(HELD_BACK).max(judged);
        let end = end.min(window.bytes.len().saturating_sub(part)).max(written);
        let near = end.saturating_sub(part).max(written);
        let around = &window.bytes[near..window.bytes.len().min(end + part)];
        self.prefix.find(around).map_or(end, |found| end.min(near + found))
    }
}

/// The placeholder that `bytes` begin with: the asset's name, and the placeholder's length.
fn placeholder(bytes: &[u8], form: PlaceholderForm) -> Option<(&str, usize)> {
    let prefix = if form == PlaceholderForm::Retell { PREFIX } else { ENTIRE_PREFIX };
    let name = bytes.strip_prefix(prefix)?.strip_prefix(FOLDER)?;
    let digits = name.strip_prefix(NAME)?;
    let count =
        digits.iter().take(HASH_DIGITS + 1).take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
    let written = digits.get(count..)?.strip_prefix(b".")?;
    let length = |extension: &str| NAME.len() + count + 1 + extension.len();
    let whole = |extension: &&&str| written.starts_with(extension.as_bytes());
    let (name_length, behind) = match form {
        PlaceholderForm::Retell => {
            let fits = |extension: &&&str| whole(extension) && name.get(length(extension)) == Some(&b';');
            (length(ImageFormat::EXTENSIONS.iter().filter(|_| count == HASH_DIGITS).find(fits)?), 1)
        }
        PlaceholderForm::Entire => {
            let known = ["jpeg"].iter().chain(&ImageFormat::EXTENSIONS);
            (length(known.filter(|_| (FEWEST_DIGITS..=HASH_DIGITS).contains(&count)).find(whole)?), 0)
        }
    };
    let text = std::str::from_utf8(&name[..name_length]).ok()?;
    Some((text, prefix.len() + FOLDER.len() + name_length + behind))
}

fn restore_window(
    window: &Window<'_>,
    out: &mut dyn Write,
    form: PlaceholderForm,
    prefix: &Finder<'_>,
    restored: &mut Restored,
    seen: &mut HashSet<String>,
    lookup: &mut dyn FnMut(&str) -> io::Result<Option<Vec<u8>>>,
) -> io::Result<usize> {
    let bytes = window.bytes;
    let mut at = window.from;
    loop {
        let end = if window.last { bytes.len() } else { bytes.len().saturating_sub(HELD_BACK).max(at) };
        let found = prefix.find(&bytes[at..]).map(|found| at + found).filter(|&found| found < end);
        let Some(found) = found else {
            out.write_all(&bytes[at..end])?;
            return Ok(end);
        };
        out.write_all(&bytes[at..found])?;
        let behind = found + PREFIX.len();
        if form == PlaceholderForm::Retell && bytes.get(behind) == Some(&ESCAPE) {
            out.write_all(PREFIX)?;
            at = behind + 1;
        } else if let Some((name, length)) = placeholder(&bytes[found..], form) {
            if let Some(data) = lookup(name)? {
                out.write_all(STANDARD.encode_to_string(&data).as_bytes())?;
                restored.images += 1;
            } else {
                out.write_all(&bytes[found..found + length])?;
                if seen.insert(name.to_owned()) {
                    restored.missing.push(name.to_owned());
                }
            }
            at = found + length;
        } else {
            out.write_all(&bytes[found..behind])?;
            at = behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    type Assets = HashMap<String, Vec<u8>>;

    fn extracted(chunk: usize, text: &[u8], cap: usize) -> (Vec<u8>, Assets, Extracted) {
        let (mut out, mut assets) = (Vec::new(), Assets::new());
        let mut keep = |asset: Asset| {
            assets.insert(asset.name, asset.data);
            Ok(())
        };
        let found = extract_by(chunk, &mut &text[..], &mut out, cap, &mut keep).expect("in memory");
        (out, assets, found)
    }

    fn restored(chunk: usize, text: &[u8], assets: &Assets, form: PlaceholderForm) -> (Vec<u8>, Restored) {
        let mut out = Vec::new();
        let mut lookup = |name: &str| Ok(assets.get(name).cloned());
        let found = restore_by(chunk, &mut &text[..], &mut out, form, &mut lookup).expect("in memory");
        (out, found)
    }

    fn image(length: usize, filling: u8) -> String {
        let mut bytes = b"GIF89a".to_vec();
        bytes.resize(length.max(96), filling);
        STANDARD.encode_to_string(bytes)
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let image = (96_usize..400, any::<u8>()).prop_map(|(length, filling)| image(length, filling));
        let lead = proptest::sample::select(vec![
            r#"{"data":""#,
            r#"":  ""#,
            "\"data:image/gif;base64,",
            ";BASE64,",
            "\\\"",
            "",
            "x",
            "[\"",
        ]);
        let trail = proptest::sample::select(vec!["\"", "\",", "==done", "", "=", "\\n", "\n", "\r\n"]);
        let planted = proptest::sample::select(vec![
            "retell-asset:",
            "retell-asset:~",
            "retell-asset",
            "asset:assets/img-",
            "~",
            ";",
            "entire-asset:assets/img-0123456789.png",
        ]);
        let name = format!("retell-asset:assets/img-{}.png;", "0a".repeat(32));
        prop_oneof![
            4 => (lead, image, trail).prop_map(|(lead, image, trail)| format!("{lead}{image}{trail}").into_bytes()),
            3 => planted.prop_map(|text| text.as_bytes().to_vec()),
            1 => Just(name.into_bytes()),
            1 => "[A-Za-z0-9+/]{0,200}".prop_map(String::into_bytes),
            1 => proptest::collection::vec(any::<u8>(), 0..40),
        ]
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(pieces(), 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn what_is_extracted_is_restored_however_it_is_read(text in texts(), chunk in 1_usize..600, cap in prop_oneof![Just(1 << 20), 90_usize..400]) {
            let (slim, assets, found) = extracted(CHUNK, &text, cap);
            let (full, back) = restored(CHUNK, &slim, &assets, PlaceholderForm::Retell);
            prop_assert_eq!(&full, &text);
            prop_assert_eq!((back.images, back.missing.len()), (found.images, 0));
            let in_pieces = extracted(chunk, &text, cap);
            prop_assert_eq!(&in_pieces.0, &slim);
            prop_assert_eq!(&in_pieces.2, &found);
            prop_assert_eq!(restored(chunk, &slim, &assets, PlaceholderForm::Retell).0, text);
        }

        #[test]
        fn twice_there_and_twice_back(text in texts()) {
            let (once, assets, _) = extracted(CHUNK, &text, 1 << 20);
            let (twice, more, _) = extracted(CHUNK, &once, 1 << 20);
            prop_assert!(more.is_empty());
            let back = restored(CHUNK, &twice, &more, PlaceholderForm::Retell).0;
            prop_assert_eq!(&back, &once);
            prop_assert_eq!(restored(CHUNK, &back, &assets, PlaceholderForm::Retell).0, text);
        }

        #[test]
        fn anything_can_be_restored(text in texts(), chunk in 1_usize..600) {
            let nothing = Assets::new();
            for form in [PlaceholderForm::Retell, PlaceholderForm::Entire] {
                prop_assert_eq!(restored(chunk, &text, &nothing, form), restored(CHUNK, &text, &nothing, form));
            }
        }
    }

    #[test]
    fn nothing_to_lift_is_left_as_it_is() {
        let text = br#"{"type":"user","message":{"content":"hello"}}"#;
        assert_eq!(extracted(CHUNK, text, 1 << 20).0, text);
        assert!(!has_placeholders(text));
    }

    #[test]
    fn an_image_stands_in_a_file_of_its_own_name() {
        let base64 = image(200, 7);
        let text = format!(r#"{{"data":"{base64}"}}"#);
        let (slim, assets, found) = extracted(CHUNK, text.as_bytes(), 1 << 20);
        let (name, data) = assets.iter().next().expect("one image");
        assert_eq!(slim, format!(r#"{{"data":"retell-asset:assets/{name};"}}"#).into_bytes());
        assert!(has_placeholders(&slim) && matches_name(data, name) && !matches_name(b"GIF89a", name));
        assert_eq!((found.images, found.characters), (1, base64.len() as u64));
        assert_eq!(found.media_types, BTreeMap::from([("image/gif", 1)]));
    }

    #[test]
    fn what_stays_is_counted_by_its_reason() {
        let image = image(200, 7);
        let not_canonical = format!("{}B==", &image[..image.len() - 3]);
        for (characters, cap, reason) in [
            (not_canonical.as_str(), 1 << 20, LeftInline::NotCanonical),
            (&image, 100, LeftInline::TooLarge),
            (&"QUJD".repeat(40), 1 << 20, LeftInline::NotAnImage),
        ] {
            let text = format!(r#"["{characters}"]"#);
            let (slim, _, found) = extracted(CHUNK, text.as_bytes(), cap);
            assert_eq!((slim, found.left_inline), (text.into_bytes(), BTreeMap::from([(reason, 1)])), "{reason:?}");
        }
    }

    #[test]
    fn placeholders_of_another_tool_are_read() {
        let data = STANDARD.decode_to_vec(image(200, 7)).expect("base64");
        let assets = Assets::from([("img-0123456789ab.gif".to_owned(), data.clone())]);
        let text = br#"["entire-asset:assets/img-0123456789ab.gif","retell-asset:~"]"#;
        let (full, found) = restored(CHUNK, text, &assets, PlaceholderForm::Entire);
        assert_eq!(found.images, 1);
        assert_eq!(full, format!(r#"["{}","retell-asset:~"]"#, STANDARD.encode_to_string(data)).into_bytes());
    }
}
