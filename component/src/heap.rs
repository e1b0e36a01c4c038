//! The guest's allocator. A call allocates a few dozen small blocks, frees them all before it
//! returns, and the next call asks for the same sizes again: free blocks are kept in one list for
//! each power of two, so that both directions take a handful of instructions. A general allocator
//! took a fifth of the guest's time and a twentieth of its bytes.
//!
//! What is freed is used again for blocks of its own size class alone, and never given back: a
//! guest that needed much once keeps it until its instance ends. A block is less than twice as
//! large as was asked for.
#![allow(unsafe_code, reason = "an allocator hands out raw memory")]
#![allow(clippy::cast_ptr_alignment, reason = "every block is aligned to 16 bytes")]

use core::ptr;

/// What every block is aligned to, in bytes.
pub const ALIGNMENT: usize = 16;

/// The smallest block, in bytes.
const SMALLEST: usize = ALIGNMENT;

/// Powers of two from the smallest block up to half of what 32 bits address.
const CLASSES: usize = 28;

/// Where memory comes from.
pub trait Memory {
    /// At least so many more bytes: where they begin, aligned to the smallest block, and how many
    /// they are. `None` if there are no more.
    fn grow(&mut self, bytes: usize) -> Option<(*mut u8, usize)>;
}

/// Free blocks by size, and memory that was not used yet.
pub struct Heap<M> {
    memory: M,
    /// The first free block of each class. A free block begins with the address of the next.
    free: [*mut u8; CLASSES],
    unused: *mut u8,
    unused_bytes: usize,
}

impl<M: Memory> Heap<M> {
    /// An empty heap.
    pub const fn new(memory: M) -> Self {
        Self { memory, free: [ptr::null_mut(); CLASSES], unused: ptr::null_mut(), unused_bytes: 0 }
    }

    /// A block of at least so many bytes, aligned to 16; null if there is no memory.
    #[inline]
    pub fn alloc(&mut self, bytes: usize) -> *mut u8 {
        let class = class_of(bytes);
        match self.free.get_mut(class) {
            Some(first) if !first.is_null() => {
                let block = *first;
                // SAFETY: a block in the list is free and begins with the address of the next.
                *first = unsafe { block.cast::<*mut u8>().read() };
                block
            }
            Some(_) => self.carve(class),
            None => ptr::null_mut(),
        }
    }

    /// Takes back a block.
    ///
    /// # Safety
    /// It came from `alloc` with the same number of bytes, or one of the same class, and nobody
    /// uses it any more.
    #[inline]
    pub unsafe fn free(&mut self, block: *mut u8, bytes: usize) {
        if let Some(first) = self.free.get_mut(class_of(bytes)) {
            // SAFETY: the block is ours alone, aligned, and has room for an address.
            unsafe { block.cast::<*mut u8>().write(*first) };
            *first = block;
        }
    }

    /// Cuts a block from memory that was not used yet.
    #[cold]
    fn carve(&mut self, class: usize) -> *mut u8 {
        let bytes = SMALLEST << class;
        if self.unused_bytes < bytes {
            let Some((begin, grown)) = self.memory.grow(bytes) else { return ptr::null_mut() };
            // What follows the rest is the rest, grown; else the rest is given up.
            if self.unused.wrapping_add(self.unused_bytes) == begin {
                self.unused_bytes += grown;
            } else {
                self.unused = begin;
                self.unused_bytes = grown;
            }
        }
        let block = self.unused;
        self.unused = block.wrapping_add(bytes);
        self.unused_bytes -= bytes;
        block
    }
}

/// Which list blocks of so many bytes are in.
#[inline]
pub fn class_of(bytes: usize) -> usize {
    let units = bytes.saturating_sub(1) / SMALLEST;
    (usize::BITS - units.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// So many pages, apart from each other or one after the other.
    struct Pages {
        pages: Vec<Vec<u128>>,
        left: usize,
    }

    impl Memory for Pages {
        fn grow(&mut self, bytes: usize) -> Option<(*mut u8, usize)> {
            let grown = bytes.next_multiple_of(4_096);
            self.left = self.left.checked_sub(grown)?;
            self.pages.push(vec![0; grown / 16]);
            let page = self.pages.last_mut()?;
            Some((page.as_mut_ptr().cast(), grown))
        }
    }

    fn heap(bytes: usize) -> Heap<Pages> {
        Heap::new(Pages { pages: Vec::new(), left: bytes })
    }

    #[test]
    fn a_block_is_as_large_as_asked_and_less_than_twice() {
        for bytes in [0, 1, 15, 16, 17, 32, 33, 100, 4_096, 4_097, 1 << 30] {
            let block = SMALLEST << class_of(bytes);
            assert!(block >= bytes && (block < 2 * bytes || block == SMALLEST), "{bytes}: {block}");
        }
    }

    #[test]
    fn without_memory_there_is_no_block() {
        let mut heap = heap(8_192);
        assert!(heap.alloc(16_384).is_null());
        assert!(!heap.alloc(4_096).is_null());
        assert!(heap.alloc(usize::MAX).is_null());
    }

    #[test]
    fn what_was_freed_is_used_again() {
        let mut heap = heap(4_096);
        for _ in 0..1_000 {
            let block = heap.alloc(3_000);
            assert!(!block.is_null());
            // SAFETY: it came from `alloc` with as many bytes.
            unsafe { heap.free(block, 3_000) };
        }
    }

    proptest! {
        #[test]
        fn blocks_in_use_never_overlap(steps in prop::collection::vec((0_usize..3_000, any::<bool>()), 1..300)) {
            let mut heap = heap(64 << 20);
            let mut used: BTreeMap<usize, (*mut u8, usize)> = BTreeMap::new();
            for (bytes, frees) in steps {
                if frees && let Some((_, (block, bytes))) = used.pop_first() {
                    // SAFETY: it came from `alloc` with as many bytes.
                    unsafe { heap.free(block, bytes) };
                    continue;
                }
                let block = heap.alloc(bytes);
                prop_assert!(!block.is_null() && block.addr().is_multiple_of(SMALLEST));
                if let Some((before, (_, length))) = used.range(..=block.addr()).next_back() {
                    prop_assert!(before + length <= block.addr());
                }
                if let Some((after, _)) = used.range(block.addr()..).next() {
                    prop_assert!(block.addr() + bytes <= *after);
                }
                used.insert(block.addr(), (block, bytes.max(1)));
            }
        }
    }
}
