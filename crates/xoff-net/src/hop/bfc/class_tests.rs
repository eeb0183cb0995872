//! Queues divided among classes (BFC App. A.3).

use proptest::prelude::*;
use xoff_core::Rng;
use xoff_core::rng::Purpose;

use super::*;
use crate::hop::Ask;
use crate::packet::{Kind, Pool, flag};
use crate::sched::{Drr, StrictClasses};

const PORT: BfcPort = BfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };

/// Four classes of eight queues each, with arrivals of packets of a class.
struct Classed {
    bfc: Bfc<PauseCounters<Division>, Division>,
    queues: Drr<StrictClasses>,
    pool: Pool,
    rng: Rng,
}

impl Classed {
    fn new(assignment: Assignment) -> Self {
        let config = BfcConfig {
            classes: 4,
            reserve_control_queue: false,
            assignment,
            // Few entries, so that flows share them.
            table_factor: 1,
            ..BfcConfig::default()
        };
        config.check().unwrap();
        let division = config.division().unwrap();
        Self {
            bfc: Bfc::with_classes(&config, division, &[PORT; 4]),
            queues: Drr::with_classes(division, 1048),
            pool: Pool::default(),
            rng: Rng::stream(1, Purpose::QueueAssignment, 0),
        }
    }

    fn enqueue(&mut self, now: u64, flow: u32, class: u8) -> (u8, Option<Signal>) {
        let mut packet = Packet::new(Kind::Data, 1048);
        (packet.label, packet.flow) = (flow.wrapping_mul(0x0101_0193), flow);
        packet.flags = class << flag::CLASS_SHIFT;
        (packet.ingress, packet.upstream) = (2, class * 8);
        packet.queue = self.bfc.queue_of(now, 0, &packet, &self.queues, &mut self.rng);
        let id = self.pool.insert(packet);
        self.queues.push(&mut self.pool, id);
        let signal = self.bfc.on_enqueue(now, 0, &mut self.pool[id], &self.queues);
        (packet.queue, signal)
    }

    fn dequeue(&mut self, now: u64) -> Option<u8> {
        let id = self.queues.pop(&mut self.pool)?;
        self.bfc.on_dequeue(now, 0, &mut self.pool[id]);
        self.pool.remove(id);
        Some(self.pool[id].class())
    }
}

#[test]
fn no_queues_are_refused_and_not_divided() {
    let config = BfcConfig { classes: 4, queues: 0, ..BfcConfig::default() };
    assert_eq!(config.check().unwrap_err().0, "queues");
    assert!(config.division().is_none());
}

#[test]
fn thresholds_count_the_queues_of_a_class() {
    let mut bench = Classed::new(Assignment::Dynamic);
    // Five queues of the first class and one of the last are active. A queue of the last may hold a
    // whole 1-hop BDP of 25 000 B; one of the first may hold a fifth, 5 000 B.
    for flow in 0..4 {
        assert_eq!(bench.enqueue(0, flow, 0).1, None);
    }
    let paused = |class: u8| Some(Signal::new(2, Ask::Pause, 1 << (class * 8)));
    let mut first_pause =
        |flow, class| (1..).find(|_| bench.enqueue(0, flow, class).1 == paused(class)).unwrap();
    assert_eq!((first_pause(9, 0), first_pause(50, 3)), (5, 24));
}

proptest! {
    /// For any arrivals and departures, and any number of flows on an entry of the flow table: two
    /// classes never share a queue, and the port serves the most important class that waits.
    #[test]
    fn classes_never_share_a_queue(
        stochastic in any::<bool>(),
        steps in prop::collection::vec((0u32..200, 0u8..6, 0usize..3), 1..300),
    ) {
        let assignment = if stochastic { Assignment::Stochastic } else { Assignment::Dynamic };
        let mut bench = Classed::new(assignment);
        let mut waiting = [0u32; 4];
        for (turn, (flow, priority, pops)) in steps.into_iter().enumerate() {
            let now = turn as u64 * 500_000;
            let (queue, _) = bench.enqueue(now, flow, priority);
            prop_assert_eq!(queue / 8, priority.min(3));
            waiting[priority.min(3) as usize] += 1;
            for _ in 0..pops {
                let first = waiting.iter().position(|&packets| packets > 0);
                let sent = bench.dequeue(now).map(|priority| priority.min(3) as usize);
                prop_assert_eq!(sent, first);
                if let Some(class) = sent {
                    waiting[class] -= 1;
                }
            }
        }
    }
}
