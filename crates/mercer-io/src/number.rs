//! The finite number that some text begins with.
//!
//! A whole number of up to 18 digits fits in i64, and its conversion rounds right. Digits with a point among them are
//! a whole number over a power of ten, and one division in f64 rounds their value right where f64 holds both exactly
//! (Clinger, "How to read floating point numbers accurately", 1990): up to 15 digits. For f32 up to 19 will do
//! ([`Value::from_ratio`]). All other text (exponents, more digits, a sign `+`, words) is left to `fast_float2`, so the
//! bits are always those it gives.

use crate::value::Value;

/// Digits of a whole number that i64 holds, whatever they are.
const WHOLE_DIGITS: usize = 18;
/// Digits of a whole number that u64 holds, whatever they are.
const MOST_DIGITS: usize = 19;
/// Powers of ten, all exact.
const POWERS: [f64; MOST_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19];

/// The finite number that `text` begins with, and its length.
#[inline(always)]
pub(crate) fn parse_prefix<T: Value>(text: &[u8]) -> Option<(T, usize)> {
    let (value, len) = parse_whole(text).unwrap_or_else(|| parse_other(text));
    (len > 0).then_some((value, len))
}

#[inline(always)]
fn parse_whole<T: Value>(text: &[u8]) -> Option<(T, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (digits, end) = parse_digits(text, start, 0);
    let goes_on = matches!(text.get(end), Some(b'.' | b'e' | b'E'));
    if end == start || end - start > WHOLE_DIGITS || goes_on {
        return None;
    }
    let value = T::from_whole(digits as i64);
    Some((if negative { -value } else { value }, end))
}

/// As [`parse_prefix`], of length 0 where there is none: an `Option` would go through memory, and numbers would take a
/// fifth more time. Apart from whole numbers, whose loop it would slow down.
#[inline(never)]
fn parse_other<T: Value>(text: &[u8]) -> (T, usize) {
    let any = || fast_float2::parse_partial(text).ok().filter(|(value, _): &(T, usize)| value.is_finite());
    parse_decimal(text).or_else(any).unwrap_or((T::zero(), 0))
}

/// Digits, a point and digits.
fn parse_decimal<T: Value>(text: &[u8]) -> Option<(T, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (digits, point) = parse_digits(text, start, 0);
    if point == start || text.get(point) != Some(&b'.') {
        return None;
    }
    let (digits, at) = parse_eights(text, point + 1, digits);
    let (digits, end) = parse_digits(text, at, digits);
    let (n_decimals, n_digits) = (end - point - 1, end - start - 1);
    let goes_on = matches!(text.get(end), Some(b'e' | b'E'));
    if n_decimals == 0 || n_digits > MOST_DIGITS || goes_on {
        return None;
    }
    let value = T::from_ratio(digits, n_digits, POWERS[n_decimals])?;
    Some((if negative { -value } else { value }, end))
}

/// As [`parse_digits`], eight digits at a time while there are eight.
#[inline(always)]
fn parse_eights(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(eight) = text[at..].first_chunk().and_then(|&bytes| eight_digits(u64::from_le_bytes(bytes))) {
        number = number.wrapping_mul(100_000_000).wrapping_add(eight);
        at += 8;
    }
    (number, at)
}

/// The number that eight bytes are, the first byte lowest, where all are digits. Neighbours are joined three times: to
/// four numbers below 100, two below 10,000, one (Lemire, "Number parsing at a gigabyte per second", 2021, section 7).
#[inline(always)]
fn eight_digits(bytes: u64) -> Option<u64> {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let digits = bytes & HIGH | (bytes.wrapping_add(0x0606_0606_0606_0606) & HIGH) >> 4;
    if digits != 0x3333_3333_3333_3333 {
        return None;
    }
    let bytes = bytes - 0x3030_3030_3030_3030;
    let pairs = bytes.wrapping_mul(10).wrapping_add(bytes >> 8);
    let high = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let low = (pairs >> 16 & PAIRS).wrapping_mul(1 + (10_000 << 32));
    Some(high.wrapping_add(low) >> 32)
}

/// `number` followed by the digits from `at` on, and where they end. More than 19 digits wrap: callers refuse them.
#[inline(always)]
pub(crate) fn parse_digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares bits and length, or that there is no number.
    fn check(text: &str) {
        check_in::<f32>(text);
        check_in::<f64>(text);
    }

    fn check_in<T: Value>(text: &str) {
        let theirs = fast_float2::parse_partial(text).ok().filter(|(value, _): &(T, usize)| value.is_finite());
        let bits = |(value, len): (T, usize)| (value.to_f64().to_bits(), len);
        assert_eq!(parse_prefix::<T>(text.as_bytes()).map(bits), theirs.map(bits), "{text}");
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
            check(&(state >> (state % 64)).to_string());
            for n_decimals in [0, 1, 3, 7, 8, 9, 12, 15, 16, 17, 18, 19] {
                let decimals = (state >> 8) % 10_u64.pow(n_decimals as u32);
                check(&format!("-{whole}.{decimals:0n_decimals$},"));
                check(&format!("0.{decimals:0n_decimals$}"));
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
            check(&format!("{}.500000000001", whole / 2));
            check(&format!("{}.499999999999", whole / 2));
            check(&format!("0.000{}5", (whole as f64 * 0.5f64.powi(24)).to_string().trim_start_matches("0.")));
        }
    }
}
