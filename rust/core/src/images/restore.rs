//! Images back into a transcript. What was extracted is given back byte for byte; see [`super::extract`].

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};

use base64_simd::{AsOut, STANDARD};
use memchr::memmem::Finder;

use super::placeholder::{ESCAPE, PREFIX, PlaceholderForm, placeholder};
use super::window::{CHUNK, HELD_BACK, Window, in_windows};
use crate::warning::{Warning, WarningKind};

/// How many bytes of an image are encoded at a time, without an end in between: a multiple of three.
const PIECE: usize = 48 << 10;

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

impl Restored {
    /// What the program that asked for it is warned of.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        let names = self.missing.join(", ");
        let message = match self.missing.len() {
            0 => return None,
            1 => format!("1 asset is missing, its placeholders stay: {names}"),
            count => format!("{count} assets are missing, their placeholders stay: {names}"),
        };
        Some(Warning { kind: WarningKind::MissingAsset, message })
    }
}

/// Gives the image of that name, or nothing.
pub type Lookup<'l, B> = &'l mut dyn FnMut(&str) -> io::Result<Option<B>>;

/// Writes `input` to `output` with its placeholders swapped for the images that `lookup` gives. One for which it
/// gives nothing stays.
///
/// # Errors
/// When reading, writing or looking up fails.
pub fn restore<B: AsRef<[u8]>>(
    input: &mut dyn Read,
    output: &mut dyn Write,
    form: PlaceholderForm,
    lookup: Lookup<'_, B>,
) -> io::Result<Restored> {
    restore_by(CHUNK, input, output, form, lookup)
}

pub(super) fn restore_by<B: AsRef<[u8]>>(
    chunk: usize,
    input: &mut dyn Read,
    output: &mut dyn Write,
    form: PlaceholderForm,
    lookup: Lookup<'_, B>,
) -> io::Result<Restored> {
    let (mut restored, mut seen) = (Restored::default(), HashSet::new());
    let prefix = Finder::new(form.prefix());
    let mut encoded = Vec::new();
    let mut step = |window: &Window<'_>, out: &mut dyn Write| {
        let mut at = window.from;
        loop {
            let (part, behind) = next_part(window, at, form, &prefix);
            at = behind;
            match part {
                Part::End(text) => {
                    out.write_all(text)?;
                    return Ok(at);
                }
                Part::Text(text) => out.write_all(text)?,
                Part::Placeholder { name, text } => {
                    if let Some(data) = lookup(name)? {
                        restored.images += 1;
                        encode_to(data.as_ref(), &mut encoded, out)?;
                    } else {
                        out.write_all(text)?;
                        if seen.insert(name.to_owned()) {
                            restored.missing.push(name.to_owned());
                        }
                    }
                }
            }
        }
    };
    let (before, after) = in_windows(chunk, input, output, 0, &mut step)?;
    Ok(Restored { bytes_before: before, bytes_after: after, ..restored })
}

/// In pieces that stay in the cache until they are written.
fn encode_to(data: &[u8], encoded: &mut Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    data.chunks(PIECE).try_for_each(|piece| {
        encoded.clear();
        STANDARD.encode_append(piece, encoded);
        out.write_all(encoded)
    })
}

/// What comes next in a transcript that is restored.
enum Part<'w> {
    /// Text as it is to be written.
    Text(&'w [u8]),
    /// The same, and nothing behind it can be told yet.
    End(&'w [u8]),
    Placeholder {
        name: &'w str,
        text: &'w [u8],
    },
}

/// What is at `at` of the window, and where it ends. Text ends where a placeholder may begin.
fn next_part<'w>(window: &Window<'w>, at: usize, form: PlaceholderForm, prefix: &Finder<'_>) -> (Part<'w>, usize) {
    let bytes = window.bytes;
    let end = if window.last { bytes.len() } else { bytes.len().saturating_sub(HELD_BACK).max(at) };
    let found = prefix.find(&bytes[at..]).map(|found| at + found).filter(|&found| found < end);
    let Some(found) = found else { return (Part::End(&bytes[at..end]), end) };
    if let Some((name, length)) = placeholder(&bytes[found..], form) {
        if at < found {
            return (Part::Text(&bytes[at..found]), found);
        }
        return (Part::Placeholder { name, text: &bytes[found..found + length] }, found + length);
    }
    let behind = found + PREFIX.len();
    let escaped = form == PlaceholderForm::Retell && bytes.get(behind) == Some(&ESCAPE);
    (Part::Text(&bytes[at..behind]), behind + usize::from(escaped))
}

/// A transcript in memory with its images looked up: how long it is with them is known before it is written.
pub struct Refilled<'t, B> {
    parts: Vec<Filled<'t>>,
    images: Vec<B>,
    length: usize,
    restored: Restored,
}

enum Filled<'t> {
    Text(&'t [u8]),
    /// By its place among the images.
    Image(usize),
}

/// Looks up the images whose placeholders are in `transcript`, each once.
///
/// # Errors
/// What `lookup` fails with.
pub fn refill<'t, B: AsRef<[u8]>>(
    transcript: &'t [u8],
    form: PlaceholderForm,
    lookup: Lookup<'_, B>,
) -> io::Result<Refilled<'t, B>> {
    let window = Window { bytes: transcript, from: 0, offset: 0, last: true };
    let prefix = Finder::new(form.prefix());
    let mut places: HashMap<&str, Option<usize>> = HashMap::new();
    let mut refilled = Refilled { parts: Vec::new(), images: Vec::new(), length: 0, restored: Restored::default() };
    let mut at = 0;
    loop {
        let (part, behind) = next_part(&window, at, form, &prefix);
        at = behind;
        let (filled, ends) = match part {
            Part::End(text) => (Filled::Text(text), true),
            Part::Text(text) => (Filled::Text(text), false),
            Part::Placeholder { name, text } => {
                let place = if let Some(&known) = places.get(name) {
                    known
                } else {
                    let place = lookup(name)?.map(|data| {
                        refilled.images.push(data);
                        refilled.images.len() - 1
                    });
                    if place.is_none() {
                        refilled.restored.missing.push(name.to_owned());
                    }
                    places.insert(name, place);
                    place
                };
                (place.map_or(Filled::Text(text), Filled::Image), false)
            }
        };
        refilled.length += refilled.length_of(&filled);
        refilled.restored.images += u64::from(matches!(filled, Filled::Image(_)));
        refilled.parts.push(filled);
        if ends {
            refilled.restored.bytes_before = transcript.len() as u64;
            refilled.restored.bytes_after = refilled.length as u64;
            return Ok(refilled);
        }
    }
}

impl<B: AsRef<[u8]>> Refilled<'_, B> {
    fn length_of(&self, part: &Filled<'_>) -> usize {
        match part {
            Filled::Text(text) => text.len(),
            Filled::Image(place) => STANDARD.encoded_length(self.images[*place].as_ref().len()),
        }
    }

    /// What was found.
    #[must_use]
    pub fn restored(&self) -> &Restored {
        &self.restored
    }

    /// How long the transcript is with its images.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Writes the transcript with its images to `out`, which has room for [`Self::length`] bytes.
    ///
    /// # Panics
    /// When it has not.
    pub fn write_to(&self, out: &mut [u8]) {
        let mut rest = out;
        for part in &self.parts {
            let (here, behind) = rest.split_at_mut(self.length_of(part));
            match part {
                Filled::Text(text) => here.copy_from_slice(text),
                Filled::Image(place) => {
                    // What is returned is the slice that was filled.
                    let _ = STANDARD.encode(self.images[*place].as_ref(), here.as_out());
                }
            }
            rest = behind;
        }
    }
}
