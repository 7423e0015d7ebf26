//! Numbers as text: the shortest that reads back as the same bits.

use mercer::Scalar;

/// A value of a block that text can hold.
pub(super) trait Number: Copy {
    /// Whether it is zero, of either sign.
    fn is_zero(self) -> bool;
    /// Whether it stands for a missing value.
    fn is_missing(self) -> bool;
    /// Adds its text to `out`: whole numbers without a point.
    fn append(self, out: &mut Vec<u8>);
}

impl Number for u8 {
    fn is_zero(self) -> bool {
        self == 0
    }

    fn is_missing(self) -> bool {
        false
    }

    fn append(self, out: &mut Vec<u8>) {
        f32::from(self).append(out);
    }
}

impl Number for f32 {
    fn is_zero(self) -> bool {
        self == 0.0
    }

    fn is_missing(self) -> bool {
        self.is_nan()
    }

    fn append(self, out: &mut Vec<u8>) {
        append(self, out);
    }
}

impl Number for f64 {
    fn is_zero(self) -> bool {
        self == 0.0
    }

    fn is_missing(self) -> bool {
        self.is_nan()
    }

    fn append(self, out: &mut Vec<u8>) {
        append(self, out);
    }
}

fn append<T: Scalar + zmij::Float>(value: T, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(value);
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: impl Number) -> String {
        let mut out = Vec::new();
        value.append(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn by_hand() {
        assert_eq!([text(7_u8), text(0.1_f32), text(0.1_f64), text(-3.0_f64)], ["7", "0.1", "0.1", "-3"]);
        assert_eq!([text(-0.0_f64), text(1e300_f64), text(1.5e-7_f32)], ["-0", "1e+300", "1.5e-7"]);
    }

    /// Bit patterns of every exponent and sign.
    #[test]
    fn text_reads_back_as_the_same_bits() {
        for i in 0..=u16::MAX {
            let x = f32::from_bits(u32::from(i) << 16 | u32::from(i.reverse_bits()));
            assert!(!x.is_finite() || text(x).parse::<f32>().unwrap().to_bits() == x.to_bits(), "{x}");
            let x = f64::from_bits(u64::from(i) << 48 | u64::from(i.reverse_bits()) << 20 | u64::from(i));
            assert!(!x.is_finite() || text(x).parse::<f64>().unwrap().to_bits() == x.to_bits(), "{x}");
        }
    }
}
