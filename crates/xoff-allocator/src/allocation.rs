//! The optimizer behind the protocol's sessions.

use xoff_alloc::{Allocator, FlowId};
use xoff_control::{EndpointId, Event, FlowIndex, Key, Nanos, Refused, Sessions};

use crate::config::Config;
use crate::topology::Topology;

xoff_core::counts! {
    /// Counters of an allocation.
    pub struct AllocationStats {
        /// Iterations of the optimizer.
        iterations,
        /// Flowlets without path: they get no rate.
        unroutable,
        /// Connections opened.
        opened,
        /// Connections closed.
        closed,
    }
}

/// Rates of the flowlets that endpoints report.
#[derive(Debug)]
pub struct Allocation {
    sessions: Sessions,
    optimizer: Allocator,
    topology: Topology,
    /// The optimizer's flows, by index of the flowlet.
    flows: Vec<Option<FlowId>>,
    /// Indices of flowlets, by slot of the optimizer's flow.
    indices: Vec<FlowIndex>,
    events: Vec<Event>,
    /// Counters.
    pub stats: AllocationStats,
}

impl Allocation {
    /// Creates an allocation without flowlets. `secret` must be random and another one at each
    /// start.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn new(
        config: &Config,
        keys: &[(EndpointId, Key)],
        secret: [u8; 32],
    ) -> Result<Self, String> {
        let topology = Topology::new(&config.network, &config.endpoints)?;
        let capacities: Vec<f64> = topology.links().iter().map(|link| link.capacity).collect();
        Ok(Self {
            sessions: Sessions::new(config.sessions(), keys, secret)?,
            optimizer: Allocator::new(&capacities, config.optimizer())
                .map_err(|error| error.to_string())?,
            topology,
            flows: Vec::new(),
            indices: Vec::new(),
            events: Vec::new(),
            stats: AllocationStats::default(),
        })
    }

    /// The sessions.
    #[must_use]
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// A datagram has arrived.
    ///
    /// # Errors
    /// The reason if it is refused.
    pub fn receive(&mut self, datagram: &[u8], now: Nanos) -> Result<EndpointId, Refused> {
        let endpoint = self.sessions.receive(datagram, now, &mut self.events);
        self.apply();
        endpoint
    }

    /// Stands by for another allocator, or takes over from it.
    pub fn stand_by(&mut self, stands_by: bool) {
        self.sessions.stand_by(stands_by, &mut self.events);
        self.apply();
    }

    /// Runs one iteration: rates of all flowlets, and those to send.
    pub fn iterate(&mut self, now: Nanos) {
        self.sessions.advance(now, &mut self.events);
        self.apply();
        if self.optimizer.flow_count() == 0 {
            return;
        }
        self.stats.iterations += 1;
        self.optimizer.iterate();
        for (flow, gbps) in self.optimizer.changed_rates() {
            self.sessions.set_rate(self.indices[flow.slot()], bytes_per_second(gbps));
        }
    }

    /// Writes the next datagram; returns its endpoint and its length.
    pub fn transmit(&mut self, now: Nanos, buffer: &mut [u8]) -> Option<(EndpointId, usize)> {
        self.sessions.transmit(now, buffer)
    }

    fn apply(&mut self) {
        for event in self.events.drain(..) {
            match event {
                Event::Started { flow, source, destination, path } => {
                    let optimizer = &mut self.optimizer;
                    let added = self.topology.with_path((source, destination), path, |links| {
                        optimizer.add_flow(links, 1.0).expect("the links of a path exist")
                    });
                    if let Some(added) = added {
                        let slots = added.slot() + 1;
                        self.indices.resize(self.indices.len().max(slots), FlowIndex::MAX);
                        self.indices[added.slot()] = flow;
                    } else {
                        self.stats.unroutable += 1;
                    }
                    let flows = flow as usize + 1;
                    self.flows.resize(self.flows.len().max(flows), None);
                    self.flows[flow as usize] = added;
                }
                Event::Ended { flow } => {
                    if let Some(flow) = self.flows[flow as usize].take() {
                        self.optimizer.remove_flow(flow).expect("it was added before");
                    }
                }
                Event::Opened { .. } => self.stats.opened += 1,
                Event::Closed { .. } => self.stats.closed += 1,
            }
        }
    }

    /// The links with the highest demand relative to their capacity, with that ratio. It exceeds 1
    /// while prices converge; rates are normalised. There are none without flowlets.
    #[must_use]
    pub fn busiest(&self, number: usize) -> Vec<(&str, f64)> {
        // Loads are of the last iteration, and without flowlets there is none.
        if self.optimizer.flow_count() == 0 {
            return Vec::new();
        }
        let links = self.topology.links().iter().zip(0..);
        let mut ratios: Vec<(&str, f64)> = links
            .filter_map(|(link, id)| {
                let load = self.optimizer.load(xoff_alloc::LinkId(id)).ok()?;
                (load > 0.0).then_some((link.name.as_str(), load / link.capacity))
            })
            .collect();
        ratios.sort_by(|a, b| b.1.total_cmp(&a.1));
        ratios.truncate(number);
        ratios
    }
}

/// A rate for the wire. 0 means that a path is down, so the least rate is 1.
fn bytes_per_second(gbps: f64) -> u64 {
    if gbps > 0.0 { ((gbps * 1e9 / 8.0) as u64).max(1) } else { 0 }
}
