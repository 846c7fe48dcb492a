//! Bytes in blocks, read by the thread that asks for them or by a second one, some blocks ahead.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use super::chunks::FileStretch;
use super::compression::Begun;
use crate::error::Result;
use crate::progress::Progress;

/// How much is asked for at a time. Larger blocks leave the second-level cache and cost more than the fewer calls
/// save.
pub const BLOCK: usize = 256 * 1024;

/// Blocks that are read ahead at the most.
const BLOCKS_AHEAD: usize = 4;

/// Blocks that the reading thread makes; then it fills those again that it gets back. New memory has to be cleared,
/// and touching it costs as much as reading into it.
const MOST_BLOCKS: usize = BLOCKS_AHEAD + 2;

/// How long a wait for a block lasts before it is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(50);

/// Where blocks come from.
pub enum Blocks {
    /// Read when asked for, by the thread that asks; and how many bytes are left at the most, when that is known.
    Here { reader: Box<dyn Read + Send>, left: Option<u64> },
    /// A large file whose blocks are read ahead as soon as the first one is asked for.
    Large(FileStretch),
    /// Read ahead by another thread, which takes spent blocks back.
    Ahead { filled: Receiver<io::Result<Vec<u8>>>, spent: Sender<Vec<u8>> },
}

impl Blocks {
    /// Gives a block back that is no longer needed, to be filled again by the thread that reads ahead.
    pub fn give_back(&mut self, spent: &mut Vec<u8>) {
        if let Self::Large(_) = self {
            let nothing = Self::Here { reader: Box::new(io::empty()), left: Some(0) };
            if let Self::Large(file) = std::mem::replace(self, nothing) {
                *self = read_ahead(Box::new(file));
            }
        }
        if let Self::Ahead { spent: back, .. } = self {
            // The reader may have ended already and need no more blocks.
            let _ = back.send(std::mem::take(spent));
        }
    }

    /// The next block, empty or `None` at the end; `spent` is filled again where this thread reads. While there is
    /// nothing to give, `progress` is asked every now and then whether to go on. The outer error is its own.
    pub fn next(&mut self, spent: Vec<u8>, progress: &mut Progress<'_>) -> Result<Option<io::Result<Vec<u8>>>> {
        match self {
            Self::Here { reader, left } => {
                let block = read_block(reader, spent, room(*left));
                if let (Some(left), Ok(block)) = (left, &block) {
                    *left = left.saturating_sub(block.len() as u64);
                }
                Ok(Some(block))
            }
            // It is being read ahead by now.
            Self::Large(_) => Ok(None),
            Self::Ahead { filled, .. } => next_filled(filled, progress),
        }
    }
}

fn next_filled(
    filled: &Receiver<io::Result<Vec<u8>>>,
    progress: &mut Progress<'_>,
) -> Result<Option<io::Result<Vec<u8>>>> {
    match filled.try_recv() {
        Ok(block) => return Ok(Some(block)),
        Err(TryRecvError::Disconnected) => return Ok(None),
        Err(TryRecvError::Empty) => {}
    }
    loop {
        match filled.recv_timeout(PATIENCE) {
            Ok(block) => return Ok(Some(block)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => progress.ask()?,
        }
    }
}

/// Starts a thread that reads. It is not waited for: when the blocks are no longer wanted it ends with its next
/// one, and if it never gets one (a pipe nobody writes to) it is of no harm.
pub fn read_ahead(reader: Box<dyn Read + Send>) -> Blocks {
    let (give, filled) = sync_channel(BLOCKS_AHEAD);
    let (spent, take_back) = channel::<Vec<u8>>();
    let work = move || {
        let Begun { first, rest: mut reader, .. } =
            match Begun::of(reader, |reader| read_block(reader, Vec::new(), BLOCK)) {
                Ok(begun) => begun,
                Err(error) => {
                    let _ = give.send(Err(error));
                    return;
                }
            };
        let mut made = 0;
        if !first.is_empty() {
            made = 1;
            if give.send(Ok(first)).is_err() {
                return;
            }
        }
        loop {
            let free = match take_back.try_recv() {
                Ok(block) => block,
                Err(_) if made < MOST_BLOCKS => {
                    made += 1;
                    Vec::new()
                }
                // Whoever asks for a block gives one back, so one comes unless nobody asks any more.
                Err(_) => match take_back.recv() {
                    Ok(block) => block,
                    Err(_) => return,
                },
            };
            let block = read_block(&mut reader, free, BLOCK);
            let last = !matches!(&block, Ok(block) if !block.is_empty());
            if give.send(block).is_err() || last {
                return;
            }
        }
    };
    match thread::Builder::new().name("retell-read".to_owned()).spawn(work) {
        Ok(_) => Blocks::Ahead { filled, spent },
        Err(error) => {
            // No thread to be had: say so as a failed read.
            let (give, filled) = channel();
            let _ = give.send(Err(error));
            Blocks::Ahead { filled, spent }
        }
    }
}

/// How large a block has to be for what is left. A folder holds thousands of small files: clearing a large block for
/// each would cost more than reading it.
pub fn room(left: Option<u64>) -> usize {
    left.and_then(|left| usize::try_from(left).ok()).map_or(BLOCK, |left| left.min(BLOCK))
}

/// Fills `block` with one read of up to `room` bytes. Empty at the end.
pub fn read_block(reader: &mut dyn Read, mut block: Vec<u8>, room: usize) -> io::Result<Vec<u8>> {
    block.resize(room, 0);
    loop {
        match reader.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(count) => {
                block.truncate(count);
                return Ok(block);
            }
        }
    }
}
