//! Files to import. An importer opens each file only when it needs the content, so the files need not be in memory
//! together.

use super::Input;
use crate::json::Hasher;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, OnceLock};

/// A readable content.
type Stream = Box<dyn Read + Send>;

/// A file to import that can be read several times. Engines do not access files: the caller says how to open it.
#[derive(Clone)]
pub struct FileSource {
    /// Name of the file, for messages.
    pub name: String,
    open: Arc<dyn Fn() -> io::Result<Stream> + Send + Sync>,
    sha256: Arc<OnceLock<String>>,
}

impl fmt::Debug for FileSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

impl FileSource {
    /// Returns a file that `open` opens.
    pub fn new(name: String, open: impl Fn() -> io::Result<Stream> + Send + Sync + 'static) -> Self {
        Self { name, open: Arc::new(open), sha256: Arc::default() }
    }

    /// Returns a file in memory.
    pub fn of(input: &Input) -> Self {
        let bytes: Arc<[u8]> = input.bytes.as_slice().into();
        Self::new(input.name.clone(), move || Ok(Box::new(Cursor::new(Arc::clone(&bytes)))))
    }

    /// Returns the content from its start. Once the content has been read to its end, [`Self::sha256`] does not read it
    /// again.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn reader(&self) -> io::Result<impl Read + Send + use<>> {
        Ok(Hashing {
            inner: (self.open)()?,
            hasher: Some(Hasher::default()),
            sha256: Arc::clone(&self.sha256),
        })
    }

    /// Returns the first bytes, at most `most`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn head(&self, most: usize) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        (self.open)()?.take(most as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    /// Returns the whole content, cut off after `most` + 1 bytes: a result of more than `most` bytes shows that the
    /// file is too large.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn load(&self, most: u64) -> io::Result<Input> {
        let mut bytes = Vec::new();
        (self.open)()?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(Input { name: self.name.clone(), bytes })
    }

    /// Returns the SHA-256 of the content.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn sha256(&self) -> io::Result<String> {
        if let Some(known) = self.sha256.get() {
            return Ok(known.clone());
        }
        io::copy(&mut self.reader()?, &mut io::sink())?;
        Ok(self.sha256.get().cloned().unwrap_or_default())
    }
}

/// A reader that hashes the bytes that pass through it, and stores the hash when the content has been read to its end.
struct Hashing {
    inner: Stream,
    hasher: Option<Hasher>,
    sha256: Arc<OnceLock<String>>,
}

impl Read for Hashing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read > 0
            && let Some(hasher) = &mut self.hasher
        {
            hasher.update(&buffer[..read]);
        } else if read == 0
            && !buffer.is_empty()
            && let Some(hasher) = self.hasher.take()
        {
            // An error means that another reader has set the hash; it has read the same content, so the hash is the
            // same.
            let _ = self.sha256.set(hasher.finish());
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::sha256_hex;

    #[test]
    fn a_source_is_hashed_while_it_is_read() {
        let input = Input { name: "a".to_owned(), bytes: vec![7; 100_000] };
        let source = FileSource::of(&input);
        assert_eq!(source.head(3).unwrap(), [7, 7, 7]);
        let mut read = Vec::new();
        source.reader().unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(read, input.bytes);
        assert_eq!(source.sha256.get().cloned(), Some(sha256_hex(&input.bytes)));
        assert_eq!(FileSource::of(&input).sha256().unwrap(), sha256_hex(&input.bytes));
        assert_eq!(source.load(9).unwrap().bytes.len(), 10);
    }
}
