//! Laws, layout and golden vectors.
