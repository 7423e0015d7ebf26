//! Golden vectors, layout, and the laws against their distribution functions. Seeds are fixed: a statistic beyond its
//! bound (p < 1e-5) is a defect, never bad luck.

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

// ---- layout

#[test]
fn golden_vectors() {
    let law = |fill: &dyn Fn(&mut [f64])| drawn(3, fill).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let s = stream();
    println!("{:#x?}", (0..3).map(|i| s.bits(i)).collect::<Vec<_>>());
    println!("uniform {:#x?}", law(&|out| s.uniform_into(0, out)));
    println!("normal {:#x?}", law(&|out| s.normal_into(0, out)));
    println!("cauchy {:#x?}", law(&|out| s.cauchy_into(0, out)));
    println!("chi {:#x?}", law(&|out| (0..3).for_each(|i| out[i] = s.chi([1.0, 1.5, 784.0][i], i as u64))));
    println!("sign {:?}", drawn(12, |out| s.sign_into(0, out)));
    println!("sparse {:?}", s.sparse_sign_entries(3.0, 20));
    println!("below {:?}", (0..4).map(|i| s.below(1000, i)).collect::<Vec<_>>());
    println!("perm {:?}", permutation(SEED, Purpose::Fold, 8));
}
