//! The event of a row as exports write it: JSON text, or a compressed value as hexadecimal digits, as base64, or
//! with each byte as a character, which is how the sqlite3 program prints it as JSON.

use std::borrow::Cow;
use std::io::Read;

use crate::input;

/// The JSON text; `None` if it is compressed and cannot be unpacked. At most `limit` bytes are unpacked.
pub(crate) fn event(text: Cow<'_, str>, limit: u64) -> Option<Cow<'_, str>> {
    if text.trim_start().starts_with('{') {
        return Some(text);
    }
    let bytes = bytes(&text)?;
    let mut unpacked = Vec::new();
    input::unpack(&bytes, limit).ok()?.read_to_end(&mut unpacked).ok()?;
    Some(Cow::Owned(String::from_utf8_lossy(&unpacked).into_owned()))
}

/// The bytes behind a text, if they are zstd's: the first four say so in every notation. Of characters that are bytes
/// none is white space.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let written = text.trim();
    let digits = written.strip_prefix("\\x").or_else(|| text.strip_prefix("0x")).unwrap_or(written);
    let digits = digits.strip_prefix("X'").and_then(|quoted| quoted.strip_suffix('\'')).unwrap_or(digits);
    [hexadecimal(digits), base64(written), latin1(text)]
        .into_iter()
        .flatten()
        .find(|bytes| input::is_zstd(bytes))
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for character in text.trim_end_matches('=').bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'\n' | b'\r' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

fn latin1(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notation_is_read() {
        let json = "{\"type\":\"message\",\"text\":\"你好\"}";
        // A frame to be skipped first, for the zero bytes in it.
        let mut packed = vec![0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 0, 0];
        packed.extend(zstd::encode_all(json.as_bytes(), 3).unwrap());
        let hex: String = packed.iter().map(|byte| format!("{byte:02X}")).collect();
        let alphabet: Vec<u8> = (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(*b"+/").collect();
        let mut base64 = String::new();
        for chunk in packed.chunks(3) {
            let bits =
                chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            for place in 0..4 {
                let value = alphabet[(bits >> (18 - 6 * place) & 63) as usize];
                base64.push(if place <= chunk.len() { char::from(value) } else { '=' });
            }
        }
        let characters: String = packed.iter().map(|byte| char::from(*byte)).collect();
        for text in
            [json.to_owned(), hex.clone(), format!("X'{hex}'"), format!("\\x{hex}"), base64, characters]
        {
            assert_eq!(event(Cow::Borrowed(&text), 1_000).as_deref(), Some(json), "{text}");
        }
        assert_eq!(event(Cow::Borrowed(&hex), 10), None);
        assert_eq!(event(Cow::Borrowed(&hex[..60]), 1_000), None);
        assert_eq!(event(Cow::Borrowed("28b5"), 1_000), None);
        assert_eq!(event(Cow::Borrowed(""), 1_000), None);
    }
}
