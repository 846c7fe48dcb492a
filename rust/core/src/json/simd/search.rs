//! The searches of `scalar.rs`, 64 bytes at a time, on processors with AVX2 or NEON.
//!
//! ```text
//! for each block of 64 bytes, as masks with one bit a byte:
//!   escaped   the bytes behind an odd run of backslashes
//!   quotes    `"` and not escaped
//!   inside    between an odd and an even quote (a prefix xor)
//!   opens, closes   the container's brackets, not inside
//!   depth     plus opens minus closes; only when it can reach zero in this block are the bits walked one by one
//! ```
//! `scalar.rs` does the same with memchr and safe code, and is what other processors use; the tests there hold the
//! two against each other on everything. Why not memchr alone: every short string and every `\"` starts a new
//! search, and half of a transcript is short strings and `\"`.
//!
//! What differs between processors is in `avx2.rs` and `neon.rs`: how a block is loaded, how a mask of it
//! is made, and the prefix xor. Functions that use a block are compiled for the same features as it, each by its own
//! attribute: only then are all of them inlined into one another, which a closure or a type parameter would prevent.
//!
//! The masks are those of simdjson (Langdale and Lemire, "Parsing Gigabytes of JSON per Second", section 3.1).
#![expect(unsafe_code, reason = "calls into functions compiled for AVX2 or NEON; a safe twin is in scalar.rs")]

use std::sync::atomic::{AtomicU8, Ordering};

#[cfg(target_arch = "x86_64")]
pub(super) use super::avx2::{BLOCK, Block, ByteSet, prefix_xor, supported};
#[cfg(target_arch = "aarch64")]
pub(super) use super::neon::{BLOCK, Block, ByteSet, prefix_xor, supported};

use crate::json::scalar::{self, Broken, MemberPlace, may_follow_string, scalar_end, skip_blank};

/// The environment variable that turns these searches off when it is `off`: then `scalar.rs` does all of them.
const VARIABLE: &str = "RETELL_SIMD";

/// What [`available`] answers; [`UNKNOWN`] until it is asked.
static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);

const OFF: u8 = 0;
const ON: u8 = 1;
const UNKNOWN: u8 = 2;

/// Whether the functions here are to be used: this processor has what they need, and nobody has turned them off. It is
/// asked for every member, so the answer is kept.
#[inline]
pub(in crate::json) fn available() -> bool {
    match ANSWER.load(Ordering::Relaxed) {
        UNKNOWN => ask(),
        answer => answer == ON,
    }
}

#[cold]
fn ask() -> bool {
    let wanted = supported() && std::env::var_os(VARIABLE).is_none_or(|value| value != "off");
    // Where another thread has turned them off meanwhile, that counts.
    let known = ANSWER.compare_exchange(UNKNOWN, u8::from(wanted), Ordering::Relaxed, Ordering::Relaxed);
    known.map_or_else(|answer| answer == ON, |_| wanted)
}

/// Turns the searches off in all threads, or leaves it to processor and environment again. A thread that has asked
/// [`available`] just before goes on with what it was told, and that holds: what a processor has does not go away.
pub(in crate::json) fn turn_off(off: bool) {
    ANSWER.store(if off { OFF } else { UNKNOWN }, Ordering::Relaxed);
}

/// [`crate::json::scalar::string_end`] for a processor on which [`available`] is true.
pub(in crate::json) fn string_end(bytes: &[u8], open: usize) -> Result<usize, Broken> {
    debug_assert!(supported());
    // SAFETY: the caller has asked `available`, which is true only where `supported` is: the processor has every
    // feature of the function.
    unsafe { string_end_in_blocks(bytes, open) }
}

/// [`crate::json::scalar::container_end`] for a processor on which [`available`] is true.
pub(in crate::json) fn container_end(bytes: &[u8], open: usize, opening: u8, closing: u8) -> Result<usize, Broken> {
    debug_assert!(supported());
    // SAFETY: the caller has asked `available`, which is true only where `supported` is: the processor has every
    // feature of the function.
    unsafe { container_end_in_blocks(bytes, open, opening, closing) }
}

/// [`crate::json::scalar::member`] for a processor on which [`available`] is true.
pub(in crate::json) fn member(bytes: &[u8], key: usize) -> Result<MemberPlace, Broken> {
    debug_assert!(supported());
    // SAFETY: the caller has asked `available`, which is true only where `supported` is: the processor has every
    // feature of the function.
    unsafe { member_in_blocks(bytes, key) }
}

/// [`crate::json::scalar::object_start`] for a processor on which [`available`] is true.
pub(in crate::json) fn object_start(bytes: &[u8], from: usize, letters: &[u8]) -> Option<usize> {
    debug_assert!(supported());
    // SAFETY: the caller has asked `available`, which is true only where `supported` is: the processor has every
    // feature of the function.
    unsafe { object_start_in_blocks(bytes, from, letters) }
}

impl Block {
    /// The block at `at`; what lies behind the end of `bytes` is zero.
    #[inline]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
    #[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
    fn load(bytes: &[u8], at: usize) -> Self {
        let rest = &bytes[at..];
        if let Some(whole) = rest.first_chunk::<BLOCK>() {
            return Self::of(whole);
        }
        let mut padded = [0; BLOCK];
        padded[..rest.len()].copy_from_slice(rest);
        Self::of(&padded)
    }
}

/// The bytes of a block that stand behind an odd run of backslashes. `carry` is whether the first one does
/// because of the block before, and then whether the first of the next block will.
#[inline]
fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    if backslashes == 0 {
        return std::mem::take(carry);
    }
    let backslashes = backslashes & !*carry;
    let follows = backslashes << 1 | *carry;
    if backslashes & (backslashes << 1) == 0 {
        // No two in a row, as nearly always.
        *carry = backslashes >> 63;
        return follows;
    }
    let odd_starts = backslashes & !EVEN & !follows;
    let (even_runs, overflow) = odd_starts.overflowing_add(backslashes);
    *carry = u64::from(overflow);
    (EVEN ^ (even_runs << 1)) & follows
}

/// Passes a block in which nothing depends on what is escaped: only what the next one begins with does, and that only
/// where this one ends with a backslash.
#[inline]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn pass_string(bytes: &[u8], at: usize, block: Block, carry: &mut u64) {
    if bytes.get(at + BLOCK - 1) == Some(&b'\\') {
        escaped(block.equal(b'\\'), carry);
    } else {
        *carry = 0;
    }
}

/// What mostly stands behind a string inside an object, or inside an array, but for the bracket that closes it: each
/// byte at the place of its four lower bits, so that a block is compared with all of them at once.
const BEHIND_STRING_IN_OBJECT: [u8; 16] = usual_behind_string(b']');
const BEHIND_STRING_IN_ARRAY: [u8; 16] = usual_behind_string(b'}');

const fn usual_behind_string(bracket: u8) -> [u8; 16] {
    let mut set = [0; 16];
    let (bytes, mut at) = ([b',', b':', b' ', bracket], 0);
    while at < bytes.len() {
        set[(bytes[at] & 0xf) as usize] = bytes[at];
        at += 1;
    }
    set
}

/// Which of the bytes of the block at `at` that `unusual` names may not stand behind a string.
#[cold]
fn not_behind_string(bytes: &[u8], at: usize, mut unusual: u64) -> u64 {
    let mut broken = 0;
    while unusual != 0 {
        let place = unusual.trailing_zeros();
        unusual &= unusual - 1;
        let byte = bytes.get(at + place as usize);
        broken |= u64::from(!byte.is_some_and(|&byte| may_follow_string(byte))) << place;
    }
    broken
}

/// So many blocks of a string without a quote are followed by more of them more often than not: two are then looked at
/// at a time.
const LONG_STRING_BLOCKS: u32 = 12;

/// From `at`, in a string, passes pairs of blocks without quotes; gives the place of the first pair with one, or where
/// less than a pair is left.
#[inline]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn pass_long_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(blocks) = bytes.get(at..).and_then(|rest| rest.first_chunk::<{ 2 * BLOCK }>()) {
        if Block::has_either(blocks, b'"') {
            break;
        }
        at += 2 * BLOCK;
    }
    at
}

/// Whether the byte at `at` stands behind an odd run of backslashes that begins behind `open`.
#[inline]
fn ends_with_escape(bytes: &[u8], open: usize, at: usize) -> bool {
    let Some(before) = bytes.get(open + 1..at) else { return false };
    before.last() == Some(&b'\\') && before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Key and value in one call: most of both are shorter than a block, and the call would cost as much as the search.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn member_in_blocks(bytes: &[u8], key: usize) -> Result<MemberPlace, Broken> {
    if bytes.get(key) != Some(&b'"') {
        return Err(Broken);
    }
    if let Some(place) = short_member(bytes, key) {
        return Ok(place);
    }
    let key_end = string_end_in_blocks(bytes, key)?;
    let colon = skip_blank(bytes, key_end);
    if bytes.get(colon) != Some(&b':') {
        return Err(Broken);
    }
    let value = skip_blank(bytes, colon + 1);
    let end = match bytes.get(value) {
        Some(b'"') => string_end_in_blocks(bytes, value)?,
        Some(b'{') => container_end_in_blocks(bytes, value, b'{', b'}')?,
        Some(b'[') => container_end_in_blocks(bytes, value, b'[', b']')?,
        _ => scalar_end(bytes, value)?,
    };
    Ok(MemberPlace { key: key + 1..key_end - 1, value: value..end })
}

/// The member at `key`, if it is a string without escapes and the whole fits into a block, as most do.
#[inline]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn short_member(bytes: &[u8], key: usize) -> Option<MemberPlace> {
    let block = Block::of(bytes.get(key + 1..)?.first_chunk::<BLOCK>()?);
    let quotes = block.equal(b'"');
    // The key's closing quote, the value's opening one right behind a colon, its closing one.
    let (key_end, rest) = (quotes.trailing_zeros() as usize, quotes & quotes.wrapping_sub(1));
    let (value, rest) = (rest.trailing_zeros() as usize, rest & rest.wrapping_sub(1));
    let value_end = rest.trailing_zeros() as usize;
    if value != key_end + 2 || value_end == BLOCK || bytes[key + 2 + key_end] != b':' {
        return None;
    }
    let escapes = block.equal(b'\\') & ((1 << value_end) - 1);
    let behind = key + 1;
    (escapes == 0).then(|| MemberPlace { key: behind..behind + key_end, value: behind + value..behind + value_end + 1 })
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn object_start_in_blocks(bytes: &[u8], from: usize, letters: &[u8]) -> Option<usize> {
    let mut at = from;
    // The three bytes of a start are looked for side by side, each in a block of its own.
    while at + BLOCK + 2 <= bytes.len() {
        let braces = Block::load(bytes, at).equal(b'{');
        if braces != 0
            && let Some(found) = object_start_in_block(bytes, at, braces, letters)
        {
            return Some(found);
        }
        at += BLOCK;
    }
    // What is left is looked at with what stands before it, which begins no object but in a short line.
    if let Some(last) = bytes.len().checked_sub(BLOCK + 2).filter(|&last| last >= from && at < bytes.len()) {
        return object_start_in_block(bytes, last, Block::load(bytes, last).equal(b'{'), letters);
    }
    scalar::object_start(bytes, at, letters)
}

#[inline]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
fn object_start_in_block(bytes: &[u8], at: usize, braces: u64, letters: &[u8]) -> Option<usize> {
    let quotes = braces & Block::load(bytes, at + 1).equal(b'"');
    if quotes == 0 {
        return None;
    }
    let third = Block::load(bytes, at + 2);
    let mut wanted = 0;
    for &letter in letters {
        wanted |= third.equal(letter);
    }
    let found = quotes & wanted;
    (found != 0).then(|| at + found.trailing_zeros() as usize)
}

#[inline]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
pub(super) fn string_end_in_blocks(bytes: &[u8], open: usize) -> Result<usize, Broken> {
    let mut at = open + 1;
    let (mut carry, mut plain_blocks) = (0, 0);
    while at < bytes.len() {
        let block = Block::load(bytes, at);
        let quotes = block.equal(b'"');
        if quotes != 0 {
            let quotes = quotes & !escaped(block.equal(b'\\'), &mut carry);
            if quotes != 0 {
                return Ok(at + quotes.trailing_zeros() as usize + 1);
            }
            plain_blocks = 0;
        } else {
            plain_blocks += 1;
            if plain_blocks > LONG_STRING_BLOCKS {
                at = pass_long_string(bytes, at + BLOCK);
                carry = u64::from(ends_with_escape(bytes, open, at));
                continue;
            }
            pass_string(bytes, at, block, &mut carry);
        }
        at += BLOCK;
    }
    Err(Broken)
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq"))]
#[cfg_attr(target_arch = "aarch64", target_feature(enable = "neon"))]
pub(super) fn container_end_in_blocks(bytes: &[u8], open: usize, opening: u8, closing: u8) -> Result<usize, Broken> {
    let mut at = open + 1;
    let mut depth = 1_usize;
    let (mut carry, mut was_inside, mut was_closing, mut plain_blocks) = (0, 0_u64, 0_u64, 0);
    // Beside the closing bracket, which is looked for anyway.
    let usual = ByteSet::of(if closing == b'}' { &BEHIND_STRING_IN_OBJECT } else { &BEHIND_STRING_IN_ARRAY });
    while at < bytes.len() {
        let block = Block::load(bytes, at);
        let quotes = block.equal(b'"');
        if quotes == 0 && was_inside != 0 {
            // In the middle of a long string, as most of a transcript is.
            plain_blocks += 1;
            if plain_blocks > LONG_STRING_BLOCKS {
                at = pass_long_string(bytes, at + BLOCK);
                carry = u64::from(ends_with_escape(bytes, open, at));
            } else {
                pass_string(bytes, at, block, &mut carry);
                at += BLOCK;
            }
            continue;
        }
        plain_blocks = 0;
        let quotes = quotes & !escaped(block.equal(b'\\'), &mut carry);
        if quotes == 0 && was_inside != 0 {
            at += BLOCK;
            continue;
        }
        let inside = prefix_xor(quotes) ^ was_inside;
        let closes = block.equal(closing) & !inside;
        // Closing quotes are not inside; see `scalar.rs` for what may stand behind them.
        let closing_quotes = quotes & !inside;
        let behind = closing_quotes << 1 | was_closing;
        was_closing = closing_quotes >> 63;
        let unusual = if behind == 0 { 0 } else { behind & !(closes | block.found_in(usual)) };
        let broken = if unusual == 0 { 0 } else { not_behind_string(bytes, at, unusual) };
        // All ones when the block ends inside a string.
        was_inside = (inside.cast_signed() >> 63).cast_unsigned();
        let opens = block.equal(opening) & !inside;
        if (closes.count_ones() as usize) < depth && broken == 0 {
            depth = depth + opens.count_ones() as usize - closes.count_ones() as usize;
        } else {
            let mut left = closes;
            while left != 0 {
                let place = left.trailing_zeros();
                left &= left - 1;
                let before = (1_u64 << place) - 1;
                let opened = (opens & before).count_ones() as usize;
                let closed = (closes & before).count_ones() as usize + 1;
                if depth + opened == closed {
                    return if broken & before == 0 { Ok(at + place as usize + 1) } else { Err(Broken) };
                }
            }
            if broken != 0 {
                return Err(Broken);
            }
            depth = depth + opens.count_ones() as usize - closes.count_ones() as usize;
        }
        at += BLOCK;
    }
    Err(Broken)
}
