//! A block in four NEON registers, for 64-bit ARM.
#![expect(unsafe_code, reason = "vector loads; all that is done with them has a safe twin in scalar.rs")]

use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vceqq_u8, vdupq_n_u8, vgetq_lane_u64, vld1q_u8, vpaddq_u8, vqtbl1q_u8, vreinterpretq_u64_u8,
};
use std::arch::is_aarch64_feature_detected;

/// The bytes of a block.
pub(in crate::json) const BLOCK: usize = 64;

/// Whether the processor has what functions here and in `search.rs` are compiled for: NEON, which these processors
/// have unless they are made for kernels and such. The order of the bits in [`Block::equal`] is the little-endian one.
pub(in crate::json) fn supported() -> bool {
    cfg!(target_endian = "little") && is_aarch64_feature_detected!("neon")
}

/// 64 bytes in four registers.
#[derive(Clone, Copy)]
pub(in crate::json) struct Block(uint8x16_t, uint8x16_t, uint8x16_t, uint8x16_t);

impl Block {
    #[inline]
    #[target_feature(enable = "neon")]
    pub(in crate::json) fn of(bytes: &[u8; BLOCK]) -> Self {
        let start = bytes.as_ptr();
        // SAFETY: `bytes` is 64 bytes long, so 16 can be read at each of these; the load needs no alignment.
        unsafe { Self(vld1q_u8(start), vld1q_u8(start.add(16)), vld1q_u8(start.add(32)), vld1q_u8(start.add(48))) }
    }

    /// One bit for each byte that is `byte`, the lowest for the first.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(in crate::json) fn equal(self, byte: u8) -> u64 {
        let wanted = vdupq_n_u8(byte);
        let Self(first, second, third, fourth) = self;
        bits(vceqq_u8(first, wanted), vceqq_u8(second, wanted), vceqq_u8(third, wanted), vceqq_u8(fourth, wanted))
    }

    /// Whether one of two blocks holds `byte`.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(in crate::json) fn has_either(bytes: &[u8; 2 * BLOCK], byte: u8) -> bool {
        let (blocks, _) = bytes.as_chunks::<BLOCK>();
        Self::of(&blocks[0]).equal(byte) | Self::of(&blocks[1]).equal(byte) != 0
    }

    /// One bit for each byte that is in `set`.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(in crate::json) fn found_in(self, set: ByteSet) -> u64 {
        let lower = vdupq_n_u8(0xf);
        let Self(first, second, third, fourth) = self;
        bits(
            vceqq_u8(first, vqtbl1q_u8(set.0, vandq_u8(first, lower))),
            vceqq_u8(second, vqtbl1q_u8(set.0, vandq_u8(second, lower))),
            vceqq_u8(third, vqtbl1q_u8(set.0, vandq_u8(third, lower))),
            vceqq_u8(fourth, vqtbl1q_u8(set.0, vandq_u8(fourth, lower))),
        )
    }
}

/// One bit for each byte that is all ones. NEON has no instruction for that: every such byte becomes its bit of eight,
/// and three sums of neighbours put eight of them into one byte.
#[inline]
#[target_feature(enable = "neon")]
fn bits(first: uint8x16_t, second: uint8x16_t, third: uint8x16_t, fourth: uint8x16_t) -> u64 {
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: `BITS` is 16 bytes long; the load needs no alignment.
    let bits = unsafe { vld1q_u8(BITS.as_ptr()) };
    let (first, second) = (vandq_u8(first, bits), vandq_u8(second, bits));
    let (third, fourth) = (vandq_u8(third, bits), vandq_u8(fourth, bits));
    let fours = vpaddq_u8(vpaddq_u8(first, second), vpaddq_u8(third, fourth));
    vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)), 0)
}

/// Bytes of ASCII other than 0 of which no two have the same four lower bits.
#[derive(Clone, Copy)]
pub(in crate::json) struct ByteSet(uint8x16_t);

impl ByteSet {
    /// The set of the bytes in `places`, each at the place of its four lower bits, and 0 at every other. At 0 stands
    /// one of them.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(in crate::json) fn of(places: &[u8; 16]) -> Self {
        // SAFETY: `places` is 16 bytes long; the load needs no alignment.
        Self(unsafe { vld1q_u8(places.as_ptr()) })
    }
}

/// Bit by bit, the parity of the bits up to and with it. The multiplication that does this in one step is not in every
/// processor with NEON.
#[inline]
pub(in crate::json) fn prefix_xor(mut mask: u64) -> u64 {
    for step in [1, 2, 4, 8, 16, 32] {
        mask ^= mask << step;
    }
    mask
}
