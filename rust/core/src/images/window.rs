//! A stream in windows: what cannot be judged at the end of one is looked at again in the next.

use std::io::{self, Read, Write};

/// How much is read at a time.
pub const CHUNK: usize = 1 << 20;

/// What is held back at a window's end, unless it is the input's: longer than anything that could be cut there and
/// is not a run.
pub const HELD_BACK: usize = 256;

/// Part of the input.
pub struct Window<'w> {
    pub bytes: &'w [u8],
    /// Up to here it was handled before; it is there to be looked back at.
    pub from: usize,
    /// Of the first byte in the input.
    pub offset: u64,
    /// Whether the input ends with it.
    pub last: bool,
}

/// Goes through `input` in windows: `step` handles one from its `from` on and says up to where. Keeps `look_back`
/// bytes before that. Gives the bytes read and written.
pub fn in_windows(
    chunk: usize,
    input: &mut dyn Read,
    output: &mut dyn Write,
    look_back: usize,
    step: &mut dyn FnMut(&Window<'_>, &mut dyn Write) -> io::Result<usize>,
) -> io::Result<(u64, u64)> {
    let mut output = Counting { output, written: 0 };
    // Only its first `filled` bytes count; what it had once stays, so that it is not cleared for each window.
    let (mut buffer, mut filled) = (Vec::new(), 0);
    let (mut from, mut offset, mut read) = (0, 0_u64, 0_u64);
    loop {
        // A long run makes the window grow: by doubling, so that it is looked at a bounded number of times.
        let wanted = filled + chunk.max(filled - from);
        if buffer.len() < wanted {
            buffer.resize(wanted, 0);
        }
        let count = fill(input, &mut buffer[filled..wanted])?;
        filled += count;
        read += count as u64;
        let last = filled < wanted;
        from = step(&Window { bytes: &buffer[..filled], from, offset, last }, &mut output)?;
        if last {
            return Ok((read, output.written));
        }
        let kept = from.saturating_sub(look_back);
        buffer.copy_within(kept..filled, 0);
        filled -= kept;
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
