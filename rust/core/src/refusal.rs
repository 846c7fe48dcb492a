//! What callers are refused, in words: each refusal is worded once, whatever language they speak.

use std::fmt;

use crate::error::{Error, ErrorKind};

/// What was asked for that cannot be done. The texts are names as the caller gave them: of a type, of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal<'a> {
    /// `strict` and `allow_unknown` together.
    StrictAndAllowUnknown,
    /// A number of threads that is none.
    Threads,
    /// A limit below 0.
    Limit,
    /// A list of paths without a path.
    NoPaths,
    /// A place to write to, and to write in place.
    TwoPlaces,
    /// Neither.
    NoPlace,
    /// Placeholders of a form that there is not.
    Form(&'a str),
    /// A progress callback of this type, which cannot be called.
    Progress(&'a str),
    /// A moment of this type, which is none.
    Moment(&'a str),
    /// What was read from an open file is no bytes.
    NoBytes,
    /// More was read from an open file than was asked for.
    TooManyBytes,
    /// A place among the events of this type, which is none.
    EventIndex(&'a str),
    /// A place among the events where none is.
    NoEventThere,
    /// An event that is not among them.
    NoSuchEvent,
    /// An event that was there before.
    EventGone,
    /// A call of a subagent that was there before.
    SubagentRefGone,
    /// An image that was there before.
    ImageGone,
}

impl Refusal<'_> {
    /// The error that it is.
    #[must_use]
    pub fn into_error(self) -> Error {
        Error::new(self.kind(), self.to_string())
    }

    fn kind(self) -> ErrorKind {
        match self {
            Self::Progress(_) | Self::Moment(_) | Self::NoBytes | Self::TooManyBytes | Self::EventIndex(_) => {
                ErrorKind::WrongType
            }
            Self::NoEventThere => ErrorKind::OutOfRange,
            Self::EventGone | Self::SubagentRefGone | Self::ImageGone => ErrorKind::Gone,
            _ => ErrorKind::WrongArgument,
        }
    }
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::StrictAndAllowUnknown => "strict and allow_unknown exclude each other",
            Self::Threads => "threads must be a number from 1 on",
            Self::Limit => "limit is negative",
            Self::NoPaths => "paths is empty: give None for all sessions there are",
            Self::TwoPlaces => "give out or in_place, not both",
            Self::NoPlace => "give out, or in_place=True",
            Self::Form(name) => return write!(f, "unknown placeholder format {name:?}: retell, entire"),
            Self::Progress(kind) => return write!(f, "progress must be callable, not {kind}"),
            Self::Moment(kind) => return write!(f, "since must be a date, a time or the text of one, not {kind}"),
            Self::NoBytes => "read() must give bytes: open the file in binary mode",
            Self::TooManyBytes => "read(size) gave more than size bytes",
            Self::EventIndex(kind) => return write!(f, "events indices must be integers or slices, not {kind}"),
            Self::NoEventThere => "event index out of range",
            Self::NoSuchEvent => "no such event",
            Self::EventGone => "the event is not there any more",
            Self::SubagentRefGone => "the ref is not there any more",
            Self::ImageGone => "an image changed while it was lifted",
        };
        f.write_str(text)
    }
}
