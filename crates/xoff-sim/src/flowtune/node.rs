//! The allocators of a partition: their iterations and their messages.

use std::sync::Arc;

use xoff_core::{PortId, TimerId};
use xoff_host::Hosts;
use xoff_host::flowtune::Message;
use xoff_host::flowtune::stream::{Direction, StreamId};
use xoff_net::Fabric;
use xoff_net::phase;
use xoff_net::topo::Routes;

use super::Site;
use super::allocator::Allocator;
use crate::tag;

/// Allocators with NICs in one partition. They iterate at the same times, one after the other.
#[derive(Debug)]
pub(crate) struct Allocators {
    all: Vec<Allocator>,
    iteration_ps: u64,
    compute_ps: u64,
    iterate: TimerId,
    publish: TimerId,
    /// Messages of the current iteration.
    said: Vec<(StreamId, Message)>,
}

impl Allocators {
    /// Creates the allocators; the first iteration begins after one period.
    pub(crate) fn new(all: Vec<Allocator>, fabric: &mut Fabric) -> Self {
        let config = all[0].config();
        let (iteration_ps, compute_ps) = (config.iteration.0, config.compute_time.0);
        let rank = |timer: u64| phase::TIMER | phase::kind(1) | timer;
        let iterate = fabric.wheel.add_timer(rank(1), tag::ITERATE);
        let publish = fabric.wheel.add_timer(rank(0), tag::PUBLISH);
        fabric.wheel.arm(iterate, iteration_ps);
        Self { all, iteration_ps, compute_ps, iterate, publish, said: Vec::new() }
    }

    pub(crate) fn all(&self) -> &[Allocator] {
        &self.all
    }

    /// An iteration begins, or the rates of one are ready.
    pub(crate) fn on_timer(&mut self, fabric: &mut Fabric, hosts: &mut Hosts, computed: bool) {
        if computed {
            self.publish(fabric, hosts);
            return;
        }
        let now = fabric.now;
        for (stream, message) in hosts.take_inbox() {
            let reads = |site: &Site| match stream.direction() {
                Direction::ToAllocator(server) => site.servers.contains(&server),
                Direction::Between(_, to) => site.index == to,
                Direction::FromAllocator(_) => false,
            };
            let reader = self.all.iter_mut().find(|allocator| reads(allocator.site()));
            reader.expect("an allocator in this partition").on_message(now, stream, message);
        }
        for allocator in &mut self.all {
            allocator.iterate(now, &mut self.said);
        }
        fabric.wheel.arm(self.iterate, now + self.iteration_ps);
        if self.compute_ps == 0 {
            self.publish(fabric, hosts);
        } else {
            fabric.wheel.arm(self.publish, now + self.compute_ps);
        }
    }

    /// Switches route around links.
    pub(crate) fn on_routes(&mut self, now: u64, routes: &Arc<Routes>, down: &[PortId]) {
        for allocator in &mut self.all {
            allocator.on_routes(now, routes, down);
        }
    }

    /// The link of a port works at another rate (bit/s).
    pub(crate) fn on_rate(&mut self, port: PortId, rate: u64) {
        for allocator in &mut self.all {
            allocator.on_rate(port, rate);
        }
    }

    fn publish(&mut self, fabric: &mut Fabric, hosts: &mut Hosts) {
        for (stream, message) in self.said.drain(..) {
            hosts.tell(fabric, stream, message);
        }
    }
}
