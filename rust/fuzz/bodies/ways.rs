//! All the ways to the same result: how the bytes come in, where a file is cut, how many threads read it, and how they
//! search.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use retell_core::{ParseOptions, Source};
use tempfile::TempDir;

use super::written::{NAMELESS, Written, same, written};
use super::{Dripping, Searches, conversation, rollouts};

/// As many threads as give each line a stretch of its own, where the lines are few.
const EACH_LINE: usize = 256;

/// Bytes that are read one by one.
const MOST_ONES: usize = 300;

/// Line ends that a file is cut at in two; of more lines some are taken.
const MOST_CUTS_IN_TWO: usize = 12;

/// What a thread of the tests writes to, over and over.
struct Place {
    folder: TempDir,
}

thread_local! {
    static PLACE: OnceCell<Place> = const { OnceCell::new() };
}

impl Place {
    fn new() -> Self {
        let Ok(folder) = tempfile::tempdir() else { panic!("no temporary folder") };
        let place = Self { folder };
        let human = |agent: &str| {
            format!(
                r#"{{"isSidechain":true,"agentId":"{agent}","type":"user","message":{{"role":"user","content":"count"}},"uuid":"{agent}-0"}}"#
            ) + "\n"
        };
        place.store(&format!("family/{NAMELESS}/subagents/agent-a1.jsonl"), human("a1").as_bytes());
        place.store(&format!("family/{NAMELESS}/subagents/agent-a2.jsonl"), human("a2").as_bytes());
        for (id, parent) in [("t-2", rollouts::THREAD), ("t-3", rollouts::THREAD), ("t-5", "t-2")] {
            let name = format!("family/rollout-2026-02-02T10-00-00-{id}.jsonl");
            place.store(&name, rollouts::child(id, parent).as_bytes());
        }
        place
    }

    /// Stores `bytes` at `path` below the folder.
    fn store(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(path);
        let stored = fs::create_dir_all(path.parent().unwrap_or(&path)).and_then(|()| fs::write(&path, bytes));
        assert!(stored.is_ok(), "{stored:?}");
        path
    }
}

/// Every way gives what `expected` holds, which is what the bytes in memory gave.
pub fn ways(bytes: &[u8], expected: &Written, searches: &Searches) {
    let plain = ParseOptions::default();
    // Each piece costs a block of memory made clean.
    let ones = if bytes.len() <= MOST_ONES { vec![1] } else { [&[1; MOST_ONES][..], &[4096]].concat() };
    for sizes in [ones, vec![7], vec![4096], vec![1, 2 + bytes.len() % 100, 1000]] {
        let pieces = || written(conversation(Dripping::source(bytes, sizes.clone()), &plain));
        same(&pieces(), expected, false, &|| format!("in pieces of {sizes:?}"));
    }
    let from_memory = || written(conversation(Source::Bytes(bytes.to_vec()), &plain));
    same(&searches.choose(true, from_memory), expected, false, &|| "searched plainly".to_owned());
    let Ok(compressed) = zstd::encode_all(bytes, 1) else { panic!("zstd compresses anything") };
    same(&written(conversation(Source::Bytes(compressed.clone()), &plain)), expected, false, &|| ".zst".to_owned());
    let gzipped = in_members(bytes);
    same(&written(conversation(Source::Bytes(gzipped.clone()), &plain)), expected, false, &|| ".gz".to_owned());
    #[cfg(unix)]
    same(&through_a_pipe(bytes), expected, true, &|| "through a pipe".to_owned());
    PLACE.with(|place| {
        let place = place.get_or_init(Place::new);
        let packed = place.store(&format!("packed/{NAMELESS}.jsonl.zst"), &compressed);
        same(&at(&packed, 1, u64::MAX), expected, true, &|| ".zst, by its path".to_owned());
        let packed = place.store(&format!("gzipped/{NAMELESS}.jsonl.gz"), &gzipped);
        same(&at(&packed, 1, u64::MAX), expected, true, &|| ".gz, by its path".to_owned());
        in_stretches(bytes, expected, place, searches);
        cut_in_two(bytes, place, searches);
        with_a_family(bytes, place, searches);
    });
}

/// The bytes in two members of gzip.
fn in_members(bytes: &[u8]) -> Vec<u8> {
    let (one, other) = bytes.split_at(bytes.len() / 2);
    let mut packed = Vec::new();
    for half in [one, other] {
        let mut encoder = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
        let done = encoder.write_all(half).and_then(|()| encoder.finish());
        let Ok(written) = done else { panic!("gzip compresses anything") };
        packed = written;
    }
    packed
}

fn at(path: &Path, threads: usize, least_stretch: u64) -> Written {
    read(path, threads, least_stretch, false)
}

fn read(path: &Path, threads: usize, least_stretch: u64, include_subagents: bool) -> Written {
    let threads = NonZero::new(threads);
    let options = ParseOptions { threads, least_stretch: Some(least_stretch), include_subagents, ..<_>::default() };
    written(conversation(Source::Path(path.to_owned()), &options))
}

/// A pipe is read by a thread of its own, as standard input is.
#[cfg(unix)]
fn through_a_pipe(bytes: &[u8]) -> Written {
    use std::os::fd::AsRawFd;

    let Ok((out, mut into)) = std::io::pipe() else { panic!("no pipe") };
    let path = PathBuf::from(format!("/dev/fd/{}", out.as_raw_fd()));
    std::thread::scope(|scope| {
        // Who has read enough closes the pipe, and the rest is nobody's.
        scope.spawn(move || drop(into.write_all(bytes)));
        let read = written(conversation(Source::Path(path), &ParseOptions::default()));
        drop(out);
        read
    })
}

/// A file gives the same whatever it is cut into, on however many threads.
fn in_stretches(bytes: &[u8], expected: &Written, place: &Place, searches: &Searches) {
    let path = place.store(&format!("alone/{NAMELESS}.jsonl"), bytes);
    let alone = at(&path, 1, u64::MAX);
    same(&alone, expected, true, &|| "by its path".to_owned());
    let compare = |threads, least, plainly| {
        let actual = searches.choose(plainly, || at(&path, threads, least));
        same(&actual, &alone, false, &|| format!("{threads} threads, {least} bytes, plainly: {plainly}"));
    };
    let length = bytes.len() as u64;
    for (threads, least) in [(2, length / 2), (2, 1), (3, 1), (8, 1)] {
        compare(threads, least, false);
    }
    compare(8, 1, true);
    let lines = memchr::memchr_iter(b'\n', bytes).count();
    if lines > cuts(bytes, 8, 1).len() {
        compare(EACH_LINE, 1, false);
    }
    let mut known = HashSet::from([cuts(bytes, 3, 1), cuts(bytes, 8, 1)]);
    for least in (3..32).map(|count| length / count).filter(|&least| least > 0) {
        let threads = [3, 8][known.len() % 2];
        if known.insert(cuts(bytes, threads, least)) {
            compare(threads, least, known.len() % 2 == 0);
        }
    }
}

/// Where a file of these bytes is cut; only to pass over what would be the same again.
fn cuts(bytes: &[u8], threads: usize, least: u64) -> Vec<usize> {
    let length = bytes.len() as u64;
    let count = (length / least).clamp(2, 4 * threads as u64);
    let behind = |from: usize| memchr::memchr(b'\n', &bytes[from..]).map(|found| from + found + 1);
    let mut cuts: Vec<_> = (1..count).filter_map(|at| behind((length / count * at) as usize)).collect();
    cuts.dedup();
    cuts
}

/// A cut at each line end alone: empty lines before or behind all others bring it to where a file is cut in two.
fn cut_in_two(bytes: &[u8], place: &Place, searches: &Searches) {
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).filter(|&end| end + 1 < bytes.len()).collect();
    for (turn, &end) in ends.iter().step_by(ends.len().div_ceil(MOST_CUTS_IN_TWO).max(1)).enumerate() {
        let (before, behind) = (bytes.len().saturating_sub(2 * end), (2 * end).saturating_sub(bytes.len()));
        let padded = [&b"\n".repeat(before)[..], bytes, &b"\n".repeat(behind)].concat();
        let half = padded.len() / 2;
        assert_eq!(half, before + end, "cut elsewhere");
        let path = place.store(&format!("alone/{NAMELESS}.jsonl"), &padded);
        let whole = at(&path, 1, u64::MAX);
        let parted = searches.choose(turn % 2 == 1, || at(&path, 2, half as u64));
        same(&parted, &whole, false, &|| format!("cut in two behind byte {end}"));
    }
}

/// The files of subagents are read side by side.
fn with_a_family(bytes: &[u8], place: &Place, searches: &Searches) {
    let path = place.store(&format!("family/{NAMELESS}.jsonl"), bytes);
    let alone = read(&path, 1, u64::MAX, true);
    for (threads, plainly) in [(1, true), (2, false), (3, true), (8, false)] {
        let actual = searches.choose(plainly, || read(&path, threads, 1, true));
        same(&actual, &alone, false, &|| format!("with subagents, {threads} threads, plainly: {plainly}"));
    }
}
