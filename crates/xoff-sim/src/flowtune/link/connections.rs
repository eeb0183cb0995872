//! A TCP connection with each server: renews rates, and asks for flowlets after a restart.

use std::ops::Range;

use xoff_core::HostId;
use xoff_host::flowtune::Message;
use xoff_host::flowtune::stream_id::{Direction, StreamId};

use super::super::Site;
use super::super::allocator::Allocator;

/// The connections of an allocator with its servers.
#[derive(Debug)]
pub(in crate::flowtune) struct Connections {
    servers: Range<HostId>,
    /// Validity of rates after a message (ps).
    lifetime: u64,
    /// By server: time of the last rate or renewal (ps).
    renewed: Vec<u64>,
}

impl Connections {
    pub(super) fn new(site: &Site, lifetime: u64) -> Self {
        Self { servers: site.servers.clone(), lifetime, renewed: vec![0; site.server_ids().len()] }
    }

    /// Asks all servers for a report of all their flowlets, after a restart.
    pub(super) fn ask(&mut self, tell: &mut Vec<(StreamId, Message)>) {
        self.renewed.fill(0);
        let servers = (self.servers.start.0..self.servers.end.0).map(HostId);
        tell.extend(servers.map(|server| (StreamId::from_allocator(server), Message::Resync)));
    }

    /// "new allocated rates must arrive every few tens of microseconds" (§6): sends a renewal to
    /// servers without a message for half of the rates' lifetime.
    pub(super) fn renew(
        &mut self,
        now: u64,
        messages: Range<usize>,
        allocator: &mut Allocator,
        tell: &mut Vec<(StreamId, Message)>,
    ) {
        for &(stream, message) in &tell[messages] {
            if let (Direction::FromAllocator(server), Message::Rate { .. }) =
                (stream.direction(), message)
            {
                self.renewed[(server.0 - self.servers.start.0) as usize] = now;
            }
        }
        let due = now.saturating_sub(self.lifetime / 2);
        let mut renewals = 0;
        for ((server, flowlets), renewed) in allocator.servers().zip(&mut self.renewed) {
            if flowlets > 0 && *renewed <= due {
                *renewed = now;
                renewals += 1;
                tell.push((StreamId::from_allocator(server), Message::Renewal));
            }
        }
        allocator.stats.renewals += renewals;
    }
}
