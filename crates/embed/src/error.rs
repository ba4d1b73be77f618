//! The errors of this crate, worded for the person who reads them in psql.
//!
//! Primary messages only: lower case, one line, no full stop. Text that was to be embedded never
//! appears in one.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why there is no model or no vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// A file is not there or cannot be read.
    Missing {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        reason: String,
    },
    /// A file is there and its content is broken.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The files are sound but ask for something this crate cannot do.
    Unsupported {
        /// The file that asks for it.
        path: PathBuf,
        /// What it asks for.
        reason: String,
    },
    /// ONNX Runtime could not be started or failed in a run.
    Runtime {
        /// What it says.
        reason: String,
    },
    /// The model gave NaN or infinity for the text.
    NotFinite,
    /// The model gave a vector of length zero for the text.
    ZeroVector,
    /// The caller asked to stop.
    Cancelled,
    /// The text has nothing to embed: only white space or invisible characters.
    Blank,
}

impl Error {
    pub(crate) fn missing(path: &Path, error: &std::io::Error) -> Self {
        Self::Missing { path: path.to_owned(), reason: one_line(&error.to_string()) }
    }

    pub(crate) fn corrupt(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Corrupt { path: path.to_owned(), reason: one_line(&reason.to_string()) }
    }

    pub(crate) fn unsupported(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Unsupported { path: path.to_owned(), reason: one_line(&reason.to_string()) }
    }

    pub(crate) fn runtime(reason: impl fmt::Display) -> Self {
        Self::Runtime { reason: one_line(&reason.to_string()) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { path, reason } => write!(f, "could not read \"{}\": {reason}", path.display()),
            Self::Corrupt { path, reason } => write!(f, "broken file \"{}\": {reason}", path.display()),
            Self::Unsupported { path, reason } => {
                write!(f, "cannot use the model of \"{}\": {reason}", path.display())
            }
            Self::Runtime { reason } => write!(f, "could not run ONNX Runtime: {reason}"),
            Self::NotFinite => f.write_str("model returned a vector with NaN or infinite values"),
            Self::ZeroVector => f.write_str("model returned a vector of length zero"),
            Self::Cancelled => f.write_str("embedding was cancelled"),
            Self::Blank => f.write_str("cannot embed a blank text"),
        }
    }
}

impl std::error::Error for Error {}

/// Longest reason that is passed on; runtime errors can carry whole graphs.
const REASON_CHARS: usize = 300;

/// Foreign messages have line ends, source positions and full stops; a primary message has none.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = words.join(" ");
    if let Some((end, _)) = line.char_indices().nth(REASON_CHARS) {
        line.truncate(end);
        line.push('…');
    }
    line.truncate(line.trim_end_matches('.').len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_line_without_a_full_stop() {
        let error = Error::corrupt(Path::new("m/model.onnx"), "bad\n  graph.\n");
        assert_eq!(error.to_string(), "broken file \"m/model.onnx\": bad graph");
        let long = Error::runtime("字".repeat(5000));
        assert!(long.to_string().chars().count() < 400);
    }
}
