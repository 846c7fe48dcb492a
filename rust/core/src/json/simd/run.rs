//! A run of members at a time: the searches of `search.rs` for [`crate::json::Members::run`].
//!
//! ```text
//! while the next member is written in the usual way (no blanks, a short key without escapes):
//!   key and quote, colon, first byte of the value   all in the block that begins with the key
//!   a short string without escapes ends in the same block; every other value is skipped as ever
//!   push the member; stop where asked, or behind the last one
//! anything unusual ends the run before it: the caller takes that member by itself and comes back
//! ```
//! A member by itself costs two calls, checks for blanks and a block of its own for key and value; in a run it costs
//! one block. Three quarters of the members of a transcript's record are short strings.
#![expect(
    unsafe_code,
    reason = "calls into functions compiled for AVX2 or NEON; the safe twin is a walk member by member"
)]
#![expect(clippy::question_mark, reason = "the macros leave in other ways than with None, too")]

use super::search::{BLOCK, Block, container_end_in_blocks, string_end_in_blocks, supported};
use crate::json::index::{Member, MemberIndex, ObjectList, Span, Stops, tag_of};
use crate::json::scalar::scalar_end;

/// Where a run begins.
#[derive(Clone, Copy)]
pub(in crate::json) struct RunStart {
    /// Behind the opening brace or behind a member.
    pub at: usize,
    /// Whether no member stands before.
    pub first: bool,
}

/// A run for a processor on which [`super::available`] is true; gives the place to go on at.
pub(in crate::json) fn run(
    bytes: &[u8],
    begin: RunStart,
    stops: Stops,
    list: Option<u64>,
    index: &mut MemberIndex,
) -> usize {
    debug_assert!(supported());
    // SAFETY: the caller has asked `available`, which is true only where `supported` is: the processor has every
    // feature of the function.
    unsafe { run_in_blocks(bytes, begin, stops, list, index) }
}

/// The member whose key's opening quote is at `$open`, if it is written in the usual way: its tag, the key's length,
/// and the quotes and backslashes behind the key in the block that begins with the key; else `$unusual`.
///
/// This and [`end_of_value`] are macros because a function compiled for these features is called, not inlined, where
/// the compiler takes it for large, and hands blocks over in memory: that costs more than the search.
macro_rules! usual_key {
    ($bytes:ident, $open:expr, $unusual:expr) => {{
        let key = $open + 1;
        let Some(rest) = $bytes.get(key..) else { $unusual };
        if $bytes[key - 1] != b'"' {
            $unusual
        }
        let (block, shift) = match rest.first_chunk::<BLOCK>() {
            Some(block) => (Block::of(block), 0),
            // Near the end: the last block, without what stands before the key.
            None => match $bytes.last_chunk::<BLOCK>() {
                Some(block) => (Block::of(block), (BLOCK - rest.len()) as u32),
                None => $unusual,
            },
        };
        let quotes = block.equal(b'"').wrapping_shr(shift);
        let backslashes = block.equal(b'\\').wrapping_shr(shift);
        let length = quotes.trailing_zeros() as usize;
        // Behind the key stand its quote, a colon, and the first byte of the value.
        let Some(&eight) = rest.first_chunk::<8>() else { $unusual };
        if quotes == 0 || length + 2 >= rest.len() || rest[length + 1] != b':' {
            $unusual
        }
        let through_key = quotes ^ quotes.wrapping_sub(1);
        if backslashes & through_key != 0 {
            $unusual
        }
        (tag_of(eight, length), length, quotes & !through_key, backslashes)
    }};
}

/// Behind the value at `$value`, of the member whose key begins at `$key`; `$broken` where there is no whole value.
macro_rules! end_of_value {
    ($bytes:ident, $key:expr, $value:expr, $quotes:ident, $backslashes:ident, $broken:expr) => {
        match $bytes[$value] {
            b'"' => {
                let without_opening = $quotes & $quotes.wrapping_sub(1);
                let through_closing = without_opening ^ without_opening.wrapping_sub(1);
                if without_opening != 0 && $backslashes & through_closing == 0 {
                    $key + without_opening.trailing_zeros() as usize + 1
                } else {
                    let Ok(end) = string_end_in_blocks($bytes, $value) else { $broken };
                    end
                }
            }
            opening @ (b'{' | b'[') => {
                // The closing bracket is the second behind the opening one in ASCII.
                let Ok(end) = container_end_in_blocks($bytes, $value, opening, opening + 2) else { $broken };
                end
            }
            _ => {
                let Ok(end) = scalar_end($bytes, $value) else { $broken };
                end
            }
        }
    };
}

/// Pushes members to `index` until one is unusual or `stops` say so; with `list`, as members of a member, noting the
/// objects of the list whose key has that tag. Gives the place behind the last one pushed.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn run_in_blocks(bytes: &[u8], begin: RunStart, stops: Stops, list: Option<u64>, index: &mut MemberIndex) -> usize {
    let RunStart { mut at, first } = begin;
    let (nested, list_tag) = (list.is_some(), list.unwrap_or_default());
    let mut open = at + usize::from(!first);
    if !first && bytes.get(at) != Some(&b',') {
        return at;
    }
    loop {
        let (tag, length, quotes, backslashes) = usual_key!(bytes, open, return at);
        if tag == stops.before[0] || tag == stops.before[1] {
            return at;
        }
        let key = open + 1;
        let value = key + length + 2;
        let noted = (tag == list_tag && bytes[value] == b'[' && !index.list.is_known())
            .then(|| list_in_blocks(bytes, value, &mut index.list));
        let end = match noted.flatten() {
            Some(end) => end,
            None => end_of_value!(bytes, key, value, quotes, backslashes, return at),
        };
        index.push(Member::tagged(tag, Span::new(key, key + length), Span::new(value, end), nested));
        at = end;
        if tag == stops.behind || bytes.get(at) != Some(&b',') {
            return at;
        }
        open = at + 1;
    }
}

/// Notes the list that opens at `open` if it is one of objects written in the usual way; gives the place behind it.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn list_in_blocks(bytes: &[u8], open: usize, list: &mut ObjectList) -> Option<usize> {
    list.begin();
    let mut at = open + 1;
    loop {
        let (start, from) = (at, list.members());
        if bytes.get(at) != Some(&b'{') {
            return None;
        }
        at += 1;
        loop {
            let (tag, length, quotes, backslashes) = usual_key!(bytes, at, return None);
            let key = at + 1;
            let value = key + length + 2;
            let end = end_of_value!(bytes, key, value, quotes, backslashes, return None);
            list.push(Member::tagged(tag, Span::new(key, key + length), Span::new(value, end), false));
            at = end + 1;
            match bytes.get(end) {
                Some(b',') => {}
                Some(b'}') => break,
                _ => return None,
            }
        }
        list.end_object(Span::new(start, at), from);
        at += 1;
        match bytes.get(at - 1) {
            Some(b',') => {}
            Some(b']') => break,
            _ => return None,
        }
    }
    list.end(Span::new(open, at));
    Some(at)
}
