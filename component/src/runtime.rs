//! What a guest without std must bring itself: an allocator, what happens at a panic, and where
//! the canonical ABI puts arguments. Compiled for WASI only.
#![allow(unsafe_code, reason = "the canonical ABI passes raw memory")]

use alloc::alloc::{Layout, alloc, realloc};
use alloc::string::ToString;

use crate::contract::Level;
use crate::contract::headsup::awareness::log;

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Tells the host what happened before the trap; a log line outlives the transaction.
#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    log::write(Level::Error, &info.to_string());
    core::arch::wasm32::unreachable()
}

/// Gives the canonical ABI memory for arguments and results. A guest that is out of memory traps.
#[unsafe(export_name = "cabi_realloc")]
unsafe extern "C" fn cabi_realloc(
    old: *mut u8,
    old_bytes: usize,
    align: usize,
    new_bytes: usize,
) -> *mut u8 {
    if new_bytes == 0 {
        return core::ptr::without_provenance_mut(align);
    }
    // SAFETY: the canonical ABI passes an alignment that is a power of two, and either nothing or
    // a block that it got from here with the same alignment and this size.
    let block = unsafe {
        if old_bytes == 0 {
            alloc(Layout::from_size_align_unchecked(new_bytes, align))
        } else {
            realloc(old, Layout::from_size_align_unchecked(old_bytes, align), new_bytes)
        }
    };
    if block.is_null() {
        core::arch::wasm32::unreachable()
    }
    block
}

// The compiler's memory functions come from the C library that the target links anyway.
#[link(name = "c")]
unsafe extern "C" {}
