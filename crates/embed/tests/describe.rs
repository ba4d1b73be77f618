//! Which file decides what about a model. No runtime is loaded: these folders hold no real graph.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Folder;
use memory_embed::{describe, Error, Kind, Manifest, Pooling};

/// A folder whose graph and tokenizer are there and are not looked into.
fn folder() -> Folder {
    Folder::empty().file("model.onnx", "").file("tokenizer.json", "")
}

fn read(folder: &Folder) -> Manifest {
    describe(folder.path()).unwrap()
}

#[test]
fn a_bare_folder_gets_plain_defaults() {
    let folder = folder();
    let manifest = read(&folder);
    assert_eq!(manifest.name, folder.path().file_name().unwrap().to_string_lossy());
    assert_eq!((manifest.pooling, manifest.normalize), (Pooling::Mean, true));
    assert_eq!((manifest.prefix(Kind::Query), manifest.prefix(Kind::Passage)), ("", ""));
    assert_eq!((manifest.max_tokens, manifest.dims, manifest.vocab_size), (512, None, None));
    assert_eq!(manifest.output, None);
    assert!(manifest.files.is_empty());
}

#[test]
fn sentence_transformers_files_are_followed() {
    let folder = folder()
        .file(
            "config.json",
            r#"{"hidden_size": 512, "vocab_size": 21128, "max_position_embeddings": 512, "model_type": "bert"}"#,
        )
        .file("tokenizer_config.json", r#"{"model_max_length": 1000000000000000019884624838656}"#)
        .file(
            "modules.json",
            r#"[{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
                {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]"#,
        )
        .file(
            "1_Pooling/config.json",
            r#"{"word_embedding_dimension": 512, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#,
        )
        .file("sentence_bert_config.json", r#"{"max_seq_length": 256, "do_lower_case": true}"#)
        .file(
            "config_sentence_transformers.json",
            r#"{"prompts": {"query": "为这个句子生成表示以用于检索相关文章：", "document": "doc: "}}"#,
        );
    let manifest = read(&folder);
    assert_eq!(manifest.pooling, Pooling::Cls);
    assert_eq!(manifest.query_prefix, "为这个句子生成表示以用于检索相关文章：");
    assert_eq!(manifest.passage_prefix, "doc: ");
    assert_eq!((manifest.max_tokens, manifest.dims, manifest.vocab_size), (256, Some(512), Some(21128)));
}

#[test]
fn the_manifest_wins() {
    let folder = folder()
        .file("config.json", r#"{"hidden_size": 1024, "max_position_embeddings": 32768}"#)
        .file("1_Pooling/config.json", r#"{"pooling_mode_lasttoken": true}"#)
        .file("config_sentence_transformers.json", r#"{"prompts": {"query": "Instruct: "}}"#)
        .file("onnx/model_int8.onnx", "")
        .file(
            "manifest.json",
            r#"{"name": "mine", "file": "onnx/model_int8.onnx", "output": "v", "pooling": "in_graph",
                "normalize": false, "query_prefix": "", "passage_prefix": "p: ", "max_tokens": 4096, "dims": 256,
                "vocab_size": 9, "license": "MIT", "pad_id": 1, "files": {"tokenizer.json": "00"}}"#,
        );
    let manifest = read(&folder);
    assert_eq!((manifest.name.as_str(), manifest.file.to_str()), ("mine", Some("onnx/model_int8.onnx")));
    assert_eq!((manifest.output.as_deref(), manifest.pooling), (Some("v"), Pooling::InGraph));
    assert!(!manifest.normalize);
    assert_eq!((manifest.query_prefix.as_str(), manifest.passage_prefix.as_str()), ("", "p: "));
    assert_eq!((manifest.max_tokens, manifest.dims, manifest.vocab_size), (4096, Some(256), Some(9)));
    assert_eq!(manifest.files.get("tokenizer.json").map(String::as_str), Some("00"));
}

#[test]
fn a_window_is_never_longer_than_the_positions() {
    // The RoBERTa family has 514 positions for 512 tokens.
    let roberta = r#"{"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1}"#;
    assert_eq!(read(&folder().file("config.json", roberta)).max_tokens, 512);
    let wishful = folder().file("config.json", roberta).file("manifest.json", r#"{"max_tokens": 4096}"#);
    assert_eq!(read(&wishful).max_tokens, 512);
}

#[test]
fn a_window_longer_than_memory_likes_must_be_asked_for() {
    let long = r#"{"max_position_embeddings": 8192}"#;
    assert_eq!(read(&folder().file("config.json", long)).max_tokens, 2048);
    let asked = folder().file("config.json", long).file("manifest.json", r#"{"max_tokens": 8192}"#);
    assert_eq!(read(&asked).max_tokens, 8192);
}

#[test]
fn a_default_prompt_serves_both_kinds() {
    let prompts = r#"{"prompts": {"general": "g: ", "query": "q: "}, "default_prompt_name": "general"}"#;
    let manifest = read(&folder().file("config_sentence_transformers.json", prompts));
    assert_eq!((manifest.query_prefix.as_str(), manifest.passage_prefix.as_str()), ("q: ", "g: "));
}

#[test]
fn the_graph_may_lie_in_a_folder_of_its_own() {
    let folder = Folder::empty().file("onnx/model.onnx", "").file("tokenizer.json", "");
    assert_eq!(read(&folder).file.to_str(), Some("onnx/model.onnx"));
}

#[test]
fn what_is_missing_is_named() {
    let named = |folder: &Folder| match describe(folder.path()) {
        Err(Error::Missing { path, .. }) => path.file_name().unwrap().to_string_lossy().into_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(named(&Folder::empty()), "model.onnx");
    assert_eq!(named(&Folder::empty().file("model.onnx", "")), "tokenizer.json");
    let other = folder().file("manifest.json", r#"{"file": "model_q4.onnx"}"#);
    assert_eq!(named(&other), "model_q4.onnx");
    let gone = Folder::empty();
    assert!(matches!(describe(&gone.path().join("gone")), Err(Error::Missing { .. })));
    let file = folder();
    assert!(matches!(describe(&file.path().join("model.onnx")), Err(Error::Missing { .. })));
}

#[test]
fn broken_json_is_corrupt_and_named() {
    for name in ["config.json", "manifest.json", "1_Pooling/config.json", "modules.json"] {
        for content in
            ["", "{", "[1", r#"{"max_tokens": -1, "hidden_size": "x", "word_embedding_dimension": []}"#]
        {
            match describe(folder().file(name, content).path()) {
                Err(Error::Corrupt { path, .. }) => assert!(path.ends_with(name)),
                other => panic!("{name} {content}: {other:?}"),
            }
        }
    }
}

#[test]
fn no_file_outside_the_folder_is_asked_for() {
    for name in ["../model.onnx", "/etc/passwd", "onnx/../../x", ""] {
        for manifest in [format!(r#"{{"file": "{name}"}}"#), format!(r#"{{"files": {{"{name}": "00"}}}}"#)] {
            let folder = folder().file("manifest.json", manifest);
            assert!(matches!(describe(folder.path()), Err(Error::Unsupported { .. })), "{name}");
        }
    }
    let modules = r#"[{"path": "../elsewhere", "type": "sentence_transformers.models.Pooling"}]"#;
    assert_eq!(read(&folder().file("modules.json", modules)).pooling, Pooling::Mean);
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let pooling = [
        r#"{"pooling_mode_max_tokens": true}"#,
        r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}"#,
        r#"{"pooling_mode_mean_tokens": true, "include_prompt": false}"#,
    ];
    for config in pooling {
        let folder = folder().file("1_Pooling/config.json", config);
        assert!(matches!(describe(folder.path()), Err(Error::Unsupported { .. })), "{config}");
    }
    let dense = r#"[{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]"#;
    assert!(matches!(describe(folder().file("modules.json", dense).path()), Err(Error::Unsupported { .. })));
    let in_graph = folder().file("modules.json", dense).file("manifest.json", r#"{"pooling": "in_graph"}"#);
    assert_eq!(read(&in_graph).pooling, Pooling::InGraph);
}
