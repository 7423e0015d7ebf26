//! The shape of an array as rows and inputs.

use super::Element;
use crate::{Error, Result};

/// What the header of an NPY or IDX file declares; the first dimension counts rows, the others are flattened.
#[derive(Clone, Debug)]
pub(crate) struct ArrayHeader {
    /// Bytes before the first element.
    pub(crate) data_start: usize,
    pub(crate) n_rows: usize,
    pub(crate) n_inputs: usize,
    pub(crate) element: Element,
    /// For Fortran order, the dimensions of a row.
    pub(crate) fortran_dims: Option<Vec<usize>>,
    pub(crate) n_dims: usize,
}

impl ArrayHeader {
    /// # Errors
    /// When the array has no rows or no inputs, or more bytes than an address has values.
    pub(crate) fn new(file: &str, data_start: usize, dims: &[u64], element: Element, fortran: bool) -> Result<Self> {
        let shape: Option<Vec<usize>> = dims.iter().map(|&dim| usize::try_from(dim).ok()).collect();
        let too_large = || Error::TooLarge { file: file.to_owned(), shape: format!("{dims:?}") };
        let shape = shape.ok_or_else(too_large)?;
        let Some((&n_rows, row_dims)) = shape.split_first() else {
            return Err(Error::NoRows { file: file.to_owned(), found: "a single number" });
        };
        if shape.contains(&0) {
            return Err(Error::NoRows { file: file.to_owned(), found: "an array of size 0" });
        }
        let product = |size: usize, &dim: &usize| size.checked_mul(dim);
        let bytes = shape.iter().try_fold(element.size(), product);
        bytes.filter(|&n| n <= isize::MAX as usize).ok_or_else(too_large)?;
        let n_inputs = row_dims.iter().product();
        let fortran_dims = (fortran && !row_dims.is_empty()).then(|| row_dims.to_vec());
        Ok(Self { data_start, n_rows, n_inputs, element, fortran_dims, n_dims: shape.len() })
    }

    /// Bytes of one row.
    pub(crate) fn row_bytes(&self) -> usize {
        self.n_inputs * self.element.size()
    }
}
