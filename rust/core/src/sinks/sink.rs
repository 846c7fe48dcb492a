//! What a conversation is pushed through: the core goes through it, and the sink says when it has enough.
//!
//! ```text
//! sink made (of the manifest, where it says what the conversation is)
//!   event, event, …     in file order, until the sink says stop
//!   asset, asset, …     the images that events show, unless it said so
//! finish                also when it said stop; not after an error
//! ```

use std::io::{self, Write};
use std::ops::ControlFlow;

use crate::conversation::Conversation;
use crate::event::{Event, ImageId};

/// Takes a conversation, piece by piece.
pub trait Sink: Sized {
    /// Why it cannot go on.
    type Error;

    /// Takes an event; [`ControlFlow::Break`] when nothing more is wanted.
    ///
    /// # Errors
    /// When it could not be taken.
    fn event(&mut self, event: &Event) -> Result<ControlFlow<()>, Self::Error>;

    /// Takes an image that events show; [`ControlFlow::Break`] when nothing more is wanted.
    ///
    /// # Errors
    /// When it could not be taken.
    fn asset(&mut self, _asset: &StoredImage<'_>) -> Result<ControlFlow<()>, Self::Error> {
        Ok(ControlFlow::Break(()))
    }

    /// There is nothing more.
    ///
    /// # Errors
    /// When what was taken could not be brought to its end.
    fn finish(self) -> Result<(), Self::Error>;
}

/// An image of a conversation, under the name of its file.
pub struct StoredImage<'c> {
    /// The name of its file.
    pub name: &'c str,
    conversation: &'c Conversation,
    image: ImageId,
}

impl StoredImage<'_> {
    /// Copies its bytes to `out`.
    ///
    /// # Errors
    /// When the temporary file that holds it cannot be read, or `out` not be written.
    pub fn copy_to<W: Write + ?Sized>(&self, out: &mut W) -> io::Result<()> {
        self.conversation.copy_image(self.image, out)
    }
}

/// Pushes `conversation` through `sink`: its events, then its images.
///
/// # Errors
/// What the sink fails with.
pub fn send<S: Sink>(conversation: &Conversation, mut sink: S) -> Result<(), S::Error> {
    if push_events(&conversation.events, &mut sink)?.is_continue() {
        for (name, image) in &conversation.assets {
            if sink.asset(&StoredImage { name, conversation, image: *image })?.is_break() {
                break;
            }
        }
    }
    sink.finish()
}

/// Pushes `events` through `sink`, and nothing else.
///
/// # Errors
/// What the sink fails with.
pub fn send_events<S: Sink>(events: &[Event], mut sink: S) -> Result<(), S::Error> {
    let _ = push_events(events, &mut sink)?;
    sink.finish()
}

fn push_events<S: Sink>(events: &[Event], sink: &mut S) -> Result<ControlFlow<()>, S::Error> {
    for event in events {
        if sink.event(event)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseOptions, Progress, Source, parse};

    /// A sink of so many pieces that writes down what it is asked.
    struct Limited<'t> {
        left: usize,
        told: &'t mut Vec<String>,
    }

    impl Limited<'_> {
        fn take(&mut self, what: String) -> Result<ControlFlow<()>, &'static str> {
            self.told.push(what);
            self.left = self.left.checked_sub(1).ok_or("asked on")?;
            Ok(if self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        }
    }

    impl Sink for Limited<'_> {
        type Error = &'static str;

        fn event(&mut self, event: &Event) -> Result<ControlFlow<()>, Self::Error> {
            self.take(event.says.clone())
        }

        fn asset(&mut self, asset: &StoredImage<'_>) -> Result<ControlFlow<()>, Self::Error> {
            let mut bytes = Vec::new();
            asset.copy_to(&mut bytes).map_err(|_| "no bytes")?;
            self.take(format!("{} {}", asset.name, bytes.len()))
        }

        fn finish(self) -> Result<(), Self::Error> {
            self.told.push("end".to_owned());
            Ok(())
        }
    }

    #[test]
    fn a_sink_that_has_enough_is_asked_no_more_and_finished() {
        let image = base64_simd::STANDARD.encode_to_string([&b"GIF89a"[..], &[7; 96]].concat());
        let block =
            format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"image/gif","data":"{image}"}}}}"#);
        let line = |text: &str, more: &str| {
            format!(
                r#"{{"type":"user","uuid":"{text}","sessionId":"s","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}{more}]}}}}"#
            )
        };
        let bytes = [line("one", ""), line("two", &format!(",{block}")), String::new()].join("\n").into_bytes();
        let conversation = parse(Source::Bytes(bytes), &ParseOptions::default(), &mut Progress::silent()).unwrap();
        let told = |left| {
            let mut told = Vec::new();
            let done = send(&conversation, Limited { left, told: &mut told });
            (told, done)
        };
        let all = ["one", "two", "screenshot-001-0.gif 102"];
        for left in 1..=4 {
            let (told, done) = told(left);
            assert_eq!((told.split_last().unwrap().1, done), (&all.map(str::to_owned)[..left.min(3)], Ok(())));
        }
        assert_eq!(told(0), (vec!["one".to_owned()], Err("asked on")));
        let mut told = Vec::new();
        send_events(&conversation.events, Limited { left: 9, told: &mut told }).unwrap();
        assert_eq!(told, ["one", "two", "end"]);
    }
}
