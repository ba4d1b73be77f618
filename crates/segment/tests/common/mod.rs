//! What a text search configuration makes of parser and dictionary: search vectors and queries, without a
//! database. Words handed on to the next dictionary are taken as they are, as by dictionary `simple`.

use memory_segment::{lexize, Lexemes, Parser, Segmenter, StopWords, Token, TokenKind};
use std::collections::BTreeSet;

/// Parser, dictionary and stop words.
pub struct Config {
    pub segmenter: Segmenter,
    pub stop_words: StopWords,
}

/// One position of a text: alternatives (variants) of lexemes that belong together.
type Position = Vec<(u16, String)>;

impl Config {
    pub fn new() -> Self {
        Config { segmenter: Segmenter::new(), stop_words: StopWords::builtin() }
    }

    pub fn tokens(&self, text: &str) -> Vec<Token> {
        let mut parser = Parser::new(text);
        std::iter::from_fn(|| parser.next_token(&self.segmenter)).collect()
    }

    /// Kinds and texts of all tokens but blanks.
    pub fn words<'t>(&self, text: &'t str) -> Vec<(&'static str, &'t str)> {
        let tokens = self.tokens(text);
        let words = tokens.iter().filter(|token| token.kind != TokenKind::Blank);
        words.map(|token| (token.kind.name(), &text[token.start..token.end])).collect()
    }

    fn positions(&self, text: &str) -> Vec<Position> {
        let unmapped = [TokenKind::Blank, TokenKind::Tag, TokenKind::Protocol, TokenKind::Entity];
        let mut positions = Vec::new();
        for token in self.tokens(text).iter().filter(|token| !unmapped.contains(&token.kind)) {
            match lexize(&text[token.start..token.end], &self.segmenter, &self.stop_words) {
                Lexemes::Unknown | Lexemes::Stop => {}
                Lexemes::Filtered(word) => positions.push(vec![(1, word.into_owned())]),
                Lexemes::Words(lexemes) => {
                    positions.push(lexemes.into_iter().map(|l| (l.variant, l.text.into_owned())).collect());
                }
            }
        }
        positions
    }

    /// The lexemes of a text, as in its search vector.
    pub fn vector(&self, text: &str) -> BTreeSet<String> {
        self.positions(text).into_iter().flatten().map(|(_, lexeme)| lexeme).collect()
    }

    /// `to_tsvector(text) @@ plainto_tsquery(query)`.
    pub fn matches(&self, text: &str, query: &str) -> bool {
        let vector = self.vector(text);
        let query = self.positions(query);
        !query.is_empty()
            && query.iter().all(|position| {
                position.iter().any(|(variant, _)| {
                    position.iter().filter(|(v, _)| v == variant).all(|(_, lexeme)| vector.contains(lexeme))
                })
            })
    }
}
