//! One spelling for the path of a memory file.
//!
//! It asks no file system: links and case are as they are. What must hold: the same file named in two of the usual
//! ways gives one path, and normalising twice changes nothing.

/// The canonical spelling of `path`: `/` between components, no `.`, no empty component, `..` resolved but never above
/// the root or the folder that a relative path starts in. An absolute path stays absolute; no path ends in `/`
/// unless it is the root.
///
/// `./memory/a.md`, `memory//a.md` and `memory\x\..\a.md` are all `memory/a.md`.
pub fn normalize_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.len() == 1 && parts.first().is_some_and(|first| is_drive(first)) => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with(['/', '\\']) { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// `C:`, the root of a Windows path.
fn is_drive(part: &str) -> bool {
    let mut chars = part.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.as_str() == ":"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_one_path() {
        let cases = [
            ("./memory/a.md", "memory/a.md"),
            ("memory/a.md", "memory/a.md"),
            ("memory//a.md", "memory/a.md"),
            ("memory\\a.md", "memory/a.md"),
            ("memory/./x/../a.md", "memory/a.md"),
            ("../../a.md", "a.md"),
            ("/../a.md", "/a.md"),
            ("/srv/memory/", "/srv/memory"),
            ("D:\\笔记\\..\\a.md", "D:/a.md"),
            ("D:\\..\\..\\a.md", "D:/a.md"),
            ("2026-03-12-路由器 故障.md", "2026-03-12-路由器 故障.md"),
            ("a/...", "a/..."),
            ("/", "/"),
            (".", ""),
            ("", ""),
        ];
        for (path, expected) in cases {
            assert_eq!(normalize_path(path), expected, "{path:?}");
        }
    }

    #[test]
    fn folders_keep_files_of_one_name_apart() {
        assert_ne!(normalize_path("a/2026-02-19.md"), normalize_path("b/2026-02-19.md"));
    }

    proptest! {
        #[test]
        fn normalising_is_idempotent(path in r"[ab.:/\\C路]{0,24}") {
            let once = normalize_path(&path);
            prop_assert_eq!(normalize_path(&once), once.clone());
            prop_assert!(!once.contains("//") && !once.contains('\\'));
            prop_assert!(once.split('/').all(|part| part != "." && part != ".."));
        }
    }
}
