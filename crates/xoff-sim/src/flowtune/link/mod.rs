//! How an allocator exchanges messages with its servers.

mod connections;
mod sessions;

use std::ops::Range;

use xoff_core::Bytes;
use xoff_host::Hosts;
use xoff_host::flowtune::stream_id::StreamId;
use xoff_host::flowtune::{ControlKind, Message};
use xoff_net::Fabric;

use self::connections::Connections;
use self::sessions::ServerSessions;
use super::allocator::{Allocator, Work};

/// An allocator's side of its exchange with servers.
#[derive(Debug)]
pub(super) enum Link {
    /// A TCP connection with each server.
    Tcp(Connections),
    /// Datagrams.
    Udp(Box<ServerSessions>),
}

impl Link {
    /// The link of an allocator. The numbers are the seed of the run and the payload of a full
    /// packet.
    pub(super) fn new(allocator: &Allocator, (seed, payload): (u64, Bytes)) -> Self {
        let (config, site) = (allocator.config(), allocator.site());
        match config.control {
            ControlKind::Tcp => Self::Tcp(Connections::new(site, config.lifetime.0)),
            ControlKind::Udp => {
                Self::Udp(Box::new(ServerSessions::new((config, payload), site, seed)))
            }
        }
    }

    /// A datagram has arrived.
    pub(super) fn receive(&mut self, now: u64, datagram: &[u8], allocator: &mut Allocator) {
        match self {
            Self::Tcp(_) => unreachable!("a datagram to an allocator with connections"),
            Self::Udp(sessions) => sessions.receive(now, datagram, allocator),
        }
    }

    /// An iteration begins.
    pub(super) fn begin(
        &mut self,
        now: u64,
        work: Work,
        allocator: &mut Allocator,
        tell: &mut Vec<(StreamId, Message)>,
    ) {
        match self {
            Self::Tcp(connections) if work == Work::Restarts => connections.ask(tell),
            Self::Tcp(_) => {}
            Self::Udp(sessions) => sessions.begin(now, work, allocator),
        }
    }

    /// An iteration ends; these are its messages in `tell`.
    pub(super) fn end(
        &mut self,
        now: u64,
        messages: Range<usize>,
        allocator: &mut Allocator,
        tell: &mut Vec<(StreamId, Message)>,
    ) {
        match self {
            Self::Tcp(connections) => connections.renew(now, messages, allocator, tell),
            Self::Udp(_) => {}
        }
    }

    /// The messages of an iteration leave.
    pub(super) fn say(
        &mut self,
        messages: &[(StreamId, Message)],
        fabric: &mut Fabric,
        hosts: &mut Hosts,
    ) {
        match self {
            Self::Tcp(_) => {
                messages.iter().for_each(|&(stream, message)| hosts.tell(fabric, stream, message))
            }
            Self::Udp(sessions) => sessions.say(messages, fabric, hosts),
        }
    }
}
