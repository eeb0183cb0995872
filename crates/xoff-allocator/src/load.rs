//! Measures an allocator: thousands of endpoints on the loopback interface report flowlets.
//!
//! The allocator is the daemon, on a thread of its own. All endpoints share one socket, which is
//! not measured. Flowlets have random sources and destinations; each event ends one and starts
//! another, so their number stays. Events come at a steady rate, however late rates are.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::Serialize;
use xoff_control::wire::{DATAGRAM, Header};
use xoff_control::{Endpoint, EndpointConfig, EndpointId, Key, NEVER, Nanos, Rate};
use xoff_core::rng::SplitMix64;
use xoff_core::tournament::Tournament;
use xoff_daemon::secret;

use crate::config::{Config, EndpointEntry, LinkRate, NetworkEntry, Time, Waiting};
use crate::daemon::Daemon;
use crate::metrics::Snapshot;
use crate::udp::Udp;

/// Racks as in the paper's simulations (§5.3): 16 servers, 4 spines.
const SERVERS_PER_RACK: u32 = 16;
const SPINES: u32 = 4;
/// Most time until all flowlets have a rate.
const SETTLE: Duration = Duration::from_secs(30);
/// Time under load before the measurement.
const WARM_UP: Duration = Duration::from_millis(500);

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Endpoints.
    pub endpoints: u32,
    /// Flowlets at a time.
    pub flowlets: u32,
    /// Starts and ends per second.
    pub events_per_second: u64,
    /// Time between two iterations (ns).
    pub iteration: Nanos,
    /// The allocator polls its socket.
    pub polls: bool,
    /// How long to measure.
    pub time: Duration,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Endpoints.
    pub endpoints: u32,
    /// Flowlets at a time.
    pub flowlets: u32,
    /// Time between two iterations.
    pub iteration_us: f64,
    /// Starts and ends per second that the allocator has processed.
    pub events_per_second: f64,
    /// Starts and ends per second that were intended.
    pub intended_events_per_second: u64,
    /// Datagrams per second to the allocator.
    pub received_per_second: f64,
    /// Datagrams per second from the allocator.
    pub sent_per_second: f64,
    /// Rates per second.
    pub rates_per_second: f64,
    /// Processor time of the allocator by time.
    pub cpu_share: f64,
    /// Starts and ends per second of the allocator's processor time.
    pub events_per_cpu_second: f64,
    /// Iterations per second.
    pub iterations_per_second: f64,
    /// Iterations that began late.
    pub late_share: f64,
    /// Mean time of an iteration with its datagrams.
    pub iteration_mean_us: f64,
    /// Time from a flowlet's start to its rate.
    pub latency_p50_us: f64,
    /// 99th percentile of it.
    pub latency_p99_us: f64,
    /// 99.9th percentile of it.
    pub latency_p999_us: f64,
    /// Flowlets that started and got a rate.
    pub rated: u64,
    /// Flowlets that ended without a rate.
    pub unrated: u64,
    /// Times that an endpoint's rates were not acknowledged in time.
    pub resends: u64,
}

/// A flowlet that has not ended.
#[derive(Clone, Copy)]
struct Flowlet {
    source: u32,
    started: Nanos,
    has_rate: bool,
}

/// Endpoints, their flowlets, and the times until rates arrive.
struct Generator {
    udp: Udp,
    allocator: SocketAddr,
    endpoints: Vec<Endpoint>,
    deadlines: Tournament<(Nanos, u32)>,
    /// By number, modulo their number: each event replaces the oldest one of its place.
    flowlets: Vec<Flowlet>,
    /// The number of a place's flowlet.
    numbers: Vec<u64>,
    latency: Histogram<u64>,
    unrated: u64,
    random: SplitMix64,
    origin: Instant,
}

impl Generator {
    fn new(udp: Udp, allocator: SocketAddr, endpoints: Vec<Endpoint>, flowlets: u32) -> Self {
        let unrated = Flowlet { source: 0, started: 0, has_rate: false };
        Self {
            udp,
            allocator,
            deadlines: Tournament::new(endpoints.len(), (NEVER, u32::MAX)),
            endpoints,
            flowlets: vec![unrated; flowlets as usize],
            numbers: (0..u64::from(flowlets)).collect(),
            latency: Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("valid bounds"),
            unrated: 0,
            random: SplitMix64(1),
            origin: Instant::now(),
        }
    }

    fn now(&self) -> Nanos {
        self.origin.elapsed().as_nanos() as Nanos
    }

    fn start(&mut self, place: usize, now: Nanos) {
        let endpoints = self.endpoints.len() as u32;
        let source = self.random.below(endpoints);
        let to = (source + 1 + self.random.below(endpoints - 1)) % endpoints;
        let path = self.random.below(SPINES);
        let number = self.numbers[place];
        let endpoint = &mut self.endpoints[source as usize];
        endpoint.start(number, EndpointId(to), path, now);
        self.deadlines.set(source as usize, (endpoint.deadline(), source));
        self.flowlets[place] = Flowlet { source, started: now, has_rate: false };
    }

    /// Ends a random flowlet and starts another one.
    fn replace(&mut self, now: Nanos) {
        let places = self.flowlets.len();
        let place = self.random.below(places as u32) as usize;
        let Flowlet { source, has_rate, .. } = self.flowlets[place];
        self.unrated += u64::from(!has_rate);
        let endpoint = &mut self.endpoints[source as usize];
        endpoint.end(self.numbers[place], now);
        self.deadlines.set(source as usize, (endpoint.deadline(), source));
        self.numbers[place] += places as u64;
        self.start(place, now);
    }

    fn receive(&mut self) -> Result<usize, String> {
        let now = self.now();
        let Self { udp, endpoints, deadlines, flowlets, numbers, latency, .. } = self;
        let received = udp.receive(|datagram, _| {
            let Ok(header) = Header::parse(datagram) else { return };
            let index = header.endpoint.0;
            let Some(endpoint) = endpoints.get_mut(index as usize) else { return };
            // Refused ones are counted by the endpoint.
            let _ = endpoint.receive(0, datagram, now);
            while let Some(change) = endpoint.next_rate() {
                let place = (change.flowlet % numbers.len() as u64) as usize;
                let flowlet = &mut flowlets[place];
                let is_current = numbers[place] == change.flowlet;
                if is_current && !flowlet.has_rate && matches!(change.rate, Rate::Paced(_)) {
                    flowlet.has_rate = true;
                    latency.saturating_record(now - flowlet.started);
                }
            }
            deadlines.set(index as usize, (endpoint.deadline(), index));
        });
        received.map_err(|error| format!("receive: {error}"))
    }

    fn transmit(&mut self) {
        let now = self.now();
        let mut buffer = [0; DATAGRAM];
        loop {
            let (time, index) = self.deadlines.least();
            if time > now {
                return;
            }
            let endpoint = &mut self.endpoints[index as usize];
            while let Some((_, length)) = endpoint.transmit(now, &mut buffer) {
                // A full buffer is a loss, as on a network.
                let _ = self.udp.send(&buffer[..length], self.allocator);
            }
            self.deadlines.set(index as usize, (endpoint.deadline(), index));
        }
    }

    /// Lets flowlets come and go for a time, `events` per second.
    fn run(&mut self, time: Duration, events: u64) -> Result<(), String> {
        let began = self.now();
        let end = began + time.as_nanos() as Nanos;
        let mut replaced = 0;
        loop {
            let now = self.now();
            if now >= end {
                return Ok(());
            }
            // Two events each.
            let due = u128::from(now - began) * u128::from(events) / 2_000_000_000;
            while replaced < due as u64 {
                // It was due at its time, even if the generator is late.
                self.replace(began + (replaced + 1) * 2_000_000_000 / events.max(1));
                replaced += 1;
            }
            self.transmit();
            if self.receive()? == 0 {
                let next = self.deadlines.least().0.min(now + 50_000);
                let pause = Duration::from_nanos(next.saturating_sub(self.now()));
                if !pause.is_zero() {
                    self.udp.wait(pause).map_err(|error| format!("poll: {error}"))?;
                }
            }
        }
    }

    /// Waits until all flowlets have a rate.
    fn settle(&mut self) -> Result<(), String> {
        let began = Instant::now();
        while self.flowlets.iter().any(|flowlet| !flowlet.has_rate) {
            if began.elapsed() > SETTLE {
                return Err(format!(
                    "after {SETTLE:?} some flowlets have no rate: {} endpoints with {} flowlets \
                     are more than this machine sustains",
                    self.endpoints.len(),
                    self.flowlets.len()
                ));
            }
            self.run(Duration::from_millis(20), 0)?;
        }
        Ok(())
    }
}

fn config(load: &Load, address: SocketAddr) -> Config {
    let endpoint = |id| {
        let rack = Some(id / SERVERS_PER_RACK);
        EndpointEntry { id, address, key: "".into(), rack, rate: None }
    };
    let gbps = |rate: u64| LinkRate(rate * 1_000_000_000);
    Config {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        iteration: Time(load.iteration),
        wait: if load.polls { Waiting::Poll } else { Waiting::Block },
        network: NetworkEntry::Clos {
            rate: gbps(10),
            spines: SPINES,
            spine_rate: gbps(u64::from(10 * SERVERS_PER_RACK / SPINES)),
        },
        endpoints: (0..load.endpoints).map(endpoint).collect(),
        ..Config::default_values()
    }
}

/// Measures an allocator under a load.
///
/// # Errors
/// If a socket fails, or no rates come.
pub fn measure(load: &Load) -> Result<Measured, String> {
    if load.endpoints < 2 || load.flowlets == 0 {
        return Err("a load has at least two endpoints and one flowlet".into());
    }
    let udp = Udp::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let udp = udp.map_err(|error| format!("socket: {error}"))?;
    let address = udp.address().map_err(|error| format!("socket: {error}"))?;
    let config = config(load, address);
    let key = |id| Ok((EndpointId(id), Key::new(secret()?)));
    let keys: Vec<_> = (0..load.endpoints).map(key).collect::<Result<_, String>>()?;
    let endpoint =
        |(id, key): &(EndpointId, Key)| Ok(Endpoint::new(EndpointConfig::new(*id), key, secret()?));
    let endpoints: Vec<_> = keys.iter().map(endpoint).collect::<Result<_, String>>()?;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // A daemon stays on the thread that has made it.
        let (ready, is_ready) = mpsc::channel();
        let daemon = || {
            let ready = ready;
            let mut daemon = Daemon::with_keys(&config, &keys, Box::new(std::io::sink()))?;
            let allocator = daemon.address().ok_or("socket: no address")?;
            let _ = ready.send((allocator, Arc::clone(daemon.snapshot())));
            daemon.run(&mut || !stop.load(Ordering::Relaxed))
        };
        let running = thread::Builder::new().spawn_scoped(scope, daemon);
        let running = running.map_err(|error| format!("a thread for the daemon: {error}"))?;
        let figures = is_ready.recv().map_err(|_| String::new()).and_then(|(to, snapshot)| {
            run(load, Generator::new(udp, to, endpoints, load.flowlets), &snapshot)
        });
        stop.store(true, Ordering::Relaxed);
        running.join().map_err(|_| "the allocator has panicked")??;
        figures
    })
}

fn run(
    load: &Load,
    mut generator: Generator,
    snapshot: &Mutex<Snapshot>,
) -> Result<Measured, String> {
    (0..load.flowlets as usize).for_each(|place| generator.start(place, 0));
    generator.settle()?;
    generator.run(WARM_UP, load.events_per_second)?;
    generator.latency.reset();
    generator.unrated = 0;
    let look = || snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (before, began) = (look(), Instant::now());
    generator.run(load.time, load.events_per_second)?;
    Ok(figures(load, &generator, began.elapsed(), &before, &look()))
}

fn figures(
    load: &Load,
    generator: &Generator,
    time: Duration,
    before: &Snapshot,
    after: &Snapshot,
) -> Measured {
    let sessions = after.sessions.since(&before.sessions);
    let daemon = after.daemon.since(&before.daemon);
    let iterations = after.allocation.since(&before.allocation).iterations;
    let per_second = |count: u64| (count as f64 / time.as_secs_f64()).round();
    let events = sessions.starts + sessions.ends;
    let cpu = daemon.cpu_ns as f64 / 1e9;
    let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
    let latency = |quantile| generator.latency.value_at_quantile(quantile) as f64 / 1e3;
    Measured {
        endpoints: load.endpoints,
        flowlets: load.flowlets,
        iteration_us: load.iteration as f64 / 1e3,
        events_per_second: per_second(events),
        intended_events_per_second: load.events_per_second,
        received_per_second: per_second(daemon.received),
        sent_per_second: per_second(sessions.datagrams),
        rates_per_second: per_second(sessions.rates),
        cpu_share: cpu / time.as_secs_f64(),
        events_per_cpu_second: if cpu > 0.0 { (events as f64 / cpu).round() } else { 0.0 },
        iterations_per_second: per_second(iterations),
        late_share: share(daemon.late, iterations),
        iteration_mean_us: share(daemon.iteration_ns, iterations) / 1e3,
        latency_p50_us: latency(0.5),
        latency_p99_us: latency(0.99),
        latency_p999_us: latency(0.999),
        rated: generator.latency.len(),
        unrated: generator.unrated,
        resends: sessions.resends,
    }
}
