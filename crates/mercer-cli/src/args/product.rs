//! Flags of maps of polynomial kernels.

use clap::{Args, ValueEnum};
use mercer::feature_maps::{Gamma, MapSpec, PkRpSpec, TensorSketchSpec, TensorSrhtSpec, VectorLaw};

use super::model::{Map, refuse};
use super::whole;
use crate::failure::Failure;

/// The polynomial kernel (gamma <x,y> + c)^degree, and what its maps have beside it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct PolynomialArgs {
    /// Degree of the polynomial kernel (gamma <x,y> + c)^degree (tensor-srht, tensor-sketch, pk-rp) [default: 2]
    #[arg(long, value_name = "G", value_parser = whole::<u32>, allow_negative_numbers = true)]
    degree: Option<u32>,
    /// Constant of the polynomial kernel; 0 is the homogeneous one [default: 1]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    coef0: Option<f64>,
    /// Signs of tensor-srht: complex ones have the smaller error [default: complex]
    #[arg(long, value_enum)]
    signs: Option<Signs>,
    /// Of pk-rp: products that are summed for a feature [default: 1]
    #[arg(long, value_name = "T", value_parser = whole::<usize>, allow_negative_numbers = true)]
    n_terms: Option<usize>,
    /// Of pk-rp: random vectors, which features share [default: as many as features]
    #[arg(long, value_name = "P", value_parser = whole::<usize>, allow_negative_numbers = true)]
    n_vectors: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Signs {
    /// 1 and -1
    Real,
    /// 1, i, -1 and -i
    Complex,
}

const POLYNOMIAL: &str = "--map tensor-srht, tensor-sketch and pk-rp";

impl PolynomialArgs {
    /// The map of this name, of vectors of one entry in `s` where they are sparse; none where it is another family's.
    pub(super) fn map(
        &self,
        map: Map,
        n_components: usize,
        gamma: Gamma,
        s: Option<f64>,
    ) -> Result<Option<MapSpec>, Failure> {
        self.refuse_others(map)?;
        let (degree, c) = (self.degree.unwrap_or(2), self.coef0.unwrap_or(1.0));
        Ok(Some(match map {
            Map::TensorSrht => {
                let complex = self.signs != Some(Signs::Real);
                MapSpec::TensorSrht(TensorSrhtSpec { n_components, degree, gamma, c, complex })
            }
            Map::TensorSketch => MapSpec::TensorSketch(TensorSketchSpec { n_components, degree, gamma, c }),
            Map::PkRp => {
                let law = s.map_or(VectorLaw::Gaussian, VectorLaw::Sparse);
                let (n_terms, n_vectors) = (self.n_terms.unwrap_or(1), self.n_vectors);
                MapSpec::PkRp(PkRpSpec { n_components, degree, gamma, c, n_terms, n_vectors, law })
            }
            _ => return Ok(None),
        }))
    }

    fn refuse_others(&self, map: Map) -> Result<(), Failure> {
        let polynomial = matches!(map, Map::TensorSrht | Map::TensorSketch | Map::PkRp);
        refuse("--degree", self.degree.is_some() && !polynomial, POLYNOMIAL)?;
        refuse("--coef0", self.coef0.is_some() && !polynomial, POLYNOMIAL)?;
        refuse("--signs", self.signs.is_some() && map != Map::TensorSrht, "--map tensor-srht")?;
        refuse("--n-terms", self.n_terms.is_some() && map != Map::PkRp, "--map pk-rp")?;
        refuse("--n-vectors", self.n_vectors.is_some() && map != Map::PkRp, "--map pk-rp")
    }
}
