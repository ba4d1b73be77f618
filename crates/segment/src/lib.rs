//! Words for summer_memory: segmentation of Chinese text, folding, the text-search parser's tokens and
//! the dictionary's lexemes.
//!
//! Pure: it calls nothing of PostgreSQL. The extension turns [`Parser`] into a text search parser and
//! [`lexize`] into a text search dictionary; [`Segmenter`] is jieba itself, for both of them and for the SQL
//! functions.
//!
//! What must hold: whatever is derived from a text depends on the text, the user words and the stop words
//! alone, so that what was indexed yesterday is found today.
#![forbid(unsafe_code)]

mod class;
mod fold;
mod lexize;
mod parser;
mod segmenter;
mod stop;
mod token;
mod user_dict;

pub use fold::fold;
pub use lexize::{lexize, Lexeme, Lexemes};
pub use parser::Parser;
pub use segmenter::{KeywordMethod, Segmenter};
pub use stop::StopWords;
pub use token::{Token, TokenKind};
pub use user_dict::{parse_user_dict, UserDictError, UserWord, UserWordError};
