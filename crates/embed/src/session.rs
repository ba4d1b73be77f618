//! One ONNX session: which inputs it wants, which output is the vector, and a run.

use std::borrow::Cow;
use std::path::Path;

use ort::environment::Environment;
use ort::ep::CPU;
use ort::logging::LogLevel;
use ort::memory::Allocator;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::session::{HasSelectedOutputs, OutputSelector, RunOptions};
use ort::session::{Session as OrtSession, SessionInputValue};
use ort::value::{DynTensor, Outlet, Tensor, TensorElementType, ValueType};
use ort::ErrorCode;

use crate::{runtime, Error, Manifest, Pooling};

/// How a model is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Threads of one run; 1 starts none.
    pub threads: usize,
    /// Whether weights are laid out anew for the processor: runs get a quarter faster, but the process gets a copy of
    /// the weights of its own instead of the pages of the file. Right for a worker, wrong for every connection.
    pub prepack: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 1, prepack: true }
    }
}

/// What an input of the graph is fed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feed {
    Ids,
    Mask,
    Types,
    Positions,
}

enum Input {
    Tokens {
        name: String,
        feed: Feed,
        wide: bool,
    },
    /// The cache of a decoder, which is empty: one text is one run.
    Cache {
        name: String,
        element: TensorElementType,
        shape: Vec<i64>,
    },
}

/// The raw output of a run: one vector, or one a token.
pub(crate) struct Output {
    pub values: Vec<f32>,
    /// Entries of a vector.
    pub width: usize,
    /// Whether `values` is one vector already.
    pub pooled: bool,
}

pub(crate) struct Session {
    session: OrtSession,
    inputs: Vec<Input>,
    output: String,
    options: RunOptions<HasSelectedOutputs>,
}

impl Session {
    pub(crate) fn load(path: &Path, manifest: &Manifest, options: &Options) -> Result<Self, Error> {
        let session = commit(path, options)?;
        let inputs =
            session.inputs().iter().map(|outlet| input(path, outlet)).collect::<Result<Vec<_>, _>>()?;
        if !inputs.iter().any(|input| matches!(input, Input::Tokens { feed: Feed::Ids, .. })) {
            return Err(Error::unsupported(path, "it has no input \"input_ids\""));
        }
        let output = choose_output(path, session.outputs(), manifest)?;
        let options = RunOptions::new()
            .map_err(Error::runtime)?
            .with_outputs(OutputSelector::no_default().with(output.as_str()));
        Ok(Self { session, inputs, output, options })
    }

    /// Runs one text.
    pub(crate) fn run(&mut self, ids: &[u32]) -> Result<Output, Error> {
        let shape = [1, ids.len()];
        let mut values: Vec<(Cow<'_, str>, SessionInputValue<'_>)> = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            let value = match input {
                Input::Tokens { feed, wide, .. } => {
                    let data = feed.data(ids);
                    if *wide {
                        Tensor::from_array((shape, data)).map(Tensor::upcast)
                    } else {
                        let narrow: Vec<i32> = data.into_iter().map(|x| x as i32).collect();
                        Tensor::from_array((shape, narrow)).map(Tensor::upcast)
                    }
                }
                Input::Cache { element, shape, .. } => {
                    DynTensor::new(&Allocator::default(), *element, shape.as_slice())
                }
            }
            .map_err(Error::runtime)?;
            values.push((Cow::Borrowed(input.name()), value.into()));
        }
        let outputs = self.session.run_with_options(values, &self.options).map_err(Error::runtime)?;
        let output = outputs.get(&self.output).ok_or_else(|| Error::runtime("the output is missing"))?;
        let (shape, values) = output.try_extract_tensor::<f32>().map_err(Error::runtime)?;
        let sizes: Vec<usize> = shape.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
        let (width, pooled) = match sizes.as_slice() {
            [1, width] => (*width, true),
            [1, tokens, width] if *tokens == ids.len() => (*width, false),
            _ => return Err(Error::runtime(format_args!("output \"{}\" has shape {sizes:?}", self.output))),
        };
        Ok(Output { values: values.to_vec(), width, pooled })
    }
}

impl Feed {
    fn of(name: &str) -> Option<Self> {
        match name {
            "input_ids" => Some(Self::Ids),
            "attention_mask" => Some(Self::Mask),
            "token_type_ids" => Some(Self::Types),
            "position_ids" => Some(Self::Positions),
            _ => None,
        }
    }

    fn data(self, ids: &[u32]) -> Vec<i64> {
        match self {
            Self::Ids => ids.iter().map(|&id| i64::from(id)).collect(),
            Self::Mask => vec![1; ids.len()],
            Self::Types => vec![0; ids.len()],
            Self::Positions => (0..).take(ids.len()).collect(),
        }
    }
}

impl Input {
    fn name(&self) -> &str {
        match self {
            Self::Tokens { name, .. } | Self::Cache { name, .. } => name,
        }
    }
}

fn configured(environment: &Environment, options: &Options) -> ort::Result<SessionBuilder> {
    let builder = OrtSession::builder(environment)?
        .with_log_level(LogLevel::Fatal)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(options.threads.max(1))?
        .with_inter_threads(1)?
        .with_parallel_execution(false)?
        .with_intra_op_spinning(false)?
        .with_inter_op_spinning(false)?
        // Texts differ in length, so a plan made for one is of no use to the next, and an arena would keep the
        // memory of the longest text; neither makes a run faster here.
        .with_memory_pattern(false)?
        .with_execution_providers([CPU::default().with_arena_allocator(false).build()])?
        .with_prepacking(options.prepack)?;
    Ok(builder)
}

fn commit(path: &Path, options: &Options) -> Result<OrtSession, Error> {
    let environment = runtime::environment()?;
    let mut builder = configured(environment, options).map_err(Error::runtime)?;
    builder.commit_from_file(path).map_err(|error| match error.code() {
        ErrorCode::NotImplemented => Error::unsupported(path, error.message()),
        _ => Error::corrupt(path, error.message()),
    })
}

fn input(path: &Path, outlet: &Outlet) -> Result<Input, Error> {
    let name = outlet.name().to_owned();
    let refuse =
        |what: &str| Err(Error::unsupported(path, format_args!("input \"{}\" {what}", outlet.name())));
    let ValueType::Tensor { ty, shape, .. } = outlet.dtype() else {
        return refuse("is not a tensor");
    };
    if let Some(feed) = Feed::of(&name) {
        return match ty {
            TensorElementType::Int64 => Ok(Input::Tokens { name, feed, wide: true }),
            TensorElementType::Int32 => Ok(Input::Tokens { name, feed, wide: false }),
            _ => refuse("takes no integers"),
        };
    }
    if name.starts_with("past_key_values.") {
        // (batch, heads, past tokens, width of a head): sizes that are not fixed are the batch and the past.
        if let [_, heads, _, width] = shape.iter().copied().collect::<Vec<_>>()[..] {
            if heads > 0 && width > 0 {
                return Ok(Input::Cache { name, element: *ty, shape: vec![1, heads, 0, width] });
            }
        }
    }
    refuse("is not known")
}

/// The output with the vector: the one the manifest names, else by name and rank.
fn choose_output(path: &Path, outputs: &[Outlet], manifest: &Manifest) -> Result<String, Error> {
    let rank = |outlet: &Outlet| outlet.dtype().tensor_shape().map_or(0, |shape| shape.len());
    let named = |name: &str| outputs.iter().find(|outlet| outlet.name() == name);
    let chosen = match &manifest.output {
        Some(name) => named(name)
            .ok_or_else(|| Error::unsupported(path, format_args!("it has no output \"{name}\"")))?,
        None => named("sentence_embedding")
            .filter(|_| manifest.pooling == Pooling::InGraph)
            .or_else(|| named("last_hidden_state"))
            .or_else(|| named("token_embeddings"))
            .or_else(|| named("sentence_embedding"))
            .or_else(|| outputs.iter().find(|outlet| rank(outlet) == 3))
            .or_else(|| outputs.first())
            .ok_or_else(|| Error::unsupported(path, "it has no output"))?,
    };
    if chosen.dtype().tensor_type() != Some(TensorElementType::Float32) {
        return Err(Error::unsupported(path, format_args!("output \"{}\" is not float32", chosen.name())));
    }
    match rank(chosen) {
        2 => Ok(chosen.name().to_owned()),
        3 if manifest.pooling != Pooling::InGraph => Ok(chosen.name().to_owned()),
        3 => Err(Error::unsupported(
            path,
            format_args!("output \"{}\" has a vector a token, and no pooling is given", chosen.name()),
        )),
        n => Err(Error::unsupported(path, format_args!("output \"{}\" has {n} dimensions", chosen.name()))),
    }
}
