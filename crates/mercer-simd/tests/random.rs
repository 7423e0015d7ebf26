//! The logarithm keeps the error it states; uniform and normal numbers have one set of bits.

use mercer_simd::InstructionSet;
use mercer_simd::ops::random::{ln, normal_into, open_unit, uniform_into};

/// The bound of the documentation of `ln`.
const BOUND: f64 = 3.5e-16;

#[test]
fn ln_against_the_table() {
    let mut largest = 0.0_f64;
    let table = include_str!("data/ln_f64.txt").lines().skip(1);
    assert_eq!(table.clone().count(), 264);
    for line in table {
        let (x, exact) = line.split_once(' ').unwrap();
        let [x, exact] = [x, exact].map(|hex| f64::from_bits(u64::from_str_radix(hex, 16).unwrap()));
        let error = if exact == 0.0 { ln(x).abs() } else { ((ln(x) - exact) / exact).abs() };
        // The reference is itself rounded.
        assert!(error < BOUND - f64::EPSILON / 4.0, "ln {x:e}: relative error {error:e}");
        largest = largest.max(error);
    }
    println!("largest relative error of ln {largest:e}");
}

/// The standard library is within one unit of the last place on the platforms we know.
#[test]
fn ln_against_the_standard_library() {
    let mut uniforms = vec![0.0; 1_000_000];
    uniform_into(InstructionSet::best(), 1, (0, 0), 0, &mut uniforms);
    let near_one = uniforms[..200_000].iter().map(|u| 1.0 + (u - 0.5) * 1e-3);
    let wide = uniforms[..200_000].iter().map(|u| f64::from_bits((u * 9.2e18) as u64).max(f64::MIN_POSITIVE));
    let wide = wide.filter(|x| x.is_finite());
    for x in uniforms.iter().copied().chain(near_one).chain(wide) {
        let exact = x.ln();
        assert!((ln(x) - exact).abs() <= (BOUND + f64::EPSILON) * exact.abs(), "ln {x:e}");
    }
}

#[test]
fn units_are_strictly_inside() {
    assert_eq!(open_unit(0, 0), f64::EPSILON / 2.0);
    assert_eq!(open_unit(u32::MAX, u32::MAX), 1.0 - f64::EPSILON / 2.0);
    assert_eq!(open_unit(0, 1 << 31), 0.5 + f64::EPSILON / 2.0);
    assert_eq!(open_unit(0xfff, 0), open_unit(0, 0), "the low 12 bits are not used");
    assert_eq!(open_unit(0x1000, 0), 1.5 * f64::EPSILON);
}

/// The smallest uniforms are the largest normals; both ends must stay finite.
#[test]
fn ln_at_the_ends_of_the_uniforms() {
    let radius = |u: f64| (-2.0 * ln(u)).sqrt();
    assert!((radius(open_unit(0, 0)) - 8.571_674_348_652_905).abs() < 1e-14);
    assert!((radius(open_unit(u32::MAX, u32::MAX)) / 1.490_116_119_384_765_6e-8 - 1.0).abs() < 1e-15);
}

type Fill = fn(InstructionSet, u64, (u32, u32), u64, &mut [f64]);

#[test]
fn the_same_bits_on_every_instruction_set_and_from_every_start() {
    for law in [uniform_into as Fill, normal_into] {
        let mut expected = vec![0.0; 100_000];
        law(InstructionSet::best(), 77, (3, 4), 10, &mut expected);
        for isa in InstructionSet::available() {
            let mut values = vec![0.0; 100_000];
            law(isa, 77, (3, 4), 10, &mut values);
            assert!(values.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x| x.to_bits())), "{isa:?}");
            for length in 0..100 {
                let mut part = vec![0.0; length];
                law(isa, 77, (3, 4), 10 + length as u64, &mut part);
                assert_eq!(part, expected[2 * length..3 * length], "{isa:?}");
            }
        }
    }
}
