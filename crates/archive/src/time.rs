//! When something was said: the many ways in which programs write a time, as microseconds since 1970 in UTC.
//!
//! It never asks the clock: a time that cannot be read is nobody's guess here.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::Timestamp;

use crate::json;

/// The zone of times that are written without one.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Zone = Zone(TimeZone::UTC);

    /// A zone by its name in the time zone database (`Asia/Shanghai`, in any case) or as an offset (`+08:00`).
    /// `None` if there is no such zone.
    pub fn named(name: &str) -> Option<Zone> {
        let name = name.trim();
        if name.starts_with(['+', '-']) {
            return offset(name).map(Zone);
        }
        TimeZone::get(name).ok().map(Zone)
    }
}

/// A zone written as an offset from UTC: the one a complete time with this offset has.
fn offset(text: &str) -> Option<TimeZone> {
    let there: Timestamp = format!("2000-01-01T00:00:00{text}").parse().ok()?;
    let seconds = Timestamp::constant(946_684_800, 0).duration_since(there).as_secs();
    let offset = jiff::tz::Offset::from_seconds(i32::try_from(seconds).ok()?).ok()?;
    Some(TimeZone::fixed(offset))
}

/// What a place where a time may stand holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Microseconds since 1970.
    Time(i64),
    /// Nothing.
    Missing,
    /// Something that is no time.
    Unreadable,
}

/// Microseconds of the first moment of year 10,000: nothing is said after that.
const END: i64 = 253_402_300_800_000_000;
/// The fewest digits a count of seconds since 1970 has (from March 1973). Shorter numbers are something else.
const FEWEST_DIGITS: usize = 9;

/// Reads a JSON value: text in ISO 8601 or RFC 3339 with or without a zone, or seconds, milliseconds,
/// microseconds or nanoseconds since 1970 as a number or as its digits.
pub(crate) fn read(json: Option<&str>, zone: &Zone) -> Reading {
    let Some(json) = json else { return Reading::Missing };
    let time = json::scalar(json).and_then(|text| {
        let text = text.trim();
        epoch(text).or_else(|| iso(text, zone))
    });
    // Zero, and the zero time of other languages, stand for a time that was never set.
    time.filter(|time| (1..END).contains(time)).map_or(Reading::Unreadable, Reading::Time)
}

fn iso(text: &str, zone: &Zone) -> Option<i64> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_microsecond());
    }
    let naive: DateTime = text.parse().ok()?;
    // A number behind the time is an offset written in a way not understood; reading on without it would be wrong.
    if text.get(10..).is_some_and(|rest| rest.contains(['+', '-', 'Z', 'z'])) {
        return None;
    }
    zone.0.to_timestamp(naive).ok().map(Timestamp::as_microsecond)
}

/// A count since 1970; its size tells the unit: seconds end in the year 5138, milliseconds begin in 1973, and so on.
/// Digits are read as decimals, so that no fraction is lost to rounding.
fn epoch(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return text.contains(['e', 'E']).then(|| exponent(text)).flatten();
    }
    if whole.len() < FEWEST_DIGITS {
        return None;
    }
    let whole: i64 = whole.parse().ok()?;
    // The decimals as far as microseconds of the unit go.
    let decimals = |places: usize| -> Option<i64> {
        let kept = fraction.get(..places.min(fraction.len()))?;
        format!("{kept:0<places$}").parse().ok()
    };
    match whole {
        0..100_000_000_000 => whole.checked_mul(1_000_000)?.checked_add(decimals(6)?),
        100_000_000_000..100_000_000_000_000 => whole.checked_mul(1_000)?.checked_add(decimals(3)?),
        100_000_000_000_000..100_000_000_000_000_000 => Some(whole),
        _ => Some(whole / 1_000),
    }
}

/// `1.771463e9`, as some writers print large numbers.
fn exponent(text: &str) -> Option<i64> {
    let number: f64 = text.parse().ok()?;
    if !(1e8..1e18).contains(&number) {
        return None;
    }
    epoch(&format!("{number:.6}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(iso: &str) -> Reading {
        Reading::Time(iso.parse::<Timestamp>().unwrap().as_microsecond())
    }

    #[test]
    fn texts() {
        let shanghai = Zone::named("asia/shanghai").unwrap();
        for (json, utc) in [
            (r#""2026-02-20T00:00:09Z""#, "2026-02-20T00:00:09Z"),
            (r#""2026-02-20t00:00:09.123456z""#, "2026-02-20T00:00:09.123456Z"),
            (r#""2026-02-20T08:00:10.000+08:00""#, "2026-02-20T00:00:10Z"),
            (r#""2026-02-20 08:00:10+0800""#, "2026-02-20T00:00:10Z"),
            (r#"" 2026-02-20 08:00:10+08 ""#, "2026-02-20T00:00:10Z"),
            (r#""2026-02-20 08:00:09""#, "2026-02-20T00:00:09Z"),
            (r#""2026-02-20T08:00:09.5""#, "2026-02-20T00:00:09.5Z"),
            (r#""2026-02-20""#, "2026-02-19T16:00:00Z"),
            (r#""2099-01-01T00:00:00Z""#, "2099-01-01T00:00:00Z"),
        ] {
            assert_eq!(read(Some(json), &shanghai), micros(utc), "{json}");
        }
        assert_eq!(read(Some(r#""2026-02-20 08:00:09""#), &Zone::UTC), micros("2026-02-20T08:00:09Z"));
    }

    #[test]
    fn numbers() {
        for (json, utc) in [
            ("1771545608", "2026-02-20T00:00:08Z"),
            ("1771545608.75", "2026-02-20T00:00:08.75Z"),
            ("1771545608.123456789", "2026-02-20T00:00:08.123456Z"),
            ("1771545608000", "2026-02-20T00:00:08Z"),
            ("1771545608001.5", "2026-02-20T00:00:08.0015Z"),
            ("1771545608000001", "2026-02-20T00:00:08.000001Z"),
            ("1771545608000001999", "2026-02-20T00:00:08.000001Z"),
            (r#""1771545608""#, "2026-02-20T00:00:08Z"),
            (r#""1771545608000""#, "2026-02-20T00:00:08Z"),
            ("1.771545608e9", "2026-02-20T00:00:08Z"),
            ("1.771545608e12", "2026-02-20T00:00:08Z"),
        ] {
            assert_eq!(read(Some(json), &Zone::UTC), micros(utc), "{json}");
        }
    }

    #[test]
    fn what_is_no_time() {
        for json in [
            r#""""#,
            r#""2026-02-30""#,
            r#""2026-02-30T00:00:00Z""#,
            r#""yesterday""#,
            r#""2026-02-20 08:00:09 CST+""#,
            r#""0001-01-01T00:00:00Z""#,
            "0",
            "-1",
            "12345",
            "1e999",
            "99999999999999999999999999",
            "true",
            "[]",
            "{}",
        ] {
            assert_eq!(read(Some(json), &Zone::UTC), Reading::Unreadable, "{json}");
        }
        assert_eq!(read(None, &Zone::UTC), Reading::Missing);
    }

    #[test]
    fn zones() {
        for name in ["UTC", "Asia/Shanghai", "america/new_york", "+08:00", "-0330", "+08"] {
            assert!(Zone::named(name).is_some(), "{name}");
        }
        for name in ["", "Nowhere/At_All", "+99:00", "8", "../etc/passwd"] {
            assert!(Zone::named(name).is_none(), "{name}");
        }
        let half = Zone::named("-03:30").unwrap();
        assert_eq!(read(Some(r#""2026-02-20 00:00:00""#), &half), micros("2026-02-20T03:30:00Z"));
    }

    #[test]
    fn an_hour_that_does_not_exist_or_exists_twice_is_read_all_the_same() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        assert_eq!(read(Some(r#""2026-03-29 02:30:00""#), &berlin), micros("2026-03-29T01:30:00Z"));
        assert_eq!(read(Some(r#""2026-10-25 02:30:00""#), &berlin), micros("2026-10-25T00:30:00Z"));
    }
}
