//! The identity of a model: two loads with the same fingerprint give the same vectors.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::manifest::TOKENIZER;
use crate::{Error, Manifest};

/// SHA-256 by relative name of the graph, its weights, the tokenizer and every file of the manifest.
///
/// A file whose hash differs from the one in the manifest is corrupt.
pub(crate) fn hash_files(
    dir: &Path,
    manifest: &Manifest,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<BTreeMap<PathBuf, String>, Error> {
    let mut names: Vec<PathBuf> = manifest.files.keys().map(PathBuf::from).collect();
    names.push(manifest.file.clone());
    names.push(PathBuf::from(TOKENIZER));
    names.extend(data_files(dir, &manifest.file)?);
    let mut hashes = BTreeMap::new();
    for name in names {
        if hashes.contains_key(&name) {
            continue;
        }
        let path = dir.join(&name);
        let hash = hash_file(&path, keep_going)?;
        let expected = name.to_str().and_then(|name| manifest.files.get(name));
        if expected.is_some_and(|expected| !expected.eq_ignore_ascii_case(&hash)) {
            return Err(Error::corrupt(&path, "its SHA-256 is not the one in manifest.json"));
        }
        hashes.insert(name, hash);
    }
    Ok(hashes)
}

/// Weights kept outside the graph, by the names exporters give them: `model.onnx.data`, `model.onnx_data_1`.
fn data_files(dir: &Path, onnx: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder = onnx.parent().unwrap_or(Path::new(""));
    let stem = onnx.file_name().unwrap_or_default().to_string_lossy();
    let path = dir.join(folder);
    let entries = fs::read_dir(&path).map_err(|error| Error::missing(&path, &error))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Error::missing(&path, &error))?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(stem.as_ref()) && entry.path().is_file() {
            names.push(folder.join(name));
        }
    }
    Ok(names)
}

fn hash_file(path: &Path, keep_going: &mut dyn FnMut() -> bool) -> Result<String, Error> {
    let mut file = File::open(path).map_err(|error| Error::missing(path, &error))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        if !keep_going() {
            return Err(Error::Cancelled);
        }
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hasher.finalize())),
            Ok(n) => hasher.update(buffer.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::missing(path, &error)),
        }
    }
}

/// One hash over the files, the runtime and every setting that changes a vector.
pub(crate) fn fingerprint(hashes: &BTreeMap<PathBuf, String>, manifest: &Manifest, runtime: &str) -> String {
    let mut hasher = Sha256::new();
    for (name, hash) in hashes.iter().filter(|(name, _)| !is_prose(name)) {
        hasher.update(format!("{:?} {hash}\n", name.to_string_lossy()));
    }
    let Manifest { output, pooling, normalize, query_prefix, passage_prefix, max_tokens, dims, .. } =
        manifest;
    hasher.update(format!(
        "{output:?} {} {normalize} {query_prefix:?} {passage_prefix:?} {max_tokens} {dims:?} {runtime:?}\n",
        pooling.as_str()
    ));
    hex(&hasher.finalize())
}

/// Files for people, which may change without changing a vector.
fn is_prose(name: &Path) -> bool {
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    ["LICENSE", "LICENCE", "NOTICE", "README"].iter().any(|prose| stem.starts_with(prose))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
