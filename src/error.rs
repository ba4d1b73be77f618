//! The one place where errors become PostgreSQL reports.
//!
//! A `Failure` carries a SQLSTATE, a primary message, and optionally a detail and a hint. Pure crates
//! return their own error types; `From` impls here give them a code. Text of users never enters a message.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{function_name, PgLogLevel, PgSqlErrorCode};

/// An error a user can cause or meet, ready to be reported.
#[derive(Debug, Clone)]
pub struct Failure {
    pub code: PgSqlErrorCode,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(code: PgSqlErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, hint: None }
    }

    /// 22023: an argument has a value that makes no sense.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message)
    }

    /// 42704: a named thing does not exist.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message)
    }

    /// 55000: right in itself, but not now.
    pub fn state(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
    }

    /// XX000: our own bug.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message)
    }

    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn into_report(self) -> ErrorReport {
        let mut report = ErrorReport::new(self.code, self.message, function_name!());
        if let Some(detail) = self.detail {
            report = report.set_detail(detail);
        }
        if let Some(hint) = self.hint {
            report = report.set_hint(hint);
        }
        report
    }

    /// Raises the error; does not return.
    pub fn raise(self) -> ! {
        self.into_report().report(PgLogLevel::ERROR);
        unreachable!("an ERROR report does not return")
    }

    /// Reports the failure as a WARNING and goes on.
    pub fn warn(self) {
        self.into_report().report(PgLogLevel::WARNING);
    }
}

/// `result.or_raise()`: the value, or the error as a PostgreSQL ERROR.
pub trait OrRaise<T> {
    fn or_raise(self) -> T;
}

impl<T, E: Into<Failure>> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> T {
        match self {
            Ok(value) => value,
            Err(error) => error.into().raise(),
        }
    }
}

impl From<pgrx::spi::Error> for Failure {
    fn from(error: pgrx::spi::Error) -> Self {
        Failure::internal(format!("query inside summer_memory failed: {error}"))
    }
}
