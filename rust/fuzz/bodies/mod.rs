//! What must hold whatever the input is, as plain functions over bytes: they panic where it does not.
//!
//! Each one is the body of a fuzz target, and runs as a property test in `rust/core/tests/properties.rs`.

pub mod records;
pub mod rollouts;

mod glued;
mod lines;
mod neighbours;
mod parse;
mod scan;
mod searches;
mod ways;
mod written;

pub use glued::{glued, glued_at};
pub use lines::lines;
pub use neighbours::neighbours;
pub use parse::parse;
pub use scan::scan;

use searches::Searches;

use std::io::{self, Read};

use retell_core::event::Event;
use retell_core::{Conversation, ParseOptions, Source};

/// The first bytes of a zstd frame: input that starts so is decompressed, and no longer the bytes under test.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Gives its bytes in pieces of the given sizes, over and over.
struct Dripping {
    bytes: Vec<u8>,
    at: usize,
    sizes: Vec<usize>,
    turn: usize,
}

impl Dripping {
    /// Every size is at least 1.
    fn source(bytes: &[u8], sizes: Vec<usize>) -> Source {
        assert!(sizes.iter().all(|&size| size > 0) && !sizes.is_empty());
        Source::Reader(Box::new(Self { bytes: bytes.to_vec(), at: 0, sizes, turn: 0 }), None)
    }
}

impl Read for Dripping {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.turn % self.sizes.len()];
        self.turn += 1;
        let count = size.min(buffer.len()).min(self.bytes.len() - self.at);
        buffer[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn conversation(source: Source, options: &ParseOptions) -> retell_core::Result<Conversation> {
    retell_core::parse(source, options, &mut retell_core::Progress::silent())
}

/// The conversation in `bytes`, which hold one for sure.
fn conversation_in(bytes: &[u8]) -> Conversation {
    match conversation(Source::Bytes(bytes.to_vec()), &ParseOptions::default()) {
        Ok(conversation) => conversation,
        Err(error) => panic!("{error} in {}", bytes.escape_ascii()),
    }
}

/// The events of the entry with this id.
fn events_of<'c>(conversation: &'c Conversation, uuid: &str) -> Vec<&'c Event> {
    let is_its = |event: &&Event| serde_json::to_value(event).is_ok_and(|written| written["uuid"] == uuid);
    conversation.events.iter().filter(is_its).collect()
}
