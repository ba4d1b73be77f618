//! What a model folder says about itself.
//!
//! Reads JSON files only, no weights. Later sources win: `config.json`, `tokenizer_config.json`, the
//! sentence-transformers files (`modules.json`, `1_Pooling/config.json`, `sentence_bert_config.json`,
//! `config_sentence_transformers.json`), and `manifest.json`, which can override everything. What the model
//! really has as inputs and outputs is seen when it is loaded.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::Deserialize;

use crate::{Error, Kind};

/// Window of a model whose files name none: that of BERT.
const DEFAULT_MAX_TOKENS: usize = 512;
/// Longest window taken from foreign files; attention memory grows with its square. `manifest.json` may ask for more.
const MAX_TOKENS_UNASKED: usize = 2048;

/// How token vectors become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Mean of all tokens.
    Mean,
    /// The first token.
    Cls,
    /// The last token.
    LastToken,
    /// The model's output is one vector already.
    InGraph,
}

impl Pooling {
    /// The name used in `manifest.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
            Self::LastToken => "last_token",
            Self::InGraph => "in_graph",
        }
    }
}

/// Everything needed to run a model folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Name of the model: from `manifest.json`, or that of the folder.
    pub name: String,
    /// The ONNX file, relative to the folder.
    pub file: PathBuf,
    /// The output to read; `None` lets the loader choose.
    pub output: Option<String>,
    /// How token vectors become one vector; without effect on an output that is one vector already.
    pub pooling: Pooling,
    /// Whether vectors are scaled to length 1.
    pub normalize: bool,
    /// Put before a query.
    pub query_prefix: String,
    /// Put before a passage.
    pub passage_prefix: String,
    /// Most tokens of one run, prefix and special tokens included.
    pub max_tokens: usize,
    /// Entries of a vector. The files of some models do not tell; a loaded model always does.
    pub dims: Option<usize>,
    /// Number of rows of the embedding table, where the files tell: every token id must be lower.
    pub vocab_size: Option<usize>,
    /// SHA-256 in lower-case hex by file name relative to the folder; empty without a `manifest.json`.
    pub files: BTreeMap<String, String>,
    /// The dimensions `manifest.json` asks for: a longer output is cut to them (Matryoshka models).
    pub(crate) cut_to: Option<usize>,
}

impl Manifest {
    /// The prefix for a kind of text.
    pub fn prefix(&self, kind: Kind) -> &str {
        match kind {
            Kind::Passage => &self.passage_prefix,
            Kind::Query => &self.query_prefix,
        }
    }
}

/// Name of the overriding file.
pub(crate) const MANIFEST: &str = "manifest.json";
/// Name of the tokenizer's file.
pub(crate) const TOKENIZER: &str = "tokenizer.json";

/// Reads the description of the model in `dir`.
///
/// Fails if the ONNX file or the tokenizer is missing, or a JSON file is broken; opens neither.
pub fn describe(dir: &Path) -> Result<Manifest, Error> {
    if !fs::metadata(dir).map_err(|error| Error::missing(dir, &error))?.is_dir() {
        return Err(Error::missing(dir, &ErrorKind::NotADirectory.into()));
    }
    let config: Config = read(dir, "config.json")?.unwrap_or_default();
    let tokenizer: TokenizerConfig = read(dir, "tokenizer_config.json")?.unwrap_or_default();
    let modules: Vec<Module> = read(dir, "modules.json")?.unwrap_or_default();
    let pooling_file = modules
        .iter()
        .find(|module| module.is("Pooling") && is_inside(Path::new(&module.path)))
        .map_or_else(|| PathBuf::from("1_Pooling"), |module| PathBuf::from(&module.path))
        .join("config.json");
    let pooling: Option<PoolingConfig> = read(dir, &pooling_file)?;
    let sentence: SentenceConfig = read(dir, "sentence_bert_config.json")?.unwrap_or_default();
    let prompts: PromptConfig = read(dir, "config_sentence_transformers.json")?.unwrap_or_default();
    let own: Overrides = read(dir, MANIFEST)?.unwrap_or_default();

    let chosen_pooling = match (own.pooling, &pooling) {
        (Some(chosen), _) => chosen,
        (None, Some(config)) => config.pooling(&dir.join(&pooling_file))?,
        (None, None) => Pooling::Mean,
    };
    if let Some(module) = modules.iter().find(|module| module.is("Dense")) {
        // Its weights are not in the transformer's graph, unless an output of the whole pipeline is named.
        if own.output.is_none() && chosen_pooling != Pooling::InGraph {
            return Err(Error::unsupported(
                &dir.join("modules.json"),
                format_args!("module \"{}\" is not part of the ONNX graph", module.path),
            ));
        }
    }

    let declared = sentence.max_seq_length.or(tokenizer.max_tokens()).or(config.positions());
    let max_tokens = own
        .max_tokens
        .or_else(|| declared.map(|tokens| tokens.min(MAX_TOKENS_UNASKED)))
        .unwrap_or(DEFAULT_MAX_TOKENS);
    // More tokens than the model has positions make a run fail, whoever asks for them.
    let max_tokens = max_tokens.min(config.positions().unwrap_or(usize::MAX));

    let file = match own.file {
        Some(file) => PathBuf::from(file),
        None => onnx_file(dir),
    };
    for name in own.files.keys().map(Path::new).chain([file.as_path()]) {
        if !is_inside(name) {
            return Err(Error::unsupported(
                &dir.join(MANIFEST),
                format_args!("file name \"{}\" leads out of the folder", name.display()),
            ));
        }
    }
    for name in [file.as_path(), Path::new(TOKENIZER)] {
        let path = dir.join(name);
        fs::metadata(&path).map_err(|error| Error::missing(&path, &error))?;
    }

    Ok(Manifest {
        name: own.name.unwrap_or_else(|| folder_name(dir)),
        file,
        output: own.output,
        pooling: chosen_pooling,
        normalize: own.normalize.unwrap_or(true),
        query_prefix: own.query_prefix.unwrap_or_else(|| prompts.prefix(&["query"])),
        passage_prefix: own.passage_prefix.unwrap_or_else(|| prompts.prefix(&["passage", "document"])),
        max_tokens,
        dims: own.dims.or(pooling.and_then(|p| p.word_embedding_dimension)).or(config.hidden_size),
        vocab_size: own.vocab_size.or(config.vocab_size),
        files: own.files,
        cut_to: own.dims,
    })
}

/// Where exporters put the graph: beside the tokenizer, or in a folder of its own.
fn onnx_file(dir: &Path) -> PathBuf {
    let beside = PathBuf::from("model.onnx");
    let below = Path::new("onnx").join("model.onnx");
    if !dir.join(&beside).exists() && dir.join(&below).exists() {
        below
    } else {
        beside
    }
}

fn folder_name(dir: &Path) -> String {
    dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether a relative name stays below the folder it is joined to.
fn is_inside(name: &Path) -> bool {
    let mut parts = name.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// A JSON file of the folder, `None` if there is none.
fn read<T: DeserializeOwned>(dir: &Path, name: impl AsRef<Path>) -> Result<Option<T>, Error> {
    let path = dir.join(name);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::missing(&path, &error)),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::corrupt(&path, error))
}

/// `config.json` of the transformer.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Config {
    hidden_size: Option<usize>,
    vocab_size: Option<usize>,
    max_position_embeddings: Option<usize>,
    model_type: Option<String>,
    pad_token_id: Option<usize>,
}

impl Config {
    /// Longest input. The RoBERTa family numbers positions from after the padding id.
    fn positions(&self) -> Option<usize> {
        let lost = match self.model_type.as_deref() {
            Some("roberta" | "xlm-roberta" | "camembert" | "xlm-roberta-xl") => {
                self.pad_token_id.unwrap_or(1) + 1
            }
            Some("mpnet") => 2,
            _ => 0,
        };
        self.max_position_embeddings.map(|positions| positions.saturating_sub(lost)).filter(|&n| n > 0)
    }
}

/// `tokenizer_config.json`; without a limit some files say 1e30.
#[derive(Deserialize, Default)]
#[serde(default)]
struct TokenizerConfig {
    model_max_length: Option<f64>,
}

impl TokenizerConfig {
    fn max_tokens(&self) -> Option<usize> {
        self.model_max_length.filter(|&n| (1.0..1e6).contains(&n)).map(|n| n as usize)
    }
}

/// An entry of `modules.json`, the pipeline of sentence-transformers.
#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    path: String,
    #[serde(rename = "type", default)]
    kind: String,
}

impl Module {
    fn is(&self, name: &str) -> bool {
        self.kind.rsplit('.').next() == Some(name)
    }
}

/// `1_Pooling/config.json`.
#[derive(Deserialize, Default)]
#[serde(default)]
struct PoolingConfig {
    word_embedding_dimension: Option<usize>,
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
    pooling_mode_lasttoken: bool,
    pooling_mode_max_tokens: bool,
    pooling_mode_mean_sqrt_len_tokens: bool,
    pooling_mode_weightedmean_tokens: bool,
    include_prompt: Option<bool>,
}

impl PoolingConfig {
    fn pooling(&self, path: &Path) -> Result<Pooling, Error> {
        if self.pooling_mode_max_tokens
            || self.pooling_mode_mean_sqrt_len_tokens
            || self.pooling_mode_weightedmean_tokens
        {
            return Err(Error::unsupported(path, "pooling is none of mean, cls and last token"));
        }
        if self.include_prompt == Some(false) {
            return Err(Error::unsupported(path, "pooling leaves out the prompt"));
        }
        match (self.pooling_mode_cls_token, self.pooling_mode_mean_tokens, self.pooling_mode_lasttoken) {
            (true, false, false) => Ok(Pooling::Cls),
            (false, true, false) | (false, false, false) => Ok(Pooling::Mean),
            (false, false, true) => Ok(Pooling::LastToken),
            _ => Err(Error::unsupported(path, "more than one kind of pooling at once")),
        }
    }
}

/// `sentence_bert_config.json`.
#[derive(Deserialize, Default)]
#[serde(default)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

/// `config_sentence_transformers.json`.
#[derive(Deserialize, Default)]
#[serde(default)]
struct PromptConfig {
    prompts: Option<BTreeMap<String, String>>,
    default_prompt_name: Option<String>,
}

impl PromptConfig {
    /// The first prompt of these names, else the default one, else none.
    fn prefix(&self, names: &[&str]) -> String {
        let Some(prompts) = &self.prompts else {
            return String::new();
        };
        names
            .iter()
            .copied()
            .chain(self.default_prompt_name.as_deref())
            .find_map(|name| prompts.get(name))
            .cloned()
            .unwrap_or_default()
    }
}

/// `manifest.json`; unknown fields (licence, source, …) are for people.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Overrides {
    name: Option<String>,
    file: Option<String>,
    output: Option<String>,
    pooling: Option<Pooling>,
    normalize: Option<bool>,
    query_prefix: Option<String>,
    passage_prefix: Option<String>,
    max_tokens: Option<usize>,
    dims: Option<usize>,
    vocab_size: Option<usize>,
    files: BTreeMap<String, String>,
}
