//! The searches of `scalar.rs` and the walk over members, 64 bytes at a time, on processors with AVX2 or NEON.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod run;
mod search;

pub(super) use run::{RunStart, run};
pub(super) use search::{available, container_end, member, object_start, string_end, turn_off};
