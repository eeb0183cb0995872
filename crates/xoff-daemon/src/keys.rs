//! Key files.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::unistd::Uid;
use xoff_control::Key;

use crate::User;

/// Reads a key file: 64 hexadecimal digits. Only its owner may have access to it: the user of this
/// process, or the user that the process becomes.
///
/// # Errors
/// What is wrong with it, and what to do. The key is in no message.
pub fn read_key(path: &Path, becomes: Option<&User>) -> Result<Key, String> {
    let name = path.display();
    let failed = |error| format!("{name}: {error}");
    // What is checked is what is read: the open file, not its name.
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(format!("{name}: is no file"));
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(format!(
            "{name}: group or others have access to this key (mode {mode:03o}); \
             run `chmod 600 {name}`, and replace the key if others could read it"
        ));
    }
    let (owner, own) = (metadata.uid(), Uid::effective().as_raw());
    if owner != own && becomes.is_none_or(|user| owner != user.uid()) {
        return Err(format!(
            "{name}: user {owner} owns this key, and the daemon is started by user {own}; \
             run `chown {own} {name}`, or start it as user {owner}"
        ));
    }
    let mut text = String::new();
    let read = file.by_ref().take(200).read_to_string(&mut text).map_err(failed);
    read.and_then(|_| {
        Key::parse(&text).ok_or_else(|| {
            format!(
                "{name}: a key is 64 hexadecimal digits, not all 0; \
                 make one with `openssl rand -hex 32`"
            )
        })
    })
}
