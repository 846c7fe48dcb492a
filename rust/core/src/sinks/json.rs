//! Events and manifests as JSON.

use std::io::{self, Write};
use std::ops::ControlFlow;

use super::event_text::push_event;
use super::sink::{Sink, send_events};
use crate::event::Event;
use crate::manifest::Manifest;

/// How much of events.json is gathered before it is written.
const GATHERED: usize = 1 << 16;

/// Writes events.json: one event on each line.
pub struct JsonWriter<W> {
    out: W,
    gathered: Vec<u8>,
    is_first: bool,
}

impl<W: Write> JsonWriter<W> {
    /// A writer to `out`, which need not gather what it is given.
    pub fn new(out: W) -> Self {
        Self { out, gathered: b"[".to_vec(), is_first: true }
    }

    /// Writes the end of the list.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.gathered.extend_from_slice(b"\n]\n");
        self.out.write_all(&self.gathered)?;
        Ok(self.out)
    }
}

impl<W: Write> Sink for JsonWriter<W> {
    type Error = io::Error;

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        self.gathered.extend_from_slice(if self.is_first { b"\n" } else { b",\n" });
        self.is_first = false;
        push_event(&mut self.gathered, event)?;
        if self.gathered.len() >= GATHERED {
            self.out.write_all(&self.gathered)?;
            self.gathered.clear();
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self) -> io::Result<()> {
        self.into_inner().map(drop)
    }
}

/// Writes the whole of events.json to `out`: one event on each line.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_events(events: &[Event], out: &mut dyn Write) -> io::Result<()> {
    send_events(events, JsonWriter::new(out))
}

/// Writes one event, as it stands in events.json.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_event(event: &Event, out: &mut dyn Write) -> io::Result<()> {
    let mut json = Vec::new();
    push_event(&mut json, event)?;
    out.write_all(&json)
}

/// Writes the whole of manifest.json to `out`.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_manifest(manifest: &Manifest, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, manifest)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::{ParseOptions, Progress, Source, parse};

    #[test]
    fn an_event_is_written_as_serde_json_writes_it() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
        let sessions = ["claude-code", "codex"].map(|agent| fs::read_dir(data.join(agent)).unwrap());
        let options = ParseOptions { include_subagents: true, ..ParseOptions::default() };
        let mut events = 0;
        for path in sessions.into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let Ok(conversation) = parse(Source::Path(path), &options, &mut Progress::silent()) else { continue };
            for event in &conversation.events {
                let mut written = Vec::new();
                write_event(event, &mut written).unwrap();
                assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(event).unwrap());
                events += 1;
            }
        }
        assert!(events > 100, "{events}");
    }
}
