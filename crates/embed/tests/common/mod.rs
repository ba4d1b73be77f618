//! What the tests with a real runtime share. It does not look for files by itself: the paths come from the
//! environment, and a path that is not set fails the test with the name of the variable.

use std::env;
use std::path::{Path, PathBuf};

use memory_embed::{init_runtime, Model};

fn path(variable: &str) -> PathBuf {
    match env::var_os(variable) {
        Some(value) => PathBuf::from(value),
        None => panic!("set {variable}: see the test targets of the Makefile"),
    }
}

/// Loads ONNX Runtime from SUMMER_MEMORY_ORT.
pub fn runtime() {
    init_runtime(&path("SUMMER_MEMORY_ORT")).unwrap();
}

/// Folder of the default model, SUMMER_MEMORY_MODEL.
pub fn model_dir() -> PathBuf {
    path("SUMMER_MEMORY_MODEL")
}

/// The default model, loaded.
pub fn model() -> Model {
    runtime();
    Model::load(&model_dir(), 1).unwrap()
}

/// A folder made by `tests/fixtures/generate.py`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Cosine of two vectors.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
