//! The average distortion of squared distances: LS19 tables 3.1, 3.2, 4.2, 4.3, 4.8 and 4.9: ten runs, or a hundred.
//!
//! Every run draws its rows and its map anew, landmarks among the training rows. The kernel is ⟨x,y⟩^g, whatever a map's own one is.
//!
//! The thesis does not say how it scaled its rows: `Range::Symmetric` is an inference from its results for the Nyström method (`README.md`).

use mercer::Scalar;
use mercer::dataset::{PanelRows, Rows};
use mercer::feature_maps::{
    D2pkRpSpec, ExpansionSpec, FeatureMap, Gamma, LandmarkForm, LandmarkMap, LandmarkSpec, MapSpec, PkRpSpec, VectorLaw,
};
use mercer::kernels::{Kernel, KernelFamily};
use mercer::metrics::distortion;
use mercer_io::TargetChoice;
use ndarray::{Array2, s};

use crate::explicit::projected;
use crate::rows::{Range, features, load_dense, some_rows};

/// Runs as in the thesis, and of PK-RP with few vectors: the mean of ten of those has an error of a tenth of itself.
const N_RUNS: (u64, u64) = (10, 100);
/// Few vectors.
const FEW: usize = 1000;

fn n_runs(method: &str) -> u64 {
    let n_vectors = method.strip_prefix("pk ").and_then(|rest| rest.split(' ').nth(1)?.parse::<usize>().ok());
    let many = method.starts_with("d2pk 3") || n_vectors.is_some_and(|p| p < FEW);
    if many { N_RUNS.1 } else { N_RUNS.0 }
}

struct Table {
    number: &'static str,
    title: &'static str,
    file: &'static str,
    /// of which landmarks are rows
    train: &'static str,
    target: TargetChoice,
    range: Range,
    n_rows: usize,
    degree: u32,
    sizes: &'static [usize],
    /// t of PK-RP and KG-RP
    n_terms: usize,
    /// a method and what is printed for each size
    lines: &'static str,
}

const TABLES: [Table; 6] = [
    Table {
        number: "3.1",
        title: "CIFAR-10 subset, 200 rows in [−1, 1], degree 2",
        file: "cifar10/cifar10_1k.npz::images",
        train: "cifar10/cifar10_1k.npz::images",
        target: TargetChoice::None,
        range: Range::Symmetric,
        n_rows: 200,
        degree: 2,
        sizes: &[40, 80, 120, 160],
        n_terms: 1,
        lines: "\
streamed|0.177 0.007 0.122 0.003 0.103 0.004 0.090 0.003
d2pk 3 2|0.294 0.025 0.212 0.018 0.170 0.009 0.147 0.006
d2pk 3 10|0.204 0.008 0.145 0.007 0.119 0.006 0.101 0.005
d2pk 3 30|0.188 0.016 0.132 0.005 0.109 0.004 0.091 0.002",
    },
    Table {
        number: "3.2",
        title: "ISOLET, 200 rows, degree 2",
        file: "isolet/isolet.npz::X_train",
        train: "isolet/isolet.npz::X_train",
        target: TargetChoice::None,
        range: Range::AsTheyAre,
        n_rows: 200,
        degree: 2,
        sizes: &[40, 80, 120, 160],
        n_terms: 1,
        lines: "\
phi gaussian|0.174 0.004 0.123 0.007 0.102 0.005 0.089 0.008
d2pk 3 2|0.279 0.022 0.192 0.017 0.155 0.008 0.139 0.019
d2pk 3 10|0.196 0.010 0.139 0.009 0.114 0.007 0.100 0.007
d2pk 3 30|0.181 0.008 0.132 0.009 0.107 0.004 0.092 0.003",
    },
    Table {
        number: "4.2",
        title: "MNIST, 500 rows in [−1, 1], degree 2",
        file: "mnist/t10k-images-idx3-ubyte.gz",
        train: "mnist/train-images-idx3-ubyte.gz",
        target: TargetChoice::None,
        range: Range::Symmetric,
        n_rows: 500,
        degree: 2,
        sizes: &[200, 500, 1000],
        n_terms: 30,
        lines: "\
phi gaussian|0.079 0.002 0.050 0.002 0.035 0.001
phi 1|0.080 0.003 0.051 0.002 0.036 0.001
phi 3|0.080 0.002 0.050 0.002 0.036 0.001
nystroem|0.259 0.002 0.155 0.001 0.101 0.001
d2pk 1 30|0.085 0.002 0.054 0.002 0.038 0.001
pk gaussian 16000|0.082 0.004 0.053 0.002 0.038 0.002
pk gaussian 8000|0.083 0.003 0.055 0.003 0.040 0.002
pk gaussian 3000|0.087 0.003 0.056 0.002 0.046 0.005
pk gaussian 976|0.092 0.007 0.079 0.018 0.059 0.007
pk 1 976|0.094 0.004 0.068 0.008 0.059 0.008
pk 3 976|0.098 0.007 0.072 0.009 0.060 0.008
kgrp 976|0.141 0.013 0.127 0.011 0.130 0.006
pk gaussian 488|0.106 0.008 0.102 0.029 0.095 0.038
pk 1 488|0.101 0.004 0.088 0.012 0.082 0.017
pk 3 488|0.113 0.015 0.095 0.019 0.092 0.021
kgrp 488|0.207 0.019 0.211 0.005 0.210 0.004
pk gaussian 244|0.120 0.006 0.106 0.018 0.112 0.024
pk 1 244|0.132 0.018 0.126 0.028 0.101 0.020
pk 3 244|0.122 0.010 0.116 0.027 0.118 0.027
kgrp 244|0.329 0.014 0.329 0.006 0.328 0.005
pk gaussian 122|0.177 0.052 0.151 0.027 0.135 0.014
pk 1 122|0.152 0.028 0.136 0.013 0.159 0.038
pk 3 122|0.177 0.046 0.150 0.033 0.159 0.027
kgrp 122|0.503 0.012 0.497 0.008 0.499 0.005",
    },
    Table {
        number: "4.3",
        title: "MNIST, 500 rows in [−1, 1], degree 3",
        file: "mnist/t10k-images-idx3-ubyte.gz",
        train: "mnist/train-images-idx3-ubyte.gz",
        target: TargetChoice::None,
        range: Range::Symmetric,
        n_rows: 500,
        degree: 3,
        sizes: &[200, 500, 1000],
        n_terms: 30,
        lines: "\
nystroem|0.372 0.002 0.255 0.001 0.187 0.001
pk gaussian 976|0.119 0.019 0.095 0.023 0.092 0.031
pk 1 976|0.109 0.009 0.092 0.018 0.080 0.016
pk 3 976|0.114 0.020 0.117 0.057 0.088 0.032
kgrp 976|0.215 0.008 0.212 0.008 0.214 0.006
pk gaussian 488|0.153 0.031 0.131 0.040 0.108 0.046
pk 1 488|0.148 0.035 0.127 0.041 0.110 0.024
pk 3 488|0.134 0.031 0.124 0.026 0.131 0.055
kgrp 488|0.298 0.012 0.306 0.006 0.305 0.008
pk gaussian 244|0.164 0.025 0.141 0.036 0.168 0.066
pk 1 244|0.192 0.075 0.162 0.053 0.159 0.053
pk 3 244|0.209 0.097 0.169 0.040 0.149 0.049
kgrp 244|0.421 0.011 0.424 0.004 0.427 0.007
pk gaussian 122|0.249 0.064 0.250 0.112 0.241 0.083
pk 1 122|0.253 0.080 0.247 0.119 0.241 0.090
pk 3 122|0.232 0.093 0.213 0.038 0.271 0.172
kgrp 122|0.587 0.009 0.587 0.009 0.581 0.008",
    },
    Table {
        number: "4.8",
        title: "w8a, 500 rows, degree 2",
        file: "w8a/w8a.t.gz",
        train: "w8a/w8a.gz",
        target: TargetChoice::Auto,
        range: Range::AsTheyAre,
        n_rows: 500,
        degree: 2,
        sizes: &[200, 500, 1000],
        n_terms: 30,
        lines: "\
phi gaussian|0.079 0.003 0.051 0.002 0.036 0.001
phi 1|0.077 0.002 0.049 0.001 0.035 0.001
phi 3|0.079 0.001 0.050 0.001 0.036 0.001
nystroem|0.772 0.005 0.633 0.008 0.507 0.006
d2pk 1 30|0.131 0.005 0.112 0.003 0.107 0.003
pk gaussian 892|0.105 0.005 0.084 0.004 0.078 0.002
pk 1 892|0.103 0.002 0.080 0.004 0.071 0.005
pk 3 892|0.107 0.003 0.085 0.004 0.079 0.005
kgrp 892|0.554 0.009 0.547 0.007 0.548 0.007
pk gaussian 446|0.126 0.009 0.109 0.005 0.099 0.005
pk 1 446|0.126 0.005 0.104 0.005 0.098 0.008
pk 3 446|0.127 0.006 0.107 0.006 0.101 0.005
kgrp 446|0.677 0.007 0.676 0.007 0.674 0.005
pk gaussian 223|0.157 0.008 0.141 0.005 0.142 0.008
pk 1 223|0.152 0.009 0.135 0.006 0.132 0.010
pk 3 223|0.154 0.008 0.151 0.015 0.138 0.005
kgrp 223|0.791 0.007 0.791 0.006 0.788 0.006
pk gaussian 111|0.218 0.031 0.203 0.016 0.191 0.008
pk 1 111|0.195 0.009 0.183 0.008 0.179 0.008
pk 3 111|0.218 0.017 0.194 0.014 0.200 0.009
kgrp 111|0.887 0.008 0.883 0.007 0.883 0.004",
    },
    Table {
        number: "4.9",
        title: "w8a, 500 rows, degree 3",
        file: "w8a/w8a.t.gz",
        train: "w8a/w8a.gz",
        target: TargetChoice::Auto,
        range: Range::AsTheyAre,
        n_rows: 500,
        degree: 3,
        sizes: &[200, 500, 1000],
        n_terms: 30,
        lines: "\
nystroem|0.915 0.006 0.846 0.009 0.773 0.005
pk gaussian 892|0.135 0.009 0.127 0.013 0.112 0.006
pk 1 892|0.133 0.008 0.114 0.005 0.105 0.004
pk 3 892|0.144 0.007 0.121 0.006 0.111 0.007
kgrp 892|0.802 0.007 0.798 0.009 0.798 0.007
pk gaussian 446|0.170 0.009 0.161 0.011 0.158 0.008
pk 1 446|0.161 0.009 0.145 0.004 0.140 0.009
pk 3 446|0.171 0.010 0.162 0.010 0.150 0.009
kgrp 446|0.871 0.007 0.867 0.007 0.871 0.007
pk gaussian 223|0.241 0.020 0.224 0.026 0.219 0.024
pk 1 223|0.213 0.010 0.209 0.014 0.199 0.009
pk 3 223|0.228 0.012 0.221 0.012 0.218 0.024
kgrp 223|0.924 0.005 0.923 0.007 0.924 0.006
pk gaussian 111|0.320 0.030 0.302 0.021 0.310 0.028
pk 1 111|0.290 0.020 0.284 0.025 0.298 0.040
pk 3 111|0.336 0.033 0.296 0.016 0.294 0.014
kgrp 111|0.959 0.004 0.962 0.004 0.959 0.004",
    },
];

/// The tables of these numbers, or all of them; of the methods that are named behind them (`phi`, `pk`, …), or all of them. `draws` stands for
/// Nyström by draws of rows.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let is_number = |word: &&String| word.starts_with(|c: char| c.is_ascii_digit());
    let (numbers, methods): (Vec<&String>, Vec<&String>) = words.iter().partition(is_number);
    let is_wanted = |table: &&Table| numbers.is_empty() || numbers.iter().any(|number| *number == table.number);
    let tables = TABLES.iter().filter(is_wanted);
    if methods.iter().any(|method| *method == "draws") {
        println!("| table | k | printed | least of {} draws | largest |\n|---|---|---|---|---|", N_RUNS.0);
        return tables.into_iter().try_for_each(Table::run_draws);
    }
    tables.into_iter().try_for_each(|table| table.run(&methods))
}

impl Table {
    fn run(&self, methods: &[&String]) -> Result<(), String> {
        let data = Data {
            test: load_dense(self.file, self.target.clone())?,
            train: load_dense(self.train, self.target.clone())?,
        };
        println!("\n### Table {}: {}\n", self.number, self.title);
        let head: Vec<String> = self.sizes.iter().map(|k| format!("k = {k}: ours | printed")).collect();
        println!("| method | {} |\n|---|{}", head.join(" | "), "---|---|".repeat(self.sizes.len()));
        let (mut n_within, mut n_all) = (0, 0);
        for line in self.lines.lines() {
            let (method, printed) = line.split_once('|').ok_or("a line of a table")?;
            if !methods.is_empty() && !methods.iter().any(|wanted| is_named(method, wanted)) {
                continue;
            }
            let printed: Vec<f64> = printed.split(' ').map(|number| number.parse().unwrap_or(f64::NAN)).collect();
            let mut cells = Vec::new();
            let measured = self.measure_all(&data, method)?;
            for ((mean, deviation), printed) in measured.into_iter().zip(printed.chunks_exact(2)) {
                let (expected, spread) = (printed[0], printed[1]);
                let within = mean <= expected + 3.0 * spread;
                n_within += u32::from(within);
                n_all += 1;
                let mark = if within { "" } else { " (beyond)" };
                cells.push(format!("{mean:.3} ± {deviation:.3}{mark} | {expected:.3} ± {spread:.3}"));
            }
            println!("| {} | {} |", named(method), cells.join(" | "));
        }
        println!("\n{n_within} of {n_all} are at most the printed mean + 3 standard deviations.");
        Ok(())
    }

    /// Nyström's distortion, the mean over landmarks, for each of some draws of rows.
    fn run_draws(&self) -> Result<(), String> {
        let Some(printed) = self.lines.lines().find_map(|line| line.strip_prefix("nystroem|")) else { return Ok(()) };
        let (test, train) = (load_dense(self.file, self.target.clone())?, load_dense(self.train, self.target.clone())?);
        let expected: Vec<&str> = printed.split(' ').step_by(2).collect();
        for (&k, expected) in self.sizes.iter().zip(expected) {
            let spec = self.landmarks(k, None, LandmarkForm::Nystroem);
            let mut means = Vec::new();
            for draw in 0..N_RUNS.0 {
                let rows = some_rows(&test, self.n_rows, self.range, draw).mapv(f64::from);
                let mut distortions = Vec::new();
                for run in 0..N_RUNS.0 {
                    let landmarks = some_rows(&train, spec.n_landmarks(), self.range, run).mapv(f64::from);
                    distortions.push(self.distorted(&rows, &self.by_landmarks(&spec, landmarks, &rows, run)?)?);
                }
                means.push(mean_and_deviation(&distortions).0);
            }
            let (least, largest) = means.iter().fold((f64::MAX, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
            println!("| {} | {k} | {expected} | {least:.3} | {largest:.3} |", self.number);
        }
        Ok(())
    }

    /// Mean and deviation for each size.
    fn measure_all(&self, data: &Data, method: &str) -> Result<Vec<(f64, f64)>, String> {
        if method != "streamed" {
            return self.sizes.iter().map(|&k| self.measure(data, method, k)).collect();
        }
        let largest = self.sizes[self.sizes.len() - 1];
        let mut means = vec![Vec::new(); self.sizes.len()];
        for run in 0..n_runs(method) {
            let rows = some_rows(&data.test, self.n_rows, self.range, run);
            let features = projected(&rows, largest, run);
            for (means, &k) in means.iter_mut().zip(self.sizes) {
                let features = features.slice(s![.., ..k]).mapv(|z| z / (k as f32).sqrt());
                means.push(self.distorted(&rows, &features)?);
            }
        }
        Ok(means.iter().map(|means| mean_and_deviation(means)).collect())
    }

    fn kernel(&self) -> Kernel {
        Kernel::Polynomial { degree: self.degree, gamma: 1.0, c: 0.0 }
    }

    fn distorted<T: Scalar>(&self, rows: &Array2<T>, features: &Array2<T>) -> Result<f64, String> {
        let report = distortion(self.kernel(), Rows::Dense(rows.view()), features.view());
        Ok(report.map_err(|error| error.to_string())?.mean)
    }

    fn measure(&self, data: &Data, method: &str, k: usize) -> Result<(f64, f64), String> {
        let spec = self.spec(method, k)?;
        let mut means = Vec::new();
        for run in 0..n_runs(method) {
            let rows = some_rows(&data.test, self.n_rows, self.range, run);
            means.push(match &spec {
                MapSpec::Landmark(spec) => {
                    let landmarks = some_rows(&data.train, spec.n_landmarks(), self.range, run).mapv(f64::from);
                    let rows = rows.mapv(f64::from);
                    self.distorted(&rows, &self.by_landmarks(spec, landmarks, &rows, run)?)?
                }
                spec => self.distorted(&rows, &features(spec, 1.0, &rows, run)?)?,
            });
        }
        Ok(mean_and_deviation(&means))
    }

    /// In f64: the rows of w8a have kernel values from 1 to a million, and in f32 those with small ones would be no landmarks.
    fn by_landmarks(
        &self,
        spec: &LandmarkSpec,
        landmarks: Array2<f64>,
        rows: &Array2<f64>,
        seed: u64,
    ) -> Result<Array2<f64>, String> {
        let text = |error: mercer::Error| error.to_string();
        let learned = spec.fit(self.kernel(), &PanelRows::Dense(landmarks), seed).map_err(text)?;
        let map = LandmarkMap::new(self.kernel(), &learned).map_err(text)?;
        let mut out = Array2::zeros((rows.nrows(), map.n_components()));
        let mut scratch = vec![0.0; map.scratch_len(rows.nrows())];
        map.transform_into(Rows::Dense(rows.view()), out.view_mut(), &mut scratch).map_err(text)?;
        Ok(out)
    }

    fn spec(&self, method: &str, n_components: usize) -> Result<MapSpec, String> {
        let number = |text: &str| text.parse::<f64>().map_err(|_| format!("{text} in {method}"));
        let words: Vec<&str> = method.split(' ').collect();
        let gamma = Gamma::Value(1.0);
        Ok(match words.as_slice() {
            ["phi", law] => {
                let first = MapSpec::Expansion(ExpansionSpec { gamma, c: 0.0, ..ExpansionSpec::new(self.degree) });
                let then = if *law == "gaussian" {
                    MapSpec::GaussianProjection { n_components }
                } else {
                    MapSpec::SparseProjection { n_components, s: number(law)? }
                };
                MapSpec::Chain { first: Box::new(first), then: Box::new(then) }
            }
            ["d2pk", s, t] => {
                let (law, n_terms) = (VectorLaw::Sparse(number(s)?), number(t)? as usize);
                MapSpec::D2pkRp(D2pkRpSpec { n_components, gamma, n_terms, law })
            }
            ["pk", law, p] => {
                let law = if *law == "gaussian" { VectorLaw::Gaussian } else { VectorLaw::Sparse(number(law)?) };
                // No more vectors than factors.
                let most = self.degree as usize * self.n_terms * n_components;
                let n_vectors = Some((number(p)? as usize).min(most));
                let spec = PkRpSpec::new(n_components, self.degree);
                MapSpec::PkRp(PkRpSpec { gamma, c: 0.0, n_terms: self.n_terms, n_vectors, law, ..spec })
            }
            ["nystroem"] => MapSpec::Landmark(self.landmarks(n_components, None, LandmarkForm::Nystroem)),
            ["kgrp", p] => {
                let form = LandmarkForm::KgRp { n_terms: self.n_terms };
                MapSpec::Landmark(self.landmarks(n_components, Some(number(p)? as usize), form))
            }
            _ => return Err(format!("no method {method}")),
        })
    }

    fn landmarks(&self, n_components: usize, n_landmarks: Option<usize>, form: LandmarkForm) -> LandmarkSpec {
        let kernel = KernelFamily::Polynomial { degree: self.degree, c: 0.0 };
        LandmarkSpec { n_landmarks, kernel, gamma: Gamma::Value(1.0), form, ..LandmarkSpec::new(n_components) }
    }
}

/// Rows to measure, and rows to take landmarks from.
struct Data {
    test: Array2<f32>,
    train: Array2<f32>,
}

/// Whether `wanted` is the method, or begins it: `pk`, `pk:1`, `pk:1:976`.
fn is_named(method: &str, wanted: &str) -> bool {
    method.split(' ').zip(wanted.split(':')).all(|(word, wanted)| word == wanted)
}

fn named(method: &str) -> String {
    let law = |law: &str| if law == "gaussian" { "normal".to_owned() } else { format!("s = {law}") };
    match method.split(' ').collect::<Vec<_>>().as_slice() {
        ["streamed"] => "φ + RP, normal".to_owned(),
        ["phi", of] => format!("φ + RP, {}", law(of)),
        ["d2pk", s, t] => format!("D2PK-RP, s = {s}, t = {t}"),
        ["pk", of, p] => format!("PK-RP, {}, p = {p}", law(of)),
        ["nystroem"] => "Nyström".to_owned(),
        ["kgrp", p] => format!("KG-RP, p = {p}"),
        _ => method.to_owned(),
    }
}

pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}
