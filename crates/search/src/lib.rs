//! Fusion of the arms of a search into one ranking, and the collapse of chunks to paths.
//!
//! Arithmetic only: it runs no query, knows no table and no text. What must hold: ties are broken by id
//! before ranks are given, so the same hits give the same result whatever order they came in; an id occurs
//! once in a result; scores never rise down a result; a row that an arm does not have gets nothing for it.
#![forbid(unsafe_code)]

mod collapse;
mod fuse;
mod rank;

pub use collapse::{collapse, Group, PathScore};
pub use fuse::{fuse, Arms, Fused, Fusion, Method, RANK_CONSTANT};
pub use rank::{rank, Hit, Ranked};
