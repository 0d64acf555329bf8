//! The input of every reader: unpacks gzip, which it recognises by magic bytes, and limits the unpacked size.
//!
//! The limit keeps a small malicious file from becoming a large one in memory; it applies to plain input too. JSON is
//! parsed only by [`StoredText::json`], which limits the memory of the tree by the size of the stored file.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use lightbay_core::problem::Problem;
use lightbay_core::read::parse_stored_json;
use serde_json::Value;
use std::cell::Cell;
use std::rc::Rc;

/// Limits on the size of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes after decompression (or of the plain file).
    pub content_bytes: u64,
    /// Maximum number of bytes of one line.
    pub line_bytes: usize,
    /// Maximum number of rows of a table.
    pub rows: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { content_bytes: 256 << 20, line_bytes: 1 << 20, rows: 1_000_000 }
    }
}

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// An input after decompression.
pub struct Unpacked<'a> {
    /// `true` if the file was gzip-compressed.
    pub compressed: bool,
    /// The plain content; reading more than the limit is an error of kind `FileTooLarge`.
    pub reader: Box<dyn BufRead + 'a>,
    /// Number of bytes read so far from the stored file.
    stored: Rc<Cell<u64>>,
}

/// Text of a whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredText {
    /// The text, unpacked.
    pub text: String,
    /// Bytes of the stored file.
    stored: u64,
}

impl StoredText {
    /// Parses the text, or a part of it, as JSON. A small compressed file must not become a large tree in memory.
    ///
    /// # Errors
    /// Anything that is not JSON, and trees that are too large for the file.
    pub fn json(&self, part: &str) -> Result<Value, Problem> {
        parse_stored_json(part.as_bytes(), self.stored.min(self.text.len() as u64))
    }
}

impl Unpacked<'_> {
    /// Reads the whole content as text.
    ///
    /// # Errors
    /// Content that cannot be read, is longer than the cap, or is not UTF-8.
    pub fn into_text(mut self) -> Result<StoredText, Problem> {
        let mut bytes = Vec::new();
        self.reader.read_to_end(&mut bytes).map_err(|error| io_problem("", &error))?;
        let marked = bytes.starts_with(b"\xef\xbb\xbf");
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = String::from_utf8_lossy(before).matches('\n').count() + 1;
            let remedy = "save the file as UTF-8, or check that it is the intended file";
            Problem::new(format!("line {line}"), "is not UTF-8 text", remedy)
        })?;
        let text = if marked { text.trim_start_matches('\u{feff}').to_owned() } else { text };
        Ok(StoredText { text, stored: self.stored.get() })
    }
}

/// Unpacks `reader` if it starts with the gzip magic bytes.
///
/// # Errors
/// The first read failed.
pub fn unpack<'a>(mut reader: impl BufRead + 'a, limits: &Limits) -> Result<Unpacked<'a>, Problem> {
    let mut magic = [0_u8; 2];
    let mut filled = 0;
    while filled < magic.len() {
        match reader.read(&mut magic[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io_problem("", &error)),
        }
    }
    let compressed = filled == 2 && magic == MAGIC;
    let stored = Rc::new(Cell::new(0));
    let whole = Cursor::new(magic).take(filled as u64).chain(reader);
    let whole = Counted { inner: whole, read: Rc::clone(&stored) };
    let reader: Box<dyn BufRead + 'a> = if compressed {
        let decoded = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(whole));
        Box::new(Capped::new(decoded, limits.content_bytes))
    } else {
        Box::new(Capped::new(whole, limits.content_bytes))
    };
    Ok(Unpacked { compressed, reader, stored })
}

/// Reads and unpacks the whole content; fails if it has more than `most` bytes.
///
/// # Errors
/// Content that cannot be read or is longer than `most` bytes.
pub fn bytes(reader: impl BufRead, limits: &Limits, most: u64) -> Result<Vec<u8>, Problem> {
    let limits = Limits { content_bytes: limits.content_bytes.min(most), ..*limits };
    let mut bytes = Vec::new();
    let read = unpack(reader, &limits)?.reader.read_to_end(&mut bytes);
    read.map_err(|error| io_problem("", &error))?;
    Ok(bytes)
}

/// Reads and unpacks the whole content as text; fails if it has more than `most` bytes.
///
/// # Errors
/// Content that cannot be read, is longer than `most` bytes, or is not UTF-8.
pub fn text(reader: impl BufRead, limits: &Limits, most: u64) -> Result<String, Problem> {
    Ok(stored_text(reader, limits, most)?.text)
}

/// Reads like [`text`], and also returns the size of the stored file, for texts that are JSON or contain JSON.
///
/// # Errors
/// As [`text`].
pub fn stored_text(reader: impl BufRead, limits: &Limits, most: u64) -> Result<StoredText, Problem> {
    let limits = Limits { content_bytes: limits.content_bytes.min(most), ..*limits };
    unpack(reader, &limits)?.into_text()
}

/// Reads and unpacks the whole content as JSON; fails if it has more than `most` bytes.
///
/// # Errors
/// As [`text`] and [`StoredText::json`].
pub fn json(reader: impl BufRead, limits: &Limits, most: u64) -> Result<Value, Problem> {
    let found = stored_text(reader, limits, most)?;
    found.json(&found.text)
}

/// Returns the problem, with its remedy, for an I/O error of an input.
pub(crate) fn io_problem(path: &str, error: &io::Error) -> Problem {
    let remedy = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed file is cut off; copy it again",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            "the compressed file is damaged; copy it again or unpack it with 'gunzip'"
        }
        io::ErrorKind::FileTooLarge => "split the file, or omit repeated iterations",
        _ => "check that the file is readable",
    };
    Problem::new(path, format!("cannot be read: {error}"), remedy)
}

/// A reader that counts the bytes read from it.
struct Counted<R> {
    inner: R,
    read: Rc<Cell<u64>>,
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.read.set(self.read.get() + amount as u64);
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let n = available.len().min(out.len());
        out[..n].copy_from_slice(&available[..n]);
        self.consume(n);
        Ok(n)
    }
}

/// A reader that passes on the first `cap` bytes of an input, and fails if the input has more bytes.
struct Capped<R> {
    inner: R,
    cap: u64,
    left: u64,
}

impl<R> Capped<R> {
    const fn new(inner: R, cap: u64) -> Self {
        Self { inner, cap, left: cap }
    }
}

impl<R: BufRead> BufRead for Capped<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let available = self.inner.fill_buf()?;
        if self.left == 0 && !available.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("more than '{}' bytes", self.cap),
            ));
        }
        let shown = usize::try_from(self.left).unwrap_or(usize::MAX).min(available.len());
        Ok(&available[..shown])
    }

    fn consume(&mut self, amount: usize) {
        self.left = self.left.saturating_sub(amount as u64);
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Read for Capped<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let n = available.len().min(out.len());
        out[..n].copy_from_slice(&available[..n]);
        self.consume(n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read_all(bytes: &[u8], cap: u64) -> (bool, io::Result<Vec<u8>>) {
        let limits = Limits { content_bytes: cap, ..Limits::default() };
        let mut content = unpack(bytes, &limits).unwrap();
        let mut out = Vec::new();
        let result = content.reader.read_to_end(&mut out).map(|_| out);
        (content.compressed, result)
    }

    #[test]
    fn plain_and_packed_read_the_same() {
        for text in [&b""[..], b"a", b"ab", b"hello\nworld\n"] {
            let (compressed, out) = read_all(text, 1000);
            assert!(!compressed);
            assert_eq!(out.unwrap(), text);
            let (compressed, out) = read_all(&gzip(text), 1000);
            assert!(compressed);
            assert_eq!(out.unwrap(), text);
        }
    }

    #[test]
    fn members_written_one_after_the_other_are_one_file() {
        let two = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(read_all(&two, 1000).1.unwrap(), b"one two");
    }

    #[test]
    fn a_bomb_stops_at_the_cap() {
        let bomb = gzip(&vec![0_u8; 10_000_000]);
        assert!(bomb.len() < 20_000);
        let error = read_all(&bomb, 4096).1.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        // Exactly the cap is allowed.
        assert_eq!(read_all(&gzip(&[7; 4096]), 4096).1.unwrap().len(), 4096);
        assert_eq!(read_all(&[7; 4097], 4096).1.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    /// 20 MB of brackets and zeros take some 20 kB as gzip, and 700 MB as a tree.
    #[test]
    fn a_small_file_is_no_large_tree() {
        let text = format!("[{}0]", "0,".repeat(10_000_000));
        let packed = gzip(text.as_bytes());
        assert!(packed.len() < 40_000);
        let told = json(packed.as_slice(), &Limits::default(), u64::MAX).unwrap_err().to_string();
        assert!(told.contains("contains too many values"), "{told}");
        // Uncompressed, the text has the stated size.
        let plain = "[0, 1]".as_bytes();
        assert_eq!(
            json(gzip(plain).as_slice(), &Limits::default(), u64::MAX).unwrap(),
            serde_json::json!([0, 1])
        );
        let found = stored_text(text.as_bytes(), &Limits::default(), u64::MAX).unwrap();
        assert_eq!(found.stored, text.len() as u64);
    }

    #[test]
    fn a_cut_file_says_so() {
        let whole = gzip(b"some content that is long enough to be cut");
        let error = read_all(&whole[..whole.len() - 12], 1000).1.unwrap_err();
        let problem = io_problem("line 1", &error);
        assert!(problem.remedy.contains("copy it again"), "{problem}");
    }
}
