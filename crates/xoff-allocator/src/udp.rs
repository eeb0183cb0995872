//! Datagrams in batches.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;

/// Datagrams of one system call.
const BATCH: usize = 64;
/// Longer datagrams are cut, and refused.
const LONGEST: usize = 2048;
/// Bytes in which the kernel keeps datagrams between two iterations.
const KERNEL_BUFFER: usize = 8 << 20;

/// A socket.
pub(crate) struct Udp {
    socket: UdpSocket,
    headers: MultiHeaders<SockaddrStorage>,
    buffers: Vec<[u8; LONGEST]>,
}

impl Udp {
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        // Beyond the limit of ordinary users if possible, else up to it.
        if setsockopt(&socket, sockopt::RcvBufForce, &KERNEL_BUFFER).is_err() {
            let _ = setsockopt(&socket, sockopt::RcvBuf, &KERNEL_BUFFER);
        }
        let headers = MultiHeaders::preallocate(BATCH, None);
        Ok(Self { socket, headers, buffers: vec![[0; LONGEST]; BATCH] })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Gives each datagram that has arrived to `each`, at most a batch; returns their number.
    pub(crate) fn receive(&mut self, mut each: impl FnMut(&[u8], SocketAddr)) -> io::Result<usize> {
        let mut slices: Vec<[IoSliceMut<'_>; 1]> =
            self.buffers.iter_mut().map(|buffer| [IoSliceMut::new(buffer)]).collect();
        let socket = self.socket.as_raw_fd();
        let flags = MsgFlags::MSG_DONTWAIT;
        let received = match recvmmsg(socket, &mut self.headers, slices.iter_mut(), flags, None) {
            Ok(received) => received,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(0),
            Err(error) => return Err(error.into()),
        };
        let mut number = 0;
        for message in received {
            number += 1;
            let address = message.address.as_ref().and_then(standard);
            if let (Some(address), Some(bytes)) = (address, message.iovs().next()) {
                each(bytes, address);
            }
        }
        Ok(number)
    }

    pub(crate) fn send(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.socket.send_to(datagram, to)
    }

    /// Waits for a datagram, for a signal, or for a time.
    pub(crate) fn wait(&self, most: Duration) -> io::Result<()> {
        sleep(&mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)], most)
    }
}

/// Waits for a signal or for a time.
pub(crate) fn pause(time: Duration) -> io::Result<()> {
    sleep(&mut [], time)
}

fn sleep(files: &mut [PollFd<'_>], time: Duration) -> io::Result<()> {
    match ppoll(files, Some(TimeSpec::from_duration(time)), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn standard(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| SocketAddr::V4((*v4).into()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| SocketAddr::V6((*v6).into())))
}
