//! What holds for any bytes taken for a model, and some models to start from.

use mercer::dataset::Dataset;
use mercer::feature_maps::{Frequencies, Gamma, HadamardBlocks, MapSpec, SpectralKernel, SpectralSpec, Waves};
use mercer::learners::{Lambda, LearnerSpec};
use mercer::model::Model;
use mercer::pipeline::PipelineSpec;
use mercer::preprocess::PreprocessSpec;
use mercer::{Driver, Dtype, Silent};
use mercer_io::{ReadOptions, model_from_bytes, model_to_bytes, open_bytes};

/// Loads a model. If there is one, its file loads again, as the same model. Returns whether there is one.
///
/// # Panics
/// When that is not so.
pub(crate) fn check_model(bytes: &[u8]) -> bool {
    let model = match model_from_bytes("model", bytes) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let written = model_to_bytes(&model).expect("what was loaded can be written");
    let again = model_from_bytes("written", &written).expect("what was written can be loaded");
    assert_eq!(again.header(), model.header());
    assert!(model_to_bytes(&again).expect("written again") == written, "the same model, the same bytes");
    true
}

/// Files of small models, of every kind that a header tells apart.
pub(crate) fn small_models() -> Vec<Vec<u8>> {
    use PreprocessSpec::{MaxAbs, None, Standardize};
    let fourier = MapSpec::fourier(2, Gamma::Scale);
    let gamma = Gamma::Value(0.5);
    let scaled = MapSpec::Spectral(SpectralSpec {
        kernel: SpectralKernel::Matern { nu: 1.5 },
        waves: Waves::Phase,
        length_scales: Some(vec![1.0, 2.0]),
        ..SpectralSpec::new(Frequencies::Sorf, 2, gamma)
    });
    let binning = MapSpec::Binning { n_components: 2, gamma, n_bins: 2 };
    let hadamard = MapSpec::Hadamard { blocks: HadamardBlocks::Split };
    let gaussian = MapSpec::GaussianProjection { n_components: 2 };
    let sparse = MapSpec::SparseProjection { n_components: 1, s: 2.0 };
    let words = "a,b,y\n1,2,no\n3,4,yes\n0,1,perhaps\n5,1,no\n2,2,yes\n";
    let numbers = "1,2,0.5\n3,4,1.5\n0,1,2.5\n5,1,3.25\n";
    let entries = "1 1:1 2:2\n0 1:3\n1 2:1\n0 1:4 3:1\n";
    let calibrated: String = (0..20).map(|i| format!("{},{},{}\n", i % 7, i % 5, i % 3)).collect();
    let model = |text: &str, preprocess, map: &MapSpec, dtype| {
        let source = open_bytes("rows", text.as_bytes(), &ReadOptions::default()).expect("rows");
        let dataset = Dataset::scan(source, usize::MAX).expect("rows");
        let learner = LearnerSpec::ridge(Lambda::Value(1.0));
        let spec = PipelineSpec {
            preprocess,
            map: map.clone(),
            learner,
            task: Option::None,
            cv: Option::None,
            probabilities: text == calibrated,
            seed: 1,
        };
        let driver = Driver::new(1, &Silent).expect("a thread");
        let (model, _) = Model::fit(&dataset, &spec, dtype, &driver).expect("a model");
        model_to_bytes(&model).expect("a file")
    };
    vec![
        model(words, Standardize, &fourier, Dtype::Float32),
        model(words, None, &gaussian, Dtype::Float64),
        model(numbers, Standardize, &sparse, Dtype::Float32),
        model(entries, MaxAbs, &fourier, Dtype::Float64),
        model(words, Standardize, &scaled, Dtype::Float32),
        model(numbers, None, &binning, Dtype::Float32),
        model(entries, MaxAbs, &hadamard, Dtype::Float32),
        model(&calibrated, None, &sparse, Dtype::Float32),
    ]
}
