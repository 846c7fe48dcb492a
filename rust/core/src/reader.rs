//! A source, from its first byte to its last, into a sink of records.
//!
//! ```text
//! open the source, once; look at its head: whose is it, and how has it to be read?
//!   one document                            all of it
//!   a large plain file, several threads     stretches of whole lines side by side, a sink for each
//!   everything else                         line by line
//! give each sink to the fold, in order
//! ```

use crate::agents::Agent;
use crate::document;
use crate::entry::{LineEntries, RecordTypes, Records, Skimming};
use crate::error::{Error, ErrorKind, Result};
use crate::head::{Head, Stranger};
use crate::io::{FileStretch, Input, LEAST_STRETCH, Source};
use crate::json::Value;
use crate::lines::{LINE_LIMIT, LineReader, Memory};
use crate::parallel;
use crate::progress::{Progress, Shared};

/// How many bytes are looked through for the first brace before the input is taken for something else.
const PROOF_WINDOW: usize = 1 << 20;

/// Stretches for each thread that may be read before their turn.
const STRETCHES_AHEAD: usize = 2;

/// Takes the records of a source, or of a stretch of it.
pub trait RecordSink: Records + Send {
    /// The records that follow are those of one document, which is this value.
    fn begin_document(&mut self, _document: Value<'_>) {}

    /// What went wrong while taking a record.
    ///
    /// # Errors
    /// That.
    fn failure(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What was read into a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Lines.
    pub lines: u64,
    /// Bytes, decompressed.
    pub bytes: u64,
}

/// Puts together what sinks took, in the order of the source.
pub trait Fold<S> {
    /// A line was read into `sink`, and others will be: what it took may be taken out.
    fn line_read(&mut self, _sink: &mut S) {}

    /// Nothing more is read into `sink`.
    fn append(&mut self, sink: S, extent: Extent);
}

/// On how many threads to read.
#[derive(Debug, Clone, Copy)]
pub struct Threads {
    /// Threads that may read.
    pub count: usize,
    /// The least, in bytes, that a thread is given.
    pub least_stretch: u64,
}

/// A source of which the beginning was looked at.
pub struct Opened {
    /// What the beginning tells.
    pub head: Head,
    beginning: Vec<u8>,
    /// Whether it begins with much that holds no object.
    hopeless: bool,
    input: Input,
    threads: Threads,
}

impl Threads {
    /// The thread that calls.
    #[must_use]
    pub fn one() -> Self {
        Self { count: 1, least_stretch: LEAST_STRETCH }
    }
}

impl Opened {
    /// Opens `source`; `agent` is whose it is when that is known.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be opened or its beginning not be read, [`ErrorKind::Stopped`].
    pub fn open(
        source: Source,
        agent: Option<&'static dyn Agent>,
        threads: Threads,
        progress: &mut Progress<'_>,
    ) -> Result<Self> {
        let mut input =
            if threads.count > 1 { Input::open_to_cut(source, threads.least_stretch) } else { Input::open(source) }?;
        progress.set_total(input.size());
        let (head, beginning) = Head::read(agent, |size| input.head(size, progress))?;
        let hopeless = !head.document && beginning.len() >= PROOF_WINDOW && !beginning.contains(&b'{');
        Ok(Self { head, beginning, hopeless, input, threads })
    }

    /// What it surely is instead of a transcript.
    #[must_use]
    pub fn surely_strange(&self) -> Option<&'static Stranger> {
        if self.head.document { None } else { Stranger::surely(&self.beginning) }
    }

    /// Takes its first bytes out; there are none of a document.
    #[must_use]
    pub fn take_beginning(&mut self) -> Vec<u8> {
        if self.head.document { Vec::new() } else { std::mem::take(&mut self.beginning) }
    }

    /// Reads it to its end, whose records are of these `types`. `new` makes a sink; it is told whether the sink takes what
    /// the source begins with.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be read, [`ErrorKind::NotATranscript`] when it begins with much that is no object
    /// or is a document that is too long, [`ErrorKind::Stopped`], and what a sink fails with.
    pub fn read<S: RecordSink>(
        self,
        types: RecordTypes,
        new: &(dyn Fn(bool) -> S + Sync),
        fold: &mut dyn Fold<S>,
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        let Self { head, hopeless, mut input, threads, .. } = self;
        if head.document {
            let document = input.all(LINE_LIMIT, progress)?;
            let mut sink = new(true);
            sink.begin_document(document::root(&document));
            let lines = document::read(&document, head.agent, &mut sink);
            sink.failure()?;
            fold.append(sink, Extent { lines, bytes: document.len() as u64 });
            return Ok(());
        }
        if hopeless {
            return Err(not_a_transcript("the first megabyte holds no JSON object"));
        }
        if let Some(stretches) = input.stretches(threads.count, threads.least_stretch)? {
            return read_side_by_side(&stretches, threads.count, types, new, fold, progress);
        }
        let mut lines = LineReader::new(input);
        let mut sink = new(true);
        read_lines(&mut lines, types, &mut sink, &mut |sink| fold.line_read(sink), progress)?;
        fold.append(sink, Extent { lines: lines.lines(), bytes: lines.offset() });
        Ok(())
    }
}

fn read_side_by_side<S: RecordSink>(
    stretches: &[FileStretch],
    threads: usize,
    types: RecordTypes,
    new: &(dyn Fn(bool) -> S + Sync),
    fold: &mut dyn Fold<S>,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let shared = Shared::default();
    let read_one = |at: usize, memory: &mut Memory| {
        let stretch = &stretches[at];
        let input = Input::of_stretch(stretch);
        let mut lines = LineReader::starting_at(input, stretch.start(), std::mem::take(memory));
        let mut sink = new(at == 0);
        read_lines(&mut lines, types, &mut sink, &mut |_| {}, &mut shared.piece(stretch.length()))?;
        let extent = Extent { lines: lines.lines(), bytes: lines.offset() - stretch.start() };
        *memory = lines.into_memory();
        Ok((sink, extent))
    };
    let ahead = threads * STRETCHES_AHEAD;
    let mut append = |(sink, extent)| fold.append(sink, extent);
    parallel::in_order(threads, stretches.len(), ahead, read_one, &mut append, &shared, progress)
}

/// Reads `lines` to their end; `each` is called after every line.
fn read_lines<S: RecordSink>(
    lines: &mut LineReader,
    types: RecordTypes,
    sink: &mut S,
    each: &mut dyn FnMut(&mut S),
    progress: &mut Progress<'_>,
) -> Result<()> {
    let mut line_entries = LineEntries::new(types);
    let start = lines.offset();
    while let Some(line) = lines.next_line_or_skim(progress, &mut Skimming::new(&mut line_entries, sink))? {
        let end = line.end();
        line_entries.read(&line, sink);
        sink.failure()?;
        each(sink);
        progress.reach(end - start)?;
    }
    Ok(())
}

/// What is said of an input that is none.
pub(crate) fn not_a_transcript(what: &str) -> Error {
    Error::new(ErrorKind::NotATranscript, format!("not a transcript: {what}"))
        .with_hint("give the .jsonl file of a session, or a session id as `retell-fast preview` lists them")
}
