//! Where things are: schemas of extensions, installed files, settings for the span of a call.

use std::ffi::{CStr, CString};
use std::path::PathBuf;

use pgrx::pg_sys;
use pgrx::PgRelation;

/// Namespace oid and version-independent identity of an installed extension, `None` if it is not installed.
///
/// Reads `pg_extension` by its name index; works inside any function, parallel workers included.
pub fn extension_schema_oid(name: &CStr) -> Option<pg_sys::Oid> {
    // SAFETY: the relation is opened with a lock and closed before return, the key lives until the scan
    // ends, and the tuple is only read while the scan is open. An ERROR in between is cleaned up by abort.
    unsafe {
        let relation = pg_sys::table_open(pg_sys::ExtensionRelationId, pg_sys::AccessShareLock as i32);
        let mut key = pg_sys::ScanKeyData::default();
        pg_sys::ScanKeyInit(
            &mut key,
            pg_sys::Anum_pg_extension_extname as i16,
            pg_sys::BTEqualStrategyNumber as u16,
            pg_sys::Oid::from(pg_sys::F_NAMEEQ),
            pg_sys::Datum::from(name.as_ptr()),
        );
        let scan = pg_sys::systable_beginscan(
            relation,
            pg_sys::Oid::from(pg_sys::ExtensionNameIndexId),
            true,
            std::ptr::null_mut(),
            1,
            &mut key,
        );
        let tuple = pg_sys::systable_getnext(scan);
        let found = if tuple.is_null() {
            None
        } else {
            let form = pg_sys::GETSTRUCT(tuple) as pg_sys::Form_pg_extension;
            Some((*form).extnamespace)
        };
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, pg_sys::AccessShareLock as i32);
        found
    }
}

/// Name of a schema, quoted for SQL.
pub fn quoted_schema(oid: pg_sys::Oid) -> Option<String> {
    // SAFETY: get_namespace_name returns null or a NUL-terminated copy in the current memory context.
    unsafe {
        let name = pg_sys::get_namespace_name(oid);
        if name.is_null() {
            return None;
        }
        Some(pgrx::spi::quote_identifier(CStr::from_ptr(name).to_string_lossy()))
    }
}

/// Oid of a relation in a schema, `None` if there is none.
pub fn relation_oid(name: &CStr, schema: pg_sys::Oid) -> Option<pg_sys::Oid> {
    // SAFETY: a syscache look-up by a NUL-terminated name.
    let oid = unsafe { pg_sys::get_relname_relid(name.as_ptr(), schema) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// Rows of a relation as the planner's statistics have it, `None` if it was never analysed.
pub fn estimated_rows(relation: pg_sys::Oid) -> Option<f64> {
    // SAFETY: opened with a share lock, read, and closed when dropped.
    let relation = unsafe { PgRelation::with_lock(relation, pg_sys::AccessShareLock as i32) };
    // SAFETY: an open relation has its pg_class row.
    let tuples = unsafe { (*relation.rd_rel).reltuples };
    (tuples >= 0.0).then_some(f64::from(tuples))
}

/// PostgreSQL's `share` folder.
pub fn share_dir() -> PathBuf {
    let mut buffer = [0i8; pg_sys::MAXPGPATH as usize];
    // SAFETY: the buffer has MAXPGPATH bytes as required and is NUL-terminated by the call.
    unsafe {
        pg_sys::get_share_path(std::ptr::addr_of!(pg_sys::my_exec_path).cast(), buffer.as_mut_ptr().cast());
        PathBuf::from(CStr::from_ptr(buffer.as_ptr().cast()).to_string_lossy().into_owned())
    }
}

/// PostgreSQL's folder of loadable libraries.
pub fn library_dir() -> PathBuf {
    // SAFETY: a NUL-terminated static array filled at start-up.
    unsafe {
        PathBuf::from(
            CStr::from_ptr(std::ptr::addr_of!(pg_sys::pkglib_path).cast()).to_string_lossy().into_owned(),
        )
    }
}

/// Runs `body` with settings changed for its span; they go back afterwards, on an error through the abort.
pub fn with_settings<R>(settings: &[(&CStr, &str)], body: impl FnOnce() -> R) -> R {
    // SAFETY: the nest level is closed below; when `body` raises, transaction abort closes it.
    let level = unsafe { pg_sys::NewGUCNestLevel() };
    for (name, value) in settings {
        let Ok(value) = CString::new(*value) else { continue };
        // SAFETY: both strings are NUL-terminated and copied by the call.
        unsafe {
            pg_sys::set_config_option(
                name.as_ptr(),
                value.as_ptr(),
                pg_sys::GucContext::PGC_USERSET,
                pg_sys::GucSource::PGC_S_SESSION,
                pg_sys::GucAction::GUC_ACTION_SAVE,
                true,
                0,
                false,
            );
        }
    }
    let result = body();
    // SAFETY: closes the level opened above.
    unsafe { pg_sys::AtEOXact_GUC(false, level) };
    result
}

/// Whether the database stores text as UTF-8, which segmentation requires.
pub fn is_utf8() -> bool {
    // SAFETY: reads a static of the backend.
    unsafe { pg_sys::GetDatabaseEncoding() == pg_sys::pg_enc::PG_UTF8 as i32 }
}

/// Start of the current statement in microseconds: equal for two calls within one statement.
pub fn statement_start() -> i64 {
    // SAFETY: reads a static of the backend.
    unsafe { pg_sys::GetCurrentStatementStartTimestamp() }
}

/// Keeps others from defining settings under our prefix and refuses misspelt ones.
pub fn reserve_setting_prefix() {
    // SAFETY: a NUL-terminated constant; called from _PG_init after all settings are defined.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"summer_memory".as_ptr()) };
}

/// Whether the library is being loaded by the postmaster from `shared_preload_libraries`.
pub fn preloading() -> bool {
    // SAFETY: reads a static of the process.
    unsafe { pg_sys::process_shared_preload_libraries_in_progress }
}

/// Oid of the database this process is connected to.
pub fn current_database() -> pg_sys::Oid {
    // SAFETY: reads a static of the backend.
    unsafe { pg_sys::MyDatabaseId }
}
