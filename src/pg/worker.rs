//! Background processes: model processes, the launcher, and fillers.
//!
//! * Model processes (`summer_memory.embed_workers` of them) hold the model and answer the queue. They have
//!   no database connection, so they also serve a hot standby.
//! * The launcher starts one filler at a time, for a database that announced pending rows, and for every
//!   database after a start and once an hour.
//! * A filler connects to one database, acts as the owner of `memories` in a security-restricted context
//!   (as autovacuum does), embeds what is pending, removes what has expired, and exits.

use std::ffi::CStr;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use pgrx::bgworkers::{BackgroundWorker, BackgroundWorkerBuilder, BgWorkerStartTime, SignalWakeFlags};
use pgrx::pg_sys;
use pgrx::prelude::*;

use super::queue::Taking;
use super::{catalog, queue};
use crate::{embed, maintain, settings};

const LIBRARY: &str = "summer_memory";
/// Time between two rounds of the launcher over all databases.
const ROUND: Duration = Duration::from_secs(3_600);

/// Registers the processes that run as long as the server; called from `_PG_init` while preloading.
pub fn register() {
    for number in 0..settings::EMBED_WORKERS.get() {
        BackgroundWorkerBuilder::new(&format!("summer_memory model {number}"))
            .set_type("summer_memory model")
            .set_library(LIBRARY)
            .set_function("summer_memory_model_main")
            .set_argument(number.into_datum())
            .enable_shmem_access(None)
            .set_start_time(BgWorkerStartTime::ConsistentState)
            .set_restart_time(Some(Duration::from_secs(5)))
            .load();
    }
    BackgroundWorkerBuilder::new("summer_memory launcher")
        .set_type("summer_memory launcher")
        .set_library(LIBRARY)
        .set_function("summer_memory_launcher_main")
        .enable_spi_access()
        .set_start_time(BgWorkerStartTime::RecoveryFinished)
        .set_restart_time(Some(Duration::from_secs(10)))
        .load();
}

fn reload_settings_if_asked() -> bool {
    if !BackgroundWorker::sighup_received() {
        return false;
    }
    // SAFETY: main thread of a background worker, outside a transaction.
    unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
    true
}

#[pg_guard]
#[no_mangle]
extern "C-unwind" fn summer_memory_model_main(argument: pg_sys::Datum) {
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM);
    let number = argument.value();
    keep_memory();
    queue::enter_worker(number);
    embed::warm_up();
    while !BackgroundWorker::sigterm_received() {
        if reload_settings_if_asked() {
            embed::forget_models();
            embed::warm_up();
        }
        match queue::take(number, Taking::Any) {
            Some(job) => {
                let answer = embed::answer(&job, &mut || {
                    // Questions do not wait for the rest of a long text.
                    while let Some(question) = queue::take(number, Taking::Questions(&job.model)) {
                        let answer = embed::answer(&question, &mut || question.wanted());
                        question.finish(&answer);
                    }
                    job.wanted() && !BackgroundWorker::sigterm_received()
                });
                job.finish(&answer);
                pgrx::check_for_interrupts!();
            }
            None => queue::worker_sleep(Duration::from_secs(60)),
        }
    }
    leave();
}

/// Keeps what a run of the model has freed for the next run, instead of giving it back to the system and
/// faulting it in again page by page. Import gains 3 to 4 %; a process that took a long text keeps 10 MB more.
/// Only glibc has these knobs; elsewhere memory is handled as the system likes.
fn keep_memory() {
    #[cfg(target_env = "gnu")]
    {
        /// From this size on memory comes from the system each time; the most glibc accepts on 64 bits.
        const FROM_SYSTEM: libc::c_int = 32 << 20;
        /// Free memory at the end of the heap above this goes back.
        const KEPT: libc::c_int = 64 << 20;
        // SAFETY: called while this process has one thread; a refused value changes nothing.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, FROM_SYSTEM);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        }
    }
}

/// Ends a process that runs as long as the server. Exit code 1: the postmaster starts it again, unless the
/// whole server is stopping; with 0 it would be gone for good.
#[allow(unreachable_code)] // Up to PostgreSQL 17 the binding says so itself.
fn leave() -> ! {
    // SAFETY: main thread, outside a transaction, no lock held.
    unsafe { pg_sys::proc_exit(1) };
    unreachable!("proc_exit does not return")
}

#[pg_guard]
#[no_mangle]
extern "C-unwind" fn summer_memory_launcher_main(_argument: pg_sys::Datum) {
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM);
    // Shared catalogs only: no database of its own.
    BackgroundWorker::connect_worker_to_spi_by_oid(None, None);
    queue::enter_launcher();
    let mut next_round = Instant::now();
    while !BackgroundWorker::sigterm_received() {
        reload_settings_if_asked();
        let mut databases = queue::take_pending();
        if Instant::now() >= next_round {
            next_round = Instant::now() + ROUND;
            databases.extend(BackgroundWorker::transaction(all_databases));
        }
        databases.sort_unstable_by_key(|oid| oid.to_u32());
        databases.dedup();
        for database in databases {
            if BackgroundWorker::sigterm_received() {
                leave();
            }
            run_filler(database);
        }
        // The latch may have been reset while a filler ran.
        if BackgroundWorker::sigterm_received() {
            leave();
        }
        let left = next_round.saturating_duration_since(Instant::now()).min(Duration::from_secs(60));
        queue::worker_sleep(left);
    }
    leave();
}

/// Databases that accept connections, templates left out.
fn all_databases() -> Vec<pg_sys::Oid> {
    let mut found = Vec::new();
    // SAFETY: relation and scan are closed below, tuples read while the scan is open.
    unsafe {
        let relation = pg_sys::table_open(pg_sys::DatabaseRelationId, pg_sys::AccessShareLock as i32);
        let scan = pg_sys::systable_beginscan(
            relation,
            pg_sys::InvalidOid,
            false,
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
        );
        loop {
            let tuple = pg_sys::systable_getnext(scan);
            if tuple.is_null() {
                break;
            }
            let form = pg_sys::GETSTRUCT(tuple) as pg_sys::Form_pg_database;
            if (*form).datallowconn && !(*form).datistemplate {
                found.push((*form).oid);
            }
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, pg_sys::AccessShareLock as i32);
    }
    found
}

/// Starts a filler and waits until it has ended.
fn run_filler(database: pg_sys::Oid) {
    // SAFETY: a static of this process.
    let pid = unsafe { pg_sys::MyProcPid };
    let started = BackgroundWorkerBuilder::new("summer_memory filler")
        .set_type("summer_memory filler")
        .set_library(LIBRARY)
        .set_function("summer_memory_filler_main")
        .set_argument(Some(pg_sys::Datum::from(database)))
        .enable_spi_access()
        .set_start_time(BgWorkerStartTime::RecoveryFinished)
        .set_restart_time(None)
        .set_notify_pid(pid)
        .load_dynamic();
    match started {
        Ok(worker) => {
            // Ends with the worker, with the postmaster, or when this process is asked to stop.
            let _ = worker.wait_for_shutdown();
        }
        // All of max_worker_processes are in use: announce again, try again later.
        Err(_) => queue::announce_pending_later(database),
    }
}

#[pg_guard]
#[no_mangle]
extern "C-unwind" fn summer_memory_filler_main(argument: pg_sys::Datum) {
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM);
    BackgroundWorker::connect_worker_to_spi_by_oid(Some(pg_sys::Oid::from(argument.value() as u32)), None);
    // In a deadlock with somebody, `drop extension` for example, it is this process that is to give up.
    // SAFETY: NUL-terminated constants, copied by the call.
    unsafe {
        pg_sys::SetConfigOption(
            c"deadlock_timeout".as_ptr(),
            c"50ms".as_ptr(),
            pg_sys::GucContext::PGC_SUSET,
            pg_sys::GucSource::PGC_S_SESSION,
        );
    }
    let goes_on = || !BackgroundWorker::sigterm_received();
    let Some(owner) = BackgroundWorker::transaction(store_owner) else { return };
    BackgroundWorker::transaction(AssertUnwindSafe(|| as_owner(owner, maintain::sweep_expired)));
    if settings::EMBED.get() == settings::EmbedMode::Off {
        return;
    }
    while goes_on() {
        let batch =
            BackgroundWorker::transaction(AssertUnwindSafe(|| as_owner(owner, maintain::pending_batch)));
        if batch.is_empty() {
            break;
        }
        let Some(model) =
            BackgroundWorker::transaction(AssertUnwindSafe(|| as_owner(owner, embed::active_model)))
        else {
            break;
        };
        for row in batch {
            if !goes_on() {
                return;
            }
            // The queue needs no transaction for short texts; long ones use a segment that needs an owner.
            let embedded = BackgroundWorker::transaction(AssertUnwindSafe(|| row.embed(&model)));
            let unavailable = matches!(&embedded, Err(failure) if !failure.blames_the_text());
            if unavailable {
                return;
            }
            BackgroundWorker::transaction(AssertUnwindSafe(|| {
                as_owner(owner, || row.write(&model, &embedded, maintain::Busy::Wait))
            }));
        }
    }
}

/// Owner of table `memories` of this database, `None` where the extension or the table is not there.
fn store_owner() -> Option<pg_sys::Oid> {
    let schema = catalog::extension_schema_oid(c"summer_memory")?;
    let table = catalog::relation_oid(c"memories", schema)?;
    // SAFETY: opened with a lock, read, closed when dropped.
    let relation = unsafe { pgrx::PgRelation::with_lock(table, pg_sys::AccessShareLock as i32) };
    // SAFETY: an open relation has its pg_class row.
    Some(unsafe { (*relation.rd_rel).relowner })
}

/// Runs `body` with the rights of `owner` and nothing more: what users attached to their table
/// (triggers, index expressions, policies) must not run as superuser.
fn as_owner<R>(owner: pg_sys::Oid, body: impl FnOnce() -> R) -> R {
    const PATH: &CStr = c"search_path";
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: put back below; after an ERROR the transaction's abort restores both.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(owner, context | pg_sys::SECURITY_RESTRICTED_OPERATION as i32);
    }
    let result = catalog::with_settings(&[(PATH, "pg_catalog, pg_temp")], body);
    // SAFETY: as above.
    unsafe { pg_sys::SetUserIdAndSecContext(user, context) };
    result
}

/// Turns the telemetry of ONNX Runtime off before the library can be loaded in this process.
pub fn silence_runtime() {
    // SAFETY: called from _PG_init, when this process has one thread.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}
