//! Prefetching of memory that is about to be used.
//!
//! In a network of thousands of ports most memory that an event touches is in no cache. The wheel
//! knows the next events, so their cache misses can overlap. Prefetching affects only the running
//! time.

/// Prefetches the cache line of an element; does nothing if the index is out of range.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    if let Some(element) = slice.get(index) {
        line(element, 0);
    }
}

/// Prefetches all cache lines of a small value.
#[inline(always)]
pub fn prefetch_whole<T>(value: &T) {
    for offset in (0..size_of::<T>()).step_by(64) {
        line(value, offset);
    }
}

#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
fn line<T>(value: &T, offset: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = std::ptr::from_ref(value).cast::<i8>().wrapping_add(offset);
        // SAFETY: a prefetch reads nothing and cannot fail, whatever the address.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address);
        }
    }
}
