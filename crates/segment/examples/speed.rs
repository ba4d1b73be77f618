//! Speed of parser and dictionary on the files given as arguments: prints megabytes a second and how much
//! slower they are than the bare cut. Run with `--release` on a quiet machine.

use memory_segment::{lexize, Lexemes, Parser, Segmenter, StopWords, TokenKind};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (segmenter, stop_words) = (Segmenter::new(), StopWords::builtin());
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let megabytes = text.len() as f64 / 1e6;
        let start = Instant::now();
        let words = segmenter.cut(&text, true).len();
        let cut = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let mut parser = Parser::new(&text);
        let (mut tokens, mut lexemes) = (0usize, 0usize);
        while let Some(token) = parser.next_token(&segmenter) {
            tokens += 1;
            let word = text.get(token.start..token.end).unwrap_or("");
            if token.kind == TokenKind::Blank {
                continue;
            }
            lexemes += match lexize(word, &segmenter, &stop_words) {
                Lexemes::Unknown | Lexemes::Stop => 0,
                Lexemes::Filtered(_) => 1,
                Lexemes::Words(words) => words.len(),
            };
        }
        let both = start.elapsed().as_secs_f64();
        println!(
            "{path}: {megabytes:.1} MB; cut {:.1} MB/s, {words} words; parser and dictionary {:.1} MB/s, {tokens} \
             tokens, {lexemes} lexemes; {:.2} times the cut",
            megabytes / cut,
            megabytes / both,
            both / cut
        );
    }
    Ok(())
}
