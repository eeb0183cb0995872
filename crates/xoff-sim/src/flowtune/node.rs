//! The allocators of a partition: their iterations and their messages.

use std::ops::Range;
use std::sync::Arc;

use xoff_core::{Bytes, PortId, TimerId};
use xoff_host::Hosts;
use xoff_host::flowtune::Message;
use xoff_host::flowtune::stream_id::{Direction, StreamId};
use xoff_net::Fabric;
use xoff_net::phase;
use xoff_net::topo::Routes;

use super::Site;
use super::allocator::{Allocator, Work};
use super::link::Link;
use crate::tag;

/// An allocator and its link to its servers.
#[derive(Debug)]
struct Seat {
    allocator: Allocator,
    link: Link,
    /// Its part of `Allocators::said`.
    said: Range<usize>,
}

/// Allocators with NICs in one partition. They iterate at the same times, one after the other.
#[derive(Debug)]
pub(crate) struct Allocators {
    seats: Vec<Seat>,
    iteration_ps: u64,
    compute_ps: u64,
    iterate: TimerId,
    publish: TimerId,
    /// Messages of the current iteration.
    said: Vec<(StreamId, Message)>,
}

impl Allocators {
    /// Creates the allocators; the first iteration begins after one period. `run`: its seed, and
    /// the payload of a full packet.
    pub(crate) fn new(all: Vec<Allocator>, run: (u64, Bytes), fabric: &mut Fabric) -> Self {
        let config = all[0].config();
        let (iteration_ps, compute_ps) = (config.iteration.0, config.compute_time.0);
        let rank = |timer: u64| phase::TIMER | phase::kind(1) | timer;
        let iterate = fabric.wheel.add_timer(rank(1), tag::ITERATE);
        let publish = fabric.wheel.add_timer(rank(0), tag::PUBLISH);
        fabric.wheel.arm(iterate, iteration_ps);
        let seat =
            |allocator: Allocator| Seat { link: Link::new(&allocator, run), allocator, said: 0..0 };
        let seats = all.into_iter().map(seat).collect();
        Self { seats, iteration_ps, compute_ps, iterate, publish, said: Vec::new() }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Allocator> {
        self.seats.iter().map(|seat| &seat.allocator)
    }

    /// An iteration begins, or the rates of one are ready.
    pub(crate) fn on_timer(&mut self, fabric: &mut Fabric, hosts: &mut Hosts, computed: bool) {
        if computed {
            self.publish(fabric, hosts);
            return;
        }
        let now = fabric.now;
        for (stream, message) in hosts.take_inbox() {
            self.reader(stream).allocator.on_message(now, stream, message);
        }
        for (stream, bytes) in hosts.take_datagrams() {
            let Seat { allocator, link, .. } = self.reader(stream);
            link.receive(now, &bytes, allocator);
        }
        for Seat { allocator, link, said } in &mut self.seats {
            said.start = self.said.len();
            let work = allocator.work(now);
            if work != Work::Stopped {
                link.begin(now, work, allocator, &mut self.said);
                allocator.iterate(now, &mut self.said);
                let of_iteration = said.start..self.said.len();
                link.end(now, of_iteration, allocator, &mut self.said);
            }
            said.end = self.said.len();
        }
        fabric.wheel.arm(self.iterate, now + self.iteration_ps);
        if self.compute_ps == 0 {
            self.publish(fabric, hosts);
        } else {
            fabric.wheel.arm(self.publish, now + self.compute_ps);
        }
    }

    /// The allocator that reads a stream.
    fn reader(&mut self, stream: StreamId) -> &mut Seat {
        let reads = |site: &Site| match stream.direction() {
            Direction::ToAllocator(server) => site.servers.contains(&server),
            Direction::Between(_, to) => site.index == to,
            Direction::FromAllocator(_) => false,
        };
        let reader = self.seats.iter_mut().find(|seat| reads(seat.allocator.site()));
        reader.expect("an allocator in this partition")
    }

    /// Switches route around links.
    pub(crate) fn on_routes(&mut self, now: u64, routes: &Arc<Routes>, down: &[PortId]) {
        for Seat { allocator, .. } in &mut self.seats {
            allocator.on_routes(now, routes, down);
        }
    }

    /// The link of a port works at another rate (bit/s).
    pub(crate) fn on_rate(&mut self, port: PortId, rate: u64) {
        for Seat { allocator, .. } in &mut self.seats {
            allocator.on_rate(port, rate);
        }
    }

    fn publish(&mut self, fabric: &mut Fabric, hosts: &mut Hosts) {
        for Seat { link, said, .. } in &mut self.seats {
            link.say(&self.said[said.clone()], fabric, hosts);
        }
        self.said.clear();
    }
}
