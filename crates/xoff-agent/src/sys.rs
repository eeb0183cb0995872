//! System calls that have no safe wrapper.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The two processes after [`fork`].
pub(crate) enum Forked {
    /// The caller; the number is the new process.
    Parent(i32),
    /// The new process.
    Child,
}

/// Duplicates the process.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the child runs the agent's loop, which takes no lock that another thread of the
    // parent could hold: other threads only close files (`closer.rs`), and the C library's
    // allocator is made for forks. It ends with `exit_now`, so it never returns into the caller's
    // runtime.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        child => Ok(Forked::Parent(child)),
    }
}

/// Ends the process without what the parent's runtime would do at its exit.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Limits the rate at which the kernel sends a socket's payload, in bytes per second; `u64::MAX`
/// is no limit.
pub(crate) fn set_max_pacing_rate(socket: BorrowedFd<'_>, rate: u64) -> io::Result<()> {
    let size = size_of::<u64>() as libc::socklen_t;
    let fd = socket.as_raw_fd();
    // SAFETY: the pointer is to a value of the given size, which lives during the call.
    let result = unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const rate).cast(),
            size,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What [`set_max_pacing_rate`] has set.
#[cfg(test)]
pub(crate) fn max_pacing_rate(socket: BorrowedFd<'_>) -> u64 {
    let (mut rate, mut size) = (0u64, size_of::<u64>() as libc::socklen_t);
    // SAFETY: the call writes at most `size` bytes to `rate`, and the size to `size`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw mut rate).cast(),
            &raw mut size,
        )
    };
    assert_eq!((result, size), (0, 8));
    rate
}

/// Bytes in a TCP socket's send buffer that are not acknowledged (`SIOCOUTQ`, the same number as
/// `TIOCOUTQ`).
pub(crate) fn unacknowledged_bytes(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the call writes one `int` to the pointer, which is valid for it.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == 0 { Ok(bytes.max(0) as u64) } else { Err(io::Error::last_os_error()) }
}

/// A handle of the process that has connected to a Unix socket (Linux 6.5 and later). It stays that
/// of this process, also if the process ends and its number is used again.
pub(crate) fn peer_process(stream: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut handle: libc::c_int = -1;
    let mut size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the call writes at most `size` bytes to `handle`, and the size to `size`.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERPIDFD,
            (&raw mut handle).cast(),
            &raw mut size,
        )
    };
    if result == 0 {
        // SAFETY: the kernel has opened the descriptor for this call.
        Ok(unsafe { OwnedFd::from_raw_fd(handle) })
    } else {
        Err(io::Error::last_os_error())
    }
}
