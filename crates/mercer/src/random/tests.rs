//! Golden vectors, layout, and the laws against their distribution functions. Seeds are fixed: a statistic beyond its
//! bound (five standard errors, or p < 1e-4) is a defect, never bad luck.

use super::*;

const SEED: u64 = 0x0123_4567_89ab_cdef;

fn stream() -> Stream {
    Stream::new(SEED, Purpose::Projection).lane(5)
}

fn drawn(n: usize, fill: impl Fn(&mut [f64])) -> Vec<f64> {
    let mut values = vec![0.0; n];
    fill(&mut values);
    values
}

fn normals(stream: Stream, n: usize) -> Vec<f64> {
    drawn(n, |out| stream.normal_into(0, out))
}

// The layout

/// Recomputed once from the module's table in 200-bit arithmetic: elements, signs, integers and orders are exact,
/// the others within 1e-15.
#[test]
fn golden_vectors() {
    let s = stream();
    let bits = |fill: &dyn Fn(&mut [f64])| drawn(3, fill).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(
        [s.bits(0), s.bits(1), s.bits(2)],
        [0xf4e5_149d_cfd2_f5e7, 0xe68f_8aec_c781_7312, 0x3778_de19_0d99_2365]
    );
    assert_eq!(
        bits(&|out| s.uniform_into(0, out)),
        [0x3fee_9ca2_93b9_fa5f, 0x3fec_d1f1_5d98_f02f, 0x3fcb_bc6f_0c86_cc94]
    );
    assert_eq!(
        bits(&|out| s.normal_into(0, out)),
        [0x3fce_edbf_5ae3_3a1f, 0xbfc6_48ff_aeb8_4fc7, 0x3ff4_7881_c031_8997]
    );
    assert_eq!(
        bits(&|out| s.cauchy_into(0, out)),
        [0xc01d_2b53_70fa_dfb3, 0xc008_c9a7_2cb0_cb27, 0x3ff3_c171_bc07_c207]
    );
    assert_eq!(
        [s.chi(1.0, 0), s.chi(1.5, 1), s.chi(784.0, 2)].map(f64::to_bits),
        [0x3fca_00f9_613b_3d00, 0x3fea_7280_00e5_fa80, 0x403a_b5c4_f9f6_54c2]
    );
    assert_eq!(drawn(8, |out| s.sign_into(0, out)), [-1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0]);
    assert_eq!(s.sparse_sign_entries(3.0, 20), [(2, false), (3, false), (4, false), (7, true), (18, true)]);
    assert_eq!([0, 1, 2, 3].map(|i| s.below(1000, i)), [956, 441, 321, 407]);
    assert_eq!(permutation(SEED, Purpose::Fold, 8), [0, 2, 4, 5, 3, 7, 1, 6]);
}

#[test]
fn numbers_of_purposes_never_change() {
    use Purpose::*;
    let all = [
        Projection,
        RowLength,
        Phase,
        Sign,
        Permutation,
        Sample,
        Fold,
        Split,
        Bucket,
        Degree,
        Start,
        Order,
        Calibration,
    ];
    assert_eq!(all.map(|purpose| purpose as u32), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
}

#[test]
fn an_element_does_not_depend_on_where_a_fill_starts() {
    let laws = [Law::Normal, Law::Cauchy, Law::Sech, Law::Sign, Law::SparseSign { s: 3.0 }];
    let fills = laws.map(|law| move |first, out: &mut [f64]| law.fill_into(stream(), first, out));
    let uniform = |first, out: &mut [f64]| stream().uniform_into(first, out);
    let all_fills = fills.iter().map(|fill| fill as &dyn Fn(u64, &mut [f64])).chain([&uniform as _]);
    for fill in all_fills {
        for start in [0, (1 << 40) + 1] {
            let all = drawn(700, |out| fill(start, out));
            for first in [1, 2, 31, 32, 33, 127, 128, 129, 255, 300] {
                for len in [0, 1, 2, 3, 127, 128, 129, 400] {
                    let part = drawn(len, |out| fill(start + first as u64, out));
                    assert_eq!(part, all[first..first + len], "{first} {len}");
                }
            }
        }
    }
}

#[test]
fn uniforms_and_signs_are_functions_of_the_bits() {
    let s = stream();
    let (uniform, sign) = (drawn(300, |out| s.uniform_into(7, out)), drawn(300, |out| s.sign_into(7, out)));
    for i in 0..300 {
        let bits = s.bits(7 + i as u64);
        assert_eq!(uniform[i], ((bits >> 12) as f64 + 0.5) / 4_503_599_627_370_496.0);
        assert_eq!(sign[i], if bits.is_multiple_of(2) { 1.0 } else { -1.0 });
    }
    assert_ne!(s.bits(u64::MAX), s.bits(u64::MAX - 1), "the last elements exist");
}

#[test]
fn entries_are_the_nonzeros_of_the_dense_law() {
    for s in [1.0, 3.0, 28.0] {
        let dense = drawn(1000, |out| stream().sparse_sign_into(s, 0, out));
        let mut rebuilt = vec![0.0; 1000];
        for (i, positive) in stream().sparse_sign_entries(s, 1000) {
            rebuilt[i as usize] = if positive { s.sqrt() } else { -s.sqrt() };
        }
        assert_eq!(rebuilt, dense);
    }
}

#[test]
fn matrices_are_made_of_lanes() {
    for law in [Law::Normal, Law::Cauchy, Law::Sech, Law::Sign, Law::SparseSign { s: 5.0 }] {
        let matrix = columns::<f64>(law, 9, Purpose::Projection, 1500, 0..40);
        for (j, column) in matrix.columns().into_iter().enumerate() {
            let lane = Stream::new(9, Purpose::Projection).lane(j);
            assert_eq!(column.to_vec(), drawn(1500, |out| law.fill_into(lane, 0, out)));
        }
        let part = columns::<f64>(law, 9, Purpose::Projection, 1100, 17..35);
        assert_eq!(part, matrix.slice(ndarray::s![..1100, 17..35]), "any part is the same");
        let single = columns::<f32>(law, 9, Purpose::Projection, 1500, 0..40);
        assert_eq!(single, matrix.mapv(|x| x as f32), "f32 is f64 rounded");
    }
    assert_eq!(
        normal_columns::<f64>(9, Purpose::Phase, 3, 2..4),
        columns::<f64>(Law::Normal, 9, Purpose::Phase, 3, 2..4)
    );
    assert_eq!(normal_columns::<f32>(9, Purpose::Phase, 0, 0..4).dim(), (0, 4));
    assert_eq!(normal_columns::<f32>(9, Purpose::Phase, 4, 3..3).dim(), (4, 0));
}

/// Neighbours in every coordinate of the counter: the sum of n products of normals has variance n.
#[test]
fn streams_are_uncorrelated() {
    let n = 100_000;
    let base = stream();
    let others = [
        base.lane(6),
        base.lane(4),
        Stream::new(SEED, Purpose::RowLength).lane(5),
        Stream::new(SEED + 1, Purpose::Projection).lane(5),
        Stream::new(SEED ^ 1 << 63, Purpose::Projection).lane(5),
    ];
    let values = normals(base, n + 2);
    for other in others {
        let z = values.iter().zip(normals(other, n)).map(|(x, y)| x * y).sum::<f64>() / (n as f64).sqrt();
        assert!(z.abs() < 5.0, "{other:?}: {z}");
    }
    for lag in [1, 2] {
        let z = values.iter().zip(&values[lag..]).map(|(x, y)| x * y).sum::<f64>() / (n as f64).sqrt();
        assert!(z.abs() < 5.0, "lag {lag}: {z}");
    }
}

// The laws

/// √n · sup |empirical − cdf|; above 2.3 with probability 5e-5.
fn assert_law(name: &str, mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let gaps = values.iter().enumerate().map(|(i, &x)| {
        let p = cdf(x);
        (p - i as f64 / n).max((i + 1) as f64 / n - p)
    });
    let statistic = n.sqrt() * gaps.fold(0.0, f64::max);
    assert!(statistic < 2.3, "{name}: Kolmogorov-Smirnov statistic {statistic}");
    assert!(statistic > 0.25, "{name}: {statistic} is too good for random numbers (p < 1e-6)");
}

/// The mean of values of known expectation and variance.
fn assert_mean(name: &str, values: impl Iterator<Item = f64>, expectation: f64, variance: f64) {
    let (n, sum) = values.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x - expectation));
    let z = sum / (n * variance).sqrt();
    assert!(z.abs() < 5.0, "{name}: mean off by {z} standard errors");
}

/// Sum of squared deviations of counts from equal shares, in the units of a χ² of len − 1 degrees.
fn assert_equal_shares(name: &str, counts: &[u64], variance_of_a_count: f64, degrees: f64) {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic = counts.iter().map(|&c| (c as f64 - expected).powi(2)).sum::<f64>() / variance_of_a_count;
    assert!((statistic - degrees).abs() < 5.0 * (2.0 * degrees).sqrt(), "{name}: {statistic} for {degrees}");
}

/// ln Γ by Stirling's series after a shift to x ≥ 10.
fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

/// The regularised incomplete gamma function P(a, x) by its series.
fn gamma_cdf(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
    while term > sum * 1e-17 {
        k += 1.0;
        term *= x / k;
        sum += term;
    }
    sum * (a * x.ln() - x - ln_gamma(a)).exp()
}

fn normal_cdf(x: f64) -> f64 {
    0.5 + 0.5 * gamma_cdf(0.5, 0.5 * x * x).copysign(x)
}

/// Values of scipy.special.gammainc.
#[test]
fn the_reference_distribution_function_is_right() {
    let table = [
        (0.5, 0.1, 0.345_279_153_981_423_17),
        (0.5, 2.0, 0.954_499_736_103_641_5),
        (0.5, 9.0, 0.999_977_909_503_001_4),
        (1.0, 0.7, 0.503_414_696_208_590_5),
        (1.5, 4.0, 0.953_988_294_310_768_6),
        (5.0, 3.0, 0.184_736_755_476_227_87),
        (5.0, 12.0, 0.992_399_609_318_933),
        (392.0, 350.0, 0.014_436_779_184_941_472),
        (392.0, 392.0, 0.506_716_637_308_133_2),
        (392.0, 450.0, 0.997_545_288_225_464_4),
    ];
    for (a, x, expected) in table {
        let got = gamma_cdf(a, x);
        assert!((got - expected).abs() < 1e-11, "P({a}, {x}) = {got}, not {expected}");
    }
}

#[test]
fn uniform_law() {
    let values = drawn(1_000_000, |out| stream().uniform_into(0, out));
    assert!(values.iter().all(|&u| 0.0 < u && u < 1.0));
    let moments = [(0.0, 1.0 / 12.0), (1.0 / 12.0, 1.0 / 180.0), (0.0, 1.0 / 448.0), (1.0 / 80.0, 1.0 / 3600.0)];
    for (power, (expectation, variance)) in (1..).zip(moments) {
        let name = format!("uniform moment {power}");
        assert_mean(&name, values.iter().map(|u| (u - 0.5).powi(power)), expectation, variance);
    }
    assert_law("uniform", values, |u| u);
}

#[test]
fn normal_law() {
    let n = 2_000_000;
    let values = normals(stream(), n);
    assert!(values.iter().all(|z| z.abs() < 8.6));
    // E z^2k = (2k − 1)!!, so the variances are 1, 3 − 1, 15, 105 − 9.
    for (power, (expectation, variance)) in (1..).zip([(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)]) {
        let name = format!("normal moment {power}");
        assert_mean(&name, values.iter().map(|z| z.powi(power)), expectation, variance);
    }
    for bound in [3.0, 4.0] {
        let p = normal_cdf(-bound);
        for side in [1.0, -1.0] {
            let beyond = values.iter().map(|z| if side * z > bound { 1.0 } else { 0.0 });
            assert_mean(&format!("normal tail {side} {bound}"), beyond, p, p * (1.0 - p));
        }
    }
    let (even, odd): (Vec<_>, Vec<_>) = values[..400_000].chunks_exact(2).map(|z| (z[0], z[1])).unzip();
    assert_law("cosine normals", even, normal_cdf);
    assert_law("sine normals", odd, normal_cdf);
}

#[test]
fn chi_law() {
    for (lane, degrees) in [1.0, 1.5, 2.0, 3.0, 10.0, 784.0].into_iter().enumerate() {
        let stream = Stream::new(SEED, Purpose::RowLength).lane(lane);
        let values: Vec<f64> = (0..100_000).map(|i| stream.chi(degrees, i)).collect();
        let name = format!("chi {degrees}");
        assert_mean(&name, values.iter().map(|x| x * x), degrees, 2.0 * degrees);
        let centred: Vec<f64> = values.iter().map(|x| x * x - degrees).collect();
        let products = centred.windows(2).map(|pair| pair[0] * pair[1]);
        assert_mean(&format!("{name} neighbours"), products, 0.0, 4.0 * degrees * degrees);
        assert_law(&name, values, |x| gamma_cdf(degrees / 2.0, x * x / 2.0));
    }
}

#[test]
fn cauchy_law() {
    let values = drawn(200_000, |out| stream().cauchy_into(0, out));
    for bound in [1e3, -1e3_f64] {
        let p = 1e-3 / PI;
        let beyond = values.iter().map(|x| if x / bound > 1.0 { 1.0 } else { 0.0 });
        assert_mean("Cauchy tail", beyond, p, p);
    }
    assert_law("Cauchy", values, |x| 0.5 + x.atan() / PI);
}

#[test]
fn sech_law() {
    let values = drawn(400_000, |out| stream().sech_into(0, out));
    assert!(values.iter().all(|w| w.abs() < 12.0));
    // E w² = 1/4, E w⁴ = 5/16.
    assert_mean("sech", values.iter().copied(), 0.0, 0.25);
    assert_mean("sech squared", values.iter().map(|w| w * w), 0.25, 5.0 / 16.0 - 1.0 / 16.0);
    for bound in [2.0, -2.0_f64] {
        let p = 2.0 / PI * (-2.0 * PI).exp().atan();
        assert_mean("sech tail", values.iter().map(|w| if w / bound > 1.0 { 1.0 } else { 0.0 }), p, p * (1.0 - p));
    }
    assert_law("sech", values, |w| 2.0 / PI * (PI * w).exp().atan());
    // The quantiles of the uniform numbers.
    let (uniform, values) =
        (drawn(99, |out| stream().uniform_into(3, out)), drawn(99, |out| stream().sech_into(3, out)));
    for (u, w) in uniform.iter().zip(values) {
        assert!((w - (0.5 * PI * u).tan().ln() / PI).abs() < 1e-13, "{u}: {w}");
    }
}

#[test]
fn sign_laws() {
    for s in [1.0, 3.0, 28.0, 784.0] {
        let values = drawn(1_000_000, |out| stream().sparse_sign_into(s, 0, out));
        assert!(values.iter().all(|&x| x == 0.0 || x.abs() == s.sqrt()));
        let p = 1.0 / s;
        let nonzero = values.iter().map(|&x| if x == 0.0 { 0.0 } else { 1.0 });
        assert_mean("density", nonzero, p, (p * (1.0 - p)).max(1e-30));
        assert_mean("balance", values.iter().copied(), 0.0, 1.0);
        assert_mean("neighbours", values.windows(2).map(|x| x[0] * x[1]), 0.0, 1.0);
    }
    assert_eq!(drawn(100, |out| stream().sign_into(3, out)), drawn(100, |out| stream().sparse_sign_into(1.0, 3, out)));
}

#[test]
fn integers_are_uniform() {
    let count = |bound: u64, cells: usize, cell: &dyn Fn(u64) -> u64| {
        let mut counts = vec![0; cells];
        for i in 0..60_000 {
            let integer = stream().below(bound, i);
            assert!(integer < bound);
            counts[cell(integer) as usize] += 1;
        }
        assert_equal_shares(&format!("below {bound}"), &counts, 60_000.0 / cells as f64, cells as f64 - 1.0);
    };
    count(6, 6, &|x| x);
    // Without the refusal, multiples of 3 would come twice as often.
    count(3 << 62, 3, &|x| x % 3);
    count(u64::MAX, 16, &|x| x >> 60);
    assert_eq!(stream().below(1, 12), 0);
}

#[test]
fn permutations_are_uniform() {
    let mut counts = [0_u64; 256];
    for seed in 0..24_000 {
        let order = permutation(seed, Purpose::Permutation, 4);
        counts[order.iter().fold(0, |code, i| code * 4 + i)] += 1;
    }
    let counts: Vec<u64> = counts.into_iter().filter(|&count| count > 0).collect();
    assert_eq!(counts.len(), 24, "every order and nothing else");
    assert_equal_shares("orders", &counts, 1000.0, 23.0);

    let mut order = permutation(3, Purpose::Permutation, 1000);
    order.sort_unstable();
    assert!(order.into_iter().eq(0..1000));
    assert!(permutation(3, Purpose::Permutation, 0).is_empty());
}

#[test]
fn a_sample_is_a_prefix_of_the_permutation() {
    for n in [0, 1, 2, 127, 128, 1000] {
        let order: Vec<u64> = permutation(11, Purpose::Sample, n).into_iter().map(|i| i as u64).collect();
        for k in [0, 1, 2, 3, 63, 64, 127, 500, 999, 1000, 1001, usize::MAX] {
            assert_eq!(sample(11, Purpose::Sample, n as u64, k), order[..k.min(n)], "{k} of {n}");
        }
    }
}

/// A count of inclusions has variance N·p·(1 − p); k fixed makes the sum of squares a χ² of n − 1 after (n − 1)/n.
#[test]
fn samples_include_every_number_alike() {
    let (n, k, seeds) = (50, 7, 20_000);
    let mut counts = vec![0; n];
    for seed in 0..seeds {
        let chosen = sample(seed, Purpose::Sample, n as u64, k);
        assert_eq!(chosen.len(), k);
        chosen.iter().for_each(|&i| counts[i as usize] += 1);
    }
    let p = k as f64 / n as f64;
    let variance = seeds as f64 * p * (1.0 - p) * n as f64 / (n as f64 - 1.0);
    assert_equal_shares("inclusion", &counts, variance, n as f64 - 1.0);
}

#[test]
fn exp_is_accurate() {
    for i in 0..70_000 {
        let x = f64::from(i) * -0.01;
        assert!((exp(x) / x.exp() - 1.0).abs() < 7e-16, "exp({x}) = {}", exp(x));
    }
}

// The rejections

#[test]
#[should_panic(expected = "at least 0.2")]
fn chi_refuses_fewer_degrees_than_it_can() {
    stream().chi(0.1, 0);
}

#[test]
#[should_panic(expected = "numbers end")]
fn chi_refuses_numbers_whose_counters_do_not_exist() {
    stream().chi(2.0, 1 << 55);
}

#[test]
#[should_panic(expected = "at least 1")]
fn sparse_signs_refuse_s_below_one() {
    stream().sparse_sign_entries(f64::NAN, 3);
}

#[test]
#[should_panic(expected = "below 0")]
fn integers_refuse_an_empty_range() {
    stream().below(0, 3);
}
