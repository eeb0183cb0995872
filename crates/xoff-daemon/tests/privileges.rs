//! Key files, and giving up privileges. What needs root is skipped without it, and says so.
#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use xoff_daemon::{CapabilitySet, User, give_up_privileges, read_key};

const KEY: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A folder that is deleted at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("xoff-daemon-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, text: &str, mode: u32) -> PathBuf {
        let path = self.0.join("key");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_root() -> bool {
    let is_root = nix::unistd::Uid::effective().is_root();
    if !is_root {
        eprintln!("skipped: needs root");
    }
    is_root
}

fn error(path: &Path) -> String {
    read_key(path, None).unwrap_err()
}

#[test]
fn a_key_is_refused_unless_only_its_owner_has_access() {
    let folder = Folder::new("modes");
    assert!(read_key(&folder.write(KEY, 0o600), None).is_ok());
    for mode in [0o640, 0o604, 0o620, 0o660, 0o610] {
        let said = error(&folder.write(KEY, mode));
        assert!(said.contains("chmod 600") && !said.contains(KEY), "{said}");
    }
    assert!(error(&folder.write("0123", 0o600)).contains("64 hexadecimal digits"));
    assert!(error(&folder.0).contains("is no file"));
    assert!(error(&folder.0.join("none")).contains("No such file"));
}

#[test]
fn a_key_belongs_to_the_user_of_the_daemon() {
    if !is_root() {
        return;
    }
    let folder = Folder::new("owners");
    let path = folder.write(KEY, 0o600);
    let (daemon, another) = (User::find("daemon").unwrap(), User::find("bin").unwrap());
    assert!(read_key(&path, Some(&daemon)).is_ok());
    chown(&path, Some(daemon.uid()), None).unwrap();
    assert!(read_key(&path, Some(&daemon)).is_ok());
    for other in [None, Some(&another)] {
        let said = read_key(&path, other).unwrap_err();
        assert!(said.contains(&format!("user {} owns this key", daemon.uid())), "{said}");
    }
}

#[test]
fn users_have_a_name_and_no_privileges() {
    assert!(User::find("root").unwrap_err().contains("without privileges"));
    assert!(User::find("no-such-user").unwrap_err().contains("there is no such user"));
}

/// Tests with this name run in a process of their own, which may not come back.
fn in_a_process_of_its_own(test: &str) {
    if is_root() {
        let program = std::env::current_exe().unwrap();
        let arguments = ["--exact", test, "--ignored", "--nocapture"];
        assert!(Command::new(program).args(arguments).status().unwrap().success());
    }
}

/// The line of this thread's status with this name.
fn status(name: &str) -> String {
    let text = fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
    line.unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn privileges_are_given_up_for_good() {
    in_a_process_of_its_own("child_gives_up_privileges");
}

#[test]
#[ignore = "changes its process: privileges_are_given_up_for_good runs it"]
fn child_gives_up_privileges() {
    let user = User::find("daemon").unwrap();
    give_up_privileges(Some(&user), CapabilitySet::SYS_PTRACE).unwrap();
    let id = user.uid();
    assert_eq!(status("Uid"), format!("{id} {id} {id} {id}"));
    assert_eq!((status("Groups"), status("NoNewPrivs")), (String::new(), "1".into()));
    let ptrace = format!("{:016x}", 1 << 19);
    assert_eq!((status("CapEff"), status("CapPrm")), (ptrace.clone(), ptrace));
    assert_eq!(status("CapInh"), "0000000000000000");
    assert!(nix::unistd::setuid(nix::unistd::Uid::from_raw(0)).is_err());
    // Again: it is this user already.
    give_up_privileges(Some(&user), CapabilitySet::empty()).unwrap();
    assert_eq!(status("CapPrm"), "0000000000000000");
}
