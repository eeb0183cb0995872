//! Files where mutation begins.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Target;

/// Folder of this crate.
const CRATE: &str = env!("CARGO_MANIFEST_DIR");

impl Target {
    /// The paths of its seeds: its own folder, then others, in the order of their names.
    ///
    /// # Panics
    /// If a folder cannot be read.
    #[must_use]
    pub fn seed_paths(&self) -> Vec<PathBuf> {
        let own = Path::new(CRATE).join("seeds").join(self.name);
        let mut found = files(&own, "");
        for (folder, end) in self.more_seeds {
            found.extend(files(&Path::new(CRATE).join("../..").join(folder), end));
        }
        found
    }

    /// The contents of its seeds.
    ///
    /// # Panics
    /// If one cannot be read.
    #[must_use]
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let read = |path: PathBuf| {
            fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        self.seed_paths().into_iter().map(read).collect()
    }
}

fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.is_file() && path.to_string_lossy().ends_with(end)).collect();
    found.sort();
    found
}
