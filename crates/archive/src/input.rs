//! Bytes into records: the lines of a JSONL file, or the values of a JSON document, plain or zstd-compressed.
//!
//! A document is a sequence of values that may go over many lines; the elements of an array at its top are records
//! of their own, so that of an export of many conversations one is looked at after the other. A record is what the
//! brackets say; whether it is JSON inside is for others to find out.
//!
//! What must hold: of plain bytes nothing is copied. Of compressed bytes one record, the window of the compression
//! (at most [`WINDOW`]) and 64 KiB are in memory, and no more than the caller's limit is ever unpacked.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use crate::ReadError;

/// How much of the beginning decides what the bytes are.
const PREFIX: usize = 64 * 1024;
/// Binary logarithm of the largest window, 128 MiB: what the zstd program unpacks unless it is told otherwise.
const WINDOW: u32 = 27;
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// One record of the input.
pub(crate) struct Record<'b> {
    pub bytes: &'b [u8],
    /// Line it begins in, from 1.
    pub line: u64,
    /// Bytes before it.
    pub offset: u64,
    /// The input ends in it: the rest may still be written.
    pub open: bool,
    /// It is the first of an array at the top of a document: another conversation, as an array in a line is.
    pub begins: bool,
}

/// How records are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// One record a line.
    Lines,
    /// Values of any number of lines.
    Values,
}

enum Source<'a> {
    Plain(&'a [u8]),
    Stream(Box<dyn BufRead + 'a>),
}

/// The records of some bytes, one after the other.
pub(crate) struct Input<'a> {
    source: Source<'a>,
    framing: Framing,
    line: u64,
    offset: u64,
    within_array: bool,
    /// An array was opened and none of its elements returned.
    begins: bool,
}

/// Whether bytes are compressed with zstd.
pub(crate) fn is_zstd(bytes: &[u8]) -> bool {
    bytes.starts_with(&ZSTD)
        // A frame to be skipped, which some writers put first.
        || bytes.first().is_some_and(|first| (0x50..0x60).contains(first))
            && bytes.get(1..4) == Some(&[0x2a, 0x4d, 0x18])
}

/// Unpacks zstd as a stream. Reading fails with [`io::ErrorKind::QuotaExceeded`] after `limit` bytes.
pub(crate) fn unpack<'a>(bytes: &'a [u8], limit: u64) -> io::Result<impl Read + 'a> {
    let mut decoder = zstd::Decoder::with_buffer(bytes)?;
    decoder.window_log_max(WINDOW)?;
    Ok(Limited { inner: decoder, left: limit })
}

struct Limited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(io::ErrorKind::QuotaExceeded.into()),
        }
        Ok(read)
    }
}

impl<'a> Input<'a> {
    /// Opens the bytes and returns what they begin with, too.
    ///
    /// # Errors
    /// They are something else than text, or begin with damaged compressed data.
    pub(crate) fn open(bytes: &'a [u8], limit: u64) -> Result<(Self, Vec<u8>), ReadError> {
        let (mut source, prefix) = if is_zstd(bytes) {
            let mut reader = unpack(bytes, limit).map_err(|_| ReadError::Compression)?;
            let mut prefix = Vec::new();
            // What cannot be unpacked after some text is met again where that text ends.
            let read = reader.by_ref().take(PREFIX as u64).read_to_end(&mut prefix);
            match read {
                Err(error) if prefix.is_empty() => return Err(ReadError::of(&error, limit)),
                _ => {}
            }
            let failed = Failing(read.err());
            let stream = Cursor::new(prefix.clone()).chain(failed).chain(reader);
            (Source::Stream(Box::new(BufReader::with_capacity(PREFIX, stream))), prefix)
        } else {
            (Source::Plain(bytes), bytes.get(..PREFIX).unwrap_or(bytes).to_vec())
        };
        if let Some(what) = blocker(&prefix) {
            return Err(what);
        }
        let mut offset = 0;
        if prefix.starts_with(&BYTE_ORDER_MARK) {
            offset = BYTE_ORDER_MARK.len();
            source.consume(offset);
        }
        // A first line longer than the prefix must not be taken for a document's; of a stream it is, which divides
        // whole lines alike.
        let framing = framing(if let Source::Plain(whole) = &source { whole } else { &prefix });
        let input =
            Input { source, framing, line: 1, offset: offset as u64, within_array: false, begins: false };
        Ok((input, prefix))
    }

    /// The framing of the records.
    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// Line and offset of the record that comes next.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.line, self.offset)
    }

    /// The next record. `buffer` holds it where the input is compressed.
    pub(crate) fn next<'b>(&mut self, buffer: &'b mut Vec<u8>) -> io::Result<Option<Record<'b>>>
    where
        'a: 'b,
    {
        let start = match self.framing {
            Framing::Lines => b'\n',
            Framing::Values => match self.skip_separators()? {
                Some(start) => start,
                None => return Ok(None),
            },
        };
        let (line, offset) = self.place();
        let (bytes, ended) = match (self.framing, start) {
            (Framing::Lines, _) => {
                self.source.take(buffer, |chunk| memchr::memchr(b'\n', chunk).map(|at| at + 1))?
            }
            (Framing::Values, b'{' | b'[' | b'"') => {
                let mut brackets = Brackets::default();
                self.source.take(buffer, |chunk| brackets.end(chunk))?
            }
            (Framing::Values, _) => {
                let mut first = true;
                let (bytes, _) = self.source.take(buffer, |chunk| {
                    let end = chunk.iter().skip(usize::from(first)).position(|byte| {
                        byte.is_ascii_whitespace() || matches!(byte, b',' | b'[' | b']' | b'{' | b'}' | b'"')
                    });
                    let skipped = usize::from(std::mem::take(&mut first));
                    end.map(|end| end + skipped)
                })?;
                (bytes, true)
            }
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        self.line += match self.framing {
            Framing::Lines => 1,
            Framing::Values => memchr::memchr_iter(b'\n', bytes).count() as u64,
        };
        self.offset += bytes.len() as u64;
        Ok(Some(Record { bytes, line, offset, open: !ended, begins: std::mem::take(&mut self.begins) }))
    }

    /// Goes to the next value of a document and returns its first byte.
    fn skip_separators(&mut self) -> io::Result<Option<u8>> {
        loop {
            let chunk = self.source.fill()?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let (mut skipped, mut start) = (0, None);
            for byte in chunk {
                match byte {
                    b'\n' => self.line += 1,
                    b',' | b' ' | b'\t' | b'\r' => {}
                    b'[' if !self.within_array => {
                        self.within_array = true;
                        self.begins = true;
                    }
                    b']' if self.within_array => self.within_array = false,
                    _ => {
                        start = Some(*byte);
                        break;
                    }
                }
                skipped += 1;
            }
            self.source.consume(skipped);
            self.offset += skipped as u64;
            if start.is_some() {
                return Ok(start);
            }
        }
    }
}

impl<'a> Source<'a> {
    /// Some of what comes next, nothing at the end.
    fn fill(&mut self) -> io::Result<&[u8]> {
        match self {
            Source::Plain(rest) => Ok(rest),
            Source::Stream(reader) => reader.fill_buf(),
        }
    }

    /// Leaves out bytes that [`Source::fill`] has shown.
    fn consume(&mut self, count: usize) {
        match self {
            Source::Plain(rest) => *rest = rest.get(count..).unwrap_or(&[]),
            Source::Stream(reader) => {
                // At the beginning nothing has been shown yet.
                if reader.fill_buf().is_ok_and(|chunk| chunk.len() >= count) {
                    reader.consume(count);
                }
            }
        }
    }

    /// Everything up to the end that `end` finds, and whether it finds one.
    fn take<'b>(
        &mut self,
        buffer: &'b mut Vec<u8>,
        mut end: impl FnMut(&[u8]) -> Option<usize>,
    ) -> io::Result<(&'b [u8], bool)>
    where
        'a: 'b,
    {
        match self {
            Source::Plain(rest) => {
                let whole: &'a [u8] = rest;
                let found = end(whole);
                let (taken, after) =
                    whole.split_at_checked(found.unwrap_or(whole.len())).unwrap_or((whole, &[]));
                *rest = after;
                Ok((taken, found.is_some()))
            }
            Source::Stream(reader) => {
                buffer.clear();
                loop {
                    let chunk = reader.fill_buf()?;
                    if chunk.is_empty() {
                        return Ok((buffer, false));
                    }
                    let found = end(chunk);
                    let taken = chunk.get(..found.unwrap_or(chunk.len())).unwrap_or(chunk);
                    buffer.extend_from_slice(taken);
                    let count = taken.len();
                    reader.consume(count);
                    if found.is_some() {
                        return Ok((buffer, true));
                    }
                }
            }
        }
    }
}

/// A reader of nothing that fails once if it was given an error.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Finds the end of a value by its brackets, chunk after chunk.
#[derive(Default)]
pub(crate) struct Brackets {
    depth: usize,
    within_string: bool,
    escaped: bool,
}

impl Brackets {
    /// Where the value ends in this chunk.
    pub(crate) fn end(&mut self, chunk: &[u8]) -> Option<usize> {
        let mut at = 0;
        if std::mem::take(&mut self.escaped) {
            at = 1;
        }
        loop {
            let rest = chunk.get(at..)?;
            if self.within_string {
                let found = memchr::memchr2(b'"', b'\\', rest)?;
                at += found + 1;
                if rest.get(found) == Some(&b'\\') {
                    self.escaped = at == chunk.len();
                    at += 1;
                    continue;
                }
                self.within_string = false;
            } else {
                let found = rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))?;
                at += found + 1;
                match rest.get(found)? {
                    b'"' => {
                        self.within_string = true;
                        continue;
                    }
                    b'{' | b'[' => self.depth += 1,
                    _ => self.depth = self.depth.saturating_sub(1),
                }
            }
            if self.depth == 0 {
                return Some(at);
            }
        }
    }
}

/// What bytes are that no history can be read from.
fn blocker(prefix: &[u8]) -> Option<ReadError> {
    let begins = |magic: &[u8]| prefix.starts_with(magic);
    if begins(b"SQLite format 3\0") {
        Some(ReadError::Sqlite)
    } else if begins(b"PK\x03\x04") {
        Some(ReadError::Zip)
    } else if begins(&[0x1f, 0x8b]) {
        Some(ReadError::Gzip)
    } else if begins(&[0xff, 0xfe]) || begins(&[0xfe, 0xff]) {
        Some(ReadError::Utf16)
    } else {
        None
    }
}

/// Lines, unless the beginning is the first line of a longer value.
fn framing(prefix: &[u8]) -> Framing {
    let text = prefix.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(prefix).trim_ascii_start();
    let Some(end) = memchr::memchr(b'\n', text) else {
        // A long line: only an array is worth being taken apart.
        return if text.starts_with(b"[") { Framing::Values } else { Framing::Lines };
    };
    let (first, after) = text.split_at_checked(end).unwrap_or((text, &[]));
    let whole = Brackets::default().end(first).is_some();
    let second = after.trim_ascii_start().first();
    let values = match text.first() {
        // Printed over many lines, what follows the opening brace is a key. Anything else is a damaged line.
        Some(b'{') => !whole && matches!(second, Some(b'"' | b'}')),
        Some(b'[') => !(whole && matches!(second, Some(b'{' | b'['))),
        _ => false,
    };
    if values {
        Framing::Values
    } else {
        Framing::Lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(bytes: &[u8]) -> Vec<(u64, String, bool)> {
        let (mut input, _) = Input::open(bytes, 1 << 20).unwrap();
        let mut buffer = Vec::new();
        let mut found = Vec::new();
        while let Some(record) = input.next(&mut buffer).unwrap() {
            found.push((record.line, String::from_utf8_lossy(record.bytes).trim().to_owned(), record.open));
        }
        found
    }

    fn texts(bytes: &[u8]) -> Vec<String> {
        records(bytes).into_iter().map(|(_, text, _)| text).collect()
    }

    #[test]
    fn framings() {
        for (text, expected) in [
            ("", Framing::Lines),
            ("{\"a\":1}", Framing::Lines),
            ("{\"a\":1}\n{\"a\":2}\n", Framing::Lines),
            ("\u{feff}\n{\"a\":1\n{\"a\":2}\n", Framing::Lines),
            ("{\"a\":\n[1,2]\n", Framing::Lines),
            ("{\n  \"a\": 1\n}", Framing::Values),
            ("[{\"a\":1},{\"a\":2}]", Framing::Values),
            ("[\n{\"a\":1}\n]\n", Framing::Values),
            ("[1,2,3]\n{\"a\":1}\n", Framing::Lines),
            ("[1,2,3]\n", Framing::Values),
            ("no json\n{\"a\":1}\n", Framing::Lines),
        ] {
            assert_eq!(framing(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn lines_have_numbers() {
        let found = records("\u{feff}{\"a\":1}\r\n\n{\"a\":2}".as_bytes());
        assert_eq!(
            found,
            [(1, "{\"a\":1}".into(), false), (2, String::new(), false), (3, "{\"a\":2}".into(), true)]
        );
    }

    #[test]
    fn values_are_divided_by_their_brackets() {
        let text =
            b"[\n {\"a\": \"]}\\\"\"},\n null, [1, [2]], \"x, y\",\n {\"b\":\n {}} ]\n{\"c\":1} ]oops {\"d";
        let found = records(text);
        assert_eq!(
            found,
            [
                (2, "{\"a\": \"]}\\\"\"}".into(), false),
                (3, "null".into(), false),
                (3, "[1, [2]]".into(), false),
                (3, "\"x, y\"".into(), false),
                (4, "{\"b\":\n {}}".into(), false),
                (6, "{\"c\":1}".into(), false),
                (6, "]oops".into(), false),
                (6, "{\"d".into(), true),
            ]
        );
    }

    #[test]
    fn compressed_bytes_give_the_same_records() {
        let long = "长".repeat(100_000);
        for text in [format!("{{\"a\":\"{long}\"}}\n{{\"b\":2}}\n"), format!("[{{\"a\":\"{long}\\\\\"}}, 7]")]
        {
            let mut packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
            assert_eq!(texts(&packed), texts(text.as_bytes()));
            // Frames may follow each other, and some may have to be skipped.
            packed.splice(..0, [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]);
            packed.extend(zstd::encode_all(&b"\n{\"c\":3}"[..], 3).unwrap());
            assert_eq!(texts(&packed).last().map(String::as_str), Some("{\"c\":3}"));
        }
    }

    #[test]
    fn unpacking_has_a_limit() {
        let packed = zstd::encode_all(&vec![b'x'; 3 << 20][..], 3).unwrap();
        let (mut input, _) = Input::open(&packed, 1 << 20).unwrap();
        let error = input.next(&mut Vec::new()).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
    }

    #[test]
    fn a_value_may_end_at_any_chunk() {
        let value = br#"{"a":"\\\"}","b":[{}]}"#;
        for cut in 0..value.len() {
            let (head, tail) = value.split_at(cut);
            let mut brackets = Brackets::default();
            assert_eq!(brackets.end(head), None, "{cut}");
            assert_eq!(brackets.end(tail), Some(tail.len()), "{cut}");
        }
    }

    #[test]
    fn what_is_no_text_is_named() {
        for (bytes, expected) in [
            (&b"SQLite format 3\0..."[..], ReadError::Sqlite),
            (b"PK\x03\x04", ReadError::Zip),
            (b"\x1f\x8b\x08", ReadError::Gzip),
            (b"\xff\xfe{\0", ReadError::Utf16),
            (b"\x28\xb5\x2f\xfd\xff\xff\xff", ReadError::Compression),
        ] {
            assert_eq!(Input::open(bytes, 1 << 20).err(), Some(expected));
        }
    }
}
