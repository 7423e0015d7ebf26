//! Flags of `mercer compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mercer::budget::{BudgetMethod, BudgetSpec};
use mercer::feature_maps::{
    D2pkRpSpec, DotProduct, ExpansionSpec, Frequencies, LandmarkSpec, MaclaurinSpec, MapSpec, PkRpSpec,
    TensorSketchSpec, TensorSrhtSpec,
};

use super::landmark::family;
use super::learner::TaskName;
use super::model::{KernelArgs, KernelName};
use super::product::PolynomialArgs;
use super::{ColumnArgs, DtypeName, EncodingArgs, Preprocess, ReadingArgs, RowsArgs, RunArgs, whole};
use crate::failure::Failure;

const COMPARE_EXAMPLES: &str = "\
Examples:
  mercer compare --sample digits --plot digits.svg
  mercer compare --sample digits --seeds 3 --report digits.html
  mercer compare iris.csv --target species --maps fourier,sorf --n-components 64..1024
  mercer compare w8a.gz --test w8a.t.gz --kernel matern --nu 2.5 --n-components 256,1024
  mercer compare x.npy --no-learner --seeds 10 --json
  mercer compare --sample digits --kernel poly --degree 3

Kernel RMSE and distortion (the share by which squared distances change) are those of 500 rows.
The time is that of the map alone, on one thread; the memory that of its random numbers; the score
that of ridge on rows held out. With several seeds: means (of the RMSE, of its square) ± their
standard deviation, and the shortest time. Maps of no such kernel (binning, projections, hadamard,
identity) are tried by mercer train --map.";

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
    /// randomly pivoted Cholesky); of the polynomial kernel tensor-srht, tensor-srht-real,
    /// tensor-tree, tensor-sketch, pk-rp, d2pk-rp, maclaurin, craft-maclaurin, craft-tensor-sketch, explicit [default: all that
    /// suit the kernel; explicit, which takes much memory, only if it is named]
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
            return Ok(suiting.into_iter().filter(|map| *map != Candidate::Explicit).collect());
        }
        let mut maps: Vec<Candidate> = Vec::new();
        for &map in &self.maps {
            if !suiting.contains(&map) {
                let (name, suiting) = (map.name(), names(&suiting, ","));
                let kernel = self.kernel.kernel.unwrap_or(KernelName::Rbf).to_possible_value().expect("it has a name");
                let text = format!(
                    "--maps has {name}, which has no features of the {} kernel as it is given; use --maps {suiting}",
                    kernel.get_name()
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
        if self.kernel.kernel == Some(KernelName::Poly) {
            self.kernel.refuse_waves()?;
            let (degree, c) = (self.polynomial.degree(), self.polynomial.c());
            let suits = |map: &Candidate| match map {
                Candidate::Spectral(_) => false,
                Candidate::Landmark(_) => true,
                Candidate::ArcCosine => false,
                Candidate::D2pkRp => degree == 2 && c == 0.0,
                Candidate::TensorTree => degree > 2,
                Candidate::Explicit => degree == 2 || degree == 3,
                _ => true,
            };
            return Ok(Candidate::all().filter(suits).collect());
        }
        if self.kernel.kernel.is_some_and(|kernel| !kernel.is_spectral()) {
            family(&self.kernel, &self.polynomial)?;
            let units = (self.kernel.kernel == Some(KernelName::ArcCosine)).then_some(Candidate::ArcCosine);
            return Ok(units.into_iter().chain(Candidate::LANDMARKS).collect());
        }
        self.polynomial.refuse("--kernel poly")?;
        let kernel = self.kernel.spectral(Frequencies::Independent, 2)?.kernel;
        let with_scales = self.kernel.length_scales.is_some();
        let suits = |map: &Candidate| match map {
            Candidate::Spectral(frequencies) => frequencies.suit(kernel),
            Candidate::Landmark(_) => !with_scales,
            _ => false,
        };
        Ok(Candidate::all().filter(suits).collect())
    }

    /// Why not all maps are compared, where none were asked for.
    pub(crate) fn note(&self, maps: &[Candidate]) -> Option<String> {
        if !self.maps.is_empty() {
            return None;
        }
        match self.kernel.kernel {
            Some(KernelName::Laplace) => Some(format!(
                "{}: the maps that suit the laplace kernel; the others need a radial one",
                names(maps, ", ")
            )),
            Some(KernelName::Poly) => {
                Some("craft-… projects four times as many features down; d2pk-rp needs --degree 2 --coef0 0".to_owned())
            }
            _ => None,
        }
    }

    /// Every map with every number of features, map by map, checked.
    pub(crate) fn specs(&self, maps: &[Candidate]) -> Result<Vec<(&'static str, MapSpec)>, Failure> {
        let mut sizes: Vec<usize> = self.n_components.iter().flat_map(|sizes| sizes.0.clone()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut specs = Vec::new();
        for (&map, &size) in maps.iter().flat_map(|map| sizes.iter().map(move |size| (map, size))) {
            let spec = self.spec(map, size)?;
            spec.validate()?;
            specs.push((map.name(), spec));
        }
        Ok(specs)
    }

    fn spec(&self, map: Candidate, n_components: usize) -> Result<MapSpec, Failure> {
        let (degree, gamma, c) = (self.polynomial.degree(), self.kernel.gamma(), self.polynomial.c());
        // A real and an imaginary part each.
        let complex = n_components.is_multiple_of(2);
        let srht =
            |complex, tree| MapSpec::TensorSrht(TensorSrhtSpec { n_components, degree, gamma, c, complex, tree });
        let sketch = |n_components| MapSpec::TensorSketch(TensorSketchSpec { n_components, degree, gamma, c });
        let series = |n_components| {
            let kernel = DotProduct::Polynomial { degree, c };
            MapSpec::Maclaurin(MaclaurinSpec { gamma, complex, ..MaclaurinSpec::new(n_components, kernel) })
        };
        let down = |first: MapSpec, then: MapSpec| MapSpec::Chain { first: Box::new(first), then: Box::new(then) };
        let up = n_components.saturating_mul(CRAFT);
        Ok(match map {
            Candidate::Spectral(frequencies) => MapSpec::Spectral(self.kernel.spectral(frequencies, n_components)?),
            Candidate::ArcCosine => {
                MapSpec::ArcCosine { n_components, degree: self.polynomial.given_degree().unwrap_or(1) }
            }
            Candidate::Landmark(method) => {
                let plain = KernelArgs { waves: None, ..self.kernel.clone() };
                let (kernel, gamma) = family(&plain, &self.polynomial)?;
                let budget = BudgetSpec { method, balanced: false };
                MapSpec::Landmark(LandmarkSpec { kernel, gamma, budget, ..LandmarkSpec::new(n_components) })
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

/// A map to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Candidate {
    Spectral(Frequencies),
    Landmark(BudgetMethod),
    ArcCosine,
    TensorSrht,
    TensorSrhtReal,
    TensorTree,
    TensorSketch,
    PkRp,
    D2pkRp,
    Maclaurin,
    CraftMaclaurin,
    CraftTensorSketch,
    Explicit,
}

/// Features of a CRAFTMap before they are projected down, for each that is left.
const CRAFT: usize = 4;

impl Candidate {
    const PRODUCTS: [Self; 10] = [
        Self::TensorSrht,
        Self::TensorSrhtReal,
        Self::TensorTree,
        Self::TensorSketch,
        Self::PkRp,
        Self::D2pkRp,
        Self::Maclaurin,
        Self::CraftMaclaurin,
        Self::CraftTensorSketch,
        Self::Explicit,
    ];

    const LANDMARKS: [Self; 2] = [Self::Landmark(BudgetMethod::Uniform), Self::Landmark(BudgetMethod::RandomCholesky)];

    fn all() -> impl Iterator<Item = Self> {
        let of_any = Self::LANDMARKS.into_iter().chain([Self::ArcCosine]);
        Frequencies::ALL.into_iter().map(Self::Spectral).chain(of_any).chain(Self::PRODUCTS)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Spectral(frequencies) => frequencies.name(),
            Self::Landmark(BudgetMethod::Uniform) => "nystroem",
            Self::Landmark(_) => "nystroem-rpc",
            Self::ArcCosine => "arc-cosine",
            Self::TensorSrht => "tensor-srht",
            Self::TensorSrhtReal => "tensor-srht-real",
            Self::TensorTree => "tensor-tree",
            Self::TensorSketch => "tensor-sketch",
            Self::PkRp => "pk-rp",
            Self::D2pkRp => "d2pk-rp",
            Self::Maclaurin => "maclaurin",
            Self::CraftMaclaurin => "craft-maclaurin",
            Self::CraftTensorSketch => "craft-tensor-sketch",
            Self::Explicit => "explicit",
        }
    }
}

fn names(maps: &[Candidate], between: &str) -> String {
    maps.iter().map(|map| map.name()).collect::<Vec<_>>().join(between)
}

fn candidate(text: &str) -> Result<Candidate, String> {
    let names = names(&Candidate::all().collect::<Vec<_>>(), ", ");
    Candidate::all().find(|map| map.name() == text).ok_or_else(|| format!("expected one of {names}"))
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
