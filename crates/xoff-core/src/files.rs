//! Files that a scenario names: traffic, networks.

use std::io;
use std::path::{Path, PathBuf};

use crate::digest::bytes_digest;

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

impl dyn Files + '_ {
    /// The contents of the file that the setting `key` names.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn bytes_of(&self, key: &str, name: &str) -> Result<Vec<u8>, String> {
        let path = self.path(name);
        self.read(&path).map_err(|error| refused(key, name, &path, &error))
    }

    /// The text of the file that the setting `key` names.
    ///
    /// # Errors
    /// Why it cannot be read, or that it is no text.
    pub fn text_of(&self, key: &str, name: &str) -> Result<String, String> {
        let path = self.path(name);
        self.text(&path).map_err(|error| refused(key, name, &path, &error))
    }
}

fn refused(key: &str, name: &str, path: &Path, error: &io::Error) -> String {
    format!("{key} = {name:?}: {}: {error}", path.display())
}

/// What a scenario records of a file with these contents: other contents are another scenario.
#[must_use]
pub fn digest_of(contents: impl AsRef<[u8]>) -> Vec<(&'static str, String)> {
    vec![("digest", format!("{:016x}", bytes_digest(contents.as_ref())))]
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
