//! Flags of maps of polynomial kernels, and of projections behind a map.

use clap::{Args, ValueEnum};
use mercer::feature_maps::{
    Allocation, D2pkRpSpec, DotProduct, ExpansionSpec, Gamma, MaclaurinSpec, MapSpec, PkRpSpec, TensorSketchSpec,
    TensorSrhtSpec, VectorLaw,
};
use mercer::kernels::PowerSeries;

use super::model::{KernelName, Map, refuse};
use super::whole;
use crate::failure::Failure;

/// The polynomial kernel (gamma <x,y> + c)^degree.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct PolynomialArgs {
    /// Degree of the polynomial kernel (gamma <x,y> + c)^degree [default: 2]
    #[arg(long, value_name = "G", value_parser = whole::<u32>, allow_negative_numbers = true)]
    degree: Option<u32>,
    /// Constant of the polynomial kernel; 0 is the homogeneous one [default: 1]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    coef0: Option<f64>,
}

/// What maps of polynomial kernels have beside it, and what may follow a map.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct ProductArgs {
    /// Signs of tensor-srht and maclaurin: complex ones have the smaller error [default: complex]
    #[arg(long, value_enum)]
    signs: Option<Signs>,
    /// Of tensor-srht: sketch products pair by pair, for degrees of 4 and more
    #[arg(long)]
    tree: bool,
    /// Of maclaurin: how features are dealt to the powers of the series [default: optimal]
    #[arg(long, value_enum)]
    allocation: Option<AllocationName>,
    /// Of maclaurin: the series a0 + a1 gamma <x,y> + a2 (gamma <x,y>)^2 + ..., up to 17 numbers of at least 0 with commas
    /// between them, in place of --kernel
    #[arg(long, value_name = "A0,A1,…", value_delimiter = ',', allow_negative_numbers = true)]
    coefficients: Option<Vec<f64>>,
    /// Products of pk-rp, squares of d2pk-rp, or landmarks of kg-rp that are summed for a feature [default: 1; d2pk-rp: 10; kg-rp: 30]
    #[arg(long, value_name = "T", value_parser = whole::<usize>, allow_negative_numbers = true)]
    n_terms: Option<usize>,
    /// Of pk-rp: random vectors, which features share [default: as many as features]
    #[arg(long, value_name = "P", value_parser = whole::<usize>, allow_negative_numbers = true)]
    n_vectors: Option<usize>,
    /// Project the features down to K: with maclaurin or tensor-sketch before it this is a CRAFTMap
    #[arg(long, value_name = "K", value_parser = whole::<usize>, allow_negative_numbers = true)]
    project_to: Option<usize>,
    /// How features are projected down [default: srht]
    #[arg(long, value_enum, requires = "project_to")]
    projection: Option<Projection>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Signs {
    /// 1 and -1
    Real,
    /// 1, i, -1 and -i
    Complex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AllocationName {
    /// For the least variance
    Optimal,
    /// By chance
    Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Projection {
    /// Coordinates of a signed Walsh-Hadamard transform
    Srht,
    /// Normal entries
    Gaussian,
    /// One entry in three is not zero
    Sparse,
}

pub(super) const POLYNOMIAL: &str = "--map tensor-srht, tensor-sketch, pk-rp, maclaurin and expansion";

impl PolynomialArgs {
    /// The degree as it is given.
    pub(super) fn given_degree(&self) -> Option<u32> {
        self.degree
    }

    /// Refuses what would do nothing with any kernel of landmarks.
    pub(super) fn refuse_but(&self, is_polynomial: bool, is_arc_cosine: bool) -> Result<(), Failure> {
        let has_degree = is_polynomial || is_arc_cosine;
        refuse("--degree", self.degree.is_some() && !has_degree, "--kernel poly and arc-cosine")?;
        refuse("--coef0", self.coef0.is_some() && !is_polynomial, "--kernel poly")
    }

    pub(super) fn degree(&self) -> u32 {
        self.degree.unwrap_or(2)
    }

    pub(super) fn c(&self) -> f64 {
        self.coef0.unwrap_or(1.0)
    }

    /// Refuses what would do nothing.
    pub(super) fn refuse(&self, with: &str) -> Result<(), Failure> {
        refuse("--degree", self.degree.is_some(), with)?;
        refuse("--coef0", self.coef0.is_some(), with)
    }
}

impl ProductArgs {
    /// Terms of a sum, as given.
    pub(super) fn n_terms(&self) -> Option<usize> {
        self.n_terms
    }

    /// The map of this name, of vectors of one entry in `s` where they are sparse; none where it is another family's.
    pub(super) fn map(
        &self,
        (map, n_components): (Map, usize),
        (kernel, gamma): (Option<KernelName>, Gamma),
        polynomial: &PolynomialArgs,
        s: Option<f64>,
    ) -> Result<Option<MapSpec>, Failure> {
        self.refuse_others(map)?;
        let (exponential, series) = (kernel == Some(KernelName::Exponential), self.coefficients.is_some());
        refuse("--coefficients", series && kernel.is_some(), "a map without --kernel")?;
        if !map.is_polynomial() || exponential || series {
            let with = if series { "maps without --coefficients" } else { POLYNOMIAL };
            polynomial.refuse(if exponential { "--kernel poly" } else { with })?;
        }
        let (degree, c) = (polynomial.degree(), polynomial.c());
        let complex = self.signs != Some(Signs::Real);
        Ok(Some(match map {
            Map::TensorSrht => {
                MapSpec::TensorSrht(TensorSrhtSpec { n_components, degree, gamma, c, complex, tree: self.tree })
            }
            Map::TensorSketch => MapSpec::TensorSketch(TensorSketchSpec { n_components, degree, gamma, c }),
            Map::Expansion => MapSpec::Expansion(ExpansionSpec { gamma, c, ..ExpansionSpec::new(degree) }),
            Map::Maclaurin => {
                let kernel = match &self.coefficients {
                    Some(given) => DotProduct::PowerSeries { coefficients: PowerSeries::new(given)? },
                    None if exponential => DotProduct::Exponential,
                    None => DotProduct::Polynomial { degree, c },
                };
                let allocation = match self.allocation.unwrap_or(AllocationName::Optimal) {
                    AllocationName::Optimal => Allocation::Optimal,
                    AllocationName::Random => Allocation::Random,
                };
                MapSpec::Maclaurin(MaclaurinSpec { n_components, kernel, gamma, allocation, complex })
            }
            Map::PkRp => {
                let law = s.map_or(VectorLaw::Gaussian, VectorLaw::Sparse);
                let (n_terms, n_vectors) = (self.n_terms.unwrap_or(1), self.n_vectors);
                MapSpec::PkRp(PkRpSpec { n_components, degree, gamma, c, n_terms, n_vectors, law })
            }
            Map::D2pkRp => {
                let (n_terms, law) = (self.n_terms.unwrap_or(10), VectorLaw::Sparse(s.unwrap_or(3.0)));
                MapSpec::D2pkRp(D2pkRpSpec { n_components, gamma, n_terms, law })
            }
            _ => return Ok(None),
        }))
    }

    /// The map with a projection behind it, where one is asked for.
    pub(super) fn projected(&self, first: MapSpec) -> MapSpec {
        let Some(n_components) = self.project_to else { return first };
        let then = match self.projection.unwrap_or(Projection::Srht) {
            Projection::Srht => MapSpec::Srht { n_components },
            Projection::Gaussian => MapSpec::GaussianProjection { n_components },
            Projection::Sparse => MapSpec::SparseProjection { n_components, s: 3.0 },
        };
        MapSpec::Chain { first: Box::new(first), then: Box::new(then) }
    }

    pub(super) fn refuse_others(&self, map: Map) -> Result<(), Failure> {
        let has_signs = matches!(map, Map::TensorSrht | Map::Maclaurin);
        refuse("--signs", self.signs.is_some() && !has_signs, "--map tensor-srht and maclaurin")?;
        refuse("--tree", self.tree && map != Map::TensorSrht, "--map tensor-srht")?;
        refuse("--allocation", self.allocation.is_some() && map != Map::Maclaurin, "--map maclaurin")?;
        refuse("--coefficients", self.coefficients.is_some() && map != Map::Maclaurin, "--map maclaurin")?;
        let sums = matches!(map, Map::PkRp | Map::D2pkRp | Map::KgRp);
        refuse("--n-terms", self.n_terms.is_some() && !sums, "--map pk-rp, d2pk-rp and kg-rp")?;
        refuse("--n-vectors", self.n_vectors.is_some() && map != Map::PkRp, "--map pk-rp")
    }
}
