//! Embedding: which model, where it runs, and the SQL functions around it.
//!
//! With the library preloaded, texts go to the model processes through `pg::queue`. Without, the model is
//! loaded into this backend at first use and runs on its one thread. Both give the same vectors. Nothing
//! here writes to a table; no lock is held while a model computes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use memory_embed::{Kind, Limits, Model, Options};
use pgrx::iter::TableIterator;
use pgrx::prelude::*;
use sha2::{Digest, Sha256};

use crate::error::{Failure, OrRaise};
use crate::pg::queue::{self, Answer, FailureKind, Operation, Request};
use crate::pg::vector::Vector;
use crate::pg::{catalog, statement};
use crate::{settings, store};

/// The model that ships with the extension.
pub const DEFAULT_MODEL: &str = "multilingual-e5-small";
/// Folder of installed models below PostgreSQL's share folder.
const INSTALLED_MODELS: &str = "extension/summer_memory";
/// File name of the installed ONNX Runtime, in PostgreSQL's library folder.
const RUNTIME_FILE: &str = "libonnxruntime.so.1.28.0";

thread_local! {
    /// Models loaded in this process: the model processes, and backends without preload.
    static MODELS: RefCell<HashMap<String, Model>> = RefCell::new(HashMap::new());
    static LOCAL_RUNS: Cell<u64> = const { Cell::new(0) };
}

/// Reads a kind as users write it.
pub fn parse_kind(kind: Option<&str>) -> Result<Kind, Failure> {
    match kind {
        None | Some("passage") => Ok(Kind::Passage),
        Some("query") => Ok(Kind::Query),
        Some(other) => Err(Failure::argument(format!("unknown kind of text: \"{}\"", shorten(other)))
            .hint("Use 'passage' for what is stored, 'query' for what is asked.")),
    }
}

/// At most 63 characters of a name for a message.
pub fn shorten(name: &str) -> String {
    name.chars().take(63).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Folders that may hold models, the administrator's first.
fn model_roots() -> Vec<PathBuf> {
    let mut roots = Vec::with_capacity(2);
    let configured = settings::text(&settings::MODEL_DIR);
    if !configured.is_empty() {
        roots.push(PathBuf::from(configured));
    }
    roots.push(catalog::share_dir().join(INSTALLED_MODELS));
    roots
}

/// Folder of a model. The name is one path component, and links must not lead out of the root.
pub fn model_folder(name: &str) -> Result<PathBuf, Failure> {
    let plain = !name.is_empty()
        && name.len() <= 63
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if !plain {
        return Err(Failure::argument(format!("invalid model name: \"{}\"", shorten(name)))
            .hint("A model name is the name of a folder in summer_memory.model_dir: letters, digits, \".\", \"_\", \"-\"."));
    }
    for root in model_roots() {
        let (Ok(root), Ok(folder)) = (root.canonicalize(), root.join(name).canonicalize()) else { continue };
        if folder.starts_with(&root) && folder.is_dir() {
            if leads_out(&folder, &root) {
                return Err(Failure::argument(format!("model \"{name}\" has files outside its folder of models"))
                    .hint("Copy the files instead of linking them: only what lies below summer_memory.model_dir is opened."));
            }
            return Ok(folder);
        }
    }
    Err(Failure::missing(format!("model \"{name}\" does not exist")).hint(
        "View memory_models lists the models; put a folder with the model into summer_memory.model_dir.",
    ))
}

/// Whether a link in the folder, or in a folder directly below it, points to outside the root.
fn leads_out(folder: &Path, root: &Path) -> bool {
    let entries = |path: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(path)
            .map(|list| list.filter_map(Result::ok).map(|entry| entry.path()).collect())
            .unwrap_or_default()
    };
    let outside = |path: &PathBuf| path.canonicalize().is_ok_and(|real| !real.starts_with(root));
    let own = entries(folder);
    own.iter().any(outside)
        || own.iter().filter(|path| path.is_dir()).any(|path| entries(path).iter().any(outside))
}

fn runtime_library() -> PathBuf {
    let configured = settings::text(&settings::ONNXRUNTIME);
    if configured.is_empty() {
        catalog::library_dir().join(RUNTIME_FILE)
    } else {
        PathBuf::from(configured)
    }
}

/// What went wrong, with the code that tells text from model.
#[derive(Debug, Clone)]
pub struct EmbedFailure {
    pub kind: FailureKind,
    pub failure: Failure,
    /// No model process took or answered the request in time.
    unanswered: bool,
}

impl EmbedFailure {
    /// True if this text is the reason, so that another text may well succeed.
    pub fn blames_the_text(&self) -> bool {
        self.kind == FailureKind::NotFinite
    }
}

impl From<EmbedFailure> for Failure {
    fn from(failure: EmbedFailure) -> Self {
        failure.failure
    }
}

fn describe_failure(kind: FailureKind, message: String) -> EmbedFailure {
    let (code, hint) = match kind {
        FailureKind::Missing => (
            PgSqlErrorCode::ERRCODE_UNDEFINED_FILE,
            "Put the model's files back, or choose another model with memory_use_model().",
        ),
        FailureKind::Corrupt => (
            PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
            "Install the model's files again, they are not what they should be.",
        ),
        FailureKind::Unsupported => (
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            "See docs/reference.md for what a model folder may contain.",
        ),
        FailureKind::NotFinite => {
            (PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "The text is kept and found by its words.")
        }
        FailureKind::Cancelled => (PgSqlErrorCode::ERRCODE_QUERY_CANCELED, "The request was given up."),
        FailureKind::Runtime | FailureKind::Unknown => {
            (PgSqlErrorCode::ERRCODE_SYSTEM_ERROR, "Look into the server log.")
        }
    };
    EmbedFailure { kind, failure: Failure::new(code, message).hint(hint), unanswered: false }
}

/// The answer of a model process, or of this backend, to one request.
pub fn answer(job: &queue::Job, keep_going: &mut dyn FnMut() -> bool) -> Answer {
    compute(job.operation, job.query, &job.model, &job.text, job.max_windows, keep_going)
}

fn compute(
    operation: Operation,
    query: bool,
    model: &str,
    text: &str,
    max_windows: u32,
    keep_going: &mut dyn FnMut() -> bool,
) -> Answer {
    let kind = if query { Kind::Query } else { Kind::Passage };
    with_model(model, |model| match operation {
        Operation::Count => Answer::Tokens(u32::try_from(model.count_tokens(text, kind)).unwrap_or(u32::MAX)),
        Operation::Embed => {
            let limits = Limits { max_windows: max_windows as usize };
            match model.embed(text, kind, &limits, keep_going) {
                Ok(embedding) => {
                    queue::count_runs(embedding.windows as u64);
                    LOCAL_RUNS.set(LOCAL_RUNS.get() + embedding.windows as u64);
                    Answer::Vector {
                        values: embedding.vector,
                        windows: embedding.windows as u32,
                        windows_total: embedding.windows_total as u32,
                    }
                }
                Err(memory_embed::Error::Blank) => Answer::Blank,
                Err(error) => failed(&error),
            }
        }
    })
    .unwrap_or_else(|failed| failed)
}

fn failed(error: &memory_embed::Error) -> Answer {
    use memory_embed::Error;
    let kind = match error {
        Error::Missing { .. } => FailureKind::Missing,
        Error::Corrupt { .. } => FailureKind::Corrupt,
        Error::Unsupported { .. } => FailureKind::Unsupported,
        Error::NotFinite | Error::ZeroVector => FailureKind::NotFinite,
        Error::Cancelled => FailureKind::Cancelled,
        _ => FailureKind::Runtime,
    };
    Answer::Failed { kind, message: error.to_string() }
}

/// Runs `body` on a model of this process, loading it first if it is not there.
fn with_model<R>(name: &str, body: impl FnOnce(&Model) -> R) -> Result<R, Answer> {
    let loaded = MODELS.with(|models| models.borrow().contains_key(name));
    if !loaded {
        let folder = model_folder(name)
            .map_err(|failure| Answer::Failed { kind: FailureKind::Missing, message: failure.message })?;
        memory_embed::init_runtime(&runtime_library()).map_err(|error| failed(&error))?;
        // A backend of its own keeps no second, rearranged copy of the weights: slower runs, less memory.
        let options = Options { threads: 1, prepack: queue::available() };
        let model = Model::load_with(&folder, &options, &mut || {
            pgrx::check_for_interrupts!();
            true
        })
        .map_err(|error| failed(&error))?;
        MODELS.with(|models| models.borrow_mut().insert(name.to_owned(), model));
    }
    MODELS.with(|models| match models.borrow().get(name) {
        Some(model) => Ok(body(model)),
        None => Err(Answer::Failed { kind: FailureKind::Unknown, message: "model is gone".to_owned() }),
    })
}

/// Loads the default model, so that the first request does not wait; a failure is reported with each request.
pub fn warm_up() {
    match with_model(DEFAULT_MODEL, |model| {
        model.embed("warm up", Kind::Query, &Limits { max_windows: 1 }, &mut || true).is_ok()
    }) {
        Ok(true) => log!("summer_memory: model \"{DEFAULT_MODEL}\" is loaded"),
        Ok(false) => warning!("summer_memory: model \"{DEFAULT_MODEL}\" does not answer"),
        Err(Answer::Failed { message, .. }) => warning!("summer_memory: {message}"),
        Err(_) => {}
    }
}

/// Drops the loaded models, so that replaced files are read again.
pub fn forget_models() {
    MODELS.with(|models| models.borrow_mut().clear());
    queue::forget_cached();
}

/// The store's model: what `memory_use_model` chose, else the default.
pub fn active_model() -> Option<String> {
    Some(store::option("model").unwrap_or_else(|| DEFAULT_MODEL.to_owned()))
}

fn model_in_use() -> String {
    active_model().unwrap_or_else(|| DEFAULT_MODEL.to_owned())
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}'))
}

fn cache_key(model: &str, text: &str) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(model.as_bytes());
    hash.update([0]);
    hash.update(text.as_bytes());
    let digest = hash.finalize();
    let mut key = [0u8; 16];
    for (target, byte) in key.iter_mut().zip(digest) {
        *target = byte;
    }
    key
}

/// Most windows of a question: its beginning and its end. Nobody waits for more, and the words see all of it.
const QUESTION_WINDOWS: u32 = 2;

fn max_windows(query: bool) -> u32 {
    let setting = u32::try_from(settings::EMBED_MAX_WINDOWS.get()).unwrap_or(64);
    if query {
        setting.min(QUESTION_WINDOWS)
    } else {
        setting
    }
}

fn accept(answer: Answer, query: bool) -> Embedded {
    match answer {
        Answer::Vector { values, windows, windows_total } => {
            if windows < windows_total && !query {
                Failure::new(
                    PgSqlErrorCode::ERRCODE_WARNING,
                    format!(
                        "embedding covers {windows} of {windows_total} windows of the text, spread evenly"
                    ),
                )
                .hint("Raise summer_memory.embed_max_windows to embed all of it, or split the text.")
                .warn();
            }
            Ok(Some(values))
        }
        Answer::Blank => Ok(None),
        Answer::Tokens(_) => Err(describe_failure(FailureKind::Unknown, "unexpected answer".to_owned())),
        Answer::Failed { kind, message } => Err(describe_failure(kind, message)),
    }
}

fn queue_failure(failure: Failure) -> EmbedFailure {
    EmbedFailure { kind: FailureKind::Runtime, failure, unanswered: true }
}

/// How embedding a text ended: its vector, or `None` for a blank one.
type Embedded = Result<Option<Vec<f32>>, EmbedFailure>;

/// The vector of one text, `None` for a blank one.
pub fn embed_one(model: &str, text: &str, kind: Kind) -> Embedded {
    embed_many(model, &[text], kind).pop().unwrap_or(Ok(None))
}

/// The vectors of many texts, in order; as many at a time as there are model processes, and one waiting each. After
/// the first text that nobody answers the others are not tried: each would wait as long again.
pub fn embed_many(model: &str, texts: &[&str], kind: Kind) -> Vec<Embedded> {
    let query = kind == Kind::Query;
    if !queue::available() {
        return texts
            .iter()
            .map(|text| {
                if is_blank(text) {
                    return Ok(None);
                }
                pgrx::check_for_interrupts!();
                let answer = compute(Operation::Embed, query, model, text, max_windows(query), &mut || {
                    pgrx::check_for_interrupts!();
                    true
                });
                accept(answer, query)
            })
            .collect();
    }
    let mut results: Vec<Embedded> = Vec::with_capacity(texts.len());
    let mut under_way = std::collections::VecDeque::new();
    let at_once = queue::workers_up().max(1) * 2;
    for text in texts {
        while under_way.len() >= at_once {
            results.extend(under_way.pop_front().map(|pending| collect(pending, query)));
        }
        // With places in hand this process never waits for one more: it takes its answers first.
        let mut started = start(model, text, query, under_way.is_empty());
        while started.is_none() {
            results.extend(under_way.pop_front().map(|pending| collect(pending, query)));
            started = start(model, text, query, under_way.is_empty());
        }
        under_way.extend(started);
        if unanswered(&results).is_some() {
            break;
        }
    }
    for pending in under_way {
        let result = unanswered(&results).map_or_else(|| collect(pending, query), Err);
        results.push(result);
    }
    if let Some(failure) = unanswered(&results) {
        results.resize_with(texts.len(), || Err(failure.clone()));
    }
    results
}

/// The failure that ended the waiting, if the last text went unanswered.
fn unanswered(results: &[Embedded]) -> Option<EmbedFailure> {
    match results.last() {
        Some(Err(failure)) if failure.unanswered => Some(failure.clone()),
        _ => None,
    }
}

/// A text on its way: answered already, or waiting in the queue.
enum Pending {
    Known(Embedded),
    Queued { ticket: queue::Ticket, key: Option<[u8; 16]> },
}

/// Sends a text on its way; `None` if all places are taken and `wait` is false.
fn start(model: &str, text: &str, query: bool, wait: bool) -> Option<Pending> {
    if is_blank(text) {
        return Some(Pending::Known(Ok(None)));
    }
    let key = query.then(|| cache_key(model, text));
    if let Some(values) = key.and_then(queue::cached) {
        return Some(Pending::Known(Ok(Some(values))));
    }
    let request =
        Request { operation: Operation::Embed, query, model, text, max_windows: max_windows(query) };
    let ticket = if wait { queue::submit(&request).map(Some) } else { queue::try_submit(&request) };
    match ticket {
        Ok(ticket) => ticket.map(|ticket| Pending::Queued { ticket, key }),
        Err(failure) => Some(Pending::Known(Err(queue_failure(failure)))),
    }
}

fn collect(pending: Pending, query: bool) -> Embedded {
    match pending {
        Pending::Known(result) => result,
        Pending::Queued { ticket, key } => {
            let result = queue::wait(ticket).map_err(queue_failure).and_then(|answer| accept(answer, query));
            if let (Some(key), Ok(Some(values))) = (key, &result) {
                queue::remember(key, values);
            }
            result
        }
    }
}

/// Tokens of a text for the store's model; `None` if no model answers.
pub fn count_tokens(model: &str, text: &str) -> Option<usize> {
    let answer = if queue::available() {
        let request = Request { operation: Operation::Count, query: false, model, text, max_windows: 1 };
        queue::submit(&request).and_then(queue::wait).ok()?
    } else {
        compute(Operation::Count, false, model, text, 1, &mut || true)
    };
    match answer {
        Answer::Tokens(count) => Some(count as usize),
        _ => None,
    }
}

/// Most tokens of one window of a model, prefix and special tokens included; `None` if its folder cannot be read.
pub fn window_tokens(model: &str) -> Option<usize> {
    let folder = model_folder(model).ok()?;
    memory_embed::describe(&folder).ok().map(|manifest| manifest.max_tokens)
}

/// Dimensions of a model as its files declare them.
pub fn model_dims(name: &str) -> Result<usize, Failure> {
    let folder = model_folder(name)?;
    let manifest = memory_embed::describe(&folder).map_err(|error| match failed(&error) {
        Answer::Failed { kind, message } => describe_failure(kind, message).failure,
        _ => Failure::internal("unexpected answer"),
    })?;
    let dims = manifest.dims.ok_or_else(|| {
        Failure::state(format!("the files of model \"{name}\" do not say how many dimensions it has"))
            .hint("Add \"dims\" to the manifest.json of its folder.")
    })?;
    if dims > queue::MAX_DIMS {
        return Err(Failure::new(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            format!("model \"{name}\" has {dims} dimensions, a vector has at most {}", queue::MAX_DIMS),
        )
        .hint("Choose a model with fewer dimensions; view memory_models lists them."));
    }
    Ok(dims)
}

#[pg_extern(sql = false)]
fn memory_embed_text(text: Option<&str>, kind: Option<&str>) -> Option<Vector> {
    let kind = parse_kind(kind).or_raise();
    embed_one(&model_in_use(), text?, kind).or_raise().map(Vector)
}

#[pg_extern(sql = false)]
fn memory_embed_texts(texts: Vec<Option<String>>, kind: &str) -> Vec<Option<Vector>> {
    let kind = parse_kind(Some(kind)).or_raise();
    let plain: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or("")).collect();
    embed_many(&model_in_use(), &plain, kind)
        .into_iter()
        .enumerate()
        .map(|(index, result)| match result {
            Ok(values) => values.map(Vector),
            Err(error) => {
                let failure: Failure = error.into();
                failure.detail(format!("It happened at element {} of the array.", index + 1)).raise()
            }
        })
        .collect()
}

thread_local! {
    /// Start of the statement in which nobody answered.
    static GIVEN_UP: Cell<Option<i64>> = const { Cell::new(None) };
}

/// `None` where embedding fails, with one WARNING a statement. Once nobody has answered, the rest of the statement
/// does not ask again.
fn try_embed(texts: &[&str]) -> Vec<Option<Vector>> {
    let now = catalog::statement_start();
    if GIVEN_UP.get() == Some(now) {
        return texts.iter().map(|_| None).collect();
    }
    let results = embed_many(&model_in_use(), texts, Kind::Passage);
    let failure = results.iter().find_map(|result| result.as_ref().err().cloned());
    if let Some(failure) = failure {
        if failure.kind == FailureKind::Cancelled {
            failure.failure.raise();
        }
        if statement::first_time("memory_try_embed") {
            let message = format!("text stored without embedding: {}", failure.failure.message);
            Failure::new(failure.failure.code, message)
                .hint("A memory is found by its words all the same, and memory_backfill() embeds it later.")
                .warn();
        }
    }
    if unanswered(&results).is_some() {
        GIVEN_UP.set(Some(now));
    }
    results.into_iter().map(|result| result.ok().flatten().map(Vector)).collect()
}

/// For the store's triggers: the vector, or NULL where it cannot be had.
#[pg_extern(sql = false)]
fn memory_try_embed(text: Option<&str>) -> Option<Vector> {
    try_embed(&[text?]).pop().flatten()
}

/// Every element on its own: NULL where the text is blank or cannot be embedded.
#[pg_extern(sql = false)]
fn memory_try_embed_many(texts: Vec<Option<String>>) -> Vec<Option<Vector>> {
    let plain: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or("")).collect();
    try_embed(&plain)
}

#[pg_extern(sql = false)]
fn memory_token_count_model(text: &str) -> Option<i32> {
    count_tokens(&model_in_use(), text).map(|count| i32::try_from(count).unwrap_or(i32::MAX))
}

/// Model runs since the server (or, without preload, this session) started.
#[pg_extern(sql = false)]
fn memory_model_runs() -> i64 {
    let runs = if queue::available() { queue::runs() } else { LOCAL_RUNS.get() };
    i64::try_from(runs).unwrap_or(i64::MAX)
}

#[pg_extern(sql = false)]
fn memory_check_model(name: &str) -> i32 {
    i32::try_from(model_dims(name).or_raise()).unwrap_or(i32::MAX)
}

#[pg_extern(sql = false)]
fn memory_active_model() -> String {
    model_in_use()
}

/// Where models run: `worker` with preload, `backend` without.
#[pg_extern(sql = false)]
fn memory_embed_place() -> String {
    if queue::available() {
        format!("{} model process(es), {} request(s) under way", queue::workers_up(), queue::depth())
    } else {
        "in the backend (summer_memory is not in shared_preload_libraries)".to_owned()
    }
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn memory_list_models() -> TableIterator<
    'static,
    (
        name!(name, String),
        name!(dims, Option<i32>),
        name!(max_tokens, Option<i32>),
        name!(pooling, Option<String>),
        name!(query_prefix, Option<String>),
        name!(passage_prefix, Option<String>),
        name!(active, bool),
        name!(problem, Option<String>),
    ),
> {
    let active = model_in_use();
    let mut rows = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for root in model_roots() {
        for name in folder_names(&root) {
            let Ok(folder) = model_folder(&name) else { continue };
            if !seen.insert(name.clone()) {
                continue;
            }
            let is_active = name == active;
            let small = |number: usize| i32::try_from(number).ok();
            rows.push(match memory_embed::describe(&folder) {
                Ok(manifest) => (
                    name,
                    manifest.dims.and_then(small),
                    small(manifest.max_tokens),
                    Some(manifest.pooling.as_str().to_owned()),
                    Some(manifest.query_prefix),
                    Some(manifest.passage_prefix),
                    is_active,
                    None,
                ),
                Err(error) => (name, None, None, None, None, None, is_active, Some(error.to_string())),
            });
        }
    }
    TableIterator::new(rows)
}

fn folder_names(root: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}
