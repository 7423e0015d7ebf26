//! The Walsh-Hadamard transform, beside the C library FFHT and beside copying memory.
#![allow(unsafe_code, reason = "FFHT is called as the C library it is")]

use std::time::{Duration, Instant};

use libloading::Library;
use mercer::random::{Purpose, Stream};
use mercer::{Driver, Silent, hadamard};
use mercer_simd::ops::hadamard::{add_in_registers, fwht, fwht_rows};
use mercer_simd::{ALIGNMENT_SLACK, InstructionSet, Scalar, aligned_part, huge_pages};
use ndarray::ArrayViewMut2;

use crate::measure::{Case, THREADS, Timing, fastest, skip};

pub(crate) const CONDITIONS: &str = "Walsh-Hadamard transforms in place of random numbers that start on a cache line, on one core unless said otherwise; \
    an element is one value of one stage, n log2 n in all. FFHT: fht_float and fht_double of the library that \
    MERCER_FFHT names, built with -O3 -march=native from github.com/FALCONN-LIB/FFHT. Both sides take turns on one buffer; a run is up to 16 \
    transforms, the numbers are restored between runs, unmeasured, and the fastest run counts. \"avx2\" is mercer with that instruction set. add_share: the time that the additions of a transform \
    take in a loop that stays in registers, over the time of the transform. \"rows\": 8,192 x 1,024 in place, 32 MiB, beside FFHT row by row \
    and beside a copy of the block to another (memcpy)";

/// The entry of FFHT for a type.
type Transform<T> = unsafe extern "C" fn(*mut T, i32) -> i32;

/// One who transforms.
type Side<'a, T> = &'a mut dyn FnMut(&mut [T]);

trait Entry: Scalar {
    const NAME: &'static [u8];
    const SHORT: &'static str;
}

impl Entry for f32 {
    const NAME: &'static [u8] = b"fht_float";
    const SHORT: &'static str = "f32";
}

impl Entry for f64 {
    const NAME: &'static [u8] = b"fht_double";
    const SHORT: &'static str = "f64";
}

pub(crate) fn run() {
    let library = load();
    if let Err(reason) = &library {
        skip("hadamard", reason);
    }
    sizes::<f32>(library.as_ref().ok());
    sizes::<f64>(library.as_ref().ok());
    rows(library.as_ref().ok());
    threads();
}

fn load() -> Result<Library, String> {
    let path = std::env::var_os("MERCER_FFHT").ok_or("MERCER_FFHT names no library: FFHT was not measured")?;
    // SAFETY: whoever sets the variable vouches for the library; FFHT runs nothing when it is loaded.
    unsafe { Library::new(path) }.map_err(|error| format!("MERCER_FFHT: {error}"))
}

fn entry<T: Entry>(library: &Library) -> Transform<T> {
    // SAFETY: the declaration of FFHT's header: `int fht_float(float *buf, int log_n)`.
    *unsafe { library.get::<Transform<T>>(T::NAME) }.expect("the entries of FFHT")
}

fn noise<T: Scalar>(n: usize) -> Vec<T> {
    let mut uniform = vec![0.0; n];
    Stream::new(1, Purpose::Sample).uniform_into(0, &mut uniform);
    uniform.into_iter().map(|u| T::from_f64(u - 0.5)).collect()
}

/// Rounds in which every side has its turn.
const ROUNDS: usize = 3;
/// Of a side in a round.
const TURN: Duration = Duration::from_millis(150);

/// The fastest run of each side, per transform.
fn in_turn<T: Scalar>(values: &[T], buffer: &mut [T], transforms: usize, sides: &mut [Side<'_, T>]) -> Vec<Timing> {
    let mut best = vec![Timing { seconds: f64::INFINITY, repeats: 0 }; sides.len()];
    for _ in 0..ROUNDS {
        for (side, best) in sides.iter_mut().zip(&mut best) {
            let turn = Instant::now();
            while turn.elapsed() < TURN {
                buffer.copy_from_slice(values);
                let start = Instant::now();
                for _ in 0..transforms {
                    side(std::hint::black_box(&mut *buffer));
                }
                let seconds = start.elapsed().as_secs_f64() / transforms as f64;
                *best = Timing { seconds: best.seconds.min(seconds), repeats: best.repeats + transforms };
            }
        }
    }
    best
}

fn sizes<T: Entry>(library: Option<&Library>) {
    let sets = InstructionSet::available();
    let add_rate = add_rate::<T>();
    for log in 8..=20 {
        let n = 1_usize << log;
        let values = noise::<T>(n);
        let mut memory = huge_pages::zeros_vec(n + ALIGNMENT_SLACK);
        let buffer = aligned_part(&mut memory, n);
        // Few enough that the numbers stay far from the largest ones.
        let transforms = (1 << (18_usize.saturating_sub(log))).clamp(1, 16);
        let ffht = library.map(entry::<T>);
        let mut best = |x: &mut [T]| fwht(InstructionSet::best(), x);
        let avx2 = sets.iter().find(|set| set.name() == "avx2");
        let mut avx2_side = |x: &mut [T]| fwht(*avx2.unwrap_or(&sets[0]), x);
        // SAFETY: the buffer has 2^log values.
        let mut theirs = |x: &mut [T]| unsafe {
            ffht.expect("measured only when it is there")(x.as_mut_ptr(), log as i32);
        };
        let mut sides: Vec<Side<'_, T>> = vec![&mut best];
        let mut names = vec!["mercer"];
        if avx2.is_some() && sets.len() > 2 {
            sides.push(&mut avx2_side);
            names.push("mercer, avx2");
        }
        if ffht.is_some() {
            sides.push(&mut theirs);
            names.push("FFHT");
        }
        let work = (n * log) as f64;
        let timings = in_turn(&values, buffer, transforms, &mut sides);
        let of = |wanted: &str| names.iter().position(|name| *name == wanted).map(|at| timings[at]);
        for (side, set) in [("mercer", ""), ("mercer, avx2", ", avx2")] {
            let Some(timing) = of(side) else { continue };
            let variant = format!("2^{log}, {}{set}", T::SHORT);
            let case = Case { name: "hadamard", variant, threads: 1, work, unit: "element" };
            let share = [("add_share", work / add_rate / timing.seconds)];
            case.report_of("mercer", timing, if set.is_empty() { &share } else { &[] });
            if let Some(theirs) = of("FFHT") {
                case.report_of("FFHT", theirs, &[]);
            }
        }
    }
}

/// Additions a second of a loop that stays in registers.
fn add_rate<T: Scalar>() -> f64 {
    let mut x = noise::<T>(256);
    let mut n_added = 0;
    let timing = fastest(|| n_added = add_in_registers(InstructionSet::best(), &mut x, 1_000));
    n_added as f64 / timing.seconds
}

fn rows(library: Option<&Library>) {
    const ROWS: usize = 8_192;
    const N: usize = 1_024;
    let values = noise::<f32>(ROWS * N);
    let mut memory = huge_pages::zeros_vec(ROWS * N + ALIGNMENT_SLACK);
    let mut copy = huge_pages::zeros_vec(ROWS * N + ALIGNMENT_SLACK);
    let (buffer, copy) = (aligned_part(&mut memory, ROWS * N), aligned_part(&mut copy, ROWS * N));
    let mut ours = |x: &mut [f32]| {
        fwht_rows(InstructionSet::best(), ArrayViewMut2::from_shape((ROWS, N), x).expect("whole rows"));
    };
    let mut memcpy = |x: &mut [f32]| copy.copy_from_slice(x);
    let ffht = library.map(entry::<f32>);
    let mut theirs = |x: &mut [f32]| {
        for row in x.chunks_exact_mut(N) {
            // SAFETY: the row has 2^10 values.
            unsafe { ffht.expect("measured only when it is there")(row.as_mut_ptr(), 10) };
        }
    };
    let mut sides: Vec<Side<'_, f32>> = vec![&mut ours, &mut memcpy];
    if ffht.is_some() {
        sides.push(&mut theirs);
    }
    let case = Case {
        name: "hadamard",
        variant: "8,192 rows of 2^10, f32".to_owned(),
        threads: 1,
        work: ROWS as f64,
        unit: "row",
    };
    for (name, timing) in ["mercer", "memcpy", "FFHT"].into_iter().zip(in_turn(&values, buffer, 1, &mut sides)) {
        case.report_of(name, timing, &[]);
    }
}

/// One long transform on all threads.
fn threads() {
    const LOG: usize = 24;
    let values = noise::<f32>(1 << LOG);
    let mut memory = huge_pages::zeros_vec((1 << LOG) + ALIGNMENT_SLACK);
    let buffer = aligned_part(&mut memory, 1 << LOG);
    for threads in THREADS {
        let driver = Driver::new(threads, &Silent).expect("threads can be started");
        let mut ours = |x: &mut [f32]| hadamard::transform(&driver, x).expect("a power of two");
        let timing = in_turn(&values, buffer, 1, &mut [&mut ours])[0];
        let work = ((1 << LOG) * LOG) as f64;
        Case { name: "hadamard", variant: format!("2^{LOG}, f32"), threads, work, unit: "element" }.report(timing);
    }
}
