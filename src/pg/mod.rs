//! The boundary: everything here that needs `unsafe`, and nothing that decides anything.
//!
//! Callbacks and structures of PostgreSQL (text-search parser and dictionary, shared memory, background
//! workers, catalogs, the binary forms of `jsonb`, `vector` and `tsvector`) behind safe functions for the rest of
//! `src`. Only the main thread of a process calls in here.
#![allow(unsafe_code)]

pub mod catalog;
pub mod jsonb;
pub mod queue;
pub mod statement;
pub mod text_search;
pub mod tsvector;
pub mod vector;
pub mod words;
pub mod worker;
