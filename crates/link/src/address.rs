//! Where addresses and paths end, and what is one.
//!
//! A web address may hold Han characters, and in Chinese text the sentence goes on behind it without a blank. So
//! Han characters belong to it only where a part of it begins (`/wiki/中文`, `#片段`), not behind letters
//! (`…/x然后`), and full-width punctuation always ends it. What must hold: the work is linear in the length of what
//! is returned or skipped.

use crate::character::{at, before, byte, is_cjk_punctuation, is_han, is_word, slice};
use crate::MAX_NAME_CHARS;

/// Endings of files, sorted. Only with one of these is a bare name (`rss.xml`) or a relative path a path: what
/// else has a dot or a slash in a text is mostly something else.
const EXTENSIONS: [&str; 109] = [
    "7z", "avi", "bak", "bash", "bat", "bin", "bmp", "bz2", "c", "cc", "cfg", "cjs", "conf", "control",
    "cpp", "crt", "cs", "css", "csv", "db", "deb", "diff", "dll", "dmg", "doc", "docx", "eml", "env", "epub",
    "exe", "flac", "gguf", "gif", "go", "gz", "h", "hpp", "htm", "html", "ico", "ics", "ini", "ipynb", "iso",
    "java", "jpeg", "jpg", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "lua", "markdown", "md", "mjs",
    "mkv", "mobi", "mov", "mp3", "mp4", "onnx", "opml", "patch", "pdf", "pem", "php", "plist", "png", "ppt",
    "pptx", "proto", "ps1", "psd", "py", "rar", "rb", "rpm", "rs", "scss", "service", "sh", "so", "sql",
    "sqlite", "srt", "svg", "swift", "tar", "tgz", "toml", "ts", "tsv", "tsx", "ttf", "txt", "vue", "wav",
    "webp", "xls", "xlsx", "xml", "xz", "yaml", "yml", "zip", "zst",
];

/// Endings of hosts, sorted.
const TOP_LEVELS: [&str; 32] = [
    "ai", "app", "blog", "cc", "cloud", "cn", "co", "com", "de", "dev", "edu", "eu", "fr", "gov", "hk",
    "info", "io", "jp", "kr", "me", "net", "org", "site", "tech", "top", "tv", "tw", "uk", "us", "wiki",
    "xyz", "zone",
];

/// Of them, those that make a host of a name with one dot; the others are words or parts of names too often.
const PLAIN_TOP_LEVELS: [&str; 10] = ["ai", "app", "cn", "com", "dev", "edu", "gov", "io", "net", "org"];

/// First folders of absolute paths, sorted. With one of these even `/etc` is a path, and so is what follows a
/// Han character without a blank.
const ROOTS: [&str; 22] = [
    "Applications",
    "Library",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "data",
    "dev",
    "etc",
    "home",
    "lib",
    "media",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
];

/// The end of the address whose host begins at `start`, without the punctuation of the sentence around it;
/// `None` if there is nothing.
pub(crate) fn url_end(text: &str, start: usize) -> Option<usize> {
    let (mut end, mut depth, mut last) = (start, 0_usize, '/');
    let rest = text.get(start..)?;
    for (offset, c) in rest.char_indices() {
        let after = start + offset + c.len_utf8();
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => end = after,
            '/' | '=' | '-' | '%' | '&' | '#' | '$' | '+' | '@' => end = after,
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' => {}
            '(' => depth += 1,
            ')' if depth > 0 => {
                depth -= 1;
                end = after;
            }
            c if c.is_ascii() || c.is_whitespace() || c.is_control() || is_cjk_punctuation(c) => break,
            c if is_word(c) => end = after,
            c if c.is_alphabetic() && (!last.is_ascii() || "/=#?&_-%+@".contains(last)) => end = after,
            // A host that is not Latin goes on behind its dot.
            c if is_han(c)
                && last == '.'
                && end + 1 == start + offset
                && is_han_host(slice(text, start, end)) =>
            {
                end = after;
            }
            // The sentence goes on.
            _ => break,
        }
        last = c;
    }
    slice(text, start, end).contains(|c: char| c.is_alphanumeric()).then_some(end)
}

fn is_han_host(text: &str) -> bool {
    text.ends_with(is_han) && !text.contains(['/', '?', '#'])
}

/// An address that is too long without what follows `?` or `#`.
pub(crate) fn shorten(url: &str) -> &str {
    if url.chars().nth(MAX_NAME_CHARS).is_none() {
        return url;
    }
    url.split(['?', '#']).next().unwrap_or(url)
}

/// Whether `word` can stand before `://`.
pub(crate) fn is_scheme(word: &str) -> bool {
    (2..=16).contains(&word.len())
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Whether `name` is a host such as `notes.example.com`.
pub(crate) fn is_host(name: &str) -> bool {
    let labels = name.split('.').count();
    let valid =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let Some((head, top)) = name.rsplit_once('.') else { return false };
    let top = top.to_ascii_lowercase();
    let known = if labels == 2 {
        PLAIN_TOP_LEVELS.contains(&top.as_str())
    } else {
        TOP_LEVELS.binary_search(&top.as_str()).is_ok()
    };
    known && head.split('.').all(valid) && head.contains(|c: char| c.is_ascii_alphabetic())
}

/// Longest name before the `@` of an e-mail address.
const MAX_MAILBOX: usize = 64;

/// The end of the e-mail address that begins at `start`, if one does. Unlike those of the web its host may be a number
/// (`163.com`).
pub(crate) fn mail_end(text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let is_mailbox = |b: &u8| b.is_ascii_alphanumeric() || b"._%+-".contains(b);
    let at = rest.bytes().take(MAX_MAILBOX + 1).take_while(is_mailbox).count();
    if at == 0 || at > MAX_MAILBOX || byte(rest, at) != b'@' || byte(rest, at - 1) == b'.' {
        return None;
    }
    let is_label = |b: &u8| b.is_ascii_alphanumeric() || b".-".contains(b);
    let len = slice(rest, at + 1, rest.len()).bytes().take(MAX_NAME_CHARS).take_while(is_label).count();
    // Without what ends the sentence.
    let host = slice(rest, at + 1, at + 1 + len).trim_end_matches(['.', '-']);
    let (head, top) = host.rsplit_once('.')?;
    let known = TOP_LEVELS.binary_search(&top.to_ascii_lowercase().as_str()).is_ok();
    let ends = !at_word(rest, at + 1 + host.len());
    (known && ends && head.split('.').all(|label| !label.is_empty())).then_some(start + at + 1 + host.len())
}

/// Whether a word goes on at `pos`.
fn at_word(text: &str, pos: usize) -> bool {
    at(text, pos).is_some_and(|c| is_word(c) || c == '@' || c == '_')
}

/// The end of a path on another computer whose `\\\\` stands at `start`.
pub(crate) fn share_path_end(text: &str, start: usize) -> Option<usize> {
    let separators = ['\\'];
    if !slice(text, start, text.len()).starts_with(r"\\")
        || before(text, start).is_some_and(|c| is_word(c) || c == '\\')
    {
        return None;
    }
    let path = Path::read(text, start + 2, &separators);
    (path.count > 1 && path.has_letter).then_some(path.end)
}

/// Whether `name` ends like a file.
pub(crate) fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && EXTENSIONS.binary_search(&extension.to_ascii_lowercase().as_str()).is_ok()
    })
}

/// Whether `name`, which stands alone, is a file: `rss.xml`. Short endings are too often something else.
pub(crate) fn is_file_name(name: &str) -> bool {
    let extension = name.rsplit('.').next().unwrap_or("");
    let is_plain =
        extension.len() > 1 && extension != "so" && extension.bytes().all(|b| !b.is_ascii_uppercase());
    is_plain && has_extension(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// Whether `name` is a product called like a file or a host: `Node.js`, `ASP.NET`.
pub(crate) fn is_product(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.rsplit_once('.').is_some_and(|(stem, last)| {
            stem.bytes().all(|b| b.is_ascii_alphanumeric())
                && ["js", "ts", "JS", "NET", "IO", "AI"].contains(&last)
        })
}

/// The end of an absolute path, or of one from the home folder or the current one, that begins at `start` with
/// `/`, `~` or `.`.
pub(crate) fn rooted_path_end(text: &str, start: usize) -> Option<usize> {
    let ahead = before(text, start);
    if ahead.is_some_and(|c| {
        is_word(c)
            || matches!(c, '/' | '\\' | '.' | '~' | '_' | '<' | '-' | ')' | ']' | '%' | '$' | '{' | '}')
    }) {
        return None;
    }
    let rest = text.get(start..)?;
    let prefix = ["/", "~/", "./", "../"].into_iter().find(|prefix| rest.starts_with(prefix))?;
    let name_start = start + prefix.len();
    if prefix != "/" {
        let path = Path::read(text, name_start, &['/']);
        return (path.count > 0 && path.has_letter).then_some(path.end);
    }
    let (first_end, _) = name_end(text, name_start, MAX_NAME_CHARS)?;
    let first = slice(text, name_start, first_end);
    let rooted = ROOTS.binary_search(&first).is_ok();
    // `和/或`, `微信/Twitter/微博`.
    if !rooted && ahead.is_some_and(|c| !c.is_ascii() && !c.is_whitespace() && !is_cjk_punctuation(c)) {
        return None;
    }
    let path = Path::read(text, name_start, &['/']);
    let accepted = if rooted {
        path.count > 0
    } else if first.is_ascii() {
        path.has_letter
            && (path.count > 1 || has_extension(first) || path.ends_in_separator && first.len() > 1)
    } else {
        path.count > 1 && has_extension(slice(text, start, path.end))
    };
    accepted.then_some(path.end)
}

/// The end of a path at `start` that is one even in code: below the home folder, or two names and more of which the
/// first is a well-known folder.
pub(crate) fn known_path_end(text: &str, start: usize) -> Option<usize> {
    let end = rooted_path_end(text, start)?;
    let mut names = slice(text, start, end).split('/');
    let is_known = names.next() == Some("~")
        || names.next().is_some_and(|first| ROOTS.binary_search(&first).is_ok())
            && names.next().is_some_and(|second| !second.is_empty());
    is_known.then_some(end)
}

/// The end of a path of Windows whose drive letter stands at `start`.
pub(crate) fn drive_path_end(text: &str, start: usize) -> Option<usize> {
    let separators = ['\\', '/'];
    let is_drive = byte(text, start).is_ascii_alphabetic()
        && byte(text, start + 1) == b':'
        && matches!(byte(text, start + 2), b'\\' | b'/')
        && !matches!(byte(text, start + 3), b'\\' | b'/');
    if !is_drive || before(text, start).is_some_and(is_word) {
        return None;
    }
    let path = Path::read(text, start + 3, &separators);
    (path.count > 0).then_some(path.end)
}

/// The relative path that begins at `start`, two names or more and the last one a file: where it ends, or
/// where to look for the next at the earliest, as no piece of what was read is one.
pub(crate) fn relative_path_end(text: &str, start: usize) -> Result<usize, usize> {
    let path = Path::read(text, start, &['/']);
    let is_path = path.count > 1 && has_extension(slice(text, start, path.end));
    if is_path {
        Ok(path.end)
    } else {
        Err(path.end)
    }
}

/// Whether the whole of `text` is a path.
pub(crate) fn is_path(text: &str) -> bool {
    let end = rooted_path_end(text, 0)
        .or_else(|| drive_path_end(text, 0))
        .or_else(|| relative_path_end(text, 0).ok());
    end == Some(text.len()) || is_file_name(text)
}

/// Names between separators.
#[derive(Default)]
struct Path {
    /// Where it ends.
    end: usize,
    /// How many names it has.
    count: usize,
    /// Whether one of them has a letter.
    has_letter: bool,
    ends_in_separator: bool,
}

impl Path {
    /// The names from `start` on. What is longer than a name may be is no path at all, and is not read on.
    fn read(text: &str, start: usize, separators: &[char]) -> Path {
        let mut path = Path { end: start, ..Path::default() };
        let (mut pos, mut budget) = (start, MAX_NAME_CHARS);
        loop {
            let Some((name_end, left)) = name_end(text, pos, budget) else {
                return Path { end: path.end, ..Path::default() };
            };
            budget = left;
            let follows = at(text, name_end);
            let goes_on = follows.is_some_and(|c| separators.contains(&c));
            let name = slice(text, pos, name_end);
            if !name.contains(|c: char| c.is_alphanumeric()) {
                break;
            }
            // Han characters at the end may be the sentence that goes on.
            let set_off = follows.is_some_and(|c| c.is_ascii() && !c.is_ascii_alphanumeric());
            if !name.is_ascii() && !goes_on && !set_off && !has_extension(name) {
                break;
            }
            path.has_letter |= name.contains(|c: char| c.is_alphabetic());
            path.count += 1;
            path.end = name_end;
            path.ends_in_separator = goes_on;
            if !goes_on {
                break;
            }
            path.end += 1;
            pos = path.end;
        }
        path
    }
}

/// The end of a name of a path at `start`, without the punctuation of the sentence, and what is left of so many
/// characters; `None` if they do not suffice.
fn name_end(text: &str, start: usize, budget: usize) -> Option<(usize, usize)> {
    let (mut end, mut last, mut left) = (start, '/', budget);
    for (offset, c) in text.get(start..).unwrap_or("").char_indices() {
        left = left.checked_sub(1)?;
        let after = start + offset + c.len_utf8();
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '+' | '@' | '%' | '$' | '=' => end = after,
            '.' | '-' | '_' | '~' | '*' => {}
            c if c.is_ascii() => break,
            c if is_han(c) && last.is_ascii_alphanumeric() => break,
            c if c.is_alphanumeric() => end = after,
            _ => break,
        }
        last = c;
    }
    Some((end, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(EXTENSIONS.is_sorted() && TOP_LEVELS.is_sorted() && ROOTS.is_sorted());
        assert!(PLAIN_TOP_LEVELS.iter().all(|top| TOP_LEVELS.contains(top)));
    }

    #[test]
    fn addresses_end_where_the_sentence_goes_on() {
        for (text, expected) in [
            ("a.example/x，然后", "a.example/x"),
            ("a.example/x然后继续", "a.example/x"),
            ("a.example/wiki/中文条目）", "a.example/wiki/中文条目"),
            ("a.example/p#片段 和", "a.example/p#片段"),
            ("a.example/x_(y)。", "a.example/x_(y)"),
            ("a.example/x).", "a.example/x"),
            ("a.example/x**", "a.example/x"),
            ("a.example/x?a=1&b=2,", "a.example/x?a=1&b=2"),
            ("a.example/> b", "a.example/"),
            ("localhost:8080/x\\", "localhost:8080/x"),
            ("例子.中国/x，", "例子.中国/x"),
        ] {
            assert_eq!(url_end(text, 0).map(|end| &text[..end]), Some(expected), "{text}");
        }
        assert_eq!(url_end("...", 0), None);
        assert_eq!(url_end("，", 0), None);
    }

    #[test]
    fn hosts_and_mail() {
        for host in ["example.com", "notes.example.com", "blog.example.co.uk", "OpenAI.com"] {
            assert!(is_host(host), "{host}");
        }
        for other in ["com", "Node.js", "1.2.cn", "find.me", "a..com", "e.g", "完.com"] {
            assert!(!is_host(other), "{other}");
        }
        for (text, expected) in [
            ("zhiyuan@example.com，", Some("zhiyuan@example.com")),
            ("zhang@163.com里", Some("zhang@163.com")),
            ("a.b+c@mail.qq.com.", Some("a.b+c@mail.qq.com")),
            ("x_y@126.com", Some("x_y@126.com")),
            ("@example.com", None),
            ("a@b", None),
            ("root@10.0.0.1", None),
            ("a@b.comx", None),
            ("a@b.c.", None),
        ] {
            assert_eq!(mail_end(text, 0).map(|end| &text[..end]), expected, "{text}");
        }
        assert_eq!(share_path_end(r"\\server\share\x.doc 里", 0), Some(r"\\server\share\x.doc".len()));
        assert_eq!(share_path_end(r"\\ \\a", 0), None);
    }

    #[test]
    fn paths_and_what_looks_like_one() {
        for (text, expected) in [
            ("/var/log/postgresql-18-main.log，配置", "/var/log/postgresql-18-main.log"),
            ("~/.openclaw/openclaw.json，", "~/.openclaw/openclaw.json"),
            ("./scripts/run.sh。", "./scripts/run.sh"),
            ("/etc/hosts里", "/etc/hosts"),
            ("/etc/nginx/下面的", "/etc/nginx/"),
            ("/volume1/照片 一共", "/volume1/照片"),
            ("/项目/记忆库/a.md 里", "/项目/记忆库/a.md"),
            ("/tmp 满了", "/tmp"),
            ("/robots.txt", "/robots.txt"),
            ("/tags/ 页", "/tags/"),
        ] {
            assert_eq!(rooted_path_end(text, 0).map(|end| &text[..end]), Some(expected), "{text}");
        }
        for text in ["/Twitter", "/或", "/2", "/02/19", "/", "//", "/help 命令", "../..", "~", "/或/和"]
        {
            assert_eq!(rooted_path_end(text, 0), None, "{text}");
        }
        let text = "在/var/log/x.log 和/或 X/Twitter </b>";
        let ends: Vec<&str> = text
            .match_indices('/')
            .filter_map(|(at, _)| rooted_path_end(text, at).map(|end| &text[at..end]))
            .collect();
        assert_eq!(ends, ["/var/log/x.log"]);
        assert_eq!(known_path_end("/etc/config/dhcp /x", 0), Some("/etc/config/dhcp".len()));
        assert_eq!(known_path_end("~/backup", 0), Some("~/backup".len()));
        for text in ["/tmp", "/foo/bar.js", "./run.sh", "/etc/"] {
            assert_eq!(known_path_end(text, 0), None, "{text}");
        }
        assert!(is_path(r"D:\项目\记忆库\a.md") && is_path("src/pages/rss.xml.ts") && is_path("robots.txt"));
        assert!(!is_path("k = 60") && !is_path("and/or") && !is_path("rm -rf x.log"));
    }
}
