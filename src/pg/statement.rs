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
