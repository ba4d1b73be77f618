//! Cuts must be those of python jieba 0.42.1.
//!
//! `parity.jsonl` was written by that version: for every text its precise cut with and without HMM, its cut
//! for search and all its words (without the empty ones). A failure after an upgrade of jieba-rs means that
//! stored search vectors no longer agree with new queries.
#![allow(clippy::unwrap_used, clippy::panic)]

use memory_segment::Segmenter;
use serde_json::Value;

fn words<'v>(case: &'v Value, field: &str) -> Vec<&'v str> {
    case[field].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn cuts_are_those_of_python() {
    let segmenter = Segmenter::new();
    for line in include_str!("parity.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = case["text"].as_str().unwrap();
        assert_eq!(segmenter.cut(text, true), words(&case, "cut"), "cut of {text}");
        assert_eq!(segmenter.cut(text, false), words(&case, "cut_no_hmm"), "cut without HMM of {text}");
        assert_eq!(segmenter.cut_for_search(text, true), words(&case, "search"), "cut for search of {text}");
        assert_eq!(segmenter.cut_all(text), words(&case, "all"), "all words of {text}");
    }
}
