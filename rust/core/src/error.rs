//! The one error type of the core: what went wrong, where, and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What kind of failure this is; closed on purpose, so that callers can map every one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused: see [`Error::io`].
    Io,
    /// The input is empty or holds no JSON records at all.
    NotATranscript,
    /// There are entries, but no conversation in them.
    NoConversation,
    /// `strict` was asked for and an entry type is not in the table.
    UnknownEntryType,
    /// No session matches what was typed.
    SessionNotFound,
    /// More than one session matches what was typed.
    AmbiguousSession,
    /// No agent of that name is known.
    UnknownAgent,
    /// An environment variable holds what it cannot mean.
    WrongSetting,
    /// An argument has a value that it cannot have.
    WrongArgument,
    /// An argument is of a type that it cannot have.
    WrongType,
    /// There is nothing at that place.
    OutOfRange,
    /// What was there is not there any more.
    Gone,
    /// An asset is missing, or its bytes are not those that its name says.
    MissingAsset,
    /// What was written does not give the original back.
    NotProven,
    /// It could destroy something.
    Refused,
    /// The caller's progress callback asked to stop.
    Stopped,
}

/// A failure, with the place it happened at and a hint for the person who reads it.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    path: Option<PathBuf>,
    io: Option<io::Error>,
    names: Vec<String>,
}

/// The core's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind` that says `message` (lower case, no full stop).
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, path: None, io: None, names: Vec::new() }
    }

    /// An operating-system error at `path`, or one of what decompresses it.
    #[must_use]
    pub fn os(error: io::Error, path: &Path) -> Self {
        Self {
            kind: ErrorKind::Io,
            message: error.to_string(),
            hint: DamagedData::of(&error).map(DamagedData::hint),
            path: Some(path.to_owned()),
            io: Some(error),
            names: Vec::new(),
        }
    }

    /// The same error with what the reader should do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error, said of the file at `path`, unless a place is named already.
    #[must_use]
    pub fn at(mut self, path: &Path) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// The same error with the names of all that it is about.
    #[must_use]
    pub fn with_names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.names = names.into_iter().collect();
        self
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What to do next, when there is something to say.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The message, and the hint behind it, for where there is one text only.
    #[must_use]
    pub fn with_its_hint(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{self} ({hint})"),
            None => self.to_string(),
        }
    }

    /// The file or folder concerned.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The operating system's own error, for [`ErrorKind::Io`].
    #[must_use]
    pub fn io(&self) -> Option<&io::Error> {
        self.io.as_ref()
    }

    /// What the operating system's own error is called in `errno.h`, where its kind alone tells.
    #[must_use]
    pub fn errno_name(&self) -> Option<&'static str> {
        Some(match self.io()?.kind() {
            io::ErrorKind::NotFound => "ENOENT",
            io::ErrorKind::PermissionDenied => "EACCES",
            io::ErrorKind::IsADirectory => "EISDIR",
            io::ErrorKind::NotADirectory => "ENOTDIR",
            io::ErrorKind::AlreadyExists => "EEXIST",
            io::ErrorKind::StorageFull => "ENOSPC",
            io::ErrorKind::ReadOnlyFilesystem => "EROFS",
            io::ErrorKind::InvalidFilename => "ENAMETOOLONG",
            io::ErrorKind::BrokenPipe => "EPIPE",
            _ => return None,
        })
    }

    /// The names of the assets, for [`ErrorKind::MissingAsset`].
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: {}", path.display(), self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}

/// Characters of a name that messages show.
const SHOWN: usize = 60;

/// A name that stands in the input, as messages show it: between quotes unless it looks like a name, with escapes for
/// what would steer a terminal, and cut short.
#[must_use]
pub fn shown_name(name: &str) -> String {
    let is_of_a_name = |letter: char| letter.is_alphanumeric() || "-_./:()".contains(letter);
    let mut shown: String = name.chars().take(SHOWN).collect();
    let rest = if shown.len() < name.len() { "…" } else { "" };
    if shown.is_empty() || !shown.chars().all(is_of_a_name) {
        shown = format!("{shown:?}");
    }
    shown + rest
}

/// What a decompressor complains of, inside an [`io::Error`].
#[derive(Debug)]
pub struct DamagedData {
    /// `zstd` or `gzip`, as the programs are called too.
    pub format: &'static str,
    /// What is wrong.
    pub what: String,
}

impl DamagedData {
    /// The complaint that `error` carries, if it carries one.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    fn hint(&self) -> String {
        format!("decompress it with {} -dc to see how much of it is whole", self.format)
    }
}

impl fmt::Display for DamagedData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged {} data: {}", self.format, self.what)
    }
}

impl std::error::Error for DamagedData {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shown_so_that_it_can_be_seen_and_does_no_harm() {
        for (name, shown) in [
            ("queue-operation", "queue-operation"),
            ("attachment/file", "attachment/file"),
            ("", "\"\""),
            (" ", "\" \""),
            ("a b", "\"a b\""),
            ("a\u{1b}[31mb\n", "\"a\\u{1b}[31mb\\n\""),
            ("\u{202e}x", "\"\\u{202e}x\""),
            ("say \"x\"", "\"say \\\"x\\\"\""),
        ] {
            assert_eq!(shown_name(name), shown);
        }
        assert_eq!(shown_name(&"x".repeat(61)), "x".repeat(60) + "…");
        assert_eq!(shown_name(&" ".repeat(61)), format!("\"{}\"…", " ".repeat(60)));
    }
}
