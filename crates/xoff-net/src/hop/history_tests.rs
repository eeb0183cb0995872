//! What hop controls do at a switch with random arrivals and departures.

use xoff_core::Bytes;
use xoff_core::rng::Purpose;

use super::bfc::tests::data;
use super::elide::Elide;
use super::*;
use crate::buffer::BufferConfig;
use crate::packet::Pool;
use crate::recount::waiting;
use crate::sched::Drr;

const PORTS: u16 = 4;
const RATE: u64 = 100_000_000_000;

/// What a hop control answers after an event.
#[derive(Debug, PartialEq)]
struct Answer {
    now: u64,
    /// The queue of a packet that was admitted.
    queue: Option<u8>,
    signals: Vec<Signal>,
    flows: [(Option<u32>, Option<u32>); PORTS as usize],
    paused: [QueueMask; PORTS as usize],
    timers: [Option<u64>; PORTS as usize],
}

/// A switch of four ports. The timer of a port is set when a signal is sent there.
struct Switch<H> {
    hop: H,
    ports: Vec<Drr>,
    pool: Pool,
    rng: Rng,
    timers: [Option<u64>; PORTS as usize],
    now: u64,
}

impl<H: HopControl> Switch<H> {
    fn new(hop: H) -> Self {
        let ports = (0..PORTS).map(|_| Drr::new(31, 1048)).collect();
        let rng = Rng::stream(1, Purpose::QueueAssignment, 0);
        Self { hop, ports, pool: Pool::default(), rng, timers: [None; PORTS as usize], now: 0 }
    }

    /// Timers fire that are due.
    fn fire(&mut self) -> Vec<Signal> {
        let mut signals = Vec::new();
        for (ingress, timer) in (0..).zip(&mut self.timers) {
            while timer.is_some_and(|due| due <= self.now) {
                let (signal, continues) = self.hop.on_timer(ingress);
                signals.extend(signal);
                *timer = self.hop.next_timer(self.now).filter(|_| continues);
            }
        }
        signals
    }

    /// A packet arrives for a port. It passes if the port `is_idle` and nothing stops it. Returns
    /// its queue, if it was admitted.
    fn arrive(
        &mut self,
        port: u16,
        mut packet: Packet,
        is_idle: bool,
    ) -> (Option<u8>, Option<Signal>) {
        let Self { hop, now, .. } = self;
        hop.prefetch(packet.ingress);
        if !hop.admits(port, &packet) {
            hop.on_refused(port, &packet);
            return (None, None);
        }
        let queues = &mut self.ports[usize::from(port)];
        let queue = hop.queue_of(*now, port, &packet, queues, &mut self.rng);
        packet.queue = queue;
        if is_idle && queues.may_pass(queue) && hop.pass(*now, port, &packet) {
            return (Some(queue), None);
        }
        let id = self.pool.insert(packet);
        queues.push(&mut self.pool, id);
        (Some(queue), hop.on_enqueue(*now, port, &mut self.pool[id], queues))
    }

    /// A packet leaves a port, if one waits there.
    fn leave(&mut self, port: u16) -> Option<Signal> {
        let id = self.ports[usize::from(port)].pop(&mut self.pool)?;
        let signal = self.hop.on_dequeue(self.now, port, &mut self.pool[id]);
        self.pool.remove(id);
        signal
    }

    fn answer(&mut self, queue: Option<u8>, mut signals: Vec<Signal>) -> Answer {
        if !signals.is_empty() {
            signals.extend(std::iter::from_fn(|| self.hop.next_signal()));
        }
        for signal in &signals {
            self.timers[usize::from(signal.port)] = self.hop.next_timer(self.now);
        }
        let Self { hop, now, timers, .. } = self;
        Answer {
            now: *now,
            queue,
            signals,
            flows: [0, 1, 2, 3].map(|port| (hop.active_flows(port), hop.sharing_flows(port))),
            paused: [0, 1, 2, 3].map(|port| hop.holds_paused(port)),
            timers: *timers,
        }
    }

    fn recount(&self) -> Checked {
        let waits = |(port, queues)| waiting(port, queues, &self.pool);
        let waiting: Vec<_> = (0..).zip(&self.ports).flat_map(waits).collect();
        self.hop.recount(&waiting, &[])
    }
}

/// The answers to 6,000 events, with a recount after every eighth. Flows arrive in bursts, so that
/// queues grow and pauses begin and end. Links change their rate and go down.
fn history(hop: impl HopControl) -> Vec<Answer> {
    let mut draws = Rng::stream(1, Purpose::Transport, 0);
    let mut switch = Switch::new(hop);
    let step = |turn: u64| {
        switch.now += draws.below(200_000);
        let (mut queue, mut signals) = (None, switch.fire());
        let [port, ingress] = [0, 1].map(|_| draws.below(PORTS.into()) as u16);
        let arrives = draws.below(100) < if turn % 2_000 < 1_000 { 90 } else { 10 };
        match draws.below(200) {
            0 => switch.hop.on_link_down(port),
            1 => switch.hop.on_rate(port, RATE / (1 + draws.below(4))),
            _ if arrives => {
                let mut packet = data(draws.below(8) as u32, ingress, draws.below(31) as u8);
                packet.wire_bytes = 64 + draws.below(985) as u16;
                let (joined, signal) = switch.arrive(port, packet, draws.below(4) == 0);
                queue = joined;
                signals.extend(signal);
            }
            _ => signals.extend(switch.leave(port)),
        }
        if turn.is_multiple_of(8) {
            assert_eq!(switch.recount(), Ok(()), "event {turn}");
        }
        switch.answer(queue, signals)
    };
    (0..6_000).map(step).collect()
}

/// A switch without an entry in its table does what it does without a table.
#[test]
fn an_empty_table_changes_nothing() {
    fn same<H: Elide>(make: impl Fn() -> H) {
        let own = history(make());
        let signals: usize = own.iter().map(|answer| answer.signals.len()).sum();
        assert!(signals > 20, "{signals} signals");
        assert_eq!(history(Eliding::new(make(), PORTS.into(), [])), own);
    }
    let port = BfcPort { rate: RATE, delay_ps: 1_000_000 };
    same(|| Bfc::new(&BfcConfig::default(), &[port; PORTS as usize]));
    let port = PfcPort { rate: RATE, delay_ps: 1_000_000 };
    let buffer = BufferConfig { size: Bytes(400_000), ..BufferConfig::default() };
    same(|| Pfc::new(&PfcConfig::default(), &buffer, &[port; PORTS as usize], RATE).unwrap());
}
