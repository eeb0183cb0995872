//! Files that a scenario names.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

use xoff_core::Files;

use crate::resources::Memory;

/// Bytes of memory per byte of such a file: a line of a list is a flow.
const BYTES_PER_BYTE: u64 = 8;

/// The folder of a scenario with its files, which must fit into memory.
pub(crate) struct Folder<'a> {
    pub(crate) path: &'a Path,
    pub(crate) memory: Memory,
}

impl Files for Folder<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        bytes(path, self.memory)
    }
}

/// Reads a file with text, if its contents fit into memory.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn read(path: &Path, memory: Memory) -> Result<String> {
    Folder { path: Path::new(""), memory }.text(path)
}

fn bytes(path: &Path, memory: Memory) -> Result<Vec<u8>> {
    let most = memory.bytes() / BYTES_PER_BYTE;
    let mut found = Vec::new();
    let length = File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut found)?;
    match memory.check("it", length as u128 * u128::from(BYTES_PER_BYTE)) {
        Ok(()) => Ok(found),
        Err(message) => Err(Error::new(ErrorKind::FileTooLarge, message)),
    }
}
