//! Words for summer_memory: segmentation of Chinese text, folding, the text-search parser's tokens and
//! the dictionary's lexemes.
//!
//! Pure: it knows nothing of PostgreSQL. The glue turns [`Parser`] into a text search parser and
//! [`lexize`] into a text search dictionary.
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
