//! The line reader against a plain split, however the bytes come in.

use retell_core::Progress;
use retell_core::Source;
use retell_core::io::Input;
use retell_core::lines::LineReader;

use super::{Dripping, ZSTD_MAGIC};

type Plain = (u64, u64, Vec<u8>, bool);

/// The first byte says how many bytes behind it are the sizes of the pieces; the rest is read.
pub fn lines(bytes: &[u8]) {
    let (sizes, text) = sizes_and_text(bytes);
    if text.starts_with(&ZSTD_MAGIC) {
        return;
    }
    let expected = plain_split(text);
    assert_eq!(all_lines(Dripping::source(text, sizes)), expected, "{}", bytes.escape_ascii());
    assert_eq!(all_lines(Source::Bytes(text.to_vec())), expected, "{}", bytes.escape_ascii());
}

fn sizes_and_text(bytes: &[u8]) -> (Vec<usize>, &[u8]) {
    let Some((&count, rest)) = bytes.split_first() else { return (vec![1], bytes) };
    let (sizes, text) = rest.split_at(rest.len().min(1 + usize::from(count % 8)));
    let sizes: Vec<usize> = sizes.iter().map(|&size| 1 + usize::from(size)).collect();
    (if sizes.is_empty() { vec![1] } else { sizes }, text)
}

fn all_lines(source: Source) -> Vec<Plain> {
    let Ok(input) = Input::open(source) else { panic!("bytes in memory can be opened") };
    let mut reader = LineReader::new(input);
    let mut lines = Vec::new();
    loop {
        match reader.next_line(&mut Progress::silent()) {
            Ok(Some(line)) => {
                assert_eq!(line.overlong, None);
                lines.push((line.number, line.offset, line.bytes.to_vec(), line.terminated));
            }
            Ok(None) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(reader.lines(), lines.len() as u64);
    lines
}

fn plain_split(text: &[u8]) -> Vec<Plain> {
    let mut offset = 0;
    let pieces = text.split_inclusive(|&byte| byte == b'\n').zip(1..);
    pieces
        .map(|(piece, number)| {
            let line = piece.strip_suffix(b"\n");
            let plain = (number, offset, line.unwrap_or(piece).to_vec(), line.is_some());
            offset += piece.len() as u64;
            plain
        })
        .collect()
}
