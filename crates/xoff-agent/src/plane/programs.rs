//! A data plane for programs that report flowlets themselves, over a Unix socket
//! (`include/xoff_flowlet.h`). They are paced by `SO_MAX_PACING_RATE`.
//!
//! A message has 8 bytes, in the byte order of the machine: what happens ([`START`] or [`END`]),
//! then the program's descriptor of the socket. Both are numbers of 32 bits. A program can name
//! sockets of its own only, and is forgotten if it names another file. The end of its connection
//! ends its flowlets.
//!
//! Rates have no lease: they end with the plane. If its process is killed, a socket keeps its last
//! rate until its program's next report, which fails and lifts the limit. What a socket has not
//! sent when it is closed leaves at its last rate, after its flowlet has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fs::{Mode, chmod};
use rustix::net::{
    AddressFamily, RecvFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect,
    listen, recv, socket_with, sockopt,
};

use super::sockets::{
    Identity, NoCopy, UNLIMITED, after, backlog_of, connection_of, copy_of, identity_of,
};
use super::{DataPlane, Event};
use crate::{clock::now_ns, closer::Closer, sys};

/// A socket buffer gets data.
pub const START: u32 = 1;
/// All bytes of a flowlet are written.
pub const END: u32 = 2;
const MESSAGE: usize = 8;
/// Messages of a program before others have their turn.
const MESSAGES: usize = 256;
/// Programs at a time, with two descriptors each. Later ones are refused.
const PROGRAMS: usize = 400;
/// How often sockets are looked at whose last bytes are not acknowledged.
const DRAIN: Duration = Duration::from_millis(1);
/// How often sockets that were closed without a report are looked for.
const SCAN: Duration = Duration::from_secs(1);
/// The listener's number among those of programs.
const LISTENER: u64 = 0;

#[derive(Debug)]
struct Program {
    stream: OwnedFd,
    process: OwnedFd,
    /// Its user's.
    closer: Closer,
}

/// A program's socket.
#[derive(Clone, Copy, Debug)]
struct Place {
    program: u64,
    number: i32,
    /// `None` if it could not be paced: it counts as closed.
    identity: Option<Identity>,
}

/// Programs and their flowlets.
#[derive(Debug)]
pub struct ProgramsPlane {
    listener: OwnedFd,
    epoll: OwnedFd,
    programs: BTreeMap<u64, Program>,
    /// By user: one user's files that do not close are no other's matter.
    closers: BTreeMap<u32, Closer>,
    flowlets: BTreeMap<u64, Place>,
    /// By program and descriptor.
    of_socket: BTreeMap<(u64, i32), u64>,
    /// Sockets whose flowlet ends when its last bytes are acknowledged.
    draining: BTreeSet<(u64, i32)>,
    last_program: u64,
    last_flowlet: u64,
    drain_due_ns: u64,
    scan_due_ns: u64,
}

fn unix_socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Makes the Unix socket of an agent, to which all users may connect. What a killed agent has left
/// there is replaced.
///
/// # Errors
/// Another agent listens there, another file is there, or the socket cannot be made.
pub fn listen_at(path: &Path) -> io::Result<OwnedFd> {
    let named = |error: &dyn std::fmt::Display| {
        io::Error::other(format!("programs = {:?}: {error}", path.display().to_string()))
    };
    let address = SocketAddrUnix::new(path).map_err(|error| named(&error))?;
    match connect(unix_socket()?, &address) {
        Ok(()) => return Err(named(&"another agent listens there")),
        Err(rustix::io::Errno::CONNREFUSED) => {
            let kind = std::fs::symlink_metadata(path)?.file_type();
            if !kind.is_socket() {
                return Err(named(&"this file is no socket"));
            }
            std::fs::remove_file(path)?;
        }
        Err(_) => {}
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| named(&error))?;
    }
    let listener = unix_socket()?;
    bind(&listener, &address).map_err(|error| named(&error))?;
    chmod(path, Mode::from(0o666)).map_err(|error| named(&error))?;
    listen(&listener, 64).map_err(|error| named(&error))?;
    Ok(listener)
}

impl ProgramsPlane {
    /// Serves the programs that connect.
    ///
    /// # Errors
    /// The kernel is too old.
    pub fn open(listener: OwnedFd) -> io::Result<Self> {
        // The listener has a peer too: the process that has made it.
        sys::peer_process(listener.as_fd()).map_err(|error| {
            io::Error::new(error.kind(), format!("plane = \"programs\" needs Linux 6.5: {error}"))
        })?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let data = epoll::EventData::new_u64(LISTENER);
        epoll::add(&epoll, &listener, data, epoll::EventFlags::IN)?;
        Ok(Self {
            listener,
            epoll,
            programs: BTreeMap::new(),
            closers: BTreeMap::new(),
            flowlets: BTreeMap::new(),
            of_socket: BTreeMap::new(),
            draining: BTreeSet::new(),
            last_program: LISTENER,
            last_flowlet: 0,
            drain_due_ns: 0,
            scan_due_ns: 0,
        })
    }

    /// Accepts a program, unless it has gone or there are too many.
    fn accept(&mut self) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let Ok(stream) = accept_with(&self.listener, flags) else { return };
        let Ok(process) = sys::peer_process(stream.as_fd()) else { return };
        let Ok(peer) = sockopt::socket_peercred(&stream) else { return };
        self.closers.retain(|_, closer| !closer.is_unused());
        let closer = self.closers.entry(peer.uid.as_raw()).or_default().clone();
        if closer.is_stuck() {
            return;
        }
        let data = epoll::EventData::new_u64(self.last_program + 1);
        if self.programs.len() < PROGRAMS
            && epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN).is_ok()
        {
            self.last_program += 1;
            self.programs.insert(self.last_program, Program { stream, process, closer });
        }
    }

    /// Reads messages of a program.
    fn read(&mut self, program: u64, into: &mut Vec<Event>) {
        for _ in 0..MESSAGES {
            let Some(Program { stream, .. }) = self.programs.get(&program) else { return };
            let mut message = [0; MESSAGE + 1];
            match recv(stream, &mut message, RecvFlags::DONTWAIT) {
                Ok((_, MESSAGE)) => {
                    let [a, b, c, d, e, f, g, h, _] = message;
                    let number = i32::from_ne_bytes([e, f, g, h]);
                    match u32::from_ne_bytes([a, b, c, d]) {
                        START => self.start(program, number, into),
                        END => self.drain((program, number), into),
                        _ => self.forget(program, into),
                    }
                }
                Err(rustix::io::Errno::AGAIN) => return,
                Err(rustix::io::Errno::INTR) => {}
                // Its end, or nonsense.
                Ok(_) | Err(_) => self.forget(program, into),
            }
        }
    }

    fn start(&mut self, program: u64, number: i32, into: &mut Vec<Event>) {
        let Some(Program { process, closer, .. }) = self.programs.get(&program) else { return };
        let socket = match copy_of(process, number, closer) {
            Ok(socket) => socket,
            Err(NoCopy::Closed) => return,
            Err(NoCopy::File) => return self.forget(program, into),
        };
        let (Some(connection), Some(identity)) = (connection_of(&socket), identity_of(&socket))
        else {
            return;
        };
        let place = Place { program, number, identity: Some(identity) };
        if let Some(known) = self.of_socket.get(&(program, number)) {
            if self.flowlets.get(known).is_some_and(|known| known.identity == place.identity) {
                self.draining.remove(&(program, number));
                return;
            }
            self.end_of((program, number), into);
        }
        self.last_flowlet += 1;
        let flowlet = self.last_flowlet;
        self.flowlets.insert(flowlet, place);
        self.of_socket.insert((program, number), flowlet);
        into.push(Event::Start { flowlet, connection, time_ns: now_ns() });
    }

    /// Ends a flowlet as soon as its bytes are acknowledged.
    fn drain(&mut self, socket: (u64, i32), into: &mut Vec<Event>) {
        let flowlet = self.of_socket.get(&socket);
        let copy = flowlet.and_then(|&flowlet| self.copy(flowlet));
        let left = copy.and_then(|copy| backlog_of(&copy));
        if left.is_some_and(|bytes| bytes > 0) {
            self.draining.insert(socket);
        } else {
            self.end_of(socket, into);
        }
    }

    fn end_of(&mut self, socket: (u64, i32), into: &mut Vec<Event>) {
        let Some(&flowlet) = self.of_socket.get(&socket) else { return };
        let copy = self.copy(flowlet);
        if let Some(copy) = &copy {
            // The kernel uses the old rate until it computes one, at the next acknowledgement.
            let _ = sys::set_max_pacing_rate(copy.as_fd(), UNLIMITED);
        }
        self.of_socket.remove(&socket);
        self.draining.remove(&socket);
        self.flowlets.remove(&flowlet);
        into.push(Event::End { flowlet, time_ns: now_ns(), is_closed: copy.is_none() });
    }

    /// Ends all flowlets.
    fn release(&mut self) {
        let programs: Vec<_> = self.programs.keys().copied().collect();
        programs.into_iter().for_each(|program| self.forget(program, &mut Vec::new()));
    }

    /// A program's connection has ended.
    fn forget(&mut self, program: u64, into: &mut Vec<Event>) {
        let of_program = self.of_socket.range((program, i32::MIN)..=(program, i32::MAX));
        let sockets: Vec<_> = of_program.map(|(&socket, _)| socket).collect();
        sockets.into_iter().for_each(|socket| self.end_of(socket, into));
        self.programs.remove(&program);
    }

    /// A copy of a flowlet's socket; `None` if it is closed.
    fn copy(&self, flowlet: u64) -> Option<OwnedFd> {
        let place = self.flowlets.get(&flowlet)?;
        let identity = place.identity?;
        let Program { process, closer, .. } = self.programs.get(&place.program)?;
        let copy = copy_of(process, place.number, closer).ok()?;
        (identity_of(&copy) == Some(identity)).then_some(copy)
    }

    /// Ends flowlets of sockets that were closed without a report.
    fn scan(&mut self, into: &mut Vec<Event>) {
        let sockets: Vec<_> = self.of_socket.iter().map(|(&at, &flowlet)| (at, flowlet)).collect();
        for (socket, flowlet) in sockets {
            if self.copy(flowlet).is_none() {
                self.end_of(socket, into);
            }
        }
    }
}

/// However the agent's work ends, its rates do, too.
impl Drop for ProgramsPlane {
    fn drop(&mut self) {
        self.release();
    }
}

impl DataPlane for ProgramsPlane {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        Some(self.epoll.as_fd())
    }

    fn until_due(&self) -> Duration {
        let drain_ns = if self.draining.is_empty() { u64::MAX } else { self.drain_due_ns };
        Duration::from_nanos(self.scan_due_ns.min(drain_ns).saturating_sub(now_ns()))
    }

    fn events(&mut self, into: &mut Vec<Event>) -> io::Result<()> {
        let mut ready = Vec::with_capacity(64);
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        match epoll::wait(&self.epoll, spare_capacity(&mut ready), Some(&at_once)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in ready {
            match event.data.u64() {
                LISTENER => self.accept(),
                program => self.read(program, into),
            }
        }
        // The agent asks more often, with each report and each datagram of an allocator.
        let now = now_ns();
        if self.drain_due_ns <= now {
            for socket in self.draining.clone() {
                self.drain(socket, into);
            }
            self.drain_due_ns = after(DRAIN);
        }
        if self.scan_due_ns <= now {
            self.scan(into);
            self.scan_due_ns = after(SCAN);
        }
        Ok(())
    }

    fn set_rate(&mut self, flowlet: u64, rate: Option<u64>) -> io::Result<()> {
        let Some(copy) = self.copy(flowlet) else { return Ok(()) };
        let paced = sys::set_max_pacing_rate(copy.as_fd(), rate.unwrap_or(UNLIMITED));
        // One socket that cannot be paced must not end the rates of all others.
        if let (Err(_), Some(place)) = (paced, self.flowlets.get_mut(&flowlet)) {
            place.identity = None;
            self.scan_due_ns = 0;
        }
        Ok(())
    }

    /// Also the end of all rates, when the agent ends.
    fn extend_lease(&mut self, until_ns: u64) -> io::Result<()> {
        if until_ns == 0 {
            self.release();
        }
        Ok(())
    }

    fn lost_ends(&self) -> u64 {
        0
    }

    fn is_live(&self, flowlet: u64) -> bool {
        self.flowlets.contains_key(&flowlet)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use rustix::io::dup2;
    use rustix::net::{SendFlags, send};

    use super::*;

    /// A plane, and this process as its program.
    fn plane(test: &str) -> (ProgramsPlane, OwnedFd) {
        let path = std::env::temp_dir().join(format!("xoff-{}-{test}", std::process::id()));
        let plane = ProgramsPlane::open(listen_at(&path).unwrap()).unwrap();
        let refused = listen_at(&path).unwrap_err().to_string();
        assert!(refused.contains("another agent listens there"), "{refused}");
        let program = unix_socket().unwrap();
        connect(&program, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        std::fs::remove_file(path).unwrap();
        (plane, program)
    }

    fn report(program: &OwnedFd, what: u32, number: i32) {
        let message = [what.to_ne_bytes(), number.to_ne_bytes()].concat();
        assert_eq!(send(program, &message, SendFlags::NOSIGNAL), Ok(MESSAGE));
    }

    /// Events after at most a few rounds: a round accepts a program, the next one reads.
    fn events(plane: &mut ProgramsPlane) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..4 {
            plane.events(&mut events).unwrap();
        }
        events
    }

    #[test]
    fn only_a_socket_is_replaced() {
        let path = std::env::temp_dir().join(format!("xoff-{}-file", std::process::id()));
        std::fs::write(&path, "text").unwrap();
        assert!(listen_at(&path).unwrap_err().to_string().contains("is no socket"));
        assert_eq!(std::fs::read(&path).unwrap(), b"text");
        std::fs::remove_file(&path).unwrap();
        drop(listen_at(&path).unwrap());
        drop(listen_at(&path).unwrap());
        std::fs::remove_file(path).unwrap();
    }

    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (sender, listener.accept().unwrap().0)
    }

    #[test]
    fn flowlets_are_those_that_a_program_reports() {
        let (mut plane, program) = plane("reports");
        let (sender, _receiver) = connection();
        let number = sender.as_raw_fd();
        report(&program, START, number);
        report(&program, START, number);
        let started = events(&mut plane);
        let [Event::Start { flowlet: 1, connection, .. }] = started[..] else {
            panic!("{started:?}")
        };
        assert_eq!(connection.local, sender.local_addr().unwrap());
        plane.set_rate(1, Some(1_000_000)).unwrap();
        report(&program, END, number);
        let ended = events(&mut plane);
        assert!(
            matches!(ended[..], [Event::End { flowlet: 1, is_closed: false, .. }]),
            "{ended:?}"
        );
        // One ends with its socket, without report.
        report(&program, START, number);
        assert_eq!(events(&mut plane).len(), 1);
        drop(sender);
        plane.scan_due_ns = 0;
        let ended = events(&mut plane);
        assert!(matches!(ended[..], [Event::End { flowlet: 2, is_closed: true, .. }]), "{ended:?}");
        assert!(!plane.is_live(2));
    }

    /// Numbers of inodes are those of a file system: a file may have that of a socket.
    #[test]
    fn a_file_with_the_inode_of_a_socket_is_no_socket() {
        let (mut plane, program) = plane("replaced");
        let (sender, _receiver) = connection();
        let mut sender = OwnedFd::from(sender);
        report(&program, START, sender.as_raw_fd());
        assert_eq!(events(&mut plane).len(), 1);
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        dup2(&file, &mut sender).unwrap();
        let known = plane.flowlets.get_mut(&1).unwrap().identity.as_mut().unwrap();
        known.inode = identity_of(&file.into()).unwrap().inode;
        plane.set_rate(1, Some(1_000_000)).unwrap();
        plane.scan_due_ns = 0;
        let ended = events(&mut plane);
        assert!(matches!(ended[..], [Event::End { flowlet: 1, is_closed: true, .. }]), "{ended:?}");
    }

    /// However often the agent asks for events.
    #[test]
    fn last_bytes_are_looked_for_by_time() {
        let (mut plane, program) = plane("drains");
        let (sender, receiver) = connection();
        sender.set_nonblocking(true).unwrap();
        while (&sender).write(&[7; 65536]).is_ok() {}
        report(&program, START, sender.as_raw_fd());
        assert_eq!(events(&mut plane).len(), 1);
        report(&program, END, sender.as_raw_fd());
        assert_eq!(events(&mut plane), []);
        assert!(plane.until_due() <= DRAIN);
        // A close with unread data is a reset: nothing waits any more.
        drop(receiver);
        while backlog_of(&sender.as_fd().try_clone_to_owned().unwrap()) != Some(0) {}
        plane.drain_due_ns = u64::MAX;
        assert_eq!(events(&mut plane), []);
        plane.drain_due_ns = 0;
        assert!(matches!(events(&mut plane)[..], [Event::End { flowlet: 1, .. }]));
    }

    #[test]
    fn a_program_that_names_a_file_is_forgotten() {
        let (mut plane, program) = plane("file");
        let (sender, _receiver) = connection();
        report(&program, START, sender.as_raw_fd());
        assert_eq!(events(&mut plane).len(), 1);
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        report(&program, START, file.as_raw_fd());
        assert!(matches!(events(&mut plane)[..], [Event::End { flowlet: 1, .. }]));
        assert!(plane.programs.is_empty());
    }

    #[test]
    fn rates_end_with_the_plane() {
        let (mut plane, program) = plane("ends");
        let (sender, _receiver) = connection();
        report(&program, START, sender.as_raw_fd());
        assert_eq!(events(&mut plane).len(), 1);
        plane.set_rate(1, Some(1_000_000)).unwrap();
        assert_eq!(sys::max_pacing_rate(sender.as_fd()), 1_000_000);
        drop(plane);
        assert_eq!(sys::max_pacing_rate(sender.as_fd()), UNLIMITED);
    }

    #[test]
    fn nonsense_ends_a_program_and_its_flowlets() {
        let (mut plane, program) = plane("nonsense");
        let (sender, _receiver) = connection();
        for number in [-1, i32::MIN, i32::MAX, program.as_raw_fd()] {
            report(&program, START, number);
            report(&program, END, number);
        }
        assert_eq!(events(&mut plane), []);
        report(&program, START, sender.as_raw_fd());
        assert_eq!(events(&mut plane).len(), 1);
        assert_eq!(send(&program, &[1, 2, 3], SendFlags::NOSIGNAL), Ok(3));
        assert!(matches!(events(&mut plane)[..], [Event::End { flowlet: 1, .. }]));
        assert!(plane.programs.is_empty() && plane.of_socket.is_empty());
        assert!(send(&program, &[0; MESSAGE], SendFlags::NOSIGNAL).is_err());
    }
}
