//! What stands in a transcript instead of an image, and what an image's file is called.

use sha2::{Digest, Sha256};

use super::format::ImageFormat;
use crate::error::Result;
use crate::refusal::Refusal;

/// What every placeholder begins with.
pub const PREFIX: &[u8] = b"retell-asset:";
/// What another tool's placeholders begin with; they have no terminator.
const ENTIRE_PREFIX: &[u8] = b"entire-asset:";
/// What stands behind [`PREFIX`] where the text held it before.
pub const ESCAPE: u8 = b'~';
/// What stands behind the prefix in a placeholder.
const FOLDER: &[u8] = b"assets/";
/// What every asset's name begins with.
const NAME: &[u8] = b"img-";

/// Hexadecimal digits of a whole hash, and the fewest that other tools write.
const HASH_DIGITS: usize = 64;
const FEWEST_DIGITS: usize = 8;

/// How placeholders are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum PlaceholderForm {
    /// This project's.
    #[default]
    Retell,
    /// Those of the tool `entire`, which can be read and are never written.
    Entire,
}

impl PlaceholderForm {
    /// The form of that name.
    ///
    /// # Errors
    /// [`ErrorKind::WrongArgument`](crate::ErrorKind::WrongArgument) when there is none.
    pub fn named(name: &str) -> Result<Self> {
        name.parse().map_err(|_| Refusal::Form(name).into_error())
    }

    /// What its placeholders begin with.
    #[must_use]
    pub fn prefix(self) -> &'static [u8] {
        if self == Self::Retell { PREFIX } else { ENTIRE_PREFIX }
    }
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

/// What stands for the asset called `name`, in parts.
#[must_use]
pub fn placeholder_of(name: &str) -> [&[u8]; 4] {
    [PREFIX, FOLDER, name.as_bytes(), b";"]
}

/// Whether `transcript` holds a whole placeholder of this project's.
#[must_use]
pub fn has_placeholders(transcript: &[u8]) -> bool {
    memchr::memmem::find_iter(transcript, PREFIX)
        .any(|at| placeholder(&transcript[at..], PlaceholderForm::Retell).is_some())
}

/// The placeholder that `bytes` begin with: the asset's name, and the placeholder's length.
pub fn placeholder(bytes: &[u8], form: PlaceholderForm) -> Option<(&str, usize)> {
    let prefix = form.prefix();
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
