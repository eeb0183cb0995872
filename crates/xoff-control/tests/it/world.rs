//! Endpoints, allocators and a bad network between them.

use std::collections::{BTreeMap, BTreeSet};

use xoff_control::{
    Endpoint, EndpointConfig, EndpointId, Event, FlowIndex, Key, Nanos, Rate, Sessions,
    SessionsConfig,
};

pub(crate) const MILLI: Nanos = 1_000_000;
const TICK: Nanos = MILLI / 10;
/// Rates are multiples of this, plus the flowlet: so a rate tells its flowlet.
const FLOWLETS: u64 = 4096;

pub(crate) fn key(endpoint: u32) -> Key {
    let mut bytes = [7; 32];
    bytes[..4].copy_from_slice(&endpoint.to_be_bytes());
    Key::new(bytes)
}

/// A small random number generator (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn secret(&mut self) -> [u8; 32] {
        std::array::from_fn(|_| self.next() as u8)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum To {
    /// From an allocator.
    Endpoint(usize, usize),
    Allocator(usize, usize),
}

/// What a server's data plane has got.
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    pub(crate) live: BTreeMap<u64, Rate>,
}

impl Server {
    fn take_rates(&mut self) {
        while let Some(change) = self.endpoint.next_rate() {
            if let Rate::Paced(rate) = change.rate {
                assert_eq!(rate % FLOWLETS, change.flowlet % FLOWLETS, "another flowlet's rate");
            }
            *self.live.get_mut(&change.flowlet).expect("a rate of a flowlet that has ended") =
                change.rate;
        }
    }
}

pub(crate) struct Allocator {
    pub(crate) sessions: Sessions,
    pub(crate) flows: BTreeMap<FlowIndex, (u32, u64)>,
    pub(crate) is_up: bool,
    /// True while its process does not run: what arrives waits in its socket.
    pub(crate) is_late: bool,
    waiting: Vec<Vec<u8>>,
}

impl Allocator {
    fn new(sessions: Sessions) -> Self {
        let (flows, waiting) = (BTreeMap::new(), Vec::new());
        Self { sessions, flows, is_up: true, is_late: false, waiting }
    }

    /// Receives what has arrived, unless it is late.
    fn receive(&mut self, now: Nanos) {
        if self.is_late {
            return;
        }
        let mut events = Vec::new();
        for datagram in std::mem::take(&mut self.waiting) {
            let _ = self.sessions.receive(&datagram, now, &mut events);
            self.apply(&mut events);
        }
    }

    fn apply(&mut self, events: &mut Vec<Event>) {
        for event in events.drain(..) {
            match event {
                Event::Started { flow, source, path, .. } => {
                    assert!(self.flows.insert(flow, (source.0, path.into())).is_none());
                }
                Event::Ended { flow } => assert!(self.flows.remove(&flow).is_some()),
                Event::Opened { .. } | Event::Closed { .. } => {}
            }
        }
    }

    /// A rate depends on a version, on the flowlet and on the number of all.
    fn rate(&self, version: u64, flowlet: u64) -> u64 {
        (1 + version + self.flows.len() as u64 % 7) * FLOWLETS + flowlet % FLOWLETS
    }
}

/// Loss, duplication and delay of a network.
#[derive(Clone, Copy)]
pub(crate) struct Network {
    pub(crate) loss_percent: u64,
    pub(crate) twice_percent: u64,
    pub(crate) most_delay: Nanos,
}

/// One without loss, where the order stays.
pub(crate) const QUIET: Network = Network { loss_percent: 0, twice_percent: 0, most_delay: 1 };

pub(crate) struct World {
    pub(crate) now: Nanos,
    pub(crate) random: Random,
    pub(crate) network: Network,
    /// True while the network drops all that endpoints send.
    pub(crate) is_up_cut: bool,
    /// True while it drops all that allocators send.
    pub(crate) is_down_cut: bool,
    pub(crate) servers: Vec<Server>,
    pub(crate) allocators: Vec<Allocator>,
    /// By time of arrival.
    in_flight: BTreeSet<(Nanos, u64, To, Vec<u8>)>,
    /// Everything ever sent.
    pub(crate) recorded: Vec<Vec<u8>>,
    pub(crate) sessions_config: SessionsConfig,
    /// Ticks of an iteration of an allocator.
    pub(crate) iteration: u64,
    /// All rates depend on it.
    pub(crate) version: u64,
    ticks: u64,
    next_flowlet: u64,
}

impl World {
    pub(crate) fn new(seed: u64, servers: usize, allocators: usize, network: Network) -> Self {
        let mut world = Self {
            now: 0,
            random: Random(seed),
            network,
            is_up_cut: false,
            is_down_cut: false,
            servers: Vec::new(),
            allocators: Vec::new(),
            in_flight: BTreeSet::new(),
            recorded: Vec::new(),
            sessions_config: SessionsConfig::default(),
            iteration: 10,
            version: 0,
            ticks: 0,
            next_flowlet: 0,
        };
        for number in 0..servers {
            let endpoint = world.new_endpoint(number, allocators);
            world.servers.push(Server { endpoint, live: BTreeMap::new() });
        }
        for _ in 0..allocators {
            let allocator = Allocator::new(world.new_sessions());
            world.allocators.push(allocator);
        }
        world
    }

    fn new_endpoint(&mut self, number: usize, allocators: usize) -> Endpoint {
        let id = EndpointId(number as u32);
        let config = EndpointConfig { allocators, probe: 50 * MILLI, ..EndpointConfig::new(id) };
        Endpoint::new(config, &key(id.0), self.random.secret())
    }

    fn new_sessions(&mut self) -> Sessions {
        let endpoints = (0..self.servers.len() as u32).map(|id| (EndpointId(id), key(id)));
        let endpoints: Vec<_> = endpoints.collect();
        Sessions::new(self.sessions_config, &endpoints, self.random.secret()).unwrap()
    }

    pub(crate) fn restart_endpoint(&mut self, number: usize) {
        let endpoint = self.new_endpoint(number, self.allocators.len());
        self.servers[number] = Server { endpoint, live: BTreeMap::new() };
    }

    pub(crate) fn restart_allocator(&mut self, number: usize) {
        self.allocators[number] = Allocator::new(self.new_sessions());
    }

    pub(crate) fn start(&mut self, server: usize) {
        let flowlet = self.next_flowlet;
        self.next_flowlet += 1;
        let to = EndpointId(self.random.below(self.servers.len() as u64) as u32);
        let Server { endpoint, live } = &mut self.servers[server];
        assert!(endpoint.start(flowlet, to, flowlet as u32, self.now));
        live.insert(flowlet, Rate::FallBack);
    }

    pub(crate) fn end(&mut self, server: usize) {
        let Server { endpoint, live } = &mut self.servers[server];
        if live.is_empty() {
            return;
        }
        let place = self.random.below(live.len() as u64) as usize;
        let &flowlet = live.keys().nth(place).unwrap();
        live.remove(&flowlet);
        endpoint.end(flowlet, self.now);
    }

    fn send(&mut self, to: To, datagram: &[u8]) {
        self.recorded.push(datagram.to_vec());
        let is_cut = match to {
            To::Endpoint(..) => self.is_down_cut,
            To::Allocator(..) => self.is_up_cut,
        };
        if is_cut {
            return;
        }
        let copies = 1 + u64::from(self.random.percent(self.network.twice_percent));
        for _ in 0..copies {
            if !self.random.percent(self.network.loss_percent) {
                let at = self.now + self.random.below(self.network.most_delay);
                self.in_flight.insert((at, self.recorded.len() as u64, to, datagram.to_vec()));
            }
        }
    }

    pub(crate) fn tick(&mut self) {
        self.ticks += 1;
        self.now += TICK;
        let now = self.now;
        while self.in_flight.first().is_some_and(|first| first.0 <= now) {
            let (_, _, to, datagram) = self.in_flight.pop_first().unwrap();
            match to {
                To::Endpoint(number, allocator) => {
                    let _ = self.servers[number].endpoint.receive(allocator, &datagram, now);
                }
                To::Allocator(number, _) => {
                    let allocator = &mut self.allocators[number];
                    if allocator.is_up {
                        allocator.waiting.push(datagram);
                        allocator.receive(now);
                    }
                }
            }
        }
        self.allocators.iter_mut().for_each(|allocator| allocator.receive(now));
        let mut buffer = [0; 1500];
        for number in 0..self.servers.len() {
            self.servers[number].take_rates();
            while let Some((to, length)) = self.servers[number].endpoint.transmit(now, &mut buffer)
            {
                self.send(To::Allocator(to, number), &buffer[..length]);
            }
            let deadline = self.servers[number].endpoint.deadline();
            assert!(deadline > now, "nothing is due any more");
            self.servers[number].take_rates();
        }
        for number in 0..self.allocators.len() {
            let Allocator { is_up, is_late, .. } = self.allocators[number];
            if is_up && !is_late && self.ticks.is_multiple_of(self.iteration) {
                self.iterate(number);
            }
        }
    }

    fn iterate(&mut self, number: usize) {
        let (mut buffer, mut events) = ([0; 1500], Vec::new());
        let now = self.now;
        let allocator = &mut self.allocators[number];
        allocator.sessions.advance(now, &mut events);
        allocator.apply(&mut events);
        assert!(allocator.sessions.deadline() > now);
        for (&flow, &(_, flowlet)) in &allocator.flows {
            allocator.sessions.set_rate(flow, allocator.rate(self.version, flowlet));
        }
        assert_eq!(allocator.flows.len(), allocator.sessions.flowlets());
        while let Some((to, length)) = self.allocators[number].sessions.transmit(now, &mut buffer) {
            self.send(To::Endpoint(to.0 as usize, number), &buffer[..length]);
        }
    }

    pub(crate) fn run(&mut self, time: Nanos) {
        let end = self.now + time;
        while self.now < end {
            self.tick();
        }
    }

    /// True if an allocator has exactly the flowlets of all servers, and they its rates.
    pub(crate) fn agrees(&self, allocator: usize) -> bool {
        let allocator = &self.allocators[allocator];
        let known: BTreeSet<(u32, u64)> = allocator.flows.values().copied().collect();
        let mut live = BTreeSet::new();
        for (number, server) in self.servers.iter().enumerate() {
            for (&flowlet, &rate) in &server.live {
                if rate != Rate::Paced(allocator.rate(self.version, flowlet)) {
                    return false;
                }
                live.insert((number as u32, flowlet));
            }
        }
        live == known
    }

    /// The time until [`agrees`](Self::agrees).
    pub(crate) fn time_to_agree(&mut self, allocator: usize, most: Nanos) -> Nanos {
        let began = self.now;
        while !self.agrees(allocator) {
            assert!(self.now - began < most, "no agreement after {} ms", most / MILLI);
            self.tick();
        }
        self.now - began
    }
}
