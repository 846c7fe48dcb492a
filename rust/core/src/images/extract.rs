//! Images out of a transcript, byte for byte, in one pass and in memory bounded by the longest image.
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

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::sync::Arc;

use base64_simd::{AsOut, STANDARD};
use memchr::memmem::Finder;

use super::placeholder::{ESCAPE, PREFIX, asset_name, placeholder_of};
use super::recent::Recent;
use super::runs::{
    BEHIND_ESCAPE, LOOK_BACK, LeftInline, Run, SHORTEST_RUN, can_begin, decode_image, end_of_letters, escaped_early,
    goes_on_escaped, looks_like_image, most_characters, next_run,
};
use super::window::{CHUNK, HELD_BACK, Window, in_windows};

/// An image that was lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset<'a> {
    /// `img-<sha256 of the bytes>.<extension>`.
    pub name: &'a str,
    /// By the bytes' own signature.
    pub media_type: &'static str,
    /// The image.
    pub data: &'a [u8],
}

/// Is given the images that are lifted.
pub type Keep<'k> = &'k mut dyn FnMut(Asset<'_>) -> io::Result<()>;

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

/// Writes `input` to `output` with its images swapped for placeholders; `keep` gets each at least once, and not again
/// where it is repeated soon after. Images of more than `cap` bytes stay.
///
/// # Errors
/// When reading, writing or keeping fails.
pub fn extract(input: &mut dyn Read, output: &mut dyn Write, cap: usize, keep: Keep<'_>) -> io::Result<Extracted> {
    extract_by(CHUNK, input, output, cap, keep)
}

pub(super) fn extract_by(
    chunk: usize,
    input: &mut dyn Read,
    output: &mut dyn Write,
    cap: usize,
    keep: Keep<'_>,
) -> io::Result<Extracted> {
    let mut extractor =
        Extractor { judge: Judge::new(cap), keep, prefix: Finder::new(PREFIX), in_long_run: false, escapes: 0 };
    let (before, after) =
        in_windows(chunk, input, output, LOOK_BACK, &mut |window, out| extractor.window(window, out))?;
    Ok(Extracted { bytes_before: before, bytes_after: after, ..extractor.judge.found })
}

/// What an image is called.
struct Named {
    name: String,
    media_type: &'static str,
    length: usize,
}

/// Tells which runs are images, and counts.
struct Judge {
    cap: usize,
    recent: Recent<Arc<Named>>,
    /// Those of the image that was decoded last.
    bytes: Vec<u8>,
    found: Extracted,
}

impl Judge {
    fn new(cap: usize) -> Self {
        Self { cap, recent: Recent::default(), bytes: Vec::new(), found: Extracted::default() }
    }

    /// The image that `run` of `window` is, if it is one, and whether it was decoded just now. `whole`: the window is
    /// all of the input, and stays.
    fn image(&mut self, window: &[u8], run: Run, whole: bool) -> Option<(Arc<Named>, bool)> {
        if run.end - run.start < SHORTEST_RUN || !can_begin(window, run.start) {
            return None;
        }
        let characters = &window[run.start..run.end];
        if goes_on_escaped(window, run) {
            self.leave(if !looks_like_image(characters) {
                LeftInline::NotAnImage
            } else if characters.len() > most_characters(self.cap) {
                LeftInline::TooLarge
            } else {
                LeftInline::NotCanonical
            });
            return None;
        }
        let known = self.recent.get(window, characters).cloned();
        let decoded = known.is_none();
        let named = match known {
            Some(named) => named,
            None => match decode_image(characters, self.cap, &mut self.bytes) {
                Ok(format) => {
                    let name = asset_name(&self.bytes, format);
                    let named = Arc::new(Named { name, media_type: format.media_type, length: self.bytes.len() });
                    if whole {
                        self.recent.remember_place(window, run.start..run.end, Arc::clone(&named));
                    } else {
                        self.recent.remember_copy(characters, Arc::clone(&named));
                    }
                    named
                }
                Err(reason) => {
                    self.leave(reason);
                    return None;
                }
            },
        };
        self.found.images += 1;
        self.found.characters += characters.len() as u64;
        *self.found.media_types.entry(named.media_type).or_default() += 1;
        Some((named, decoded))
    }

    fn leave(&mut self, reason: LeftInline) {
        *self.found.left_inline.entry(reason).or_default() += 1;
    }
}

struct Extractor<'e> {
    judge: Judge,
    keep: Keep<'e>,
    prefix: Finder<'static>,
    /// Whether the window before ended in a run that is past the cap.
    in_long_run: bool,
    /// Up to where in the input escaped slashes were judged.
    escapes: u64,
}

impl Extractor<'_> {
    fn window(&mut self, window: &Window<'_>, out: &mut dyn Write) -> io::Result<usize> {
        let bytes = window.bytes;
        let whole = window.last && window.offset == 0;
        let (mut written, mut from) = (window.from, window.from);
        if self.in_long_run {
            from = end_of_letters(bytes, from);
            self.in_long_run = from == bytes.len() && !window.last;
        }
        self.escaped_slashes(window);
        let end = loop {
            // `from` is behind every run that was judged: none is judged twice.
            let Some(run) = next_run(bytes, from, window.offset) else { break self.safe_end(window, written, from) };
            // Behind a run at the end may follow what makes another of it.
            if (run.open || run.end + 1 == bytes.len()) && !window.last {
                if run.end - run.start <= most_characters(self.judge.cap) {
                    break run.start.min(self.safe_end(window, written, from));
                }
                self.in_long_run = true;
                if can_begin(bytes, run.start) {
                    let is_image = looks_like_image(&bytes[run.start..run.end]);
                    self.judge.leave(if is_image { LeftInline::TooLarge } else { LeftInline::NotAnImage });
                }
                break self.safe_end(window, written, bytes.len());
            }
            from = run.end;
            if let Some((named, decoded)) = self.judge.image(bytes, run, whole) {
                self.text(&bytes[written..run.start], out)?;
                placeholder_of(&named.name).into_iter().try_for_each(|part| out.write_all(part))?;
                written = run.end;
                if decoded {
                    let data = &self.judge.bytes;
                    (self.keep)(Asset { name: &named.name, media_type: named.media_type, data })?;
                }
            }
        };
        self.text(&bytes[written..end], out)?;
        Ok(end)
    }

    /// Counts the base64 that escaped slashes keep from being long runs.
    fn escaped_slashes(&mut self, window: &Window<'_>) {
        let behind = if window.last { 0 } else { BEHIND_ESCAPE };
        let places = (self.escapes - window.offset) as usize..window.bytes.len().saturating_sub(behind);
        if !places.is_empty() {
            escaped_early(window.bytes, places.clone()).for_each(|reason| self.judge.leave(reason));
            self.escapes = window.offset + places.end as u64;
        }
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

/// A transcript in memory with its images found: how long it is without them is known before it is written.
pub struct Lifted<'t> {
    parts: Vec<Part<'t>>,
    images: Vec<Lift<'t>>,
    length: usize,
    changed: bool,
}

enum Part<'t> {
    Text(&'t [u8]),
    Escape,
    /// By its place among the images.
    Image(usize),
}

struct Lift<'t> {
    named: Arc<Named>,
    characters: &'t [u8],
}

/// Finds the images of `transcript`, each once; those of more than `cap` bytes stay.
#[must_use]
pub fn lift(transcript: &[u8], cap: usize) -> Lifted<'_> {
    let (mut judge, prefix) = (Judge::new(cap), Finder::new(PREFIX));
    let mut lifted = Lifted { parts: Vec::new(), images: Vec::new(), length: 0, changed: false };
    let mut places: HashMap<String, usize> = HashMap::new();
    let (mut written, mut from) = (0, 0);
    while let Some(run) = next_run(transcript, from, 0) {
        from = run.end;
        let Some((named, _)) = judge.image(transcript, run, true) else { continue };
        lifted.text(&transcript[written..run.start], &prefix);
        written = run.end;
        let place = if let Some(&place) = places.get(&named.name) {
            place
        } else {
            places.insert(named.name.clone(), lifted.images.len());
            lifted.images.push(Lift { named, characters: &transcript[run.start..run.end] });
            lifted.images.len() - 1
        };
        lifted.part(Part::Image(place));
    }
    lifted.text(&transcript[written..], &prefix);
    lifted
}

impl<'t> Lifted<'t> {
    fn part(&mut self, part: Part<'t>) {
        self.changed |= !matches!(part, Part::Text(_));
        self.length += self.bytes(&part).iter().map(|bytes| bytes.len()).sum::<usize>();
        self.parts.push(part);
    }

    fn text(&mut self, text: &'t [u8], prefix: &Finder<'_>) {
        let mut rest = text;
        while let Some(found) = prefix.find(rest) {
            let (before, behind) = rest.split_at(found + PREFIX.len());
            self.part(Part::Text(before));
            self.part(Part::Escape);
            rest = behind;
        }
        self.part(Part::Text(rest));
    }

    fn bytes<'p>(&'p self, part: &Part<'p>) -> [&'p [u8]; 4] {
        match part {
            Part::Text(text) => [text, b"", b"", b""],
            Part::Escape => [&[ESCAPE], b"", b"", b""],
            Part::Image(place) => placeholder_of(&self.images[*place].named.name),
        }
    }

    /// Whether anything differs from the transcript.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// How long the transcript is without its images.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Writes the transcript without its images to `out`, as far as there is room: [`Self::length`] is enough.
    pub fn write_to(&self, mut out: &mut [u8]) {
        for part in &self.parts {
            for bytes in self.bytes(part) {
                // A slice takes what it has room for, and never fails.
                let _ = out.write(bytes);
            }
        }
    }

    /// The images, in the order of their first appearance: name, media type and number of bytes.
    pub fn images(&self) -> impl Iterator<Item = (&str, &'static str, usize)> {
        self.images.iter().map(|Lift { named, .. }| (named.name.as_str(), named.media_type, named.length))
    }

    /// Writes the bytes of an image to `out`, which has room for just them. Gives whether it has.
    #[must_use]
    pub fn write_image(&self, place: usize, out: &mut [u8]) -> bool {
        let Some(Lift { named, characters }) = self.images.get(place) else { return false };
        out.len() == named.length && STANDARD.decode(characters, out.as_out()).is_ok()
    }
}
