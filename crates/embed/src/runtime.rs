//! ONNX Runtime: one library and one environment per process.
//!
//! Loading it starts no thread and opens no file but the library. It is never unloaded.

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::Error;

/// Releases from 1.29 send usage data unless this is set to 1 before the library is loaded.
const TELEMETRY_SWITCH: &str = "ORT_DISABLE_TELEMETRY";

struct Runtime {
    environment: Environment,
    version: String,
}

static RUNTIME: OnceLock<Runtime> = OnceLock::new();
/// Two threads must not load at once: the second environment of a process is refused.
static LOADING: Mutex<()> = Mutex::new(());

/// Loads ONNX Runtime from `library`; does nothing if it is loaded already, whatever the path.
///
/// Sets the environment variable `ORT_DISABLE_TELEMETRY`, so no other thread may read the environment
/// meanwhile: call it while the process has one thread.
pub fn init_runtime(library: &Path) -> Result<(), Error> {
    let _guard = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if RUNTIME.get().is_some() {
        return Ok(());
    }
    // The loader looks relative names up beside the executable; a full path has one meaning.
    let library = library.canonicalize().map_err(|error| Error::missing(library, &error))?;
    std::env::set_var(TELEMETRY_SWITCH, "1");
    let environment = ort::init_from(&library)
        .map_err(|error| Error::corrupt(&library, error))?
        .with_name("summer_memory")
        .with_telemetry(false)
        .build()
        .map_err(Error::runtime)?;
    // Failures come back as errors; the runtime would also print them, in colour, into the server's log.
    environment.set_log_level(LogLevel::Fatal);
    let version = release_of(&library, ort::info());
    // Another value can only come from a call that held the lock before this one.
    let _ = RUNTIME.set(Runtime { environment, version });
    Ok(())
}

/// Release of the loaded ONNX Runtime, like `1.28.0`; `None` before [`init_runtime`].
///
/// Vectors drift a little between releases, so it belongs to the identity of a stored vector.
pub fn runtime_version() -> Option<&'static str> {
    RUNTIME.get().map(|runtime| runtime.version.as_str())
}

/// The environment sessions are made in.
pub(crate) fn environment() -> Result<&'static Environment, Error> {
    RUNTIME
        .get()
        .map(|runtime| &runtime.environment)
        .ok_or_else(|| Error::runtime("the library has not been loaded"))
}

/// The release by the name of the file (`libonnxruntime.so.1.28.0`), else the commit the library was built from:
/// its own account of itself (`ORT Build Info: git-branch=HEAD, git-commit-id=45de2a8b06, …`) has no release in it.
fn release_of(library: &Path, info: &str) -> String {
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    if let Some((_, release)) = name.split_once(".so.") {
        if release.starts_with(|c: char| c.is_ascii_digit()) {
            return release.to_owned();
        }
    }
    let commit = info.split("git-commit-id=").nth(1).and_then(|rest| rest.split([',', ' ']).next());
    commit.unwrap_or(info).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_in_the_name_or_else_the_commit_stands_for_it() {
        let info = "ORT Build Info: git-branch=HEAD, git-commit-id=45de2a8b06, build type=Release";
        assert_eq!(release_of(Path::new("/lib/libonnxruntime.so.1.28.0"), info), "1.28.0");
        assert_eq!(release_of(Path::new("/lib/libonnxruntime.so"), info), "45de2a8b06");
        assert_eq!(release_of(Path::new("/lib/libonnxruntime.so"), "something else"), "something else");
    }

    #[test]
    fn a_library_that_is_not_there_is_missing() {
        let error = init_runtime(Path::new("no/such/libonnxruntime.so"));
        assert!(matches!(error, Err(Error::Missing { .. })), "{error:?}");
    }
}
