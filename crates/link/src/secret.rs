//! Keys and tokens: what opens something must not become a name that is listed, counted and drawn.
//!
//! A piece of a name is a key if it begins like those of well-known services and has a figure, or if it is long and its
//! letters and figures change too often for a word. What it does not do: find passwords in words.

/// Beginnings of keys, of services whose keys are known by them.
const PREFIXES: [&str; 21] = [
    "AIza",
    "AKIA",
    "ASIA",
    "ATTA",
    "dop_v1_",
    "eyJ",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "npm_",
    "pk_live_",
    "pypi-",
    "rk_live_",
    "sk-",
    "sk_live_",
    "xox",
];

/// Fewest characters of a key with such a beginning, and of one without.
const KNOWN: usize = 16;
const UNKNOWN: usize = 20;

/// Fewest changes between capitals, small letters and figures in one without.
const CHANGES: usize = 8;

/// Whether a piece of `name` looks like a key.
pub(crate) fn has_secret(name: &str) -> bool {
    // Most names are short.
    name.len() >= KNOWN
        && name
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
            .any(|piece| piece.len() >= KNOWN && is_secret(piece))
}

fn is_secret(piece: &str) -> bool {
    let has_digit = piece.bytes().any(|b| b.is_ascii_digit());
    if !has_digit {
        return false;
    }
    if PREFIXES.iter().any(|prefix| piece.starts_with(prefix)) {
        return true;
    }
    // Of a path or a slug every part by itself.
    piece.split(['-', '_']).any(|part| {
        let changes = part
            .as_bytes()
            .windows(2)
            .filter(|pair| matches!(pair, [a, b] if class(*a) != class(*b)))
            .count();
        let classes = [b'A', b'a', b'0'].map(|of| part.bytes().any(|b| class(b) == class(of)));
        part.len() >= UNKNOWN && changes >= CHANGES && classes == [true; 3]
    })
}

fn class(b: u8) -> u8 {
    match b {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::has_secret;

    #[test]
    fn keys_and_what_is_none() {
        for key in [
            "sk-proj-abcDEF1234567890abcdefGHIJKLMNOPqrstuv",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "OPENAI_API_KEY=sk-ant-api03-AbCdEf123456-XyZ",
            "AKIAIOSFODNN7EXAMPLE",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
            "https://a.example/x?token=wJalrXUtnFEMI7K7MDENGbPxRfiCYEXAMPLEKEY9",
        ] {
            assert!(has_secret(key), "{key}");
        }
        for name in [
            "XMLHttpRequest2Handler",
            "memory_search_by_path_2026",
            "multilingual-e5-small",
            "sk-learn",
            "https://docs.example.com/api/v2/UserGuide2026/GettingStarted",
            "npm_config_user_agent",
            "jina-embeddings-v2-base-zh",
            "c0ffee1234567890c0ffee1234567890c0ffee12",
            "Qwen2.5-Coder-32B-Instruct",
            "/var/log/postgresql/postgresql-18-main.log",
        ] {
            assert!(!has_secret(name), "{name}");
        }
    }
}
