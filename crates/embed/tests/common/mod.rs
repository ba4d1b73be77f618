//! What the tests of this crate share: folders that are put together for a test and vanish with it, and the
//! runtime and the model, whose paths come from the environment. A path that is not set fails the test with
//! the name of its variable.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

use memory_embed::{init_runtime, Embedding, Error, Kind, Limits, Model};

fn path(variable: &str) -> PathBuf {
    match env::var_os(variable) {
        Some(value) => PathBuf::from(value),
        None => panic!("{variable} is not set: see the test targets of the Makefile"),
    }
}

/// Loads ONNX Runtime from SUMMER_MEMORY_ORT.
pub fn runtime() {
    init_runtime(&path("SUMMER_MEMORY_ORT")).unwrap();
}

/// Folder of the default model, SUMMER_MEMORY_MODEL.
pub fn default_model() -> PathBuf {
    path("SUMMER_MEMORY_MODEL")
}

/// A vector without any limit that matters.
pub fn embed(model: &Model, text: &str, kind: Kind) -> Result<Embedding, Error> {
    model.embed(text, kind, &Limits { max_windows: usize::MAX }, &mut || true)
}

/// Cosine of two vectors.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// A model folder of one test.
pub struct Folder(PathBuf);

impl Folder {
    /// A folder without a file.
    pub fn empty() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("memory_embed-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A folder with one of the graphs, and the tokenizer `words`.
    pub fn of(graph: &str) -> Self {
        Self::empty().with(&format!("{graph}.onnx"), "model.onnx").with("words.json", "tokenizer.json")
    }

    /// Adds a file made by `tests/fixtures/generate.py`.
    pub fn with(self, fixture: &str, name: &str) -> Self {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
        let content = fs::read(fixture).unwrap();
        self.file(name, content)
    }

    /// Adds a file.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn load(&self) -> Result<Model, Error> {
        runtime();
        Model::load(&self.0, 1)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
