//! Text into vectors: loads a sentence-transformers ONNX folder and runs it with ONNX Runtime.
//!
//! It reads what a model needs (prefixes, pooling, limits, dimensions) from the model's own files, cuts
//! long texts into windows, and gives one vector a text. It does not cache, batch, start threads or
//! know any database; which folders may be opened is the caller's decision. What must hold: a vector that
//! is returned is finite, not zero and has [`Model::dims`] entries; a folder that is missing, broken
//! or not understood is an [`Error`], never a crash and never a wrong vector; one text per run, because
//! dynamically quantised models give a text another vector in another batch.
#![forbid(unsafe_code)]

mod blank;
mod error;
mod fingerprint;
mod manifest;
mod model;
mod pool;
mod runtime;
mod session;
mod tokens;
mod windows;

pub use blank::is_blank;
pub use error::Error;
pub use manifest::{describe, Manifest, Pooling};
pub use model::{Embedding, Limits, Model};
pub use runtime::{init_runtime, runtime_version};
pub use session::Options;

/// What a text is to the model: many models are trained with another prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A text that is stored and found.
    Passage,
    /// A question that finds.
    Query,
}
