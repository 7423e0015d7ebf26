//! Flags of `mercer compare`.

mod candidate;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mercer::budget::{BudgetMethod, BudgetSpec};
use mercer::feature_maps::{
    D2pkRpSpec, DotProduct, ExpansionSpec, Frequencies, LandmarkForm, LandmarkSpec, MaclaurinSpec, MapSpec, PkRpSpec,
    TensorSketchSpec, TensorSrhtSpec, Waves,
};

pub(crate) use self::candidate::Candidate;
use self::candidate::{candidate, names};
use super::landmark::family;
use super::learner::TaskName;
use super::model::{KernelArgs, KernelName};
use super::product::PolynomialArgs;
use super::{ColumnArgs, DtypeName, EncodingArgs, Preprocess, ReadingArgs, RowsArgs, RunArgs, whole};
use crate::failure::Failure;
use crate::text::{bytes as shown_bytes, count};

/// Features of a CRAFTMap before they are projected down, for each that is left.
const CRAFT: usize = 4;
/// Memory of the projection behind an explicit expansion, up to which it is compared without being asked for.
const EXPLICIT_BYTES: u64 = 256_000_000;

const COMPARE_EXAMPLES: &str = "\
Examples:
  mercer compare --sample digits --plot digits.svg
  mercer compare --sample digits --seeds 3 --report digits.html
  mercer compare iris.csv --target species --maps fourier,sorf --n-components 64..1024
  mercer compare w8a.gz --test w8a.t.gz --kernel matern --nu 2.5 --n-components 256,1024
  mercer compare x.npy --no-learner --seeds 10 --json
  mercer compare --sample digits --kernel poly --degree 2
  mercer compare --sample digits --maps nystroem,nystroem-kmeans,nystroem-leverage

Kernel RMSE and distortion (the share by which squared distances change) are those of 500 rows.
The time is that of the map alone, on one thread; the memory that of its random numbers; the score
that of ridge on rows held out. With several seeds: means (of the RMSE, of its square) ± their
standard deviation, and the shortest time. kernel-pca has no kernel error: it has the centred
kernel, and only the part along its components. Maps of no such kernel (binning, projections,
hadamard, identity) are tried by mercer train --map.";

/// Compare the maps of a kernel: kernel error, time, memory and score for each number of features.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    /// Hold out this share of the rows, to score on; 0.2 if there are no other test rows
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["sample", "test"], allow_negative_numbers = true)]
    pub(crate) test_size: Option<f64>,
    /// Take test rows from all rows alike, not in the same share from each class
    #[arg(long, conflicts_with_all = ["sample", "test"])]
    pub(crate) no_stratify: bool,
    /// Learn nothing: no targets are needed, and no rows are held out
    #[arg(long, conflicts_with_all = ["test", "test_size", "no_stratify", "task"])]
    pub(crate) no_learner: bool,
    /// What to learn; found by the targets if not given
    #[arg(long, value_enum)]
    pub(crate) task: Option<TaskName>,
    /// Where to draw the comparison, as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Where to write charts and tables, as one HTML file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) encoding: EncodingArgs,
    /// Maps, with commas: fourier, orthogonal, sorf, fastfood, quasi; of any kernel nystroem, nystroem-rpc (landmarks by
    /// randomly pivoted Cholesky), nystroem-leverage, -columns, -farthest, -kmeans-pp, -kmeans and -dbh, kg-rp, korp, kernel-pca; of the
    /// polynomial kernel tensor-srht, tensor-srht-real, tensor-tree, tensor-sketch, pk-rp, d2pk-rp, maclaurin, craft-maclaurin,
    /// craft-tensor-sketch, explicit; of their own kernels arc-cosine, additive-chi2, skewed-chi2 [default: all that suit the kernel;
    /// nystroem-leverage and those after it only if they are named, explicit up to 256 MB]
    #[arg(long, value_delimiter = ',', value_parser = candidate, help_heading = "Features")]
    maps: Vec<Candidate>,
    /// Numbers of features: 256..4096 doubles, 300,1000 lists
    #[arg(long, value_name = "D", default_value = "256..4096", value_delimiter = ',', value_parser = sizes, help_heading = "Features")]
    n_components: Vec<Sizes>,
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    polynomial: PolynomialArgs,
    /// Scaling of the inputs
    #[arg(long, value_enum, default_value_t = Preprocess::Auto, help_heading = "Features")]
    pub(crate) preprocess: Preprocess,
    /// Names every random choice: the same seed gives the same features
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>, allow_negative_numbers = true, help_heading = "Features")]
    seed: u64,
    /// Draw each map so often, by this many seeds from --seed on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000), help_heading = "Features")]
    seeds: u64,
    /// Type of all numbers
    #[arg(long, value_enum, default_value_t = DtypeName::Float32, help_heading = "Features")]
    pub(crate) dtype: DtypeName,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl CompareArgs {
    /// The maps asked for, once each; without any, those that suit the kernel.
    pub(crate) fn maps(&self) -> Result<Vec<Candidate>, Failure> {
        let suiting = self.suiting()?;
        if self.maps.is_empty() {
            return Ok(suiting.into_iter().filter(|map| !map.is_only_by_name()).collect());
        }
        let mut maps: Vec<Candidate> = Vec::new();
        for &map in &self.maps {
            if !suiting.contains(&map) {
                let (name, suiting) = (map.name(), names(&suiting, ","));
                let kernel = self.kernel.kernel.unwrap_or(KernelName::Rbf).to_possible_value().expect("it has a name");
                let text = format!(
                    "--maps has {name}, which has no features of the {} kernel as it is given{}; use --maps {suiting}",
                    kernel.get_name(),
                    map.needs().map_or_else(String::new, |flags| format!(": it needs {flags}"))
                );
                return Err(Failure::Usage(text));
            }
            if !maps.contains(&map) {
                maps.push(map);
            }
        }
        Ok(maps)
    }

    /// The maps of this kernel.
    fn suiting(&self) -> Result<Vec<Candidate>, Failure> {
        let spectral = match self.kernel.kernel {
            None => true,
            Some(KernelName::Poly) => return self.suiting_poly(),
            Some(kernel) => kernel.is_spectral(),
        };
        if !spectral {
            family(&self.kernel, &self.polynomial)?;
            let own = |map: &Candidate| match map {
                Candidate::ArcCosine => self.kernel.kernel == Some(KernelName::ArcCosine),
                Candidate::AdditiveChi2 => self.kernel.kernel == Some(KernelName::AdditiveChi2),
                Candidate::SkewedChi2 => self.kernel.kernel == Some(KernelName::SkewedChi2),
                Candidate::Maclaurin | Candidate::CraftMaclaurin => self.kernel.kernel == Some(KernelName::Exponential),
                map => map.has_landmarks(),
            };
            return Ok(Candidate::all().filter(own).collect());
        }
        self.polynomial.refuse("--kernel poly")?;
        let kernel = self.kernel.spectral(Frequencies::Independent, 2)?.kernel;
        let with_scales = self.kernel.length_scales.is_some();
        let suits = |map: &Candidate| match map {
            Candidate::Spectral(frequencies) => frequencies.suit(kernel),
            map => map.has_landmarks() && !with_scales,
        };
        Ok(Candidate::all().filter(suits).collect())
    }

    /// The maps of the polynomial kernel.
    fn suiting_poly(&self) -> Result<Vec<Candidate>, Failure> {
        self.kernel.refuse_waves()?;
        let degree = self.polynomial.degree();
        let suits = |map: &Candidate| match map {
            Candidate::D2pkRp => degree == 2,
            Candidate::TensorTree => degree > 2,
            Candidate::Explicit => degree == 2 || degree == 3,
            map => map.has_landmarks() || map.is_product(),
        };
        Ok(Candidate::all().filter(suits).collect())
    }

    /// Why not all maps are compared, where none were asked for, and which has another kernel than the others.
    pub(crate) fn note(&self, maps: &[Candidate]) -> Option<String> {
        let named = !self.maps.is_empty();
        match self.kernel.kernel {
            Some(KernelName::Laplace) if !named => Some(format!(
                "{}: the maps that suit the laplace kernel; the others need a radial one",
                names(maps, ", ")
            )),
            Some(KernelName::Poly) => {
                let craft = (!named).then(|| "craft-… projects four times as many features down".to_owned());
                let other = maps.contains(&Candidate::D2pkRp) && self.polynomial.c() != 0.0;
                let other = other.then(|| {
                    "d2pk-rp has the kernel without its constant, and that kernel's error; --coef0 0 gives it to all"
                        .to_owned()
                });
                let notes: Vec<String> = craft.into_iter().chain(other).collect();
                (!notes.is_empty()).then(|| notes.join("; "))
            }
            _ => None,
        }
    }

    /// Every map with every number of features, map by map, checked.
    pub(crate) fn specs(&self, maps: &[Candidate]) -> Result<Vec<(Candidate, MapSpec)>, Failure> {
        let mut sizes: Vec<usize> = self.n_components.iter().flat_map(|sizes| sizes.0.clone()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut specs = Vec::new();
        for &map in maps {
            if map == Candidate::AdditiveChi2 {
                // The inputs say how many features there are: once, three and five times as many.
                let of_steps = |n_steps| (map, MapSpec::AdditiveChi2 { n_steps, interval: None });
                specs.extend((1..=3).map(of_steps));
                continue;
            }
            for &size in &sizes {
                let spec = self.spec(map, size)?;
                spec.validate()?;
                specs.push((map, spec));
            }
        }
        Ok(specs)
    }

    /// The specs without those of `explicit` that would fill the memory, unless it was asked for by name; and what says so.
    pub(crate) fn fitting(
        &self,
        specs: Vec<(Candidate, MapSpec)>,
        n_inputs: usize,
    ) -> (Vec<(Candidate, MapSpec)>, Option<String>) {
        let bytes_of_number = match self.dtype {
            DtypeName::Float32 => 4,
            DtypeName::Float64 => 8,
        };
        let bytes = |spec: &MapSpec| spec.n_entries(n_inputs).saturating_mul(bytes_of_number);
        let too_large = |map: Candidate, spec: &MapSpec| map == Candidate::Explicit && bytes(spec) > EXPLICIT_BYTES;
        if !self.maps.is_empty() {
            return (specs, None);
        }
        let (left_out, kept): (Vec<_>, Vec<_>) = specs.into_iter().partition(|(map, spec)| too_large(*map, spec));
        let note = left_out.first().map(|(_, spec)| {
            let (size, memory) = (count(spec.n_components(n_inputs) as u64), shown_bytes(bytes(spec)));
            format!("explicit is left out from {size} features on, which take {memory}: --maps explicit has it")
        });
        (kept, note)
    }

    fn spec(&self, map: Candidate, n_components: usize) -> Result<MapSpec, Failure> {
        let (degree, gamma, c) = (self.polynomial.degree(), self.kernel.gamma(), self.polynomial.c());
        // A real and an imaginary part each.
        let complex = n_components.is_multiple_of(2);
        let srht =
            |complex, tree| MapSpec::TensorSrht(TensorSrhtSpec { n_components, degree, gamma, c, complex, tree });
        let sketch = |n_components| MapSpec::TensorSketch(TensorSketchSpec { n_components, degree, gamma, c });
        let exponential = self.kernel.kernel == Some(KernelName::Exponential);
        let series = |n_components| {
            let kernel = if exponential { DotProduct::Exponential } else { DotProduct::Polynomial { degree, c } };
            MapSpec::Maclaurin(MaclaurinSpec { gamma, complex, ..MaclaurinSpec::new(n_components, kernel) })
        };
        let down = |first: MapSpec, then: MapSpec| MapSpec::Chain { first: Box::new(first), then: Box::new(then) };
        let up = n_components.saturating_mul(CRAFT);
        Ok(match map {
            Candidate::Spectral(frequencies) => MapSpec::Spectral(self.kernel.spectral(frequencies, n_components)?),
            Candidate::ArcCosine => {
                MapSpec::ArcCosine { n_components, degree: self.polynomial.given_degree().unwrap_or(1) }
            }
            Candidate::SkewedChi2 => {
                let skewedness = self.kernel.skewedness();
                MapSpec::SkewedChi2 { n_components, skewedness, waves: Waves::Paired }
            }
            Candidate::AdditiveChi2 => unreachable!("its sizes are those of the inputs"),
            Candidate::Nystroem(_) | Candidate::KgRp | Candidate::Korp | Candidate::KernelPca => {
                return self.landmarks(map, n_components);
            }
            Candidate::TensorSrht => srht(complex, false),
            Candidate::TensorSrhtReal => srht(false, false),
            Candidate::TensorTree => srht(complex, true),
            Candidate::TensorSketch => sketch(n_components),
            Candidate::PkRp => MapSpec::PkRp(PkRpSpec { gamma, c, ..PkRpSpec::new(n_components, degree) }),
            Candidate::D2pkRp => MapSpec::D2pkRp(D2pkRpSpec { gamma, ..D2pkRpSpec::new(n_components) }),
            Candidate::Maclaurin => series(n_components),
            Candidate::CraftMaclaurin => down(series(up), MapSpec::Srht { n_components }),
            Candidate::CraftTensorSketch => down(sketch(up), MapSpec::Srht { n_components }),
            Candidate::Explicit => {
                let all = MapSpec::Expansion(ExpansionSpec { gamma, c, ..ExpansionSpec::new(degree) });
                down(all, MapSpec::GaussianProjection { n_components })
            }
        })
    }

    /// A map of landmarks, as many as features but for KG-RP, which has at most 1,024, and principal components, which have at least so
    /// many.
    fn landmarks(&self, map: Candidate, n_components: usize) -> Result<MapSpec, Failure> {
        let plain = KernelArgs { waves: None, ..self.kernel.clone() };
        let (kernel, gamma) = family(&plain, &self.polynomial)?;
        let (form, n_landmarks) = match map {
            Candidate::KgRp => (LandmarkForm::KgRp { n_terms: n_components.clamp(1, 30) }, None),
            Candidate::Korp => (LandmarkForm::Korp, None),
            Candidate::KernelPca => (LandmarkForm::KernelPca, Some(n_components.max(1024))),
            _ => (LandmarkForm::Nystroem, None),
        };
        let method = if let Candidate::Nystroem(method) = map { method } else { BudgetMethod::Uniform };
        let budget = BudgetSpec { method, balanced: false };
        Ok(MapSpec::Landmark(LandmarkSpec { n_components, n_landmarks, kernel, gamma, budget, form }))
    }

    /// The seeds of the maps; the first is that of the split.
    pub(crate) fn seeds(&self) -> Result<Vec<u64>, Failure> {
        let too_many = || Failure::Usage(format!("there are no {} seeds from {} on", self.seeds, self.seed));
        Ok((self.seed..self.seed.checked_add(self.seeds).ok_or_else(too_many)?).collect())
    }
}

/// One number of features, or a range that doubles.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sizes(pub(super) Vec<usize>);

pub(super) fn sizes(text: &str) -> Result<Sizes, String> {
    let Some((from, to)) = text.split_once("..") else { return whole(text).map(|size| Sizes(vec![size])) };
    let (from, to): (usize, usize) = (whole(from)?, whole(to)?);
    if from == 0 || from > to {
        return Err("a range doubles from a number above 0 to a larger one, such as 256..4096".to_owned());
    }
    let doubled = std::iter::successors(Some(from), |size| size.checked_mul(2));
    Ok(Sizes(doubled.take_while(|&size| size <= to).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_double() {
        assert_eq!(sizes("64").unwrap().0, [64]);
        assert_eq!(sizes("256..2048").unwrap().0, [256, 512, 1024, 2048]);
        assert_eq!(sizes("3..20").unwrap().0, [3, 6, 12]);
        assert_eq!(sizes("7..7").unwrap().0, [7]);
        assert_eq!(sizes(&format!("1..{}", usize::MAX)).unwrap().0.len(), 64);
        for bad in ["8..4", "0..4", "..4", "4..", "a", "4..-8", "1..2..3"] {
            assert!(sizes(bad).is_err(), "{bad}");
        }
    }
}
