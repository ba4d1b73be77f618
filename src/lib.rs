//! summer_memory: long-term memory for AI assistants inside PostgreSQL.
//!
//! The stages, each a module here, an SQL file, a crate where there is thinking to do, and a test:
//! chunk → segment → embed → store → bm25 → search → archive → link → graph → maintain. `pg` is the boundary to PostgreSQL and the
//! only place with `unsafe`.

use pgrx::prelude::*;

mod archive;
mod bm25;
mod chunk;
mod embed;
mod error;
mod graph;
mod link;
mod maintain;
mod pg;
mod search;
mod segment;
mod settings;
mod store;
#[cfg(any(test, feature = "pg_test"))]
mod tests;

::pgrx::pg_module_magic!(name, version);

extension_sql_file!("../sql/10_chunk.sql", name = "chunk");
extension_sql_file!("../sql/20_segment.sql", name = "segment", requires = ["chunk"]);
extension_sql_file!("../sql/30_embed.sql", name = "embed", requires = ["segment"]);
extension_sql_file!("../sql/40_store.sql", name = "store", requires = ["embed"]);
extension_sql_file!("../sql/50_search.sql", name = "search", requires = ["store"]);
extension_sql_file!("../sql/60_archive.sql", name = "archive", requires = ["search"]);
extension_sql_file!("../sql/70_link.sql", name = "link", requires = ["archive"]);
extension_sql_file!("../sql/80_graph.sql", name = "graph", requires = ["link"]);
extension_sql_file!("../sql/90_maintain.sql", name = "maintain", requires = ["graph"]);
extension_sql_file!("../sql/99_init.sql", name = "init", requires = ["maintain"], finalize);

#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    let preloading = pg::catalog::preloading();
    pg::worker::silence_runtime();
    settings::define(preloading);
    if preloading {
        pg::words::preload();
        pg::queue::reserve();
        pg::worker::register();
    }
}

/// Set-up of the tests that run inside PostgreSQL.
#[cfg(test)]
pub mod pg_test {
    pub fn setup(_options: Vec<&str>) {}

    pub fn postgresql_conf_options() -> Vec<&'static str> {
        vec!["shared_preload_libraries = 'summer_memory'"]
    }
}
