//! Large `bytes` objects that are filled in place. Memory that is new to the process comes in pages of 4 KiB, each
//! found and cleared by the system when it is first touched: a third of the speed of memory in large pages.
#![expect(unsafe_code, reason = "PyO3 clears new bytes before they can be asked for in large pages: 2 against 6 GB/s")]

use pyo3::ffi::{self, Py_ssize_t};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The shortest object that large pages are asked for: two of them.
const LARGE: usize = 4 << 20;

/// Bytes of that length; `fill` is given them cleared, while the interpreter does other things.
pub fn bytes(py: Python<'_>, length: usize, fill: impl FnOnce(&mut [u8]) + Send) -> PyResult<Bound<'_, PyBytes>> {
    if length < LARGE {
        return PyBytes::new_with(py, length, |out| {
            fill(out);
            Ok(())
        });
    }
    let wanted = Py_ssize_t::try_from(length)?;
    // SAFETY: a null pointer asks for bytes of that length whose content is not set; null is given for an error.
    let made = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), wanted)) }?;
    let made = made.cast_into::<PyBytes>()?;
    // SAFETY: `made` is a bytes object.
    let start = unsafe { ffi::PyBytes_AsString(made.as_ptr()) }.cast::<u8>();
    ask_for_large_pages(start, length);
    // SAFETY: the object has `length` bytes from `start` on, nobody else has it yet, and it lives for longer than
    // `out`. They are set before a reference to them is made.
    let out = unsafe {
        start.write_bytes(0, length);
        std::slice::from_raw_parts_mut(start, length)
    };
    py.detach(|| fill(out));
    Ok(made)
}

/// Asks for large pages where they are whole within the memory. It is a hint, and may be turned down.
#[cfg(target_os = "linux")]
fn ask_for_large_pages(start: *mut u8, length: usize) {
    const PAGE: usize = 4096;
    let before = start.align_offset(PAGE);
    if before < length {
        // SAFETY: it lies within memory of ours, and what is in it is not changed.
        unsafe { libc::madvise(start.add(before).cast(), (length - before) / PAGE * PAGE, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_start: *mut u8, _length: usize) {}
