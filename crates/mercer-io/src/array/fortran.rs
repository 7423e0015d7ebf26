//! Arrays stored with the first dimension fastest, as NumPy saves transposed data.

/// A whole array in Fortran order, from which rows are gathered.
pub(super) struct FortranArray {
    bytes: Vec<u8>,
    size: usize,
    /// Where each input of row 0 is, in elements.
    offsets: Vec<usize>,
}

impl FortranArray {
    /// `bytes` hold `n_rows` rows of the dimensions `row_dims`, with elements of `size` bytes.
    pub(super) fn new(bytes: Vec<u8>, size: usize, n_rows: usize, row_dims: &[usize]) -> Self {
        Self { bytes, size, offsets: offsets(n_rows, row_dims) }
    }

    /// Rows `start..end` in C order.
    pub(super) fn rows(&self, start: usize, end: usize) -> Vec<u8> {
        match self.size {
            1 => self.gather::<1>(start, end),
            2 => self.gather::<2>(start, end),
            4 => self.gather::<4>(start, end),
            _ => self.gather::<8>(start, end),
        }
    }

    fn gather<const N: usize>(&self, start: usize, end: usize) -> Vec<u8> {
        let elements = self.bytes.as_chunks::<N>().0;
        let mut out = vec![[0; N]; (end - start) * self.offsets.len()];
        for (row, out) in out.chunks_exact_mut(self.offsets.len()).enumerate() {
            for (out, offset) in out.iter_mut().zip(&self.offsets) {
                *out = elements[offset + start + row];
            }
        }
        out.into_flattened()
    }
}

/// Offsets of the inputs of a row, last dimension fastest, in an array whose first dimension is fastest.
fn offsets(n_rows: usize, row_dims: &[usize]) -> Vec<usize> {
    let mut offsets = vec![0];
    let mut stride = n_rows;
    for &dim in row_dims {
        offsets = offsets.iter().flat_map(|&base| (0..dim).map(move |i| base + i * stride)).collect();
        stride *= dim;
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_three_dimensions_come_out_in_c_order() {
        // Element [i, j, k] of a 2×2×3 array holds 100 i + 10 j + k.
        let fortran: Vec<u8> =
            (0..3).flat_map(|k| (0..2).flat_map(move |j| (0..2).map(move |i| 100 * i + 10 * j + k))).collect();
        let array = FortranArray::new(fortran, 1, 2, &[2, 3]);
        assert_eq!(array.rows(0, 2), [0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112]);
        assert_eq!(array.rows(1, 2), [100, 101, 102, 110, 111, 112]);
    }
}
