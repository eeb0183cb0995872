//! Files that a scenario names: traffic, networks.

use std::io;
use std::path::{Path, PathBuf};

use crate::digest::text_digest;

/// A way to read the files that a scenario names.
pub trait Files {
    /// The path of a file, by its name in the scenario.
    fn path(&self, name: &str) -> PathBuf;

    /// Reads a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&self, path: &Path) -> io::Result<String>;
}

impl dyn Files + '_ {
    /// The text of the file that the setting `file` names.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn text_of(&self, file: &str) -> Result<String, String> {
        let path = self.path(file);
        let error = |error| format!("file = {file:?}: {}: {error}", path.display());
        self.read(&path).map_err(error)
    }
}

/// What a scenario records of a file with this text: other contents are another scenario.
#[must_use]
pub fn digest_of(text: &str) -> Vec<(&'static str, String)> {
    vec![("digest", format!("{:016x}", text_digest(text)))]
}

/// A folder whose files may have any size.
impl Files for &Path {
    fn path(&self, name: &str) -> PathBuf {
        self.join(name)
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }
}
