//! A block in two AVX2 registers, for x86-64.
#![expect(unsafe_code, reason = "vector loads; all that is done with them has a safe twin in scalar.rs")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_set_epi64x, _mm_set1_epi8,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_shuffle_epi8,
};

/// The bytes of a block.
pub(in crate::json) const BLOCK: usize = 64;

/// Whether the processor has every feature that functions here and in `search.rs` are compiled for.
pub(in crate::json) fn supported() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("pclmulqdq")
}

/// 64 bytes in two registers.
#[derive(Clone, Copy)]
pub(in crate::json) struct Block(__m256i, __m256i);

impl Block {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::json) fn of(bytes: &[u8; BLOCK]) -> Self {
        #[expect(clippy::cast_ptr_alignment, reason = "the load is the one that needs no alignment")]
        let start = bytes.as_ptr().cast::<__m256i>();
        // SAFETY: `bytes` is 64 bytes long, so 32 can be read at its start and 32 in its middle; the load needs
        // no alignment.
        unsafe { Self(_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))) }
    }

    /// One bit for each byte that is `byte`, the lowest for the first.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::json) fn equal(self, byte: u8) -> u64 {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(self.0, wanted)).cast_unsigned();
        let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(self.1, wanted)).cast_unsigned();
        u64::from(low) | u64::from(high) << 32
    }

    /// Whether one of two blocks holds `byte`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::json) fn has_either(bytes: &[u8; 2 * BLOCK], byte: u8) -> bool {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        #[expect(clippy::cast_ptr_alignment, reason = "the load is the one that needs no alignment")]
        let start = bytes.as_ptr().cast::<__m256i>();
        // SAFETY: `bytes` is 128 bytes long, so 32 can be read at each of these; the load needs no alignment.
        let parts = unsafe {
            [
                _mm256_loadu_si256(start),
                _mm256_loadu_si256(start.add(1)),
                _mm256_loadu_si256(start.add(2)),
                _mm256_loadu_si256(start.add(3)),
            ]
        };
        let first = _mm256_or_si256(_mm256_cmpeq_epi8(parts[0], wanted), _mm256_cmpeq_epi8(parts[1], wanted));
        let second = _mm256_or_si256(_mm256_cmpeq_epi8(parts[2], wanted), _mm256_cmpeq_epi8(parts[3], wanted));
        _mm256_movemask_epi8(_mm256_or_si256(first, second)) != 0
    }

    /// One bit for each byte that is in `set`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::json) fn found_in(self, set: ByteSet) -> u64 {
        // A byte that is not ASCII finds 0, and 0 finds the set's first byte, which is none.
        let low = _mm256_cmpeq_epi8(self.0, _mm256_shuffle_epi8(set.0, self.0));
        let high = _mm256_cmpeq_epi8(self.1, _mm256_shuffle_epi8(set.0, self.1));
        let (low, high) = (_mm256_movemask_epi8(low).cast_unsigned(), _mm256_movemask_epi8(high).cast_unsigned());
        u64::from(low) | u64::from(high) << 32
    }
}

/// Bytes of ASCII other than 0 of which no two have the same four lower bits.
#[derive(Clone, Copy)]
pub(in crate::json) struct ByteSet(__m256i);

impl ByteSet {
    /// The set of the bytes in `places`, each at the place of its four lower bits, and 0 at every other. At 0 stands
    /// one of them.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::json) fn of(places: &[u8; 16]) -> Self {
        #[expect(clippy::cast_ptr_alignment, reason = "the load is the one that needs no alignment")]
        let start = places.as_ptr().cast::<__m128i>();
        // SAFETY: `places` is 16 bytes long; the load needs no alignment.
        Self(_mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(start) }))
    }
}

/// Bit by bit, the parity of the bits up to and with it: a carry-less multiplication by all ones.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq")]
pub(in crate::json) fn prefix_xor(mask: u64) -> u64 {
    let product = _mm_clmulepi64_si128(_mm_set_epi64x(0, mask.cast_signed()), _mm_set1_epi8(-1), 0);
    _mm_cvtsi128_si64(product).cast_unsigned()
}
