//! What hop controls do at a switch with random arrivals and departures.

use std::fmt::Debug;

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
    admitted: bool,
    queue: u8,
    signals: Vec<Signal>,
    flows: [(Option<u32>, Option<u32>); PORTS as usize],
    paused: [QueueMask; PORTS as usize],
    timers: [Option<u64>; PORTS as usize],
}

/// The answers to 6,000 events at a switch of four ports, with a recount after every
/// eighth. Flows arrive in bursts, so that queues grow and pauses begin and end. Links change their rate and go down.
fn history(mut hop: impl HopControl) -> Vec<Answer> {
    let mut rng = Rng::stream(1, Purpose::QueueAssignment, 0);
    let mut draws = Rng::stream(1, Purpose::Transport, 0);
    let mut pool = Pool::default();
    let mut ports: Vec<_> = (0..PORTS).map(|_| Drr::new(31, 1048)).collect();
    let mut timers = [None; PORTS as usize];
    let (mut now, mut answers) = (0, Vec::new());
    for turn in 0..6_000_u64 {
        now += draws.below(200_000);
        let (mut admitted, mut queue, mut signals) = (true, 0, Vec::new());
        for ingress in 0..PORTS {
            let timer: &mut Option<u64> = &mut timers[usize::from(ingress)];
            while timer.is_some_and(|due| due <= now) {
                let (signal, continues) = hop.on_timer(ingress);
                signals.extend(signal);
                *timer = hop.next_timer(now).filter(|_| continues);
            }
        }
        let [port, other] = [0, 1].map(|_| draws.below(PORTS.into()) as u16);
        let arrives = draws.below(100) < if turn % 2_000 < 1_000 { 90 } else { 10 };
        match draws.below(200) {
            0 => hop.on_link_down(port),
            1 => hop.on_rate(port, RATE / (1 + draws.below(4))),
            _ if arrives => {
                let wire_bytes = 64 + draws.below(985) as u16;
                let upstream = draws.below(31) as u8;
                let mut packet = data(draws.below(8) as u32, other, upstream);
                packet.wire_bytes = wire_bytes;
                hop.prefetch(other);
                admitted = hop.admits(port, &packet);
                if !admitted {
                    hop.on_refused(port, &packet);
                } else {
                    let queues = &mut ports[usize::from(port)];
                    queue = hop.queue_of(now, port, &packet, queues, &mut rng);
                    packet.queue = queue;
                    let is_idle = draws.below(4) == 0;
                    if !(is_idle && queues.may_pass(queue) && hop.pass(now, port, &packet)) {
                        let id = pool.insert(packet);
                        queues.push(&mut pool, id);
                        signals.extend(hop.on_enqueue(now, port, &mut pool[id], queues));
                    }
                }
            }
            _ => {
                if let Some(id) = ports[usize::from(port)].pop(&mut pool) {
                    signals.extend(hop.on_dequeue(now, port, &mut pool[id]));
                    pool.remove(id);
                }
            }
        }
        while let Some(signal) = (!signals.is_empty()).then(|| hop.next_signal()).flatten() {
            signals.push(signal);
        }
        for signal in &signals {
            timers[usize::from(signal.port)] = hop.next_timer(now);
        }
        if turn % 8 == 0 {
            let waits = |(port, queues)| waiting(port, queues, &pool);
            let waiting: Vec<_> = (0..).zip(&ports).flat_map(waits).collect();
            assert_eq!(hop.recount(&waiting, &[]), Ok(()), "event {turn}");
        }
        answers.push(Answer {
            now,
            admitted,
            queue,
            signals,
            flows: [0, 1, 2, 3].map(|port| (hop.active_flows(port), hop.sharing_flows(port))),
            paused: [0, 1, 2, 3].map(|port| hop.holds_paused(port)),
            timers,
        });
    }
    answers
}

/// A switch without an entry in its table does what it does without a table.
#[test]
fn an_empty_table_changes_nothing() {
    fn same<H: Elide + Debug>(make: impl Fn() -> H) {
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
