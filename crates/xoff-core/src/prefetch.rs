//! Asks the processor for memory that will be needed in a moment.
//!
//! In a network of thousands of ports most of what an event touches is in no cache. The wheel knows
//! which events come next, so the waits can overlap. Nothing depends on it but time.

/// Asks for the cache line of an element; does nothing where there is no such element.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    if let Some(element) = slice.get(index) {
        line(element, 0);
    }
}

/// Asks for all cache lines of something small.
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
