//! A loaded model: text in, vector out.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::fingerprint::{fingerprint, hash_files};
use crate::manifest::TOKENIZER;
use crate::pool::{add, norm, normalize, pool};
use crate::session::{Options, Session};
use crate::tokens::Tokens;
use crate::windows::{spread, Span};
use crate::{describe, is_blank, runtime_version, Error, Kind, Manifest};

/// How much of a long text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most windows of one text that are run, at least 1. Of a longer text this many are taken, evenly spread.
    pub max_windows: usize,
}

impl Default for Limits {
    /// 16 windows of 512 tokens are some 10,000 Chinese characters and about two seconds of the default model.
    fn default() -> Self {
        Self { max_windows: 16 }
    }
}

/// The vector of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// [`Model::dims`] finite numbers, not all zero, of length 1 if the model normalises.
    pub vector: Vec<f32>,
    /// Windows that went into it.
    pub windows: usize,
    /// Windows of the whole text; more than `windows` if the text was too long to be read whole.
    pub windows_total: usize,
}

/// A model folder that is loaded. Runs of one model are one at a time.
pub struct Model {
    manifest: Manifest,
    dims: usize,
    fingerprint: String,
    tokens: Tokens,
    session: Mutex<Session>,
}

impl Model {
    /// Loads the folder `dir` for runs of `threads` threads; [`crate::init_runtime`] comes first.
    pub fn load(dir: &Path, threads: usize) -> Result<Self, Error> {
        Self::load_with(dir, &Options { threads, ..Options::default() }, &mut || true)
    }

    /// Loads the folder `dir`. Between steps `keep_going` is asked; `false` gives [`Error::Cancelled`].
    ///
    /// Files are checked against the hashes of the manifest, the tokenizer against the embedding table, and one run
    /// is made, so a model that loads also works.
    pub fn load_with(
        dir: &Path,
        options: &Options,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Result<Self, Error> {
        let mut manifest = describe(dir)?;
        let hashes = hash_files(dir, &manifest, keep_going)?;
        let tokenizer = dir.join(TOKENIZER);
        let tokens = Tokens::load(&tokenizer, &manifest)?;
        let max_id = tokens.max_id();
        if manifest.vocab_size.is_some_and(|rows| u64::from(max_id) >= rows as u64) {
            return Err(Error::corrupt(
                &tokenizer,
                format_args!(
                    "token id {max_id} is outside the {} rows of the model",
                    manifest.vocab_size.unwrap_or(0)
                ),
            ));
        }
        if !keep_going() {
            return Err(Error::Cancelled);
        }
        let onnx = dir.join(&manifest.file);
        let mut session = Session::load(&onnx, &manifest, options)?;
        if !keep_going() {
            return Err(Error::Cancelled);
        }
        let dims = probe(&mut session, &tokens, &manifest, &onnx)?;
        manifest.dims = Some(dims);
        let runtime = runtime_version().unwrap_or_default();
        let fingerprint = fingerprint(&hashes, &manifest, runtime);
        Ok(Self { manifest, dims, fingerprint, tokens, session: Mutex::new(session) })
    }

    /// What the model is; `dims` is always known here.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Entries of a vector.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// 64 hex digits that differ whenever vectors may: SHA-256 over the model's files, its settings and the
    /// release of ONNX Runtime.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Tokens of a text with its prefix and the special tokens.
    ///
    /// Exact up to 16 KiB, within a few tokens above. A text the tokenizer fails on counts as its bytes, which
    /// is never too low.
    pub fn count_tokens(&self, text: &str, kind: Kind) -> usize {
        self.tokens.count(text, kind).unwrap_or(text.len())
    }

    /// Token ids of one run over the whole text, with prefix and special tokens, however many: for comparing
    /// tokenizers.
    pub fn token_ids(&self, text: &str, kind: Kind) -> Result<Vec<u32>, Error> {
        self.tokens.ids(text, kind)
    }

    /// The vector of a text.
    ///
    /// A text longer than the model's window is cut into windows at the ends of sentences where possible; their
    /// vectors are weighted by their numbers of tokens and added. `keep_going` is asked before each run and each 16
    /// KiB of tokenising; `false` gives [`Error::Cancelled`].
    pub fn embed(
        &self,
        text: &str,
        kind: Kind,
        limits: &Limits,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Result<Embedding, Error> {
        if is_blank(text) {
            return Err(Error::Blank);
        }
        if !keep_going() {
            return Err(Error::Cancelled);
        }
        // A token is seldom longer than 16 bytes: this saves tokenising a long text twice.
        if text.len() <= self.manifest.max_tokens.saturating_mul(16) {
            let ids = self.tokens.ids(text, kind)?;
            if ids.len() <= self.manifest.max_tokens {
                let vector = self.window(&ids, kind)?;
                return Ok(Embedding { vector, windows: 1, windows_total: 1 });
            }
        }
        let spans = self.tokens.spans(text, kind, keep_going)?;
        self.embed_spans(text, kind, &spans, limits, keep_going)
    }

    fn embed_spans(
        &self,
        text: &str,
        kind: Kind,
        spans: &[Span],
        limits: &Limits,
        keep_going: &mut dyn FnMut() -> bool,
    ) -> Result<Embedding, Error> {
        let parts: Vec<&str> = spans
            .iter()
            .filter_map(|span| text.get(span.start..span.end))
            .filter(|part| !is_blank(part))
            .collect();
        let mut sum = vec![0.0f64; self.dims];
        let mut weights = 0.0;
        let mut windows = 0;
        for index in spread(parts.len(), limits.max_windows.max(1)) {
            if !keep_going() {
                return Err(Error::Cancelled);
            }
            let ids = self.tokens.window_ids(parts.get(index).copied().unwrap_or_default(), kind)?;
            match self.window(&ids, kind) {
                Ok(vector) => {
                    let weight = self.tokens.weight(&ids, kind) as f64;
                    add(&mut sum, &vector, weight);
                    weights += weight;
                    windows += 1;
                }
                Err(Error::Blank) => {}
                Err(error) => return Err(error),
            }
        }
        if windows == 0 {
            return Err(Error::Blank);
        }
        let mut vector: Vec<f32> = sum.into_iter().map(|x| (x / weights) as f32).collect();
        if self.manifest.normalize {
            normalize(&mut vector)?;
        } else {
            norm(&vector)?;
        }
        Ok(Embedding { vector, windows, windows_total: parts.len() })
    }

    /// One run.
    fn window(&self, ids: &[u32], kind: Kind) -> Result<Vec<f32>, Error> {
        if self.tokens.is_empty(ids, kind) {
            return Err(Error::Blank);
        }
        // An error of the caller that unwinds through here poisons nothing: a run leaves no state behind.
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        run(&mut session, ids, &self.manifest, self.dims)
    }
}

/// One run, pooled, cut and normalised. An output shorter than `dims` is an error.
fn run(session: &mut Session, ids: &[u32], manifest: &Manifest, dims: usize) -> Result<Vec<f32>, Error> {
    let mut vector = pooled(session, ids, manifest)?;
    if vector.len() < dims {
        return Err(Error::runtime(format_args!("vector has {} dimensions instead of {dims}", vector.len())));
    }
    vector.truncate(dims);
    if manifest.normalize {
        normalize(&mut vector)?;
    } else {
        norm(&vector)?;
    }
    Ok(vector)
}

fn pooled(session: &mut Session, ids: &[u32], manifest: &Manifest) -> Result<Vec<f32>, Error> {
    let output = session.run(ids)?;
    if output.pooled {
        return Ok(output.values);
    }
    pool(&output.values, output.width, manifest.pooling).ok_or_else(|| Error::runtime("output has no rows"))
}

/// Runs the model once, over the highest id too, and gives the dimensions of its vectors.
fn probe(session: &mut Session, tokens: &Tokens, manifest: &Manifest, onnx: &Path) -> Result<usize, Error> {
    let mut ids = tokens.ids("a", Kind::Passage)?;
    ids.insert(ids.len() / 2, tokens.max_id());
    let found = match pooled(session, &ids, manifest) {
        Ok(vector) => vector.len(),
        Err(Error::Runtime { reason }) => {
            return Err(Error::corrupt(onnx, format_args!("the first run failed: {reason}")));
        }
        Err(error) => return Err(error),
    };
    let dims = manifest.cut_to.unwrap_or(found);
    if dims == 0 || dims > found {
        return Err(Error::unsupported(
            onnx,
            format_args!("manifest.json asks for {dims} dimensions of {found}"),
        ));
    }
    run(session, &ids, manifest, dims)?;
    Ok(dims)
}
