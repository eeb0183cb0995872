//! Copies of other processes' descriptors. Only sockets are used. A file may be of a file
//! system in user space, which need not answer: looking at such a file and closing it may take
//! forever.

use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::net::sockopt;

/// Files that may be about to close before no more descriptors are copied.
const MOST: usize = 8;

/// Closes files in threads of their own, which may never end. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closer(Arc<AtomicUsize>);

impl Closer {
    /// Passes a socket on, and closes any other file without waiting for it.
    pub(crate) fn only_socket(&self, copy: OwnedFd) -> Option<OwnedFd> {
        // The kernel answers for a file that is no socket without asking its file system.
        if sockopt::socket_domain(&copy).is_ok() {
            return Some(copy);
        }
        self.close(copy);
        None
    }

    fn close(&self, file: OwnedFd) {
        self.0.fetch_add(1, Ordering::Relaxed);
        let (closing, file) = (Arc::clone(&self.0), ManuallyDrop::new(file));
        let close = move || {
            drop(ManuallyDrop::into_inner(file));
            closing.fetch_sub(1, Ordering::Relaxed);
        };
        // Without a thread it stays open, and goes on to count.
        let _ = thread::Builder::new().spawn(close);
    }

    /// True while too many files do not close: do not copy more.
    pub(crate) fn is_stuck(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= MOST
    }

    /// True if there is no other clone, nor a file that is about to close.
    pub(crate) fn is_unused(&self) -> bool {
        Arc::strong_count(&self.0) == 1 && self.0.load(Ordering::Relaxed) == 0
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_close_that_takes_long_does_not_keep_the_caller() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _receiver = listener.accept().unwrap();
        sender.set_nonblocking(true).unwrap();
        while (&sender).write(&[7; 65536]).is_ok() {}
        // Its close waits until all bytes are acknowledged, which they never are.
        sockopt::set_socket_linger(&sender, Some(Duration::from_secs(2))).unwrap();
        let (closer, began) = (Closer::default(), Instant::now());
        closer.close(sender.into());
        assert!(!closer.is_unused() && !closer.is_stuck());
        assert!(began.elapsed() < Duration::from_secs(1));
        while !closer.is_unused() {
            assert!(began.elapsed() < Duration::from_secs(20));
            thread::sleep(Duration::from_millis(10));
        }
        assert!(began.elapsed() > Duration::from_secs(1), "the close took long");
    }

    #[test]
    fn only_sockets_are_passed_on() {
        let closer = Closer::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(closer.only_socket(listener.into()).is_some());
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert!(closer.only_socket(file.into()).is_none());
        closer.0.store(MOST, Ordering::Relaxed);
        assert!(closer.is_stuck());
    }
}
