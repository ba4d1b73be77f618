//! Folders of tiny graphs through ONNX Runtime: kinds of pooling, inputs and outputs, windows, and every way a
//! folder can be wrong. Rows of the graphs' table are [id, 1, id % 2, -2 · id]; `[CLS]` is 2, `[SEP]` 3, `a` 5,
//! `b` 6, `c` 7.
#![cfg(feature = "model-tests")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::{cosine, embed, Folder};
use memory_embed::{Error, Kind, Limits, Model, Options};

const PLAIN: &str = r#"{"normalize": false, "max_tokens": 64}"#;

fn vector(model: &Model, text: &str) -> Vec<f32> {
    embed(model, text, Kind::Passage).unwrap().vector
}

fn manifest(graph: &str, manifest: &str) -> Model {
    Folder::of(graph).file("manifest.json", manifest).load().unwrap()
}

fn refused(folder: Folder) -> Error {
    folder.load().map(|model| model.fingerprint().to_owned()).unwrap_err()
}

#[test]
fn every_kind_of_pooling() {
    // [CLS] a b [SEP]
    let pooled = |kind: &str| {
        vector(&manifest("hidden", &format!(r#"{{"normalize": false, "pooling": "{kind}"}}"#)), "a b")
    };
    assert_eq!(pooled("mean"), [4.0, 1.0, 0.5, -8.0]);
    assert_eq!(pooled("cls"), [2.0, 1.0, 0.0, -4.0]);
    assert_eq!(pooled("last_token"), [3.0, 1.0, 1.0, -6.0]);
    let in_graph = r#"{"normalize": false, "pooling": "in_graph"}"#;
    assert_eq!(vector(&manifest("pooled", in_graph), "a b"), [16.0, 4.0, 2.0, -32.0]);
}

#[test]
fn vectors_have_length_one_unless_told_otherwise() {
    let vector = vector(&manifest("hidden", "{}"), "a b");
    assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6);
    assert!(cosine(&vector, &[4.0, 1.0, 0.5, -8.0]) > 0.999_999);
}

#[test]
fn the_output_is_chosen_by_name_and_pooling() {
    assert_eq!(vector(&manifest("pooled", PLAIN), "a b"), [4.0, 1.0, 0.5, -8.0], "rows, pooled here");
    let named = r#"{"normalize": false, "output": "sentence_embedding"}"#;
    assert_eq!(vector(&manifest("pooled", named), "a b"), [16.0, 4.0, 2.0, -32.0], "one vector already");
    let absent = Folder::of("pooled").file("manifest.json", r#"{"output": "other"}"#);
    assert!(matches!(refused(absent), Error::Unsupported { .. }));
    let rows = Folder::of("hidden").file("manifest.json", r#"{"pooling": "in_graph"}"#);
    assert!(matches!(refused(rows), Error::Unsupported { .. }));
}

#[test]
fn every_known_input_is_fed() {
    // Positions 0 to 3 add 100 each to the last number, types are 0.
    assert_eq!(vector(&manifest("all_inputs", PLAIN), "a b"), [4.0, 1.0, 0.5, -8.0 + 150.0]);
    assert_eq!(vector(&manifest("decoder", PLAIN), "a b"), [4.0, 1.0, 0.5, -8.0], "with an empty cache");
}

#[test]
fn inputs_and_outputs_that_are_not_understood_are_refused() {
    let error = refused(Folder::of("unknown_input"));
    assert!(matches!(&error, Error::Unsupported { reason, .. } if reason.contains("\"pixels\"")), "{error}");
    let error = refused(Folder::of("half"));
    assert!(matches!(&error, Error::Unsupported { reason, .. } if reason.contains("float32")), "{error}");
}

#[test]
fn dimensions_can_be_cut_and_not_stretched() {
    let cut = manifest("hidden", r#"{"normalize": false, "dims": 2}"#);
    assert_eq!((cut.dims(), vector(&cut, "a b")), (2, vec![4.0, 1.0]));
    assert_eq!(cut.manifest().dims, Some(2));
    let unit = vector(&manifest("hidden", r#"{"dims": 2}"#), "a b");
    assert!((unit.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6, "normalised after the cut");
    let stretched = refused(Folder::of("hidden").file("manifest.json", r#"{"dims": 5}"#));
    assert!(stretched.to_string().contains("5 dimensions of 4"), "{stretched}");
    // What config.json believes is no order.
    let config = Folder::of("hidden").file("config.json", r#"{"hidden_size": 3}"#);
    assert_eq!(config.load().unwrap().dims(), 4);
}

#[test]
fn prefixes_are_put_before_the_text() {
    let model = manifest("hidden", r#"{"normalize": false, "query_prefix": "c ", "passage_prefix": ""}"#);
    assert_eq!(embed(&model, "a", Kind::Query).unwrap().vector, [4.25, 1.0, 0.75, -8.5]);
    assert_eq!(model.count_tokens("a", Kind::Query), 4);
    assert_eq!(model.count_tokens("a", Kind::Passage), 3);
}

#[test]
fn vectors_that_cannot_be_compared_are_errors() {
    let model = manifest("hidden", "{}");
    assert_eq!(embed(&model, "a nan", Kind::Passage), Err(Error::NotFinite));
    assert_eq!(embed(&model, "inf", Kind::Passage), Err(Error::NotFinite));
    assert_eq!(embed(&model, "cancel", Kind::Passage), Err(Error::ZeroVector));
    assert!(embed(&model, "a", Kind::Passage).is_ok(), "the model is as good as before");
    let raw = manifest("hidden", PLAIN);
    assert_eq!(embed(&raw, "cancel", Kind::Passage), Err(Error::ZeroVector));
}

#[test]
fn blank_texts_have_no_vector() {
    let model = manifest("hidden", "{}");
    for text in ["", "  ", "\n\u{3000}", "\u{200b}"] {
        assert_eq!(embed(&model, text, Kind::Query), Err(Error::Blank), "{text:?}");
    }
}

/// Twelve tokens a window, ten of them the text's.
const NARROW: &str = r#"{"normalize": false, "max_tokens": 12}"#;

#[test]
fn a_long_text_is_the_weighted_mean_of_its_windows() {
    let model = manifest("hidden", NARROW);
    // 14 words: a sentence of 9, then 5 more; the cut comes after the full stop.
    let text = "a a a a a a a a . b b b b b";
    let embedding = embed(&model, text, Kind::Passage).unwrap();
    assert_eq!((embedding.windows, embedding.windows_total), (2, 2));
    let first = vector(&model, "a a a a a a a a .");
    let second = vector(&model, "b b b b b");
    for ((found, x), y) in embedding.vector.iter().zip(first).zip(second) {
        assert!((found - (x * 9.0 + y * 5.0) / 14.0).abs() < 1e-5);
    }
}

#[test]
fn too_many_windows_are_thinned_out_evenly() {
    let model = manifest("hidden", NARROW);
    let text = ["a ".repeat(10), "b ".repeat(10), "c ".repeat(10)].concat();
    let limits = Limits { max_windows: 2 };
    let embedding = model.embed(&text, Kind::Passage, &limits, &mut || true).unwrap();
    assert_eq!((embedding.windows, embedding.windows_total), (2, 3));
    let ends = ["a ".repeat(10), "c ".repeat(10)].map(|text| vector(&model, &text));
    for ((found, x), y) in embedding.vector.iter().zip(&ends[0]).zip(&ends[1]) {
        assert!((found - (x + y) / 2.0).abs() < 1e-5);
    }
    let none = model.embed(&text, Kind::Passage, &Limits { max_windows: 0 }, &mut || true).unwrap();
    assert_eq!(none.windows, 1, "a text always has a vector");
}

#[test]
fn the_caller_can_stop_before_each_window() {
    let model = manifest("hidden", NARROW);
    let text = "a ".repeat(95);
    let mut asked = 0;
    let stopped = model.embed(&text, Kind::Passage, &Limits::default(), &mut || {
        asked += 1;
        asked < 5
    });
    assert_eq!(stopped, Err(Error::Cancelled));
    assert_eq!(asked, 5);
    assert!(embed(&model, "a", Kind::Passage).is_ok());
    let never = Model::load_with(Folder::of("hidden").path(), &Options::default(), &mut || false);
    assert_eq!(never.err(), Some(Error::Cancelled));
}

#[test]
fn truncation_and_padding_of_the_tokenizer_file_are_ignored() {
    // `words.json` asks for 4 tokens at most and 16 at least.
    let model = manifest("hidden", PLAIN);
    assert_eq!(model.count_tokens("a", Kind::Passage), 3);
    assert_eq!(model.count_tokens("a b c a b c", Kind::Passage), 8);
}

#[test]
fn a_special_token_spelled_out_is_text() {
    let folder = Folder::empty().with("hidden.onnx", "model.onnx").with("unigram.json", "tokenizer.json");
    let model = folder.file("manifest.json", r#"{"normalize": false}"#).load().unwrap();
    let ids = |text| model.token_ids(text, Kind::Passage).unwrap();
    // Pieces: 0 <s>, 2 </s>, 4 ▁, 5 a, 6 <, 7 s, 8 >, 9 /. The best path would take the pieces 0 and 2.
    assert_eq!(ids("<s>"), [0, 4, 6, 7, 8, 2]);
    assert_eq!(ids("</s>"), [0, 4, 6, 9, 7, 8, 2]);
    assert_eq!(ids("a<s>"), [0, 4, 5, 6, 7, 8, 2]);
    assert_eq!(ids("<s"), [0, 4, 6, 7, 2]);
    assert_eq!(model.count_tokens("<s>", Kind::Passage), 6);
}

#[test]
fn a_tokenizer_with_more_ids_than_rows_is_found_out() {
    // By the first run, where the graph checks its ids …
    assert!(matches!(refused(Folder::of("short_table")), Error::Corrupt { .. }));
    // … and by the number of rows, where it might not.
    let config = Folder::of("hidden").file("config.json", r#"{"vocab_size": 11}"#);
    let error = refused(config);
    assert!(error.to_string().contains("token id 11 is outside the 11 rows"), "{error}");
}

#[test]
fn broken_files_are_errors_that_name_the_file() {
    let named = |folder: Folder, file: &str| match refused(folder) {
        Error::Missing { path, .. } | Error::Corrupt { path, .. } => {
            assert!(path.ends_with(file), "{} is not {file}", path.display());
        }
        other => panic!("{file}: {other}"),
    };
    named(Folder::of("hidden").file("model.onnx", ""), "model.onnx");
    named(Folder::of("hidden").file("model.onnx", "not a graph"), "model.onnx");
    named(Folder::of("hidden").file("tokenizer.json", "{}"), "tokenizer.json");
    named(Folder::of("hidden").file("tokenizer.json", ""), "tokenizer.json");
    named(Folder::empty().with("words.json", "tokenizer.json"), "model.onnx");
    let whole = fs::read(Folder::of("hidden").path().join("model.onnx")).unwrap();
    for length in (0..whole.len()).step_by(7) {
        let folder = Folder::of("hidden").file("model.onnx", &whole[..length]);
        // Cut within the part that describes the outputs, a graph can still be whole.
        if let Err(error) = folder.load() {
            assert!(!matches!(error, Error::Runtime { .. }), "{length}: {error}");
        }
    }
    let words = fs::read(Folder::of("hidden").path().join("tokenizer.json")).unwrap();
    for length in (0..words.len() - 2).step_by(11) {
        named(Folder::of("hidden").file("tokenizer.json", &words[..length]), "tokenizer.json");
    }
}

#[test]
fn weights_beside_the_graph_must_be_whole() {
    let folder = || Folder::empty().with("external.onnx", "model.onnx").with("words.json", "tokenizer.json");
    let whole = folder().with("external.onnx.data", "model.onnx.data");
    assert!(whole.load().is_ok());
    let data = fs::read(whole.path().join("model.onnx.data")).unwrap();
    for broken in
        [folder(), folder().file("model.onnx.data", ""), folder().file("model.onnx.data", &data[..100])]
    {
        let error = refused(broken);
        assert!(matches!(error, Error::Corrupt { .. } | Error::Missing { .. }), "{error}");
    }
}

#[test]
fn hashes_of_the_manifest_are_checked() {
    let wrong = Folder::of("hidden").file("manifest.json", r#"{"files": {"model.onnx": "00ff"}}"#);
    let error = refused(wrong);
    assert!(matches!(&error, Error::Corrupt { path, .. } if path.ends_with("model.onnx")), "{error}");
    let gone = Folder::of("hidden").file("manifest.json", r#"{"files": {"gone.data": "00ff"}}"#);
    assert!(matches!(refused(gone), Error::Missing { path, .. } if path.ends_with("gone.data")));
}

#[test]
fn the_fingerprint_follows_what_changes_vectors() {
    let print = |folder: Folder| folder.load().unwrap().fingerprint().to_owned();
    let plain = print(Folder::of("hidden"));
    assert_eq!(plain.len(), 64);
    assert_eq!(plain, print(Folder::of("hidden")), "not the place of the folder");
    let note = Folder::of("hidden").file("manifest.json", r#"{"license": "MIT", "name": "other"}"#);
    assert_eq!(plain, print(note), "not what is for people");
    let settings =
        [r#"{"pooling": "cls"}"#, r#"{"query_prefix": "c "}"#, r#"{"dims": 2}"#, r#"{"max_tokens": 100}"#];
    for setting in settings {
        assert_ne!(plain, print(Folder::of("hidden").file("manifest.json", setting)), "{setting}");
    }
    assert_ne!(plain, print(Folder::of("pooled")));
}

#[test]
fn a_prefix_that_fills_the_window_is_refused() {
    let manifest = r#"{"max_tokens": 12, "query_prefix": "a a a a a a "}"#;
    let error = refused(Folder::of("hidden").file("manifest.json", manifest));
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}
