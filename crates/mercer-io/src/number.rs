//! The number that some text begins with.
//!
//! Up to 15 digits, a point among them or not, are a whole number over a power of ten, and f64 holds both exactly: one
//! division rounds the value right (Clinger, "How to read floating point numbers accurately", 1990). f32 rounds it
//! once more, which is right unless the quotient lies exactly between two numbers of f32. That case and all other text
//! (exponents, more digits, a sign `+`, words) is left to `fast_float2`, so the bits are always those it gives.

use crate::value::Value;

/// Digits of a whole number that f64 holds, whatever they are.
const EXACT_DIGITS: usize = 15;
const POWERS: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The number, perhaps not finite, that `text` begins with, and its length.
#[inline(always)]
pub(crate) fn parse_prefix<T: Value>(text: &[u8]) -> Option<(T, usize)> {
    parse_decimal(text).or_else(|| parse_any(text))
}

#[inline(never)]
fn parse_any<T: Value>(text: &[u8]) -> Option<(T, usize)> {
    fast_float2::parse_partial(text).ok()
}

#[inline(always)]
fn parse_decimal<T: Value>(text: &[u8]) -> Option<(T, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (mut digits, mut end) = parse_digits(text, start, 0);
    let mut value = digits as f64;
    let mut n_digits = end - start;
    if text.get(end) == Some(&b'.') {
        let point = end;
        (digits, end) = parse_digits(text, point + 1, digits);
        let n_decimals = end - point - 1;
        n_digits += n_decimals;
        value = digits as f64 / POWERS.get(n_decimals)?;
    }
    let goes_on = matches!(text.get(end), Some(b'e' | b'E' | b'.'));
    if n_digits > EXACT_DIGITS || end == start || text[end - 1] == b'.' || text[start] == b'.' || goes_on {
        return None;
    }
    T::from_rounded(if negative { -value } else { value }).map(|value| (value, end))
}

/// `number` followed by the digits from `at` on, and where they end. More than 19 wrap, and are refused above.
#[inline(always)]
fn parse_digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits and the length, or that there is no number.
    fn check(text: &str) {
        let bits = |value: Option<(f64, usize)>| value.map(|(value, len)| (value.to_bits(), len));
        let ours = bits(parse_prefix::<f64>(text.as_bytes()));
        assert_eq!(ours, bits(fast_float2::parse_partial(text).ok()), "{text}");
        let bits = |value: Option<(f32, usize)>| value.map(|(value, len)| (value.to_bits(), len));
        let ours = bits(parse_prefix::<f32>(text.as_bytes()));
        assert_eq!(ours, bits(fast_float2::parse_partial(text).ok()), "{text}");
    }

    #[test]
    fn every_short_text_is_read_as_by_fast_float() {
        const ALPHABET: [char; 8] = ['0', '1', '9', '.', '-', '+', 'e', ','];
        for len in 0..=6 {
            for code in 0..1_usize << (3 * len) {
                check(&(0..len).map(|at| ALPHABET[code >> (3 * at) & 7]).collect::<String>());
            }
        }
    }

    #[test]
    fn decimals_of_any_length_are_read_as_by_fast_float() {
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let whole = (state >> 24) >> (state % 40);
            for n_decimals in [0, 1, 3, 7, 12, 17] {
                let decimals = (state >> 8) % 10_u64.pow(n_decimals as u32);
                check(&format!("-{whole}.{decimals:0n_decimals$},"));
            }
        }
    }

    #[test]
    fn what_lies_between_two_numbers_of_f32_is_rounded_to_even() {
        for whole in (1 << 24) - 8..(1_u64 << 24) + 4096 {
            check(&whole.to_string());
            check(&format!("{whole}.000001"));
            check(&format!("{}.5", whole / 2));
            check(&format!("{}.50000001", whole / 2));
            check(&format!("{}.49999999", whole / 2));
        }
    }
}
