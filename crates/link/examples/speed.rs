//! How fast entities are found, in MB/s of one core: `cargo run --release -p memory_link --example speed FILE…`.
//!
//! Prints the whole, and jieba's tagging of the same text by itself, which nearly all of the time goes into where a
//! text is Chinese; what is left is the scanner's.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use memory_link::extract;
use memory_segment::Segmenter;

/// Size of the texts: that of a long chunk.
const CHUNK: usize = 4_096;

/// Runs of which the shortest counts.
const RUNS: usize = 7;

/// The shortest of some runs, in seconds: the others were disturbed.
fn best(mut run: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(time).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let segmenter = Segmenter::new();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let mut chunks = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let mut end = CHUNK.min(rest.len());
            while !rest.is_char_boundary(end) {
                end += 1;
            }
            let (chunk, after) = rest.split_at(end);
            chunks.push(chunk);
            rest = after;
        }
        let han_only: Vec<String> = chunks
            .iter()
            .map(|chunk| chunk.replace(|c: char| !('\u{4E00}'..='\u{9FFF}').contains(&c), "\n"))
            .collect();
        let mut entities = 0;
        let whole = best(|| {
            entities = chunks.iter().map(|chunk| black_box(extract(chunk, &segmenter)).entities.len()).sum();
        });
        let tagging = best(|| {
            for chunk in &han_only {
                black_box(segmenter.tag(chunk));
            }
        });
        let megabytes = text.len() as f64 / 1e6;
        println!(
            "{path}: {entities} entities; {:.1} MB/s, without tagging {:.1} MB/s, tagging alone {:.1} MB/s",
            megabytes / whole,
            megabytes / (whole - tagging).max(1e-9),
            megabytes / tagging,
        );
    }
    Ok(())
}
