//! Folders with keys and configurations.

use std::fs::{self, Permissions};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is deleted at the end.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("xoff-allocator-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// Writes the key of an endpoint.
    pub(crate) fn key(&self, id: u32) -> PathBuf {
        self.write(&format!("{id}.key"), &format!("{}\n", key_text(id)), 0o600)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn key_text(id: u32) -> String {
    format!("{:064x}", u128::from(id) + 0xABCD)
}

/// A port that was free.
pub(crate) fn free() -> SocketAddr {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Two endpoints at these addresses behind one switch of 10 Gbit/s; `more` are further settings.
pub(crate) fn config(
    place: &Place,
    listen: SocketAddr,
    endpoints: [SocketAddr; 2],
    more: &str,
    rest: &str,
) -> PathBuf {
    let mut text = format!("listen = \"{listen}\"\n{more}\n");
    text += "[network]\nkind = \"big-switch\"\nrate = \"10Gbps\"\n";
    for (id, address) in endpoints.iter().enumerate() {
        place.key(id as u32);
        text += &format!("[[endpoint]]\nid = {id}\naddress = \"{address}\"\nkey = \"{id}.key\"\n");
    }
    place.write(&format!("{}.toml", listen.port()), &(text + rest), 0o644)
}

pub(crate) fn read(path: &Path) -> xoff_allocator::Config {
    xoff_allocator::Config::read(path).unwrap()
}
