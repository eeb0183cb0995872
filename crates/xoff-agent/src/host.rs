//! What the agent changes on a host.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::closer::Closer;
use crate::name::Name;

/// The setting that names the congestion control of new sockets.
pub const CONGESTION_CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// The setting that lets bursts grow on short paths: by default a socket with a round trip below
/// 0.5 ms sends 64 KB at once, at any rate. 0 leaves bursts to the pacing rate.
pub const TSO_RTT_LOG: &str = "/proc/sys/net/ipv4/tcp_tso_rtt_log";

/// Reads a setting of the thread's network namespace.
///
/// # Errors
/// The kernel has no such setting.
pub fn read_setting(path: &str) -> io::Result<String> {
    let value = fs::read_to_string(path).map_err(|error| named(path, &error))?;
    Ok(value.trim_end().to_owned())
}

/// Writes a setting of the thread's network namespace.
///
/// # Errors
/// The kernel refuses the value, or the process may not write it.
pub fn write_setting(path: &str, value: &str) -> io::Result<()> {
    fs::write(path, value).map_err(|error| named(path, &error))
}

fn named(path: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}

/// The paths of each network namespace, of processes and of names, by its inode.
fn namespaces() -> BTreeMap<u64, Vec<PathBuf>> {
    let of_processes = processes().map(|pid| PathBuf::from(format!("/proc/{pid}/ns/net")));
    let folder = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let with_names = folder.map(|entry| entry.path());
    // A process or a name may be gone by now: it is left out.
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for path in of_processes.chain(with_names) {
        if let Ok(about) = fs::metadata(&path) {
            found.entry(about.ino()).or_default().push(path);
        }
    }
    found
}

fn processes() -> impl Iterator<Item = i32> {
    let folder = fs::read_dir("/proc").into_iter().flatten().flatten();
    folder.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The inode of the network namespace of this process.
///
/// # Errors
/// There is no `/proc`.
pub fn own_namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/self/ns/net").map_err(|error| named("/proc/self/ns/net", &error))?.ino())
}

/// Calls a function in every network namespace, in a thread of its own, with the inode.
///
/// # Errors
/// Those of the function, or that a namespace cannot be entered, with the namespace; the others are
/// visited all the same.
pub(crate) fn in_each_namespace(
    mut call: impl FnMut(u64) -> io::Result<()> + Send,
) -> io::Result<()> {
    let visit = || {
        let mut result = Ok(());
        for (inode, paths) in namespaces() {
            let called = match enter_any(&paths) {
                Ok(Some(path)) => {
                    call(inode).map_err(|error| named(&path.to_string_lossy(), &error))
                }
                // A namespace that is gone has nothing to undo.
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            result = result.and(called);
        }
        result
    };
    // The thread stays in the last namespace, and ends.
    std::thread::scope(|scope| {
        std::thread::Builder::new().spawn_scoped(scope, visit)?.join().expect("no panic")
    })
}

/// Moves the thread into a network namespace by one of its paths: processes may end meanwhile.
/// Returns that path, and none if the namespace is gone.
fn enter_any(paths: &[PathBuf]) -> io::Result<Option<&Path>> {
    let mut result = Ok(None);
    for path in paths {
        match enter(path) {
            Ok(true) => return Ok(Some(path)),
            Ok(false) => {}
            Err(error) => result = Err(named(&path.to_string_lossy(), &error)),
        }
    }
    result
}

/// Moves the thread into a network namespace; false if there is none at this path any more.
fn enter(path: &Path) -> io::Result<bool> {
    let entered = fs::File::open(path).and_then(|file| {
        let kind = Some(LinkNameSpaceType::Network);
        Ok(move_into_link_name_space(file.as_fd(), kind)?)
    });
    let Err(error) = entered else { return Ok(true) };
    // A name without a namespace, as `ip netns` may leave, is no valid argument.
    let is_none =
        matches!(Errno::from_io_error(&error), Some(Errno::NOENT | Errno::SRCH | Errno::INVAL));
    if is_none || fs::symlink_metadata(path).is_err() { Ok(false) } else { Err(error) }
}

/// Takes a congestion control out of use, in all network namespaces: it is no longer the default of
/// any, and sockets that have it get `successor`.
///
/// # Errors
/// A setting or a socket could not be changed; the others are.
pub fn retire(name: &Name, successor: &str) -> io::Result<()> {
    let settings = in_each_namespace(|_| {
        if read_setting(CONGESTION_CONTROL)? == name.as_str() {
            write_setting(CONGESTION_CONTROL, successor)?;
        }
        Ok(())
    });
    #[cfg(feature = "bpf")]
    let connections = crate::retire::Retire::load(name, successor)
        .and_then(|retire| in_each_namespace(|_| retire.run()));
    #[cfg(not(feature = "bpf"))]
    let connections = Ok(());
    retire_sockets_of_processes(name, successor);
    settings.and(connections)
}

/// Gives sockets of processes another congestion control. This finds sockets that are not connected
/// yet. It does not find connections that no process has accepted.
fn retire_sockets_of_processes(name: &Name, successor: &str) {
    for pid in processes() {
        let visited = each_socket_of(pid, |socket| {
            if sockopt::tcp_congestion(socket).is_ok_and(|found| found == name.as_str()) {
                // The connection may be closed by now.
                let _ = sockopt::set_tcp_congestion(socket, successor);
            }
        });
        // A security module may forbid to copy sockets. Without a rate they are under CUBIC, also
        // if they keep the congestion control.
        let _ = visited;
    }
}

/// Calls a function with a copy of each socket of a process. There is one copy at a time, as a
/// process may have more sockets than this one may have descriptors. A process that has ended has
/// none.
///
/// # Errors
/// A socket could not be copied; the function is called with the others.
pub(crate) fn each_socket_of(pid: i32, mut call: impl FnMut(BorrowedFd<'_>)) -> io::Result<()> {
    let Some(process) = Pid::from_raw(pid) else { return Ok(()) };
    let handle = match pidfd_open(process, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(()),
        handle => handle?,
    };
    let mut result = Ok(());
    let closer = Closer::default();
    for number in socket_numbers(pid)? {
        if closer.is_stuck() {
            let what = format!("process {pid} has files for sockets that cannot be closed");
            return result.and(Err(io::Error::other(what)));
        }
        match pidfd_getfd(&handle, number, PidfdGetfdFlags::empty()) {
            // Another file may have taken the socket's place.
            Ok(copy) => {
                if let Some(socket) = closer.only_socket(copy) {
                    call(socket.as_fd());
                }
            }
            // It was closed, or the process has ended.
            Err(Errno::BADF | Errno::SRCH) => {}
            Err(error) => {
                let what = format!("cannot copy socket {number} of process {pid}: {error}");
                result = result.and(Err(io::Error::new(error.kind(), what)));
            }
        }
    }
    result
}

/// The descriptors of a process that are sockets; none if it has ended.
///
/// # Errors
/// They cannot be listed.
pub(crate) fn socket_numbers(pid: i32) -> io::Result<Vec<i32>> {
    let path = format!("/proc/{pid}/fd");
    let folder = match fs::read_dir(&path) {
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NOENT | Errno::SRCH)) => {
            return Ok(Vec::new());
        }
        folder => folder.map_err(|error| named(&path, &error))?,
    };
    let sockets =
        folder.flatten().filter(|entry| fs::read_link(entry.path()).is_ok_and(|to| is_socket(&to)));
    Ok(sockets.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

fn is_socket(target: &Path) -> bool {
    target.to_str().is_some_and(|text| text.starts_with("socket:["))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_namespace_that_is_gone_is_left_out() {
        let path = std::env::temp_dir().join(format!("xoff-{}-namespace", std::process::id()));
        assert!(!enter(&path).unwrap());
        fs::write(&path, "").unwrap();
        assert!(!enter(&path).unwrap());
        fs::remove_file(&path).unwrap();
        // It is there, and cannot be opened.
        std::os::unix::fs::symlink(&path, &path).unwrap();
        assert!(enter(&path).is_err());
        // The process with the first path has ended.
        let ended = PathBuf::from("/proc/0/ns/net");
        assert!(enter_any(&[ended.clone(), path.clone()]).is_err());
        assert_eq!(enter_any(&[ended]).unwrap(), None);
        fs::remove_file(path).unwrap();
    }
}
