//! The process that talks to the allocator. It has no privileges but those of its data plane, and
//! holds nothing but sockets and this plane.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use hdrhistogram::Histogram;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use xoff_control::{Endpoint, EndpointConfig, EndpointId, Rate, UNKNOWN_PATH};
use xoff_daemon::log;

use crate::clock::now_ns;
use crate::config::Config;
use crate::flowlets::{Change, Flowlets};
use crate::metrics::{Counts, Shown, Snapshot};
use crate::plane::{DataPlane, Event};

/// The least rate that is enforced (bytes per second). At it a packet leaves each 90 ms, so that no
/// connection stands still for TCP's least retransmission timeout of 200 ms. Also flowlets whose
/// path the allocator holds to be down have it.
const LEAST_RATE: u64 = 16_000;
/// The lease is renewed this many times while it runs.
const RENEWALS: u64 = 5;
const DATAGRAM: usize = 65536;
/// Datagrams of a turn, so that a flood does not keep the agent from its other work.
const DATAGRAMS: usize = 64;
/// Time between two snapshots for metrics.
const SHOW_NS: u64 = 100_000_000;
/// Longer reactions count as this long.
const LONGEST_NS: u64 = 60_000_000_000;

/// An agent's loop, its flowlets and its connection to the allocator.
pub(crate) struct Worker<'a, P> {
    config: &'a Config,
    plane: P,
    socket: UdpSocket,
    endpoint: Endpoint,
    flowlets: Flowlets,
    counts: Counts,
    /// Time from a flowlet's start to its first enforced rate, in ns.
    reaction: Histogram<u64>,
    metrics: Option<Shown>,
    show_due_ns: u64,
    allocator: Option<usize>,
    lease_due_ns: u64,
    report_due_ns: u64,
    events: Vec<Event>,
}

impl<'a, P: DataPlane> Worker<'a, P> {
    pub(crate) fn new(
        config: &'a Config,
        plane: P,
        socket: UdpSocket,
        secret: [u8; 32],
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let own = EndpointConfig {
            allocators: config.allocators.len(),
            // As many as an allocator may accept: it says how many it does.
            flowlets: u16::MAX,
            ..EndpointConfig::new(EndpointId(config.settings.endpoint))
        };
        let reaction = Histogram::new_with_bounds(1, LONGEST_NS, 3).map_err(io::Error::other)?;
        let now = now_ns();
        let mut worker = Self {
            config,
            plane,
            socket,
            endpoint: Endpoint::new(own, &config.key, secret),
            flowlets: Flowlets::new(config.settings.idle.0 / 1000),
            counts: Counts::default(),
            reaction,
            metrics: config.metrics.map(Shown::start).transpose().map_err(io::Error::other)?,
            show_due_ns: 0,
            allocator: None,
            lease_due_ns: now,
            report_due_ns: now,
            events: Vec::new(),
        };
        worker.renew_lease(now)?;
        worker.report_due_ns = worker.next_report(now);
        Ok(worker)
    }

    /// Works until `stop` is set or something fails; then rates end at once. `wake` becomes
    /// readable when `stop` is set.
    pub(crate) fn run(&mut self, stop: &AtomicBool, wake: BorrowedFd<'_>) -> io::Result<()> {
        let worked = self.work(stop, wake);
        let ended = self.plane.extend_lease(0);
        worked.and(ended)
    }

    fn work(&mut self, stop: &AtomicBool, wake: BorrowedFd<'_>) -> io::Result<()> {
        let mut buffer = vec![0; DATAGRAM];
        while !stop.load(Ordering::Relaxed) {
            self.turn(&mut buffer)?;
            self.wait(wake)?;
        }
        Ok(())
    }

    /// Does what is due.
    fn turn(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let now = now_ns();
        self.take_events(now)?;
        self.receive(buffer);
        self.enforce()?;
        self.renew_lease(now)?;
        self.transmit(buffer);
        // Rates that have expired by the time of sending must not last until the next turn.
        self.enforce()?;
        self.log_changes(now);
        Ok(())
    }

    fn take_events(&mut self, now: u64) -> io::Result<()> {
        let mut events = std::mem::take(&mut self.events);
        // Before the events: then the starts of all these flowlets are among them, or came earlier.
        let lost_ends = self.plane.lost_ends();
        self.plane.events(&mut events)?;
        for event in events.drain(..) {
            if let Some(change) = self.flowlets.on_event(&event) {
                self.apply(change, now)?;
            }
        }
        self.events = events;
        self.find_lost_ends(lost_ends, now);
        while let Some(change) = self.flowlets.next_end(now) {
            self.apply(change, now)?;
        }
        Ok(())
    }

    /// Ends that found the buffer of events full.
    fn find_lost_ends(&mut self, lost: u64, now: u64) {
        if lost != self.counts.lost_ends {
            self.counts.lost_ends = lost;
            for flowlet in self.flowlets.parts() {
                if !self.plane.is_live(flowlet) {
                    self.flowlets.on_event(&Event::End { flowlet, time_ns: now, is_closed: false });
                }
            }
        }
    }

    fn apply(&mut self, change: Change, now: u64) -> io::Result<()> {
        match change {
            Change::Started { number, connection } => {
                match self.config.endpoints.get(&connection.remote.ip()) {
                    Some(&to) => {
                        // The network chooses the path, and does not say which one.
                        if self.endpoint.start(number, to, UNKNOWN_PATH, now) {
                            self.counts.started += 1;
                            self.trace("started", number, None);
                        }
                    }
                    None => self.counts.unknown_receivers += 1,
                }
            }
            Change::Ended { number } => {
                // Flowlets that it has not started, to unknown receivers, do not count.
                if self.endpoint.end(number, now) {
                    self.counts.ended += 1;
                    self.trace("ended", number, None);
                }
            }
            Change::Resumed { part, rate } => self.plane.set_rate(part, rate)?,
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) {
        for _ in 0..DATAGRAMS {
            let (length, from) = match self.socket.recv_from(buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The kernel tells of an earlier datagram that found no allocator.
                Err(_) => continue,
            };
            let allocator = self.config.allocators.iter().position(|&address| address == from);
            if let Some(allocator) = allocator {
                self.counts.received_datagrams += 1;
                self.counts.received_bytes += length as u64;
                // What is refused is counted by the endpoint, and changes nothing.
                let _ = self.endpoint.receive(allocator, &buffer[..length], now_ns());
            }
        }
    }

    /// Brings new rates into force.
    fn enforce(&mut self) -> io::Result<()> {
        while let Some(change) = self.endpoint.next_rate() {
            let rate = match change.rate {
                Rate::Paced(rate) => Some(rate.max(LEAST_RATE)),
                Rate::FallBack => None,
            };
            // A flowlet between two parts has the rate when the next one starts.
            self.trace("rate", change.flowlet, rate);
            self.counts.rates += u64::from(rate.is_some());
            self.counts.fall_backs += u64::from(rate.is_none());
            if let Some((part, started_ns)) = self.flowlets.on_rate(change.flowlet, rate) {
                self.plane.set_rate(part, rate)?;
                if let Some(started_ns) = started_ns.filter(|_| rate.is_some()) {
                    self.reaction.saturating_record(now_ns().saturating_sub(started_ns));
                }
            }
        }
        Ok(())
    }

    fn trace(&self, event: &str, flowlet: u64, rate: Option<u64>) {
        if self.config.settings.trace {
            log(event, json!({"ns": now_ns(), "flowlet": flowlet, "rate": rate}));
        }
    }

    fn renew_lease(&mut self, now: u64) -> io::Result<()> {
        if self.lease_due_ns <= now {
            let lease_ns = self.config.settings.lease.0 / 1000;
            self.plane.extend_lease(now + lease_ns)?;
            self.lease_due_ns = now + lease_ns / RENEWALS;
        }
        Ok(())
    }

    fn transmit(&mut self, buffer: &mut [u8]) {
        while let Some((allocator, length)) = self.endpoint.transmit(now_ns(), buffer) {
            let to: SocketAddr = self.config.allocators[allocator];
            // What the kernel does not send is lost like what the network loses.
            if self.socket.send_to(&buffer[..length], to).is_ok() {
                self.counts.sent_datagrams += 1;
                self.counts.sent_bytes += length as u64;
            }
        }
    }

    fn wait(&self, wake: BorrowedFd<'_>) -> io::Result<()> {
        let now = now_ns();
        let plane_ns = u64::try_from(self.plane.until_due().as_nanos()).unwrap_or(u64::MAX);
        let times = [
            self.endpoint.deadline(),
            self.flowlets.deadline_ns().unwrap_or(u64::MAX),
            self.lease_due_ns,
            self.report_due_ns,
            now.saturating_add(plane_ns),
        ];
        let until = times.into_iter().fold(u64::MAX, u64::min).saturating_sub(now);
        let timeout = Timespec {
            tv_sec: (until / 1_000_000_000).cast_signed(),
            tv_nsec: (until % 1_000_000_000).cast_signed(),
        };
        let mut fds = vec![
            PollFd::from_borrowed_fd(wake, PollFlags::IN),
            PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN),
        ];
        if let Some(readable) = self.plane.readable() {
            fds.push(PollFd::from_borrowed_fd(readable, PollFlags::IN));
        }
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn next_report(&self, now: u64) -> u64 {
        let interval_ns = self.config.settings.report.0 / 1000;
        if interval_ns == 0 { u64::MAX } else { now + interval_ns }
    }

    /// Logs a change of the allocator, and from time to time the counters. Shows metrics.
    fn log_changes(&mut self, now: u64) {
        let allocator = self.endpoint.allocator();
        if allocator != self.allocator {
            self.allocator = allocator;
            let address = allocator.map(|number| self.config.allocators[number].to_string());
            log("allocator", json!({"address": address}));
        }
        if self.report_due_ns <= now {
            self.report_due_ns = self.next_report(now);
            self.log_counts();
        }
        if let Some(metrics) = self.metrics.as_ref().filter(|_| self.show_due_ns <= now) {
            metrics.set(self.snapshot());
            self.show_due_ns = now + SHOW_NS;
        }
    }

    pub(crate) fn log_counts(&self) {
        log("counters", self.snapshot().fields());
    }

    fn snapshot(&self) -> Snapshot {
        let reaction_us = |part| self.reaction.value_at_quantile(part) as f64 / 1000.0;
        Snapshot {
            counts: Counts { reactions: self.reaction.len(), ..self.counts },
            endpoint: self.endpoint.stats,
            refused: self.endpoint.refused,
            flowlets: self.endpoint.flowlets() as u64,
            paced: self.flowlets.paced(),
            reaction_p50_us: reaction_us(0.5),
            reaction_p99_us: reaction_us(0.99),
            allocators: self.config.allocators.clone(),
            allocator: self.endpoint.allocator(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use xoff_control::{Sessions, SessionsConfig};

    use super::*;
    use crate::config;
    use crate::plane::Connection;

    /// A plane with given events. When there are no more, it fails.
    #[derive(Default)]
    struct Given {
        lease_ns: u64,
        /// What each call returns, and the lost ends after it.
        rounds: VecDeque<(Vec<Event>, u64)>,
        lost_ends: u64,
        rates: Vec<(u64, Option<u64>)>,
    }

    impl DataPlane for Given {
        fn readable(&self) -> Option<BorrowedFd<'_>> {
            None
        }

        fn until_due(&self) -> Duration {
            Duration::MAX
        }

        fn events(&mut self, into: &mut Vec<Event>) -> io::Result<()> {
            let round = self.rounds.pop_front();
            let (events, lost_ends) = round.ok_or_else(|| io::Error::other("no events"))?;
            into.extend(events);
            self.lost_ends = lost_ends;
            Ok(())
        }

        fn set_rate(&mut self, flowlet: u64, rate: Option<u64>) -> io::Result<()> {
            self.rates.push((flowlet, rate));
            Ok(())
        }

        fn extend_lease(&mut self, until_ns: u64) -> io::Result<()> {
            self.lease_ns = until_ns;
            Ok(())
        }

        fn lost_ends(&self) -> u64 {
            self.lost_ends
        }

        fn is_live(&self, _: u64) -> bool {
            false
        }
    }

    fn worker(config: &Config) -> Worker<'_, Given> {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        Worker::new(config, Given::default(), socket, [1; 32]).unwrap()
    }

    fn connection() -> Connection {
        Connection { local: ([10, 0, 0, 3], 5).into(), remote: ([10, 0, 0, 2], 80).into() }
    }

    #[test]
    fn a_flowlet_whose_start_and_lost_end_come_after_the_events_is_found() {
        let config = config::tests::example("worker-lost");
        let mut worker = worker(&config);
        let start = Event::Start { flowlet: 1, connection: connection(), time_ns: 1 };
        // It starts and ends when the events of the first turn have been taken.
        worker.plane.rounds = [(vec![], 1), (vec![start], 1)].into();
        worker.take_events(1).unwrap();
        worker.take_events(2).unwrap();
        assert_eq!((worker.counts.started, worker.flowlets.parts()), (1, vec![]));
    }

    fn sessions(config: &Config, settings: SessionsConfig) -> Sessions {
        let keys = [(EndpointId(3), config.key.clone())];
        Sessions::new(settings, &keys, [2; 32]).unwrap()
    }

    /// Datagrams of both sides at one time: a hello, its welcome, a report and rates. Each flowlet
    /// gets 1 MB/s.
    fn exchange(
        worker: &mut Worker<'_, Given>,
        sessions: &mut Sessions,
        now: u64,
    ) -> Vec<xoff_control::Event> {
        let (mut events, mut buffer) = (Vec::new(), [0; 2048]);
        for _ in 0..2 {
            while let Some((_, length)) = worker.endpoint.transmit(now, &mut buffer) {
                sessions.receive(&buffer[..length], now, &mut events).unwrap();
            }
            for event in &events {
                if let xoff_control::Event::Started { flow, .. } = *event {
                    sessions.set_rate(flow, 1_000_000);
                }
            }
            while let Some((_, length)) = sessions.transmit(now, &mut buffer) {
                worker.endpoint.receive(0, &buffer[..length], now).unwrap();
            }
        }
        events
    }

    #[test]
    fn rates_that_expire_end_in_the_same_turn() {
        let config = config::tests::example("worker-expires");
        let mut worker = worker(&config);
        let lifetime = 1_000_000;
        let settings = SessionsConfig { lifetime, ..SessionsConfig::default() };
        let (mut sessions, now) = (sessions(&config, settings), now_ns());
        let start = Event::Start { flowlet: 1, connection: connection(), time_ns: now };
        worker.plane.rounds = [(vec![start], 0), (vec![], 0)].into();
        worker.take_events(now).unwrap();
        exchange(&mut worker, &mut sessions, now);
        worker.enforce().unwrap();
        assert_eq!(worker.plane.rates, [(1, Some(1_000_000))]);
        std::thread::sleep(Duration::from_nanos(2 * lifetime));
        worker.turn(&mut [0; 2048]).unwrap();
        assert_eq!(worker.plane.rates.last(), Some(&(1, None)));
    }

    #[test]
    fn flowlets_are_reported_without_path() {
        let config = config::tests::example("worker-path");
        let mut worker = worker(&config);
        worker.apply(Change::Started { number: 1, connection: connection() }, 1).unwrap();
        let mut sessions = sessions(&config, SessionsConfig::default());
        let events = exchange(&mut worker, &mut sessions, 1);
        let path = |event: &xoff_control::Event| match event {
            xoff_control::Event::Started { path, .. } => Some(*path),
            _ => None,
        };
        assert_eq!(events.iter().filter_map(path).collect::<Vec<_>>(), [UNKNOWN_PATH]);
    }

    #[test]
    fn ends_are_counted_of_what_has_started() {
        let config = config::tests::example("worker-counts");
        let mut worker = worker(&config);
        let stranger = Connection { remote: ([10, 0, 0, 99], 80).into(), ..connection() };
        for (number, connection) in [(1, connection()), (2, stranger)] {
            worker.apply(Change::Started { number, connection }, 1).unwrap();
            worker.apply(Change::Ended { number }, 2).unwrap();
        }
        let Counts { started, ended, unknown_receivers, .. } = worker.counts;
        assert_eq!((started, ended, unknown_receivers), (1, 1, 1));
    }

    #[test]
    fn rates_end_also_when_the_work_fails() {
        let config = config::tests::example("worker-fails");
        let mut worker = worker(&config);
        assert!(worker.plane.lease_ns > 0);
        let (wake, _other) = UnixStream::pair().unwrap();
        let error = worker.run(&AtomicBool::new(false), wake.as_fd()).unwrap_err();
        assert_eq!((error.to_string().as_str(), worker.plane.lease_ns), ("no events", 0));
    }

    #[test]
    fn a_flood_does_not_keep_the_agent_from_its_other_work() {
        let config = config::tests::example("worker-flood");
        let mut worker = worker(&config);
        let flood = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = worker.socket.local_addr().unwrap();
        (0..DATAGRAMS + 1).for_each(|_| assert_eq!(flood.send_to(&[0], to).unwrap(), 1));
        let mut buffer = [0; 2048];
        worker.receive(&mut buffer);
        assert_eq!(worker.socket.recv_from(&mut buffer).unwrap().0, 1, "one is left");
    }
}
