//! What a guest without std must bring itself: an allocator, what happens at a panic, and where
//! the canonical ABI puts arguments. Compiled for WASI only.
#![allow(unsafe_code, reason = "the canonical ABI passes raw memory")]

use alloc::alloc::{GlobalAlloc, Layout, alloc, realloc};
use alloc::string::String;
use core::arch::wasm32;
use core::cell::UnsafeCell;
use core::panic::PanicInfo;
use core::ptr::NonNull;

use crate::contract::Level;
use crate::contract::headsup::awareness::log;
use crate::heap::{self, Heap, Memory};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(UnsafeCell::new(Heap::new(Linear)));

/// The instance's linear memory.
struct Linear;

impl Memory for Linear {
    fn grow(&mut self, bytes: usize) -> Option<(*mut u8, usize)> {
        const PAGE: usize = 65_536;
        let pages = bytes.div_ceil(PAGE);
        match wasm32::memory_grow::<0>(pages) {
            usize::MAX => None,
            before => Some((core::ptr::with_exposed_provenance_mut(before * PAGE), pages * PAGE)),
        }
    }
}

/// The heap of the one thread that an instance has.
struct Allocator(UnsafeCell<Heap<Linear>>);

// SAFETY: an instance has one thread.
unsafe impl Sync for Allocator {}

impl Allocator {
    /// A block, or a trap: its type says that it is never null, and so no caller has code for that.
    #[inline(never)]
    fn block(&self, bytes: usize) -> NonNull<u8> {
        // SAFETY: one thread, and the heap calls nothing that allocates.
        let block = unsafe { (*self.0.get()).alloc(bytes) };
        NonNull::new(block).unwrap_or_else(|| wasm32::unreachable())
    }
}

// SAFETY: blocks are as large as asked and aligned to 16, which is the most that any type of the
// guest needs; for more there is a trap.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > heap::ALIGNMENT {
            wasm32::unreachable()
        }
        self.block(layout.size()).as_ptr()
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above; the caller gives back what it got.
        unsafe { (*self.0.get()).free(block, layout.size()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if heap::class_of(layout.size()) == heap::class_of(bytes) {
            return block;
        }
        let moved = self.block(bytes).as_ptr();
        // SAFETY: the caller's block has `layout.size()` bytes, the new one `bytes`, and they are
        // different ones.
        unsafe {
            moved.copy_from_nonoverlapping(block, layout.size().min(bytes));
            self.dealloc(block, layout);
        }
        moved
    }
}

/// Tells the host what happened before the trap; a log line outlives the transaction.
#[panic_handler]
fn panicked(info: &PanicInfo<'_>) -> ! {
    log::write(Level::Error, &words(info));
    wasm32::unreachable()
}

/// A plugin's panics may say anything.
#[cfg(not(feature = "exports"))]
fn words(info: &PanicInfo<'_>) -> String {
    alloc::string::ToString::to_string(info)
}

/// The built-in core's own are words that need no formatting; what formats them would be 2 KB of it.
#[cfg(feature = "exports")]
fn words(info: &PanicInfo<'_>) -> String {
    use crate::text::{joined, number};

    let (file, line) = info.location().map_or(("", 0), |at| (at.file(), at.line()));
    let what = info.message().as_str().unwrap_or_default();
    joined(&["panicked at ", file, ":", &number(line), ": ", what])
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
    unsafe {
        if old_bytes == 0 {
            alloc(Layout::from_size_align_unchecked(new_bytes, align))
        } else {
            realloc(old, Layout::from_size_align_unchecked(old_bytes, align), new_bytes)
        }
    }
}

// The compiler's memory functions come from the C library that the target links anyway.
#[link(name = "c")]
unsafe extern "C" {}
