//! The settings of the extension (`summer_memory.*`), each with its context and limits.
//!
//! What the model process reads is `sighup` (it must see the same value as everyone); what shapes
//! shared memory is `postmaster` and exists only when the library is preloaded, because such a setting
//! defined later is fatal; everything about one session's searches is `user`.

use std::ffi::{CStr, CString};

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum};

/// What a write to `memories` does about the embedding.
#[derive(PostgresGucEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmbedMode {
    /// Compute it in the writing transaction.
    #[name = c"sync"]
    Sync,
    /// Leave it NULL; the background worker fills it after the commit.
    #[name = c"async"]
    Async,
    /// Leave it NULL until `memory_backfill()` is called.
    #[name = c"off"]
    Off,
}

/// What a path of several chunks scores in a search.
#[derive(PostgresGucEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathScore {
    /// As much as its best chunk.
    #[name = c"best"]
    Best,
    /// The sum of its chunks.
    #[name = c"sum"]
    Sum,
}

pub static EMBED: GucSetting<EmbedMode> = GucSetting::<EmbedMode>::new(EmbedMode::Sync);
pub static MODEL_DIR: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
pub static ONNXRUNTIME: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c""));
pub static NAMESPACE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"default"));
pub static EMBED_WORKERS: GucSetting<i32> = GucSetting::<i32>::new(1);
pub static EMBED_QUEUE: GucSetting<i32> = GucSetting::<i32>::new(64);
pub static EMBED_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(60_000);
pub static EMBED_MAX_WINDOWS: GucSetting<i32> = GucSetting::<i32>::new(64);
pub static CHUNK_CHARS: GucSetting<i32> = GucSetting::<i32>::new(800);
pub static VECTOR_ROWS: GucSetting<i32> = GucSetting::<i32>::new(30);
pub static BM25_ROWS: GucSetting<i32> = GucSetting::<i32>::new(50);
pub static EXACT_ROWS: GucSetting<i32> = GucSetting::<i32>::new(2_000);
pub static PATH_SCORE: GucSetting<PathScore> = GucSetting::<PathScore>::new(PathScore::Best);
pub static RRF_K: GucSetting<i32> = GucSetting::<i32>::new(60);
pub static VECTOR_WEIGHT: GucSetting<f64> = GucSetting::<f64>::new(1.0);
pub static BM25_WEIGHT: GucSetting<f64> = GucSetting::<f64>::new(1.0);
pub static LINK_WEIGHT: GucSetting<f64> = GucSetting::<f64>::new(0.0);
pub static BM25_K1: GucSetting<f64> = GucSetting::<f64>::new(1.2);
pub static BM25_B: GucSetting<f64> = GucSetting::<f64>::new(0.75);

/// Which namespace a search is about: the one named, the setting if none is; `None` for `*`, all that the caller
/// may see.
pub fn searched_namespace(named: Option<&str>) -> Option<String> {
    match named {
        Some("*") => None,
        Some(name) => Some(name.to_owned()),
        None => Some(match text(&NAMESPACE) {
            empty if empty.is_empty() => "default".to_owned(),
            name => name,
        }),
    }
}

/// Value of a string setting, empty when unset.
pub fn text(setting: &'static GucSetting<Option<CString>>) -> String {
    setting.get().map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Name, description, variable, limits and flags of a whole-number setting.
type IntSetting = (&'static CStr, &'static CStr, &'static GucSetting<i32>, i32, i32, GucFlags);
/// Name, description, variable and limits of a decimal setting.
type FloatSetting = (&'static CStr, &'static CStr, &'static GucSetting<f64>, f64, f64);

/// Defines all settings; `preloading` says whether the postmaster is doing it at start.
pub fn define(preloading: bool) {
    let plain = GucFlags::default();
    GucRegistry::define_enum_guc(
        c"summer_memory.embed",
        c"When the embedding of a new or changed memory is computed.",
        c"sync: in the writing transaction. async: by the background worker after the commit. off: by memory_backfill() only.",
        &EMBED,
        GucContext::Userset,
        plain,
    );
    GucRegistry::define_enum_guc(
        c"summer_memory.path_score",
        c"What a path of several chunks scores in a search.",
        c"best: as much as its best chunk. sum: the sum of its chunks, which favours long documents.",
        &PATH_SCORE,
        GucContext::Userset,
        plain,
    );
    GucRegistry::define_string_guc(
        c"summer_memory.model_dir",
        c"Folder that holds additional embedding models, one folder a model.",
        c"Only folders below it and the installed default model are ever opened.",
        &MODEL_DIR,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"summer_memory.onnxruntime",
        c"Path of the ONNX Runtime library; empty means the installed one.",
        c"",
        &ONNXRUNTIME,
        GucContext::Sighup,
        GucFlags::SUPERUSER_ONLY,
    );
    GucRegistry::define_string_guc(
        c"summer_memory.namespace",
        c"Namespace of a memory or a search that names none.",
        c"",
        &NAMESPACE,
        GucContext::Userset,
        plain,
    );
    let ints: [IntSetting; 8] = [
        (
            c"summer_memory.embed_timeout",
            c"Longest wait for a place in the embedding queue, and then for each answer.",
            &EMBED_TIMEOUT,
            100,
            i32::MAX,
            GucFlags::UNIT_MS,
        ),
        (
            c"summer_memory.embed_max_windows",
            c"Most model windows computed for one text; a longer text is sampled evenly, with a warning.",
            &EMBED_MAX_WINDOWS,
            1,
            100_000,
            plain,
        ),
        (
            c"summer_memory.chunk_chars",
            c"Most characters of an imported chunk.",
            &CHUNK_CHARS,
            50,
            100_000,
            plain,
        ),
        (
            c"summer_memory.vector_rows",
            c"Rows the vector arm contributes to a search.",
            &VECTOR_ROWS,
            1,
            10_000,
            plain,
        ),
        (
            c"summer_memory.bm25_rows",
            c"Rows the BM25 arm contributes to a search.",
            &BM25_ROWS,
            1,
            10_000,
            plain,
        ),
        (
            c"summer_memory.exact_rows",
            c"Up to this many matching rows are compared exactly instead of through the HNSW index.",
            &EXACT_ROWS,
            0,
            10_000_000,
            plain,
        ),
        (c"summer_memory.rrf_k", c"Constant of reciprocal rank fusion.", &RRF_K, 0, 100_000, plain),
        (c"summer_memory.embed_queue", c"Requests the embedding queue holds.", &EMBED_QUEUE, 1, 1_024, plain),
    ];
    for (name, description, setting, min, max, flags) in ints {
        let postmaster = name == c"summer_memory.embed_queue";
        if postmaster && !preloading {
            continue;
        }
        let context = if postmaster { GucContext::Postmaster } else { GucContext::Userset };
        GucRegistry::define_int_guc(name, description, c"", setting, min, max, context, flags);
    }
    if preloading {
        GucRegistry::define_int_guc(
            c"summer_memory.embed_workers",
            c"Processes that hold the embedding model.",
            c"Each uses one processor while it computes; keep it below the number of processors.",
            &EMBED_WORKERS,
            1,
            64,
            GucContext::Postmaster,
            plain,
        );
    }
    let floats: [FloatSetting; 5] = [
        (
            c"summer_memory.vector_weight",
            c"Weight of the vector arm in the fusion.",
            &VECTOR_WEIGHT,
            0.0,
            1e6,
        ),
        (c"summer_memory.bm25_weight", c"Weight of the BM25 arm in the fusion.", &BM25_WEIGHT, 0.0, 1e6),
        (
            c"summer_memory.link_weight",
            c"Weight of the link arm in the fusion; 0 switches it off.",
            &LINK_WEIGHT,
            0.0,
            1e6,
        ),
        (c"summer_memory.bm25_k1", c"BM25 k1: how fast repeated words stop counting.", &BM25_K1, 0.0, 100.0),
        (c"summer_memory.bm25_b", c"BM25 b: how much long rows are discounted.", &BM25_B, 0.0, 1.0),
    ];
    for (name, description, setting, min, max) in floats {
        GucRegistry::define_float_guc(name, description, c"", setting, min, max, GucContext::Userset, plain);
    }
    crate::pg::catalog::reserve_setting_prefix();
}
