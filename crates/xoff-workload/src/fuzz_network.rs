//! The network that fuzzers offer traffic to.

use std::io;
use std::path::{Path, PathBuf};

use xoff_core::{BitRate, Files};

use crate::{Capacity, Context, TrafficSettings};

/// Hosts of the network.
pub(crate) const HOSTS: u32 = 16;

/// Files by their names.
struct Given<'a>(&'a [(&'a str, &'a [u8])]);

impl Files for Given<'_> {
    fn path(&self, name: &str) -> PathBuf {
        name.into()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let found = self.0.iter().find(|(name, _)| path == Path::new(name));
        found.map(|(_, contents)| contents.to_vec()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Checks that a network of [`HOSTS`] hosts can have a source with these files.
pub(crate) fn offer(config: &dyn TrafficSettings, files: &[(&str, &[u8])]) -> Result<(), String> {
    let host_rates = vec![BitRate::from_gbps(100); HOSTS as usize];
    let capacity = Capacity::new(BitRate::from_gbps(400), host_rates);
    let context =
        Context { capacity: &capacity, seed: 1, source: 0, files: &Given(files), one_class: None };
    config.offer(&context).map(drop)
}
