//! The embedding queue in shared memory: backends put texts in, model processes take them out.
//!
//! A request lives in one of a fixed number of slots: free → filling → queued → running → done → free. A
//! backend that gives up marks its slot abandoned while it runs; the model process sees that between two
//! windows and frees it. Slots change hands under one lightweight lock, held for a few instructions and
//! never while a model computes or a file is read. A process that exits frees its slots on the way out.
//! Texts longer than a slot travel in a dynamic shared memory segment of the request's own.
//!
//! The same memory holds a small ring of recent query vectors and the list of databases with pending rows.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pgrx::pg_sys;
use pgrx::prelude::*;

use crate::error::Failure;
use crate::settings;

/// Bytes of text a slot holds itself.
const INLINE_TEXT: usize = 16 * 1024;
/// Most dimensions of an answer: what pgvector's type holds.
pub const MAX_DIMS: usize = 16_000;
/// Most dimensions of a cached query vector.
const CACHE_DIMS: usize = 1_024;
const CACHE_ENTRIES: usize = 256;
const MODEL_NAME: usize = 64;
const MESSAGE: usize = 512;
const MAX_WORKERS: usize = 64;
const BACKLOG: usize = 64;
/// A model process that is down longer than this will not come back soon.
const WORKER_GRACE: Duration = Duration::from_secs(10);

const FREE: u32 = 0;
const FILLING: u32 = 1;
const QUEUED: u32 = 2;
const RUNNING: u32 = 3;
const DONE: u32 = 4;
const ABANDONED: u32 = 5;

/// What is asked of a model process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Operation {
    /// The vector of a text.
    Embed = 0,
    /// How many tokens a text has.
    Count = 1,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The vector; of `windows_total` windows `windows` were computed.
    Vector { values: Vec<f32>, windows: u32, windows_total: u32 },
    /// Number of tokens.
    Tokens(u32),
    /// The text has nothing to embed.
    Blank,
    /// It could not be done; kind and message as the model process saw it.
    Failed { kind: FailureKind, message: String },
}

/// Why a model process could not answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum FailureKind {
    Missing = 1,
    Corrupt = 2,
    Unsupported = 3,
    Runtime = 4,
    NotFinite = 5,
    Cancelled = 6,
    Unknown = 7,
}

impl FailureKind {
    fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Missing,
            2 => Self::Corrupt,
            3 => Self::Unsupported,
            4 => Self::Runtime,
            5 => Self::NotFinite,
            6 => Self::Cancelled,
            _ => Self::Unknown,
        }
    }
}

#[repr(C)]
struct WorkerCell {
    pid: AtomicI32,
    latch: AtomicPtr<pg_sys::Latch>,
}

#[repr(C)]
struct Slot {
    state: AtomicU32,
    owner_pid: AtomicI32,
    owner_latch: AtomicPtr<pg_sys::Latch>,
    worker: AtomicU32,
    cancel: AtomicBool,
    ticket: AtomicU64,
    operation: u8,
    query: bool,
    max_windows: u32,
    model_len: u32,
    model: [u8; MODEL_NAME],
    text_len: u32,
    dsm: u32,
    text: [u8; INLINE_TEXT],
    outcome: u8,
    windows: u32,
    windows_total: u32,
    dims: u32,
    values: [f32; MAX_DIMS],
    message_len: u32,
    message: [u8; MESSAGE],
}

#[repr(C)]
struct CacheEntry {
    key: [u8; 16],
    dims: u32,
    values: [f32; CACHE_DIMS],
}

#[repr(C)]
struct Header {
    locks: *mut pg_sys::LWLockPadded,
    slots: u32,
    tickets: AtomicU64,
    runs: AtomicU64,
    progress: AtomicU64,
    freed: pg_sys::ConditionVariable,
    workers: [WorkerCell; MAX_WORKERS],
    launcher: WorkerCell,
    backlog: [AtomicU32; BACKLOG],
    cache_next: u32,
    cache: [CacheEntry; CACHE_ENTRIES],
}

static HEADER: AtomicPtr<Header> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    static EXIT_HOOK: Cell<bool> = const { Cell::new(false) };
    static HELD: Cell<u32> = const { Cell::new(0) };
}

const TRANCHE: &std::ffi::CStr = c"summer_memory";

fn size() -> usize {
    let slots = usize::try_from(settings::EMBED_QUEUE.get()).unwrap_or(1);
    std::mem::size_of::<Header>().next_multiple_of(64) + slots * std::mem::size_of::<Slot>()
}

static mut PREVIOUS_REQUEST: pg_sys::shmem_request_hook_type = None;
static mut PREVIOUS_STARTUP: pg_sys::shmem_startup_hook_type = None;

/// Asks the postmaster for the memory; called from `_PG_init` while preloading.
pub fn reserve() {
    // SAFETY: single-threaded start of the postmaster; the previous hooks are kept and called.
    unsafe {
        PREVIOUS_REQUEST = pg_sys::shmem_request_hook;
        pg_sys::shmem_request_hook = Some(on_request);
        PREVIOUS_STARTUP = pg_sys::shmem_startup_hook;
        pg_sys::shmem_startup_hook = Some(on_startup);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_request() {
    if let Some(previous) = PREVIOUS_REQUEST {
        previous();
    }
    pg_sys::RequestAddinShmemSpace(size());
    pg_sys::RequestNamedLWLockTranche(TRANCHE.as_ptr(), 2);
}

#[pg_guard]
unsafe extern "C-unwind" fn on_startup() {
    if let Some(previous) = PREVIOUS_STARTUP {
        previous();
    }
    let mut found = false;
    let memory = pg_sys::ShmemInitStruct(c"summer_memory queue".as_ptr(), size(), &mut found);
    let header = memory.cast::<Header>();
    if !found {
        std::ptr::write_bytes(memory.cast::<u8>(), 0, size());
        (*header).locks = pg_sys::GetNamedLWLockTranche(TRANCHE.as_ptr());
        (*header).slots = u32::try_from(settings::EMBED_QUEUE.get()).unwrap_or(1);
        pg_sys::ConditionVariableInit(&mut (*header).freed);
    }
    HEADER.store(header, Ordering::Release);
}

fn header() -> Option<&'static Header> {
    let pointer = HEADER.load(Ordering::Acquire);
    // SAFETY: set once after initialisation, valid as long as the server runs; fields that change are
    // atomics or changed under a lock through raw pointers.
    (!pointer.is_null()).then(|| unsafe { &*pointer })
}

fn slot(index: u32) -> *mut Slot {
    let base = HEADER.load(Ordering::Acquire).cast::<u8>();
    // SAFETY: callers pass an index below `slots`; the memory behind the header holds that many.
    unsafe { base.add(std::mem::size_of::<Header>().next_multiple_of(64)).cast::<Slot>().add(index as usize) }
}

/// Runs `body` with the lock; `body` must not raise.
fn locked<R>(which: usize, header: &Header, body: impl FnOnce() -> R) -> R {
    // SAFETY: the tranche has two locks; acquire and release pair up because `body` does not raise.
    unsafe {
        let lock = &mut (*header.locks.add(which)).lock;
        pg_sys::LWLockAcquire(lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let result = body();
        pg_sys::LWLockRelease(lock);
        result
    }
}

const QUEUE_LOCK: usize = 0;
const CACHE_LOCK: usize = 1;

/// Whether the library was preloaded, so that model processes exist.
pub fn available() -> bool {
    header().is_some()
}

/// Model processes that are up.
pub fn workers_up() -> usize {
    header().map_or(0, |header| {
        header.workers.iter().filter(|cell| cell.pid.load(Ordering::Relaxed) != 0).count()
    })
}

/// Model runs since the server started: one a window.
pub fn runs() -> u64 {
    header().map_or(0, |header| header.runs.load(Ordering::Relaxed))
}

/// Requests waiting or running.
pub fn depth() -> usize {
    let Some(header) = header() else { return 0 };
    (0..header.slots)
        // SAFETY: index below `slots`; the state is atomic.
        .filter(|&index| unsafe { (*slot(index)).state.load(Ordering::Relaxed) != FREE })
        .count()
}

/// A request under way. Dropping it gives the slot back.
pub struct Ticket {
    index: u32,
    segment: *mut pg_sys::dsm_segment,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        release(self.index);
        // After an ERROR the transaction's abort detaches the segment; doing it here too is only right
        // while nothing is being unwound.
        if !self.segment.is_null() && !std::thread::panicking() {
            // SAFETY: the segment was created by this process in this transaction.
            unsafe { pg_sys::dsm_detach(self.segment) };
        }
    }
}

fn release(index: u32) {
    let Some(header) = header() else { return };
    // SAFETY: index below `slots`; all fields touched are atomics.
    let slot = unsafe { &*slot(index) };
    slot.cancel.store(true, Ordering::Release);
    // A compare-and-swap instead of the lock: this runs during error clean-up too.
    let mut state = slot.state.load(Ordering::Acquire);
    loop {
        let next = if state == RUNNING { ABANDONED } else { FREE };
        match slot.state.compare_exchange(state, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => break,
            Err(now) => state = now,
        }
    }
    HELD.set(HELD.get().saturating_sub(1));
    // SAFETY: the condition variable was initialised at start-up.
    unsafe { pg_sys::ConditionVariableSignal(std::ptr::addr_of!(header.freed).cast_mut()) };
}

/// Frees what this process still holds when it exits without unwinding.
#[pg_guard]
unsafe extern "C-unwind" fn on_exit(_code: i32, _argument: pg_sys::Datum) {
    let Some(header) = header() else { return };
    if HELD.get() == 0 {
        return;
    }
    for index in 0..header.slots {
        let entry = &*slot(index);
        if entry.owner_pid.load(Ordering::Relaxed) == pg_sys::MyProcPid
            && matches!(entry.state.load(Ordering::Relaxed), FILLING | QUEUED | RUNNING | DONE)
        {
            release(index);
        }
    }
}

/// One text to process.
pub struct Request<'a> {
    pub operation: Operation,
    pub query: bool,
    pub model: &'a str,
    pub text: &'a str,
    pub max_windows: u32,
}

fn timeout() -> Duration {
    Duration::from_millis(u64::try_from(settings::EMBED_TIMEOUT.get()).unwrap_or(60_000))
}

fn overload(header: &Header) -> Failure {
    Failure::new(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES,
        format!("could not queue the text for embedding: all {} places are taken", header.slots),
    )
    .detail(format!("No place became free within {} ms.", settings::EMBED_TIMEOUT.get()))
    .hint("Try again later, or raise summer_memory.embed_workers, summer_memory.embed_queue or summer_memory.embed_timeout.")
}

/// Puts a request into the queue; waits for a place when all are taken.
///
/// Only for a process that holds no other place: to hold one and wait for another could wait forever.
pub fn submit(request: &Request<'_>) -> Result<Ticket, Failure> {
    match place(request, true)? {
        Some(ticket) => Ok(ticket),
        None => Err(Failure::internal("no place in the embedding queue")),
    }
}

/// Puts a request into the queue if a place is free now.
pub fn try_submit(request: &Request<'_>) -> Result<Option<Ticket>, Failure> {
    place(request, false)
}

fn place(request: &Request<'_>, wait: bool) -> Result<Option<Ticket>, Failure> {
    let header = header().ok_or_else(|| Failure::internal("the embedding queue does not exist"))?;
    if request.model.len() > MODEL_NAME {
        return Err(Failure::argument(format!("model name is longer than {MODEL_NAME} bytes")));
    }
    if !EXIT_HOOK.get() {
        // SAFETY: the callback is a static function; registered once a process.
        unsafe { pg_sys::before_shmem_exit(Some(on_exit), pg_sys::Datum::from(0usize)) };
        EXIT_HOOK.set(true);
    }
    let deadline = Instant::now() + timeout();
    let index = loop {
        if let Some(index) = claim(header) {
            // SAFETY: ends a sleep that may have begun below.
            unsafe { pg_sys::ConditionVariableCancelSleep() };
            break index;
        }
        if !wait {
            return Ok(None);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // SAFETY: as above.
            unsafe { pg_sys::ConditionVariableCancelSleep() };
            return Err(overload(header));
        }
        // SAFETY: the condition variable is in shared memory; the sleep checks for interrupts itself.
        unsafe {
            pg_sys::ConditionVariableTimedSleep(
                std::ptr::addr_of!(header.freed).cast_mut(),
                i64::try_from(left.as_millis().clamp(1, 1_000)).unwrap_or(1_000),
                pg_sys::PG_WAIT_EXTENSION,
            );
        }
    };
    HELD.set(HELD.get() + 1);
    let mut ticket = Ticket { index, segment: std::ptr::null_mut() };
    // SAFETY: the slot is FILLING and owned by this process, so nobody else touches its plain fields.
    unsafe {
        let entry = slot(index);
        (*entry).operation = request.operation as u8;
        (*entry).query = request.query;
        (*entry).max_windows = request.max_windows;
        (*entry).model_len = request.model.len() as u32;
        std::ptr::copy_nonoverlapping(
            request.model.as_ptr(),
            std::ptr::addr_of_mut!((*entry).model).cast(),
            request.model.len(),
        );
        (*entry).text_len = u32::try_from(request.text.len()).unwrap_or(u32::MAX);
        let target: *mut u8 = if request.text.len() <= INLINE_TEXT {
            (*entry).dsm = 0;
            std::ptr::addr_of_mut!((*entry).text).cast()
        } else {
            ticket.segment = pg_sys::dsm_create(request.text.len(), 0);
            (*entry).dsm = pg_sys::dsm_segment_handle(ticket.segment);
            pg_sys::dsm_segment_address(ticket.segment).cast()
        };
        std::ptr::copy_nonoverlapping(request.text.as_ptr(), target, request.text.len());
        (*entry).ticket.store(header.tickets.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        (*entry).state.store(QUEUED, Ordering::Release);
    }
    wake_workers(header);
    Ok(Some(ticket))
}

/// Takes a free slot, `None` if there is none.
fn claim(header: &Header) -> Option<u32> {
    (0..header.slots).find(|&index| {
        // SAFETY: index below `slots`; atomics.
        let entry = unsafe { &*slot(index) };
        let taken = entry.state.compare_exchange(FREE, FILLING, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if taken {
            entry.cancel.store(false, Ordering::Relaxed);
            // SAFETY: reads statics of this backend; the latch of a process lies in shared memory.
            unsafe {
                entry.owner_pid.store(pg_sys::MyProcPid, Ordering::Relaxed);
                entry.owner_latch.store(pg_sys::MyLatch, Ordering::Relaxed);
            }
        }
        taken
    })
}

fn wake_workers(header: &Header) {
    for cell in &header.workers {
        if cell.pid.load(Ordering::Relaxed) != 0 {
            set_latch(cell.latch.load(Ordering::Acquire));
        }
    }
}

fn set_latch(latch: *mut pg_sys::Latch) {
    if !latch.is_null() {
        // SAFETY: latches of processes live in shared memory for the life of the server; waking a process
        // that has taken over the place of another only makes it look once more.
        unsafe { pg_sys::SetLatch(latch) };
    }
}

/// Waits on this process's latch; handles interrupts before and after.
fn sleep(longest: Duration) {
    pgrx::check_for_interrupts!();
    // SAFETY: the backend's own latch; WL_EXIT_ON_PM_DEATH ends the process if the postmaster dies.
    unsafe {
        pg_sys::WaitLatch(
            pg_sys::MyLatch,
            (pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH) as i32,
            i64::try_from(longest.as_millis().max(1)).unwrap_or(1_000),
            pg_sys::PG_WAIT_EXTENSION,
        );
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    pgrx::check_for_interrupts!();
}

/// Waits for the answer. The time-out counts from the last sign of life of any model process.
pub fn wait(ticket: Ticket) -> Result<Answer, Failure> {
    let header = header().ok_or_else(|| Failure::internal("the embedding queue does not exist"))?;
    let index = ticket.index;
    let limit = timeout();
    let mut seen = (header.progress.load(Ordering::Relaxed), Instant::now());
    let mut down_since: Option<Instant> = None;
    loop {
        // SAFETY: index below `slots`; the state is atomic.
        if unsafe { (*slot(index)).state.load(Ordering::Acquire) } == DONE {
            break;
        }
        let progress = header.progress.load(Ordering::Relaxed);
        if progress != seen.0 {
            seen = (progress, Instant::now());
        }
        if workers_up() == 0 {
            let since = *down_since.get_or_insert_with(Instant::now);
            if since.elapsed() > WORKER_GRACE.min(limit) {
                return Err(Failure::state("could not embed the text: no model process is running")
                    .hint("Look into the server log; memories are stored all the same and embedded later."));
            }
        } else {
            down_since = None;
        }
        if seen.1.elapsed() > limit {
            return Err(Failure::new(
                PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES,
                format!("could not embed the text: no answer within {} ms", limit.as_millis()),
            )
            .hint("Raise summer_memory.embed_timeout or summer_memory.embed_workers."));
        }
        sleep(Duration::from_millis(500).min(limit));
    }
    // SAFETY: DONE: the model process has finished writing and will not touch the slot again.
    let answer = unsafe { read_answer(slot(index)) };
    drop(ticket);
    Ok(answer)
}

/// # Safety
/// The slot is DONE and owned by this process.
unsafe fn read_answer(entry: *mut Slot) -> Answer {
    match (*entry).outcome {
        0 if (*entry).operation == Operation::Count as u8 => Answer::Tokens((*entry).windows),
        0 => {
            let dims = ((*entry).dims as usize).min(MAX_DIMS);
            let values =
                std::slice::from_raw_parts(std::ptr::addr_of!((*entry).values).cast::<f32>(), dims).to_vec();
            Answer::Vector { values, windows: (*entry).windows, windows_total: (*entry).windows_total }
        }
        255 => Answer::Blank,
        kind => {
            let length = ((*entry).message_len as usize).min(MESSAGE);
            let bytes = std::slice::from_raw_parts(std::ptr::addr_of!((*entry).message).cast::<u8>(), length);
            Answer::Failed {
                kind: FailureKind::from_number(kind),
                message: String::from_utf8_lossy(bytes).into_owned(),
            }
        }
    }
}

/// A request as a model process sees it.
pub struct Job {
    index: u32,
    pub operation: Operation,
    pub query: bool,
    pub max_windows: u32,
    pub model: String,
    pub text: String,
}

/// Registers this process as model process `number`; requests that its predecessor left are failed.
pub fn enter_worker(number: usize) {
    let Some(header) = header() else { return };
    let Some(cell) = header.workers.get(number) else { return };
    // SAFETY: statics of this process.
    unsafe {
        cell.latch.store(pg_sys::MyLatch, Ordering::Release);
        cell.pid.store(pg_sys::MyProcPid, Ordering::Release);
        pg_sys::before_shmem_exit(Some(on_worker_exit), pg_sys::Datum::from(number));
    }
    fail_orphans(header, number);
}

fn fail_orphans(header: &Header, number: usize) {
    for index in 0..header.slots {
        // SAFETY: index below `slots`.
        let entry = unsafe { &*slot(index) };
        let state = entry.state.load(Ordering::Acquire);
        if matches!(state, RUNNING | ABANDONED) && entry.worker.load(Ordering::Relaxed) == number as u32 {
            finish(
                index,
                &Answer::Failed {
                    kind: FailureKind::Runtime,
                    message: "the model process stopped while it worked on the text".to_owned(),
                },
            );
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_worker_exit(_code: i32, number: pg_sys::Datum) {
    let number = number.value();
    if let Some(header) = header() {
        if let Some(cell) = header.workers.get(number) {
            cell.pid.store(0, Ordering::Release);
            cell.latch.store(std::ptr::null_mut(), Ordering::Release);
        }
        fail_orphans(header, number);
    }
}

/// Which requests a model process takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Taking<'a> {
    /// Any: questions first, because a person waits for them, then the oldest.
    Any,
    /// Only questions to this model, between two windows of a long text.
    Questions(&'a str),
}

/// The next waiting request, now running in this process.
pub fn take(number: usize, taking: Taking<'_>) -> Option<Job> {
    let header = header()?;
    let index = locked(QUEUE_LOCK, header, || {
        let oldest = (0..header.slots)
            .filter_map(|index| {
                // SAFETY: index below `slots`; plain fields are stable once the state is QUEUED.
                unsafe {
                    let entry = slot(index);
                    if (*entry).state.load(Ordering::Acquire) != QUEUED {
                        return None;
                    }
                    let query = (*entry).query;
                    if let Taking::Questions(model) = taking {
                        let length = ((*entry).model_len as usize).min(MODEL_NAME);
                        let bytes = std::slice::from_raw_parts(
                            std::ptr::addr_of!((*entry).model).cast::<u8>(),
                            length,
                        );
                        if !query || bytes != model.as_bytes() {
                            return None;
                        }
                    }
                    Some((!query, (*entry).ticket.load(Ordering::Relaxed), index))
                }
            })
            .min()
            .map(|(_, _, index)| index)?;
        // SAFETY: as above.
        let entry = unsafe { &*slot(oldest) };
        entry.worker.store(number as u32, Ordering::Relaxed);
        entry
            .state
            .compare_exchange(QUEUED, RUNNING, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
            .then_some(oldest)
    })?;
    // SAFETY: RUNNING: the owner does not write plain fields any more; an abandoned slot is freed by us.
    unsafe {
        let entry = slot(index);
        let model = std::slice::from_raw_parts(
            std::ptr::addr_of!((*entry).model).cast::<u8>(),
            ((*entry).model_len as usize).min(MODEL_NAME),
        );
        let model = String::from_utf8_lossy(model).into_owned();
        let length = (*entry).text_len as usize;
        let text = if (*entry).dsm == 0 {
            let bytes = std::slice::from_raw_parts(
                std::ptr::addr_of!((*entry).text).cast::<u8>(),
                length.min(INLINE_TEXT),
            );
            String::from_utf8_lossy(bytes).into_owned()
        } else {
            let segment = pg_sys::dsm_attach((*entry).dsm);
            if segment.is_null() {
                finish(index, &Answer::Failed { kind: FailureKind::Cancelled, message: String::new() });
                return None;
            }
            let bytes = std::slice::from_raw_parts(pg_sys::dsm_segment_address(segment).cast::<u8>(), length);
            let text = String::from_utf8_lossy(bytes).into_owned();
            pg_sys::dsm_detach(segment);
            text
        };
        let operation =
            if (*entry).operation == Operation::Count as u8 { Operation::Count } else { Operation::Embed };
        Some(Job { index, operation, query: (*entry).query, max_windows: (*entry).max_windows, model, text })
    }
}

impl Job {
    /// Whether the backend still waits. Called between windows; also counts as a sign of life.
    pub fn wanted(&self) -> bool {
        if let Some(header) = header() {
            header.progress.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: index below `slots`.
        !unsafe { (*slot(self.index)).cancel.load(Ordering::Acquire) }
    }

    /// Hands the answer over.
    pub fn finish(self, answer: &Answer) {
        finish(self.index, answer);
    }
}

/// Counts model runs.
pub fn count_runs(windows: u64) {
    if let Some(header) = header() {
        header.runs.fetch_add(windows, Ordering::Relaxed);
        header.progress.fetch_add(1, Ordering::Relaxed);
    }
}

fn finish(index: u32, answer: &Answer) {
    // SAFETY: the slot is RUNNING (or ABANDONED) in this process, which alone writes the answer.
    let latch = unsafe {
        let entry = slot(index);
        match answer {
            Answer::Vector { values, windows, windows_total } => {
                (*entry).outcome = 0;
                let dims = values.len().min(MAX_DIMS);
                std::ptr::copy_nonoverlapping(
                    values.as_ptr(),
                    std::ptr::addr_of_mut!((*entry).values).cast(),
                    dims,
                );
                (*entry).dims = dims as u32;
                (*entry).windows = *windows;
                (*entry).windows_total = *windows_total;
            }
            Answer::Tokens(count) => {
                (*entry).outcome = 0;
                (*entry).windows = *count;
            }
            Answer::Blank => (*entry).outcome = 255,
            Answer::Failed { kind, message } => {
                (*entry).outcome = *kind as u8;
                let mut length = message.len().min(MESSAGE);
                while !message.is_char_boundary(length) {
                    length -= 1;
                }
                std::ptr::copy_nonoverlapping(
                    message.as_ptr(),
                    std::ptr::addr_of_mut!((*entry).message).cast(),
                    length,
                );
                (*entry).message_len = length as u32;
            }
        }
        let entry = &*entry;
        let latch = entry.owner_latch.load(Ordering::Relaxed);
        if entry.state.compare_exchange(RUNNING, DONE, Ordering::AcqRel, Ordering::Acquire).is_err() {
            entry.state.store(FREE, Ordering::Release);
        }
        latch
    };
    set_latch(latch);
    if let Some(header) = header() {
        // SAFETY: initialised at start-up.
        unsafe { pg_sys::ConditionVariableSignal(std::ptr::addr_of!(header.freed).cast_mut()) };
    }
}

/// A recent query vector.
pub fn cached(key: [u8; 16]) -> Option<Vec<f32>> {
    let header = header()?;
    locked(CACHE_LOCK, header, || {
        header
            .cache
            .iter()
            .find(|entry| entry.dims > 0 && entry.key == key)
            .map(|entry| entry.values.iter().take(entry.dims as usize).copied().collect())
    })
}

/// Keeps a query vector in place of the oldest one.
pub fn remember(key: [u8; 16], values: &[f32]) {
    let Some(header) = header() else { return };
    if values.is_empty() || values.len() > CACHE_DIMS {
        return;
    }
    locked(CACHE_LOCK, header, || {
        // SAFETY: written under the exclusive lock, and read only under it.
        unsafe {
            let target = HEADER.load(Ordering::Acquire);
            let place = (*target).cache_next as usize % CACHE_ENTRIES;
            (*target).cache_next = (*target).cache_next.wrapping_add(1);
            let entry = std::ptr::addr_of_mut!((*target).cache).cast::<CacheEntry>().add(place);
            (*entry).key = key;
            (*entry).dims = values.len() as u32;
            std::ptr::copy_nonoverlapping(
                values.as_ptr(),
                std::ptr::addr_of_mut!((*entry).values).cast(),
                values.len(),
            );
        }
    });
}

/// Forgets all cached vectors; for a model whose files were replaced.
pub fn forget_cached() {
    let Some(header) = header() else { return };
    locked(CACHE_LOCK, header, || {
        // SAFETY: as in `remember`.
        unsafe {
            let target = HEADER.load(Ordering::Acquire);
            std::ptr::write_bytes(
                std::ptr::addr_of_mut!((*target).cache).cast::<CacheEntry>(),
                0,
                CACHE_ENTRIES,
            );
        }
    });
}

/// Registers this process as the launcher.
pub fn enter_launcher() {
    let Some(header) = header() else { return };
    // SAFETY: statics of this process.
    unsafe {
        header.launcher.latch.store(pg_sys::MyLatch, Ordering::Release);
        header.launcher.pid.store(pg_sys::MyProcPid, Ordering::Release);
    }
}

/// Notes that a database has rows without a vector, and wakes the launcher.
pub fn announce_pending(database: pg_sys::Oid) {
    let Some(header) = header() else { return };
    let number = database.to_u32();
    let known = header.backlog.iter().any(|cell| cell.load(Ordering::Relaxed) == number);
    if !known {
        for cell in &header.backlog {
            if cell.compare_exchange(0, number, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                break;
            }
        }
    }
    if header.launcher.pid.load(Ordering::Acquire) != 0 {
        set_latch(header.launcher.latch.load(Ordering::Acquire));
    }
}

/// Databases announced since the last call.
pub fn take_pending() -> Vec<pg_sys::Oid> {
    header().map_or_else(Vec::new, |header| {
        header
            .backlog
            .iter()
            .map(|cell| cell.swap(0, Ordering::AcqRel))
            .filter(|&number| number != 0)
            .map(pg_sys::Oid::from)
            .collect()
    })
}

/// Waits for the latch without handling interrupts as a backend would; for background workers.
pub fn worker_sleep(longest: Duration) {
    sleep(longest);
}

const _: () = assert!(std::mem::size_of::<*mut c_void>() == 8, "summer_memory needs a 64-bit platform");

/// Puts a database back on the list without waking anyone.
pub fn announce_pending_later(database: pg_sys::Oid) {
    let Some(header) = header() else { return };
    for cell in &header.backlog {
        if cell.compare_exchange(0, database.to_u32(), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            break;
        }
    }
}
