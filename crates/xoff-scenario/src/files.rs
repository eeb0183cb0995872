//! Files that a scenario names.

use std::cell::Cell;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

use xoff_core::Files;

use crate::resources::Memory;

/// Bytes of memory per byte of such a file: a line of a list is a flow.
const BYTES_PER_BYTE: u64 = 8;

/// The folder of a scenario with its files, which must fit into memory together.
pub(crate) struct Folder<'a> {
    path: &'a Path,
    memory: Memory,
    /// Bytes of the files read so far: what is in them stays in memory.
    read: Cell<u64>,
}

impl<'a> Folder<'a> {
    pub(crate) fn new(path: &'a Path, memory: Memory) -> Self {
        Self { path, memory, read: Cell::new(0) }
    }
}

impl Files for Folder<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let before = self.read.get();
        let most = (self.memory.bytes() / BYTES_PER_BYTE).saturating_sub(before);
        let mut found = Vec::new();
        File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut found)?;
        let all = before + found.len() as u64;
        self.read.set(all);
        let what = if before == 0 { "it" } else { "it, with the files before it," };
        match self.memory.check(what, u128::from(all) * u128::from(BYTES_PER_BYTE)) {
            Ok(()) => Ok(found),
            Err(message) => Err(Error::new(ErrorKind::FileTooLarge, message)),
        }
    }
}

/// Reads a file with text, if its contents fit into memory.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn read(path: &Path, memory: Memory) -> Result<String> {
    Folder::new(Path::new(""), memory).text(path)
}

#[cfg(test)]
mod tests {
    use xoff_core::Bytes;

    use super::*;

    /// A trace has a file per rank, and all are held.
    #[test]
    fn files_must_fit_into_memory_together() {
        let path = std::env::temp_dir().join(format!("xoff-folder-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let file = path.join("trace.0.et");
        std::fs::write(&file, [0; 1000]).unwrap();
        let folder = Folder::new(&path, Memory::given(Bytes(20_000)));
        assert_eq!(folder.read(&file).unwrap().len(), 1000);
        assert_eq!(folder.read(&file).unwrap().len(), 1000);
        let error = folder.read(&file).unwrap_err();
        let said = "it, with the files before it, needs about 20 KB of memory; the limit is 20 KB";
        assert!(error.to_string().starts_with(said), "{error}");
        std::fs::remove_dir_all(&path).unwrap();
    }
}
