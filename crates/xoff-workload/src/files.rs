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
    fn read(&self, path: &Path) -> io::Result<String>;
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
