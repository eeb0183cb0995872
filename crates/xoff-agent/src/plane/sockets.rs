//! A data plane without eBPF: sockets of given processes are polled for their backlog and paced by
//! `SO_MAX_PACING_RATE`.
//!
//! Flowlets shorter than the [`INTERVAL`] may not be seen, and a start is seen late by up to that
//! time. New sockets are found each [`SCAN`]. Rates have no lease: if the agent and its
//! keeper are killed, sockets keep their last rate until they are closed, or until
//! [`cleanup`](crate::cleanup). A limit that the application set itself is lost. What a socket has
//! not sent when it is closed leaves at its last rate, after its flowlet has ended.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::fs::fstat;
use rustix::net::{AddressFamily, SocketType, getpeername, getsockname, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::{Connection, DataPlane, Event};
use crate::{clock::now_ns, closer::Closer, host, sys};

/// How often backlogs are looked at.
pub const INTERVAL: Duration = Duration::from_millis(1);
/// How often new sockets are looked for.
pub const SCAN: Duration = Duration::from_millis(20);
pub(super) const UNLIMITED: u64 = u64::MAX;

/// A connection of a process.
#[derive(Debug)]
struct Socket {
    connection: Connection,
    identity: Identity,
    flowlet: Option<u64>,
    /// True if it could not be paced: it is left alone.
    is_lost: bool,
}

/// What tells a socket from every other file. Other file systems have inodes of the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// Sockets of processes.
#[derive(Debug)]
pub struct SocketsPlane {
    processes: Vec<(i32, OwnedFd)>,
    /// By process, as an index, and descriptor.
    sockets: BTreeMap<(usize, i32), Socket>,
    of_flowlet: BTreeMap<u64, (usize, i32)>,
    last_flowlet: u64,
    poll_due_ns: u64,
    scan_due_ns: u64,
    closer: Closer,
}

impl SocketsPlane {
    /// Watches processes.
    ///
    /// # Errors
    /// There is no such process.
    pub fn open(processes: &[i32]) -> io::Result<Self> {
        let open = |&pid: &i32| {
            let handle = Pid::from_raw(pid).ok_or(rustix::io::Errno::SRCH);
            let handle = handle.and_then(|process| pidfd_open(process, PidfdFlags::empty()));
            let handle =
                handle.map_err(|error| io::Error::other(format!("process {pid}: {error}")));
            Ok((pid, handle?))
        };
        Ok(Self {
            processes: processes.iter().map(open).collect::<io::Result<_>>()?,
            sockets: BTreeMap::new(),
            of_flowlet: BTreeMap::new(),
            last_flowlet: 0,
            poll_due_ns: 0,
            scan_due_ns: 0,
            closer: Closer::default(),
        })
    }

    /// Ends the limits of all sockets of processes.
    ///
    /// # Errors
    /// A socket could not be reached; the limits of the others end.
    pub fn release(processes: impl Iterator<Item = i32>) -> io::Result<()> {
        // What is no TCP socket had no limit.
        let release = |socket: BorrowedFd<'_>| drop(sys::set_max_pacing_rate(socket, UNLIMITED));
        let released = processes.map(|pid| host::each_socket_of(pid, release));
        released.fold(Ok(()), io::Result::and)
    }

    fn copy(&self, (process, number): (usize, i32)) -> Option<OwnedFd> {
        copy_of(&self.processes[process].1, number, &self.closer).ok()
    }

    fn scan(&mut self) {
        for process in 0..self.processes.len() {
            // What cannot be listed now may be at the next scan.
            let numbers = host::socket_numbers(self.processes[process].0);
            for number in numbers.unwrap_or_default() {
                let place = (process, number);
                if self.sockets.contains_key(&place) {
                    continue;
                }
                let Some(copy) = self.copy(place) else { continue };
                if let (Some(connection), Some(identity)) =
                    (connection_of(&copy), identity_of(&copy))
                {
                    let (flowlet, is_lost) = (None, false);
                    let socket = Socket { connection, identity, flowlet, is_lost };
                    self.sockets.insert(place, socket);
                }
            }
        }
    }

    /// Bytes that wait in a socket; `None` if the descriptor is another socket now.
    fn backlog(&self, place: (usize, i32), identity: Identity) -> Option<(u64, OwnedFd)> {
        let copy = self.copy(place)?;
        if identity_of(&copy) != Some(identity) {
            return None;
        }
        Some((backlog_of(&copy)?, copy))
    }

    /// Looks at the backlogs of all sockets.
    fn poll(&mut self, time_ns: u64, into: &mut Vec<Event>) {
        let places: Vec<_> =
            self.sockets.iter().map(|(&at, socket)| (at, socket.identity)).collect();
        for (place, identity) in places {
            let backlog = self.backlog(place, identity);
            let is_gone = backlog.is_none();
            let Some(socket) = self.sockets.get_mut(&place) else { continue };
            let has_data = !socket.is_lost && backlog.as_ref().is_some_and(|(bytes, _)| *bytes > 0);
            match socket.flowlet {
                None if has_data => {
                    self.last_flowlet += 1;
                    let flowlet = self.last_flowlet;
                    socket.flowlet = Some(flowlet);
                    self.of_flowlet.insert(flowlet, place);
                    let connection = socket.connection;
                    into.push(Event::Start { flowlet, connection, time_ns });
                }
                Some(flowlet) if !has_data => {
                    socket.flowlet = None;
                    self.of_flowlet.remove(&flowlet);
                    if let Some((_, copy)) = backlog {
                        // The kernel uses the old rate until it computes one, at the next
                        // acknowledgement.
                        let _ = sys::set_max_pacing_rate(copy.as_fd(), UNLIMITED);
                    }
                    into.push(Event::End { flowlet, time_ns, is_closed: is_gone });
                }
                _ => {}
            }
            if is_gone {
                self.sockets.remove(&place);
            }
        }
    }
}

/// A time from now, so that work that takes long leaves the agent time for other work.
pub(super) fn after(time: Duration) -> u64 {
    now_ns() + time.as_nanos() as u64
}

/// Why there is no copy of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoCopy {
    /// There is none of this number.
    Closed,
    /// It is no socket, or too many of its owner's files are about to close.
    File,
}

/// A copy of a process's socket by its descriptor's number, which may be any. Close it at once
/// after use: a connection is open until its last copy is closed.
pub(super) fn copy_of(process: &OwnedFd, number: i32, closer: &Closer) -> Result<OwnedFd, NoCopy> {
    if closer.is_stuck() {
        return Err(NoCopy::File);
    }
    let copy = || pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok();
    // The wrapper of the system call panics for negative ones.
    let copy = (number >= 0).then(copy).flatten().ok_or(NoCopy::Closed)?;
    closer.only_socket(copy).ok_or(NoCopy::File)
}

pub(super) fn identity_of(file: &OwnedFd) -> Option<Identity> {
    let about = fstat(file).ok()?;
    Some(Identity { device: about.st_dev, inode: about.st_ino })
}

/// Bytes in a socket's buffer that are not acknowledged. A connection that was reset or timed out
/// has none: what its buffer still counts is never sent.
pub(super) fn backlog_of(socket: &OwnedFd) -> Option<u64> {
    let bytes = sys::unacknowledged_bytes(socket.as_fd()).ok()?;
    let is_over = bytes > 0 && getpeername(socket) == Err(rustix::io::Errno::NOTCONN);
    Some(if is_over { 0 } else { bytes })
}

/// The connection of a TCP socket; `None` if it is another socket or not connected.
pub(super) fn connection_of(socket: &OwnedFd) -> Option<Connection> {
    let family = sockopt::socket_domain(socket).ok()?;
    let is_tcp = matches!(family, AddressFamily::INET | AddressFamily::INET6)
        && sockopt::socket_type(socket).ok()? == SocketType::STREAM;
    let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let local = getsockname(socket).ok().filter(|_| is_tcp)?;
    let remote = getpeername(socket).ok()??;
    Some(Connection {
        local: plain(local.try_into().ok()?),
        remote: plain(remote.try_into().ok()?),
    })
}

impl DataPlane for SocketsPlane {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn until_due(&self) -> Duration {
        Duration::from_nanos(self.poll_due_ns.saturating_sub(now_ns()))
    }

    fn events(&mut self, into: &mut Vec<Event>) -> io::Result<()> {
        // The agent asks more often, with each datagram of an allocator.
        let time_ns = now_ns();
        if time_ns < self.poll_due_ns {
            return Ok(());
        }
        if time_ns >= self.scan_due_ns {
            self.scan();
            self.scan_due_ns = after(SCAN);
        }
        self.poll(time_ns, into);
        self.poll_due_ns = after(INTERVAL);
        Ok(())
    }

    fn set_rate(&mut self, flowlet: u64, rate: Option<u64>) -> io::Result<()> {
        let Some(&place) = self.of_flowlet.get(&flowlet) else { return Ok(()) };
        let Some(identity) = self.sockets.get(&place).map(|socket| socket.identity) else {
            return Ok(());
        };
        let Some((_, copy)) = self.backlog(place, identity) else { return Ok(()) };
        let paced = sys::set_max_pacing_rate(copy.as_fd(), rate.unwrap_or(UNLIMITED));
        // One socket that cannot be paced must not end the rates of all others.
        if let (Err(_), Some(socket)) = (paced, self.sockets.get_mut(&place)) {
            socket.is_lost = true;
        }
        Ok(())
    }

    fn extend_lease(&mut self, _until_ns: u64) -> io::Result<()> {
        Ok(())
    }

    fn lost_ends(&self) -> u64 {
        0
    }

    fn is_live(&self, flowlet: u64) -> bool {
        self.of_flowlet.contains_key(&flowlet)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// A reset connection counts its bytes as unacknowledged until its socket is closed.
    #[test]
    fn a_connection_that_is_over_has_no_backlog() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (receiver, _) = listener.accept().unwrap();
        sender.set_nonblocking(true).unwrap();
        while (&sender).write(&[7; 65536]).is_ok() {}
        let sender = OwnedFd::from(sender);
        assert!(backlog_of(&sender).unwrap() > 0);
        // A close with unread data is a reset.
        drop(receiver);
        let is_over = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            backlog_of(&sender) == Some(0)
        });
        assert!(is_over);
    }

    /// Fills the buffers between two sockets of this process, which may look into itself.
    #[test]
    fn a_backlog_is_a_flowlet_until_it_is_acknowledged() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let mut plane = SocketsPlane::open(&[std::process::id().cast_signed()]).unwrap();
        let connection = Connection {
            local: sender.local_addr().unwrap(),
            remote: receiver.local_addr().unwrap(),
        };
        let mut events = Vec::new();
        let mut own = |plane: &mut SocketsPlane| {
            plane.poll_due_ns = u64::MAX;
            plane.events(&mut events).unwrap();
            assert_eq!(events, [], "too early to look");
            plane.poll_due_ns = 0;
            plane.events(&mut events).unwrap();
            let starts = events.drain(..).filter_map(|event| match event {
                Event::Start { flowlet, connection: found, .. } if found == connection => {
                    Some((flowlet, true))
                }
                Event::End { flowlet, .. } => Some((flowlet, false)),
                Event::Start { .. } => None,
            });
            starts.collect::<Vec<_>>()
        };
        assert!(own(&mut plane).iter().all(|&(_, is_start)| !is_start));
        sender.set_nonblocking(true).unwrap();
        let mut written = 0;
        while let Ok(bytes) = sender.write(&[7; 65536]) {
            written += bytes;
        }
        let started = own(&mut plane);
        let (flowlet, _) = *started.iter().find(|(_, is_start)| *is_start).expect("a start");
        assert!(plane.is_live(flowlet));
        plane.set_rate(flowlet, Some(1_000_000_000)).unwrap();
        receiver.read_exact(&mut vec![0; written]).unwrap();
        let mut has_ended = false;
        for _ in 0..1000 {
            has_ended |= own(&mut plane).contains(&(flowlet, false));
            if has_ended {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(has_ended && !plane.is_live(flowlet));
    }
}
