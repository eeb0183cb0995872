//! The memory that a thread takes, counted.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Bytes that this thread has allocated and not freed. Another thread may free them.
    static TAKEN: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let taken = TAKEN.get() + bytes;
    TAKEN.set(taken);
    MOST.set(MOST.get().max(taken));
}

// SAFETY: every call is passed on. The counters allocate nothing, as they are constant at first and
// have no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most bytes that `work` takes at once in this thread, and its result.
pub(crate) fn most_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    MOST.set(before);
    let result = work();
    (result, (MOST.get() - before) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_counts_and_not_the_sum() {
        let work = || {
            drop(vec![0u8; 5000]);
            vec![1u8; 3000].len()
        };
        assert_eq!(most_of(work), (3000, 5000));
        let mut kept = Vec::new();
        let ((), most) = most_of(|| kept.extend([0u8; 100]));
        assert!((100..5000).contains(&most), "{most}");
    }
}
