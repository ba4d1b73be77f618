//! Things that happen once a statement.

use std::cell::RefCell;
use std::collections::HashMap;

use super::catalog;

thread_local! {
    static LAST: RefCell<HashMap<&'static str, i64>> = RefCell::new(HashMap::new());
}

/// True at the first call with this name within the client's current statement.
pub fn first_time(name: &'static str) -> bool {
    let now = catalog::statement_start();
    LAST.with(|last| last.borrow_mut().insert(name, now) != Some(now))
}

/// Raises 25006 where nothing may be written: on a standby, and in a read-only transaction. For functions in C
/// that write through SPI, which would otherwise find out only when they need a transaction id.
pub fn require_writable(function: &std::ffi::CStr) {
    // SAFETY: a NUL-terminated name that lives over the call; reads the state of the transaction.
    unsafe {
        pgrx::pg_sys::PreventCommandIfReadOnly(function.as_ptr());
        pgrx::pg_sys::PreventCommandDuringRecovery(function.as_ptr());
    }
}
