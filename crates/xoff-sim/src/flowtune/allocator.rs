//! The allocator: which flowlets there are, and what each of them gets.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use xoff_alloc::{Config, FlowId, LinkId, Normalizer, Optimizer, Utility};
use xoff_core::counts;
use xoff_host::flowtune::Message;
use xoff_net::topo::Routes;

use super::domain::Domain;
use super::{FailuresKind, FlowtuneConfig, NormalizerKind, OptimizerKind, Site, UtilityKind};

/// Rates and capacities are Gb/s for the optimizer: prices begin at 1.
const BITS: f64 = 1e9;

/// A server's number and that of a flowlet there.
type Key = (u32, u32);

counts! {
    /// What an allocator did.
    pub struct AllocatorStats {
        /// Iterations of the optimizer.
        iterations,
        /// Flowlets it knew, summed over its iterations.
        active_flowlets,
        /// Flowlets it was told of.
        flowlets,
        /// Rates it sent.
        rates,
        /// Times it told a server that its rates still hold.
        renewals,
    }
}

/// A flowlet the allocator knows.
#[derive(Debug)]
struct Known {
    flow: FlowId,
    dst: u32,
    label: u32,
    /// The links its acknowledgements return on, and what they take there (bit/s).
    ack_links: Vec<LinkId>,
    ack_rate: u64,
}

fn optimizer_config(config: &FlowtuneConfig) -> Config {
    Config {
        optimizer: match config.optimizer {
            OptimizerKind::Ned => Optimizer::Ned,
            OptimizerKind::Gradient => Optimizer::Gradient,
            OptimizerKind::FastWeightedGradient => Optimizer::FastWeightedGradient,
            OptimizerKind::NewtonLike => Optimizer::NewtonLike { interval: config.newton_interval },
            OptimizerKind::Newton => Optimizer::Newton,
        },
        gamma: config.gamma,
        utility: match config.utility {
            UtilityKind::Log => Utility::Log,
            UtilityKind::AlphaFair => Utility::AlphaFair(config.alpha),
        },
        normalizer: match config.normalizer {
            NormalizerKind::FNorm => Normalizer::Flow,
            NormalizerKind::FNormAsPrinted => Normalizer::FlowAsPrinted,
            NormalizerKind::UNorm => Normalizer::Uniform,
            NormalizerKind::None => Normalizer::None,
        },
        threshold: config.threshold,
        ..Config::default()
    }
}

/// What an allocator knows of a server.
#[derive(Clone, Copy, Debug, Default)]
struct Server {
    /// When it was last told something (ps).
    told_ps: u64,
    /// Its flowlets.
    flowlets: u32,
}

/// An allocator of rates.
#[derive(Debug)]
pub struct Allocator {
    config: FlowtuneConfig,
    site: Site,
    domain: Domain,
    rates: xoff_alloc::Allocator,
    flowlets: FxHashMap<Key, Known>,
    owners: FxHashMap<FlowId, Key>,
    servers: Vec<Server>,
    /// What acknowledgements take of each link (bit/s).
    acks: Vec<u64>,
    /// Links of which they take something else than they did at the last iteration.
    other_acks: Vec<LinkId>,
    running: bool,
    /// Links that have failed.
    failed: Vec<LinkId>,
    /// When the paths over new routes will be known (ps), and the routes.
    discovery: Option<(u64, Arc<Routes>)>,
    /// Counts so far.
    pub stats: AllocatorStats,
}

impl Allocator {
    /// An allocator that knows no flowlets.
    ///
    /// # Errors
    /// What the optimizer cannot work with.
    pub fn new(config: FlowtuneConfig, site: Site, domain: Domain) -> Result<Self, String> {
        let capacities = domain.capacities();
        let rates = xoff_alloc::Allocator::new(capacities, optimizer_config(&config));
        Ok(Self {
            rates: rates.map_err(|error| error.to_string())?,
            flowlets: FxHashMap::default(),
            owners: FxHashMap::default(),
            servers: vec![Server::default(); site.servers.len()],
            acks: vec![0; capacities.len()],
            other_acks: Vec::new(),
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

    /// A server has said something. While the allocator is stopped nobody hears it.
    pub fn on_message(&mut self, now: u64, server: u32, message: Message) {
        if !self.config.is_running(now) {
            return;
        }
        match message {
            Message::Start { flowlet, dst, label } => self.add((server, flowlet), dst, label),
            Message::End { flowlet } => self.remove((server, flowlet)),
            Message::Rate { .. } | Message::Renewal | Message::Resync => {
                unreachable!("the allocator tells these, and hears them from nobody")
            }
        }
    }

    fn add(&mut self, key: Key, dst: u32, label: u32) {
        // Told again because the allocator had asked, though it had been on its way already.
        if self.flowlets.contains_key(&key) {
            return;
        }
        self.place(key, dst, label);
        let (src, _) = key;
        self.server(src).flowlets += 1;
        self.stats.flowlets += 1;
    }

    /// Puts a flowlet on its path.
    fn place(&mut self, key: Key, dst: u32, label: u32) {
        let (src, _) = key;
        let path = self.domain.path(src, dst, label);
        let flow = self.rates.add_flow(&path, 1.0).expect("a path of known links");
        let ack_links = if self.config.reserve_acks {
            self.domain.path(dst, src, label.rotate_left(16))
        } else {
            Vec::new()
        };
        self.flowlets.insert(key, Known { flow, dst, label, ack_links, ack_rate: 0 });
        self.owners.insert(flow, key);
    }

    /// Takes a flowlet off its path. The end of one whose start an allocator was told before it stopped
    /// says nothing.
    fn displace(&mut self, key: Key) -> Option<Known> {
        let mut known = self.flowlets.remove(&key)?;
        self.reserve_acks(&mut known, 0);
        self.rates.remove_flow(known.flow).expect("a flow that was added");
        self.owners.remove(&known.flow);
        Some(known)
    }

    fn remove(&mut self, key: Key) {
        if self.displace(key).is_some() {
            self.server(key.0).flowlets -= 1;
        }
    }

    /// Switches route around the links of these ports. "While correct path information is being
    /// obtained, the allocator can mitigate link over-allocation by zeroing the capacity of failed links"
    /// (§6).
    pub fn on_routes(&mut self, now: u64, routes: &Arc<Routes>, down: &[u32]) {
        if self.config.failures == FailuresKind::Unknown {
            return;
        }
        for link in self.failed.drain(..) {
            let capacity = self.domain.capacities()[link.0 as usize];
            self.rates.set_capacity(link, capacity).expect("as at the beginning");
        }
        self.failed.extend(down.iter().map(|&port| LinkId(port)));
        self.fail_links();
        self.discovery = Some((now + self.config.path_discovery.0, Arc::clone(routes)));
    }

    fn fail_links(&mut self) {
        for &link in &self.failed {
            self.rates.set_capacity(link, 0.0).expect("a known link");
        }
    }

    /// Puts flowlets that take other paths now on these.
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
    }

    fn server(&mut self, server: u32) -> &mut Server {
        &mut self.servers[(server - self.site.servers.start) as usize]
    }

    /// What a flowlet's acknowledgements take is not there for others: "it is straightforward to
    /// dynamically adjust link capacities" (§6).
    fn reserve_acks(&mut self, known: &mut Known, ack_rate: u64) {
        for &link in &known.ack_links {
            let taken = &mut self.acks[link.0 as usize];
            *taken = *taken - known.ack_rate + ack_rate;
        }
        self.other_acks.extend(&known.ack_links);
        known.ack_rate = ack_rate;
    }

    /// One iteration: "rate update", "price update" (§2) and normalisation (§3). Appends whom to tell
    /// what.
    pub fn iterate(&mut self, now: u64, tell: &mut Vec<(u32, Message)>) {
        if !self.is_at_work(now, tell) {
            return;
        }
        self.discover(now);
        self.stats.iterations += 1;
        self.stats.active_flowlets += self.flowlets.len() as u64;
        for link in self.other_acks.drain(..) {
            let taken = self.acks[link.0 as usize] as f64 / BITS;
            self.rates.reserve(link, taken).expect("a known link, and finite");
        }
        self.rates.iterate();
        let changed: Vec<(FlowId, f64)> = self.rates.changed_rates().collect();
        self.stats.rates += changed.len() as u64;
        for (flow, rate) in changed {
            let (server, flowlet) = self.owners[&flow];
            // A rate that is hardly one is still not that of a failed link.
            let rate = if rate > 0.0 { ((rate * BITS) as u64).max(1) } else { 0 };
            tell.push((server, Message::Rate { flowlet, rate }));
            self.server(server).told_ps = now;
            if let Some(mut known) = self.flowlets.remove(&(server, flowlet)) {
                self.reserve_acks(&mut known, self.domain.ack_rate(rate));
                self.flowlets.insert((server, flowlet), known);
            }
        }
        self.renew(now, tell);
    }

    /// "new allocated rates must arrive every few tens of microseconds" (§6): who has been told nothing
    /// for half of a rate's lifetime is told that its rates still hold.
    fn renew(&mut self, now: u64, tell: &mut Vec<(u32, Message)>) {
        let due = now.saturating_sub(self.config.lifetime.0 / 2);
        for (server, state) in self.site.servers.clone().zip(&mut self.servers) {
            if state.flowlets > 0 && state.told_ps <= due {
                state.told_ps = now;
                self.stats.renewals += 1;
                tell.push((server, Message::Renewal));
            }
        }
    }

    /// Begins anew; of the network it knows what it knew.
    fn forget(&mut self) {
        let (config, site, domain) = (self.config.clone(), self.site.clone(), self.domain.clone());
        let fresh = Self::new(config, site, domain).expect("as it began the first time");
        let Self { stats, failed, discovery, .. } = std::mem::replace(self, fresh);
        (self.stats, self.failed, self.discovery) = (stats, failed, discovery);
        self.fail_links();
    }

    /// Whether the allocator is at work. One that begins anew knows nothing of what was before.
    fn is_at_work(&mut self, now: u64, tell: &mut Vec<(u32, Message)>) -> bool {
        let before = std::mem::replace(&mut self.running, self.config.is_running(now));
        if self.running && !before {
            self.forget();
            tell.extend(self.site.servers.clone().map(|server| (server, Message::Resync)));
        }
        self.running
    }
}
