//! The segmenter of this process, and the user dictionary that follows table `memory_words`.
//!
//! The dictionary is built once: in the postmaster when the library is preloaded (children share its
//! pages), else at first use. A change of `memory_words` sends a relation-cache invalidation with its
//! commit (`memory_words_changed`); every session, also on a standby, then reads the table again in its next
//! statement, and makes its kept plans anew, for they may hold constants in the old words. A rollback sends one
//! too, so a session never keeps words that were not committed.

use std::cell::{Cell, RefCell};

use memory_segment::{Segmenter, UserWord};
use pgrx::pg_sys;
use pgrx::prelude::*;

use super::catalog;
use crate::error::Failure;

thread_local! {
    static SEGMENTER: RefCell<Option<Segmenter>> = const { RefCell::new(None) };
    /// Whether the table has to be read again; false only while the callback is registered.
    static STALE: Cell<bool> = const { Cell::new(true) };
    static TABLE: Cell<pg_sys::Oid> = const { Cell::new(pg_sys::InvalidOid) };
    static LISTENING: Cell<bool> = const { Cell::new(false) };
    static LOADING: Cell<bool> = const { Cell::new(false) };
    /// Start of the last statement that looked for changes others committed.
    static LOOKED: Cell<i64> = const { Cell::new(0) };
}

/// A segmenter with the default dictionary, which can be cancelled while it cuts a long text.
fn new_segmenter() -> Segmenter {
    Segmenter::new().pausing(|| {
        pgrx::check_for_interrupts!();
    })
}

/// Builds the dictionary now, with a spare one for all; called by the postmaster.
pub fn preload() {
    SEGMENTER.with(|cell| {
        cell.borrow_mut().get_or_insert_with(|| new_segmenter().with_spare());
    });
    use_huge_pages();
}

/// Backs the dictionary with huge pages where Linux offers them: a fork copies page tables, and 30 MB in
/// small pages would make every connection noticeably slower to start. Best effort, nothing depends on it.
fn use_huge_pages() {
    const HUGE_PAGE: usize = 2 << 20;
    const MADV_COLLAPSE: libc::c_int = 25;
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for line in maps.lines() {
        // "start-end perms offset device inode [path]": private anonymous memory has inode 0.
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [range, "rw-p", _, _, "0", path @ ..] = fields.as_slice() else { continue };
        if !matches!(path, [] | ["[heap]"]) {
            continue;
        }
        let bounds = range.split_once('-').and_then(|(start, end)| {
            Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
        });
        let Some((start, end)) = bounds else { continue };
        let (start, end) = (start.next_multiple_of(HUGE_PAGE), end / HUGE_PAGE * HUGE_PAGE);
        if end <= start {
            continue;
        }
        // SAFETY: advice on mapped memory of this process; contents stay as they are.
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
            libc::madvise(start as *mut libc::c_void, end - start, MADV_COLLAPSE);
        }
    }
}

/// Looks, once a statement, for changes that others committed. A statement that takes no new lock would not see
/// them before the transaction ends. Within a statement the dictionary stays what it is.
pub fn look_for_changes() {
    let statement = catalog::statement_start();
    if LOOKED.replace(statement) != statement {
        // SAFETY: calls the registered callbacks, which may look at the catalog: only within a transaction.
        unsafe {
            if pg_sys::IsTransactionState() {
                pg_sys::AcceptInvalidationMessages();
            }
        }
    }
}

/// Gives the up-to-date segmenter to `body`. `body` must not call into SQL.
pub fn with_segmenter<R>(body: impl FnOnce(&Segmenter) -> R) -> R {
    look_for_changes();
    for_token(body)
}

/// As `with_segmenter` for one token of a text, at whose start `look_for_changes` was called: one look at one
/// flag when nothing has changed.
pub fn for_token<R>(body: impl FnOnce(&Segmenter) -> R) -> R {
    if STALE.get() {
        refresh();
    }
    SEGMENTER.with(|cell| {
        if cell.borrow().is_none() {
            *cell.borrow_mut() = Some(new_segmenter());
        }
        match cell.borrow().as_ref() {
            Some(segmenter) => body(segmenter),
            None => body(&new_segmenter()),
        }
    })
}

#[no_mangle]
#[doc(hidden)]
pub extern "C" fn pg_finfo_memory_words_changed() -> &'static pg_sys::Pg_finfo_record {
    const RECORD: pg_sys::Pg_finfo_record = pg_sys::Pg_finfo_record { api_version: 1 };
    &RECORD
}

/// Statement trigger of `memory_words`: tells every session of this database, at commit, to read it again.
#[no_mangle]
#[pg_guard]
unsafe extern "C-unwind" fn memory_words_changed(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    if !pgrx::trigger_support::called_as_trigger(fcinfo) {
        Failure::new(
            PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
            "function memory_words_changed can only be called as a trigger",
        )
        .raise();
    }
    let trigger = (*fcinfo).context.cast::<pg_sys::TriggerData>();
    // Registers an invalidation message in the current transaction.
    pg_sys::CacheInvalidateRelcacheByRelid((*(*trigger).tg_relation).rd_id);
    STALE.set(true);
    pg_sys::Datum::from(0usize)
}

#[pg_guard]
unsafe extern "C-unwind" fn on_relation_change(_argument: pg_sys::Datum, relation: pg_sys::Oid) {
    let table = TABLE.get();
    if relation == pg_sys::InvalidOid || table == pg_sys::InvalidOid || relation == table {
        STALE.set(true);
    }
    if relation == table && table != pg_sys::InvalidOid {
        // Marks plans only; they are made again when they are next used.
        pg_sys::ResetPlanCache();
    }
}

/// Reads the table again; called when something announced a change.
fn refresh() {
    if !LISTENING.get() {
        // SAFETY: the callback lives as long as the process; registered once a process.
        unsafe {
            pg_sys::CacheRegisterRelcacheCallback(Some(on_relation_change), pg_sys::Datum::from(0usize))
        };
        LISTENING.set(true);
    }
    // SAFETY: reads a static of the backend. Outside a transaction there is no catalog to look at.
    if LOADING.get() || !unsafe { pg_sys::IsTransactionState() } {
        return;
    }
    // Cleared first: a change that arrives while the table is read marks it again.
    STALE.set(false);
    LOADING.set(true);
    let words = PgTryBuilder::new(read_table)
        .catch_others(|error| {
            LOADING.set(false);
            STALE.set(true);
            error.rethrow()
        })
        .execute();
    LOADING.set(false);
    SEGMENTER.with(|cell| {
        let mut guard = cell.borrow_mut();
        guard.get_or_insert_with(new_segmenter).set_user_words(&words);
    });
}

/// All rows of `memory_words`, seen by the latest snapshot; none where the table does not exist.
fn read_table() -> Vec<UserWord> {
    let table = catalog::extension_schema_oid(c"summer_memory")
        .and_then(|schema| catalog::relation_oid(c"memory_words", schema));
    let Some(table) = table else {
        TABLE.set(pg_sys::InvalidOid);
        return Vec::new();
    };
    TABLE.set(table);
    let mut words = Vec::new();
    // SAFETY: relation, snapshot and scan are released below; an ERROR in between is cleaned up by abort.
    // Columns are looked up by name, each tuple is read before the scan moves on.
    unsafe {
        let relation = pg_sys::table_open(table, pg_sys::AccessShareLock as i32);
        let descriptor = (*relation).rd_att;
        let column = |name: &std::ffi::CStr| i32::from(pg_sys::get_attnum(table, name.as_ptr()));
        let (word, freq, tag) = (column(c"word"), column(c"freq"), column(c"tag"));
        if word > 0 && freq > 0 && tag > 0 {
            // In parallel mode no new snapshot may be taken; the query's own is what leader and workers share.
            let snapshot = if pg_sys::IsInParallelMode() && pg_sys::ActiveSnapshotSet() {
                pg_sys::GetActiveSnapshot()
            } else {
                pg_sys::GetLatestSnapshot()
            };
            let snapshot = pg_sys::RegisterSnapshot(snapshot);
            let scan = pg_sys::systable_beginscan(
                relation,
                pg_sys::InvalidOid,
                false,
                snapshot,
                0,
                std::ptr::null_mut(),
            );
            loop {
                let tuple = pg_sys::systable_getnext(scan);
                if tuple.is_null() {
                    break;
                }
                let value = |number: i32| {
                    let mut is_null = false;
                    let datum = pg_sys::heap_getattr(tuple, number, descriptor, &mut is_null);
                    (datum, is_null)
                };
                let (word_datum, word_null) = value(word);
                let (freq_datum, freq_null) = value(freq);
                let (tag_datum, tag_null) = value(tag);
                if let Some(word) = String::from_datum(word_datum, word_null) {
                    words.push(UserWord {
                        word,
                        freq: i32::from_datum(freq_datum, freq_null)
                            .and_then(|freq| usize::try_from(freq).ok()),
                        tag: String::from_datum(tag_datum, tag_null),
                    });
                }
            }
            pg_sys::systable_endscan(scan);
            pg_sys::UnregisterSnapshot(snapshot);
        }
        pg_sys::table_close(relation, pg_sys::AccessShareLock as i32);
    }
    words
}
