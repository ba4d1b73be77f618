//! The date in the path of a memory file.
//!
//! A civil date: no clock, no time zone, so a file means the same day everywhere. It does not look into the file.
//! What must hold: a date that does not exist (`2026-02-30`) is no date, and no path is an error.

use std::fmt;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CivilDate {
    /// 1000 to 9999.
    pub year: i32,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31, and a day the month has.
    pub day: u8,
}

impl CivilDate {
    fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return None,
        };
        if !(1000..=9999).contains(&year) || !(1..=days).contains(&day) {
            return None;
        }
        Some(CivilDate {
            year: i32::try_from(year).ok()?,
            month: u8::try_from(month).ok()?,
            day: u8::try_from(day).ok()?,
        })
    }
}

impl fmt::Display for CivilDate {
    /// `2026-02-19`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// The date a path names: the first one in the file name, otherwise the last one in the whole path.
///
/// Understood are `2026-02-19`, `2026_2_19`, `2026.02.19`, `20260219` and `2026年2月19日`, with other text around them,
/// and folders (`2026/02/19.md`).
pub fn date_from_path(path: &str) -> Option<CivilDate> {
    let file_name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    dates(file_name).next().or_else(|| dates(path).last())
}

/// All dates in `text`, in order.
fn dates(text: &str) -> impl Iterator<Item = CivilDate> + '_ {
    let mut before = None;
    text.char_indices().filter_map(move |(at, c)| {
        let previous = before.replace(c);
        if !c.is_ascii_digit() || previous.is_some_and(|p| p.is_ascii_digit()) {
            return None;
        }
        let rest = text.get(at..)?;
        delimited(rest)
            .or_else(|| compact(rest).filter(|_| !previous.is_some_and(|p| p.is_ascii_alphabetic())))
    })
}

/// `2026-02-19` and the like at the start of `text`.
fn delimited(text: &str) -> Option<CivilDate> {
    let (year, year_digits, rest) = number(text)?;
    let (first, rest) = separator(rest)?;
    let (month, month_digits, rest) = number(rest)?;
    let (second, rest) = separator(rest)?;
    let (day, day_digits, _) = number(rest)?;
    let separators_agree = match (first, second) {
        // A version number has one digit as often as not.
        ('.', '.') => month_digits == 2 && day_digits == 2,
        ('年', '月') => true,
        (a, b) => a == b || a == '/' || b == '/',
    };
    let widths_agree = year_digits == 4 && month_digits <= 2 && day_digits <= 2;
    CivilDate::new(year, month, day).filter(|_| separators_agree && widths_agree)
}

/// `20260219` at the start of `text`, of this or the last century: other eight digits are some number.
fn compact(text: &str) -> Option<CivilDate> {
    let (value, digits, rest) = number(text)?;
    let followed_by_word = rest.starts_with(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'T' | 't'));
    if digits != 8 || followed_by_word {
        return None;
    }
    let (year, month, day) = (value / 10_000, value / 100 % 100, value % 100);
    CivilDate::new(year, month, day).filter(|date| (1900..2100).contains(&date.year))
}

/// The digits at the start of `text`: their value, how many they are, and what follows. `None` if there are none or
/// more than eight.
fn number(text: &str) -> Option<(u32, usize, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    let value = text.get(..digits).filter(|_| digits <= 8)?.parse().ok()?;
    Some((value, digits, rest))
}

/// The separator at the start of `text`, `\` told as `/`, and what follows.
fn separator(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    match chars.next()? {
        '\\' => Some(('/', chars.as_str())),
        c @ ('-' | '_' | '.' | '/' | '年' | '月') => Some((c, chars.as_str())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_in_paths() {
        let cases = [
            ("2026-02-19.md", Some("2026-02-19")),
            ("memory/2026-02-19-路由器.md", Some("2026-02-19")),
            ("notes-2026-02-19-1.md", Some("2026-02-19")),
            ("2026-02-19-to-2026-02-21.md", Some("2026-02-19")),
            ("2025-01-01/2026-02-19.md", Some("2026-02-19")),
            ("2025-01-01/2026-02-19/notes.md", Some("2026-02-19")),
            ("2026/02/19.md", Some("2026-02-19")),
            ("2026\\02\\19.md", Some("2026-02-19")),
            ("日记/2026/2/9 读书.md", Some("2026-02-09")),
            ("2026-02/19.md", Some("2026-02-19")),
            ("20260219.md", Some("2026-02-19")),
            ("IMG_20260219_101500.md", Some("2026-02-19")),
            ("20260219T101500.md", Some("2026-02-19")),
            ("2026年2月19日.md", Some("2026-02-19")),
            ("2026.02.19.md", Some("2026-02-19")),
            ("2024-02-29.md", Some("2024-02-29")),
            ("notes-2026-02-30.md", None),
            ("2026-13-01.md", None),
            ("2026-00-10.md", None),
            ("2025-02-29.md", None),
            ("1900-02-29.md", None),
            ("2026-02-191.md", None),
            ("12026-02-19.md", None),
            ("2026-02.md", None),
            ("openclaw-2026.2.17.md", None),
            ("12345678.md", None),
            ("5d0f7c1e-8a43-4d0e-9a55-3b1c6f2e7a10.jsonl", None),
            ("99999999999999999999-01-01.md", None),
            ("MEMORY.md", None),
            ("", None),
        ];
        for (path, expected) in cases {
            assert_eq!(date_from_path(path).map(|date| date.to_string()).as_deref(), expected, "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn no_path_is_an_error(path in r"[0-9/\\._年月日T-]{0,20}") {
            if let Some(date) = date_from_path(&path) {
                prop_assert!((1..=12).contains(&date.month) && (1..=31).contains(&date.day));
            }
        }

        #[test]
        fn every_day_is_found(year in 1900..2100, month in 1..=12_u8, day in 1..=28_u8) {
            let date = CivilDate { year, month, day };
            prop_assert_eq!(date_from_path(&format!("x/{date}-日记.md")), Some(date));
        }
    }
}
