//! Exact BM25: scores of documents for a bag of query terms, and the best `limit` of them.
//!
//! The formula and the selection live here; where documents, lengths and term frequencies come from is
//! the caller's matter (this crate knows neither words nor tables). What must hold: a document is
//! returned only if it contains a query term; every score is finite and greater than zero, higher is
//! better; ties go to the lower id; the result does not depend on the order the documents came in.
#![forbid(unsafe_code)]

mod accumulator;
mod scorer;

pub use accumulator::{Accumulator, Hit};
pub use scorer::{idf, Params, ParamsError, Scorer, Stats};
