//! The on-demand JSON reader: finds fields and skips values without decoding them.
//!
//! ```text
//! scalar   where strings and containers end, with memchr        simd     the same in blocks of 64 bytes
//! scan     the faster of both                                    string   decoding
//! value, index, members   what was found, by key, on one walk
//! ```
//! Nothing else in the crate knows what JSON bytes look like. Skipping checks structure only (strings end,
//! brackets close); what is decoded is decoded in full. Of two equal keys in one object the first counts,
//! because reading stops where the answer is known (most parsers take the last).

mod index;
mod members;
mod scalar;
mod scan;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod simd;
mod string;
mod value;

pub use index::{Member, MemberIndex, Stops, tag};
pub use members::Members;
pub use scalar::{Broken, MemberPlace, enclosing_object_start, has_escapes, skip_blank};
pub use scan::{object_start, value_end};
pub use string::{Text, decode};
pub use value::{Value, key, key_is};

/// Searches without vector instructions in the whole process, as `RETELL_SIMD=off` does, or again as processor and
/// environment say. The results are the same: this is for those who see to it that they are.
#[doc(hidden)]
pub fn search_plainly(plainly: bool) {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    simd::turn_off(plainly);
    // Other processors have no other way.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = plainly;
}
