//! The allocator: its flowlets and their rates.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use xoff_alloc::{Config, FlowId, LinkId, Utility};
use xoff_core::{HostId, PortId, counts};
use xoff_host::flowtune::Message;
use xoff_host::flowtune::stream_id::{Direction, StreamId};
use xoff_net::topo::Routes;

use super::domain::Domain;
use super::reserved::Reserved;
use super::{FailuresKind, FlowtuneConfig, Site, UtilityKind};

/// Rates and capacities are in Gb/s for the optimizer, whose prices start at 1.
const BITS: f64 = 1e9;

/// A server and the number of one of its flowlets.
type Key = (HostId, u32);

counts! {
    /// Counters of an allocator.
    pub struct AllocatorStats {
        /// Iterations of the optimizer.
        iterations,
        /// Known flowlets, summed over iterations.
        active_flowlets,
        /// Flowlets reported to it.
        flowlets,
        /// Rates sent.
        rates,
        /// Renewals sent to servers.
        renewals,
        /// Datagrams refused.
        refused,
    }
}

/// A flowlet of a server in this domain.
#[derive(Debug)]
struct Known {
    flow: FlowId,
    dst: HostId,
    label: u32,
    /// The last reported rate (bit/s).
    rate: u64,
    /// The links on which its acknowledgements return, if they are counted.
    ack_links: Vec<LinkId>,
}

/// A flowlet from another domain to this one.
#[derive(Debug)]
struct Transit {
    dst: HostId,
    label: u32,
    rate: u64,
    links: Vec<LinkId>,
    ack_links: Vec<LinkId>,
}

fn optimizer_config(config: &FlowtuneConfig) -> Config {
    Config {
        optimizer: config.optimizer.with_interval(config.newton_interval),
        gamma: config.gamma,
        utility: match config.utility {
            UtilityKind::Log => Utility::Log,
            UtilityKind::AlphaFair => Utility::AlphaFair(config.alpha),
        },
        normalizer: config.normalizer,
        threshold: config.threshold,
        ..Config::default()
    }
}

/// What an allocator does at an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing: it has stopped.
    Stopped,
    /// It iterates.
    Iterates,
    /// It iterates, for the first time after a stop, and has no flowlets.
    Restarts,
}

/// A rate allocator.
#[derive(Debug)]
pub struct Allocator {
    config: FlowtuneConfig,
    site: Site,
    domain: Domain,
    rates: xoff_alloc::Allocator,
    flowlets: FxHashMap<Key, Known>,
    owners: FxHashMap<FlowId, Key>,
    transits: BTreeMap<Key, Transit>,
    /// Number of flowlets of each server.
    servers: Vec<u32>,
    reserved: Reserved,
    /// Messages to send at the next iteration, whatever its rates.
    pending: Vec<(StreamId, Message)>,
    running: bool,
    /// Failed links.
    failed: Vec<LinkId>,
    /// Time at which the new paths are known (ps), and the new routes.
    discovery: Option<(u64, Arc<Routes>)>,
    /// Counters.
    pub stats: AllocatorStats,
}

impl Allocator {
    /// Creates an allocator without flowlets.
    ///
    /// # Errors
    /// If the optimizer rejects a setting or a capacity.
    pub fn new(config: FlowtuneConfig, site: Site, domain: Domain) -> Result<Self, String> {
        let capacities = domain.capacities();
        let rates = xoff_alloc::Allocator::new(capacities, optimizer_config(&config));
        Ok(Self {
            rates: rates.map_err(|error| error.to_string())?,
            flowlets: FxHashMap::default(),
            owners: FxHashMap::default(),
            transits: BTreeMap::new(),
            servers: vec![0; site.server_ids().len()],
            reserved: Reserved::new(capacities.len()),
            pending: Vec::new(),
            running: true,
            failed: Vec::new(),
            discovery: None,
            stats: AllocatorStats::default(),
            config,
            site,
            domain,
        })
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &FlowtuneConfig {
        &self.config
    }

    /// Its place in the network.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Handles a message from a server or another allocator. Messages to a stopped allocator are
    /// lost.
    pub fn on_message(&mut self, now: u64, from: StreamId, message: Message) {
        if !self.config.is_running(now) {
            return;
        }
        match (from.direction(), message) {
            (Direction::ToAllocator(server), Message::Start { flowlet, dst, label }) => {
                self.add((server, flowlet), dst, label);
            }
            (Direction::ToAllocator(server), Message::End { flowlet }) => {
                self.remove((server, flowlet));
            }
            (_, Message::Transit { src, flowlet, dst, label, rate }) => {
                self.pass((src, flowlet), dst, label, rate);
            }
            other => unreachable!("{other:?} is not a message to an allocator"),
        }
    }

    fn add(&mut self, key: Key, dst: HostId, label: u32) {
        // A report after a resync, although the first report was already in flight.
        if self.flowlets.contains_key(&key) {
            return;
        }
        self.place(key, dst, label);
        let (src, _) = key;
        *self.server(src) += 1;
        self.stats.flowlets += 1;
    }

    /// Adds a flowlet to its path.
    fn place(&mut self, key: Key, dst: HostId, label: u32) {
        let path = self.domain.path(key.0, dst, label);
        let flow = self.rates.add_flow(&path, 1.0).expect("the links of the path exist");
        let ack_links = self.ack_links(key.0, dst, label);
        self.flowlets.insert(key, Known { flow, dst, label, rate: 0, ack_links });
        self.owners.insert(flow, key);
    }

    fn ack_links(&self, src: HostId, dst: HostId, label: u32) -> Vec<LinkId> {
        if !self.config.reserve_acks {
            return Vec::new();
        }
        self.domain.path(dst, src, label.rotate_left(16))
    }

    /// Removes a flowlet from its path. An end is ignored if its start was reported before the
    /// allocator stopped.
    fn displace(&mut self, key: Key) -> Option<Known> {
        let known = self.flowlets.remove(&key)?;
        self.reserved.change_acks(&known.ack_links, self.domain.ack_rate(known.rate), 0);
        self.rates.remove_flow(known.flow).expect("the flow was added before");
        self.owners.remove(&known.flow);
        Some(known)
    }

    fn remove(&mut self, key: Key) {
        if let Some(known) = self.displace(key) {
            *self.server(key.0) -= 1;
            let ended = self.transit(key, &known, 0);
            self.pending.extend(ended);
        }
    }

    /// The message to the allocator of the flowlet's destination domain, if that is another domain.
    fn transit(
        &self,
        (src, flowlet): Key,
        known: &Known,
        rate: u64,
    ) -> Option<(StreamId, Message)> {
        let Known { dst, label, .. } = *known;
        if self.site.servers.contains(&dst) {
            return None;
        }
        let to = dst.0 / self.site.server_ids().len() as u32;
        let message = Message::Transit { src, flowlet, dst, label, rate };
        Some((StreamId::between(self.site.index, to), message))
    }

    /// Sets the rate of a flowlet from another domain to this one; 0: it has ended.
    fn pass(&mut self, key: Key, dst: HostId, label: u32, rate: u64) {
        if let Some(before) = self.transits.remove(&key) {
            self.reserve(&before, before.rate, 0);
        }
        if rate > 0 {
            let links = self.domain.path(key.0, dst, label);
            let ack_links = self.ack_links(key.0, dst, label);
            let transit = Transit { dst, label, rate, links, ack_links };
            self.reserve(&transit, 0, rate);
            self.transits.insert(key, transit);
        }
    }

    fn reserve(&mut self, transit: &Transit, before: u64, after: u64) {
        self.reserved.change_transit(&transit.links, before, after);
        let (before, after) = (self.domain.ack_rate(before), self.domain.ack_rate(after));
        self.reserved.change_acks(&transit.ack_links, before, after);
    }

    /// Switches route around the links of these ports. "While correct path information is being
    /// obtained, the allocator can mitigate link over-allocation by zeroing the capacity of failed
    /// links" (§6).
    pub fn on_routes(&mut self, now: u64, routes: &Arc<Routes>, down: &[PortId]) {
        if self.config.failures == FailuresKind::Unknown {
            return;
        }
        for link in self.failed.drain(..) {
            let capacity = self.domain.capacities()[link.0 as usize];
            self.rates.set_capacity(link, capacity).expect("the capacity was valid before");
        }
        self.failed.extend(down.iter().map(|&port| LinkId(port.0)));
        self.fail_links();
        self.discovery = Some((now + self.config.path_discovery.0, Arc::clone(routes)));
    }

    /// The link of a port works at `rate` (bit/s) from now on. "With NED, it is straightforward to
    /// dynamically adjust link capacities" (§6).
    pub fn on_rate(&mut self, port: PortId, rate: u64) {
        if self.config.failures == FailuresKind::Unknown {
            return;
        }
        let link = LinkId(port.0);
        let capacity = self.domain.set_rate(port, rate);
        if !self.failed.contains(&link) {
            self.rates.set_capacity(link, capacity).expect("a lower rate is valid");
        }
        // The share of flowlets from other domains depends on the capacity.
        self.reserved.change_transit(&[link], 0, 0);
    }

    fn fail_links(&mut self) {
        for &link in &self.failed {
            self.rates.set_capacity(link, 0.0).expect("the link exists");
        }
    }

    /// Moves flowlets to their new paths.
    fn discover(&mut self, now: u64) {
        let Some((_, routes)) = self.discovery.take_if(|(time, _)| *time <= now) else { return };
        self.domain.set_routes(&routes);
        let flows: Vec<FlowId> = self.rates.flows().collect();
        for flow in flows {
            let key = self.owners[&flow];
            let Known { dst, label, .. } = self.flowlets[&key];
            let path = self.domain.path(key.0, dst, label);
            if self.rates.path(flow).is_some_and(|old| old.eq(path)) {
                continue;
            }
            self.displace(key);
            self.place(key, dst, label);
        }
        for (key, transit) in std::mem::take(&mut self.transits) {
            self.reserve(&transit, transit.rate, 0);
            self.pass(key, transit.dst, transit.label, transit.rate);
        }
    }

    fn server(&mut self, server: HostId) -> &mut u32 {
        &mut self.servers[(server.0 - self.site.servers.start.0) as usize]
    }

    /// Each server with the number of its flowlets.
    pub fn servers(&self) -> impl Iterator<Item = (HostId, u32)> + '_ {
        self.site.server_ids().zip(self.servers.iter().copied())
    }

    /// Runs one iteration: "rate update", "price update" (§2) and normalisation (§3). Appends its
    /// messages to `tell`.
    pub fn iterate(&mut self, now: u64, tell: &mut Vec<(StreamId, Message)>) {
        self.discover(now);
        self.stats.iterations += 1;
        self.stats.active_flowlets += self.flowlets.len() as u64;
        let share = self.config.transit_share;
        for (link, amount) in self.reserved.take_changed(self.domain.capacities(), share) {
            self.rates.reserve(link, amount).expect("the link exists and the amount is finite");
        }
        self.rates.iterate();
        tell.append(&mut self.pending);
        let changed: Vec<(FlowId, f64)> = self.rates.changed_rates().collect();
        self.stats.rates += changed.len() as u64;
        for (flow, rate) in changed {
            // A rate that rounds to zero must differ from that of a failed link.
            let rate = if rate > 0.0 { ((rate * BITS) as u64).max(1) } else { 0 };
            self.tell_rate(flow, rate, tell);
        }
    }

    fn tell_rate(&mut self, flow: FlowId, rate: u64, tell: &mut Vec<(StreamId, Message)>) {
        let key = self.owners[&flow];
        let (server, flowlet) = key;
        tell.push((StreamId::from_allocator(server), Message::Rate { flowlet, rate }));
        let Some(mut known) = self.flowlets.remove(&key) else { return };
        tell.extend(self.transit(key, &known, rate));
        let (before, after) = (self.domain.ack_rate(known.rate), self.domain.ack_rate(rate));
        self.reserved.change_acks(&known.ack_links, before, after);
        known.rate = rate;
        self.flowlets.insert(key, known);
    }

    /// Restarts without flowlets; knowledge of the network is kept.
    fn forget(&mut self) {
        let (config, site, domain) = (self.config.clone(), self.site.clone(), self.domain.clone());
        let fresh = Self::new(config, site, domain).expect("the settings were valid before");
        let Self { stats, failed, discovery, .. } = std::mem::replace(self, fresh);
        (self.stats, self.failed, self.discovery) = (stats, failed, discovery);
        self.fail_links();
    }

    /// What it does at an iteration that begins now.
    pub fn work(&mut self, now: u64) -> Work {
        let before = std::mem::replace(&mut self.running, self.config.is_running(now));
        match (before, self.running) {
            (_, false) => Work::Stopped,
            (true, true) => Work::Iterates,
            (false, true) => {
                self.forget();
                Work::Restarts
            }
        }
    }
}
