//! The default model as it ships: the same ids and vectors as Python's tokenizers and ONNX Runtime give, and
//! texts that embedders stumble over.
#![cfg(feature = "model-tests")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use common::{cosine, default_model, embed, runtime};
use memory_embed::{init_runtime, is_blank, runtime_version, Error, Kind, Limits, Model, Options};
use serde::Deserialize;

/// Loading takes longer than any test here.
fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        runtime();
        Model::load(&default_model(), 1).unwrap()
    })
}

fn vector(text: &str, kind: Kind) -> Vec<f32> {
    embed(model(), text, kind).unwrap().vector
}

fn length(vector: &[f32]) -> f64 {
    vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt()
}

/// `model/reference.json`, written by `model/reference.py`.
#[derive(Deserialize)]
struct Reference {
    runtime: String,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    text: String,
    kind: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
    fp32_cosine: f64,
}

#[test]
fn ids_and_vectors_equal_the_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../model/reference.json");
    let reference: Reference = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert!(!reference.items.is_empty());
    let (model, mut worst) = (model(), 1.0f64);
    for item in &reference.items {
        let kind = if item.kind == "query" { Kind::Query } else { Kind::Passage };
        assert_eq!(model.token_ids(&item.text, kind).unwrap(), item.ids, "{:?}", item.text);
        assert_eq!(model.count_tokens(&item.text, kind), item.ids.len());
        if item.ids.len() > model.manifest().max_tokens || is_blank(&item.text) {
            continue;
        }
        let similarity = cosine(&vector(&item.text, kind), &item.vector);
        assert!(similarity > 0.999, "{:?}: {similarity}", item.text);
        assert!(item.fp32_cosine > 0.995, "{:?}: {}", item.text, item.fp32_cosine);
        worst = worst.min(similarity);
    }
    println!("{} texts, runtime {}, lowest cosine {worst}", reference.items.len(), reference.runtime);
}

#[test]
fn meaning_is_found() {
    let apples = vector("我昨天去超市买了苹果和香蕉", Kind::Passage);
    let drive = vector("我开车去上班", Kind::Passage);
    for (query, near, far) in [("水果", &apples, &drive), ("通勤", &drive, &apples)] {
        let query = vector(query, Kind::Query);
        assert!(cosine(&query, near) > cosine(&query, far));
    }
}

#[test]
fn long_texts_of_every_kind_have_a_vector() {
    // Case E09: full-width marks, box drawing and emoji, and 20,000 Chinese characters.
    let texts = [
        "全角标点：，。；！？".repeat(500),
        "═║╔🎬".repeat(3000),
        "今天把博客的订阅地址改了顺便看了数据库".repeat(1100),
        "a".repeat(30_000),
        "\"".repeat(30_000),
        format!("茶{}水", " ".repeat(300_000)),
        "👨\u{200d}👩\u{200d}👧\u{200d}👦".repeat(500),
    ];
    for text in texts {
        let start: String = text.chars().take(8).collect();
        let limits = Limits { max_windows: 2 };
        let embedding = model().embed(&text, Kind::Passage, &limits, &mut || true).unwrap();
        assert_eq!(embedding.vector.len(), model().dims(), "{start}");
        assert!((length(&embedding.vector) - 1.0).abs() < 0.01, "{start}");
        assert!(embedding.windows <= 2 && embedding.windows <= embedding.windows_total, "{start}");
    }
}

#[test]
fn a_text_that_just_fits_is_one_run() {
    let sentence = "今天把博客的订阅地址改了，顺便看了数据库慢查询。";
    let max = model().manifest().max_tokens;
    let mut text = String::new();
    while model().count_tokens(&format!("{text}{sentence}"), Kind::Passage) <= max {
        text.push_str(sentence);
    }
    let embedding = embed(model(), &text, Kind::Passage).unwrap();
    assert_eq!((embedding.windows, embedding.windows_total), (1, 1));
    text.push_str(sentence);
    let embedding = embed(model(), &text, Kind::Passage).unwrap();
    assert_eq!((embedding.windows, embedding.windows_total), (2, 2));
    assert_eq!(embedding, embed(model(), &text, Kind::Passage).unwrap(), "the same text, the same vector");
}

#[test]
fn special_tokens_spelled_out_are_text() {
    // Case E11.
    let text = "正文里写了[CLS] [SEP] [PAD] [MASK] <s> </s> <pad> 几个记号";
    let ids = model().token_ids(text, Kind::Passage).unwrap();
    let inner = &ids[1..ids.len() - 1];
    assert!(inner.iter().all(|id| ![ids[0], ids[ids.len() - 1]].contains(id)), "{ids:?}");
    for text in [text, "[PAD]", "<pad>", "<s>", "</s>", "<unk>", "<mask>"] {
        let vector = vector(text, Kind::Passage);
        assert!((length(&vector) - 1.0).abs() < 1e-3, "{text}");
    }
}

#[test]
fn blank_texts_have_no_vector() {
    // Case E13.
    for text in ["", "   ", "\n", "\u{3000}", "\t\r\n \u{a0}", "\u{200b}\u{feff}"] {
        assert_eq!(embed(model(), text, Kind::Passage), Err(Error::Blank), "{text:?}");
    }
}

#[test]
fn weights_that_are_not_laid_out_anew_give_the_same_vectors() {
    runtime();
    let options = Options { prepack: false, ..Options::default() };
    let lean = Model::load_with(&default_model(), &options, &mut || true).unwrap();
    assert_eq!(lean.fingerprint(), model().fingerprint());
    let text = "猫粮换成低敏款之后，它不再抓耳朵了";
    let other = embed(&lean, text, Kind::Passage).unwrap().vector;
    assert!(cosine(&other, &vector(text, Kind::Passage)) > 0.9999);
}

#[test]
fn the_runtime_is_loaded_once() {
    runtime();
    init_runtime(Path::new("no/such/library.so")).unwrap();
    assert!(runtime_version().is_some_and(|version| !version.is_empty()));
    assert_eq!(std::env::var("ORT_DISABLE_TELEMETRY").as_deref(), Ok("1"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_starts_no_thread() {
    let threads = || fs::read_dir("/proc/self/task").unwrap().count();
    let model = model();
    let before = threads();
    // Other tests of this process start and end their own.
    let least = (0..20).map(|_| {
        embed(model, "茶", Kind::Query).unwrap();
        threads()
    });
    assert!(least.min().unwrap() <= before);
}
