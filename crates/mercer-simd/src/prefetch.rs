//! A hint that memory will be read soon.

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;
/// Bytes asked for at most: the processor follows a longer run of lines by itself.
#[cfg(target_arch = "x86_64")]
const LONGEST: usize = 1024;

/// Asks for the cache lines of a slice, which is to be read some hundred cycles later. Never changes a result; does
/// nothing where there is no such instruction.
#[inline(always)]
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let (start, len) = (slice.as_ptr().cast::<i8>(), size_of_val(slice).min(LONGEST));
        // SAFETY: SSE is part of x86-64, and a hint does not fault at any address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(start);
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(LINE));
        }
        let mut at = 2 * LINE;
        while at < len {
            // SAFETY: as above.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at)) };
            at += LINE;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}
