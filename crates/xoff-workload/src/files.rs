//! Files with traffic.

use std::io;
use std::path::{Path, PathBuf};

/// A way to read the files that a scenario names.
pub trait Files {
    /// The path of a file, by its name in the scenario.
    fn path(&self, name: &str) -> PathBuf;

    /// Reads a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Reads a file with text.
    ///
    /// # Errors
    /// Why it cannot be read, or that it is not in UTF-8.
    fn text(&self, path: &Path) -> io::Result<String> {
        let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8");
        String::from_utf8(self.read(path)?).map_err(no_text)
    }
}

/// A folder whose files may have any size.
impl Files for &Path {
    fn path(&self, name: &str) -> PathBuf {
        self.join(name)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}
