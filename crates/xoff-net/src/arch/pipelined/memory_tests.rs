//! Limits of the memory, and its counts compared with a recount.

use proptest::prelude::*;

use super::*;

/// CaPFC §IV-C-7.
fn shared() -> PipelineConfig {
    PipelineConfig { memory: MemoryKind::Shared, ..PipelineConfig::default() }
}

/// Number of packets of 1000 B that ingress queues accept, one after the other in turn.
fn fill(memory: &mut Memory, queues: &[(u16, u8)]) -> u32 {
    let mut joined = 0;
    loop {
        let before = joined;
        for &(port, class) in queues {
            if memory.admits_ingress(port, class, 1000) {
                memory.join(port, class, 1000);
                joined += 1;
            }
        }
        if joined == before {
            return joined;
        }
    }
}

#[test]
fn a_queues_own_memory_is_its_alone() {
    let mut memory = Memory::new(&PipelineConfig::default(), 4);
    assert_eq!(fill(&mut memory, &[(0, 0)]), 60);
    assert_eq!(fill(&mut memory, &[(0, 0), (0, 1), (3, 7)]), 120);
    assert!(memory.admits_egress(0, 0, 0, 1000));
}

/// §IV-C-7: 8 KB per queue, and of the pool 80 KB per queue, 100 KB per port and 350 KB in all.
#[test]
fn a_shared_memory_has_the_papers_limits() {
    let memory = || Memory::new(&shared(), 8);
    assert_eq!(shared().capacities(), [Bytes(88_000); 2]);
    assert_eq!(fill(&mut memory(), &[(0, 0)]), 88);
    let port: Vec<(u16, u8)> = (0..8).map(|class| (0, class)).collect();
    assert_eq!(fill(&mut memory(), &port), 8 * 8 + 100);
    let one_each: Vec<(u16, u8)> = (0..8).map(|port| (port, 0)).collect();
    assert_eq!(fill(&mut memory(), &one_each), 8 * 8 + 350);
}

/// A packet that leaves the ingress makes room for itself at the egress.
#[test]
fn a_packet_is_buffered_once() {
    let mut memory = Memory::new(&shared(), 8);
    let queues: Vec<(u16, u8)> = (0..8).map(|port| (port, 0)).collect();
    fill(&mut memory, &queues);
    assert!(!memory.admits_ingress(0, 0, 1000));
    for moved in 0..88 {
        assert!(memory.admits_egress(moved % 8, 7, 0, 1000), "{moved}");
        memory.leave_ingress(moved % 8, 0, 1000);
        memory.join_egress(7, 0, 1000);
    }
    assert!(!memory.admits_egress(0, 7, 0, 1000), "the queue is full");
    assert!(memory.admits_ingress(0, 1, 1000), "another class has memory of its own");
    memory.join(0, 1, 1000);
    assert!(memory.admits_egress(0, 7, 1, 1000));
    let few = PipelineConfig { all_egress_max: Bytes(5_000), ..shared() };
    let mut memory = Memory::new(&few, 8);
    fill(&mut memory, &queues);
    for moved in 0..13 {
        assert!(memory.admits_egress(0, 7, 0, 1000), "{moved}");
        memory.leave_ingress(0, 0, 1000);
        memory.join_egress(7, 0, 1000);
    }
    assert!(!memory.admits_egress(0, 7, 0, 1000), "all egress queues are at their limit");
    assert!(memory.admits_egress(0, 6, 0, 1000));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let packet = Bytes(1530);
    let refused = |config: PipelineConfig| config.check(packet).unwrap_err().0;
    let plain = PipelineConfig::default;
    assert_eq!((plain().check(packet), shared().check(packet)), (Ok(()), Ok(())));
    assert_eq!(refused(PipelineConfig { packet_rate: 0.0, ..plain() }), "packet_rate");
    assert_eq!(refused(PipelineConfig { packet_rate: 1e13, ..plain() }), "packet_rate");
    assert_eq!(refused(PipelineConfig { egress_size: Bytes(1529), ..plain() }), "egress_size");
    assert_eq!(refused(PipelineConfig { queue_max: Bytes(351_000), ..shared() }), "queue_max");
    assert_eq!(refused(PipelineConfig { port_max: Bytes(351_000), ..shared() }), "port_max");
    assert_eq!(refused(PipelineConfig { port_max: Bytes(70_000), ..shared() }), "queue_max");
    assert_eq!(
        refused(PipelineConfig { all_egress_max: Bytes(400_000), ..shared() }),
        "all_egress_max"
    );
    let nothing = PipelineConfig { dedicated: Bytes(0), queue_max: Bytes(1000), ..shared() };
    assert_eq!(refused(nothing), "queue_max");
    assert_eq!(plain().interval_ps(), 1_000_000);
}

proptest! {
    /// The pool is never overdrawn, no limit is exceeded, and the counts equal the bytes present.
    #[test]
    fn counts_are_as_counted_anew(
        steps in prop::collection::vec((0..4u16, 0..3u8, 64..1531u16, 0..3u8), 1..400),
    ) {
        let config = PipelineConfig {
            dedicated: Bytes(2_000),
            pool: Bytes(12_000),
            queue_max: Bytes(5_000),
            port_max: Bytes(6_000),
            ..shared()
        };
        let mut memory = Memory::new(&config, 4);
        let mut held: [Vec<(u16, u8, u16)>; 2] = [Vec::new(), Vec::new()];
        for (port, class, bytes, what) in steps {
            if what == 0 && memory.admits_ingress(port, class, bytes) {
                memory.join(port, class, bytes);
                held[0].push((port, class, bytes));
            } else if what == 1 && !held[0].is_empty() {
                let (from, class, bytes) = held[0][0];
                if memory.admits_egress(from, port, class, bytes) {
                    held[0].remove(0);
                    memory.leave_ingress(from, class, bytes);
                    memory.join_egress(port, class, bytes);
                    held[1].push((port, class, bytes));
                }
            } else if !held[1].is_empty() {
                let (port, class, bytes) = held[1].remove(0);
                memory.leave_egress(port, class, bytes);
            }
            let mut used = 0;
            for (side, held) in [&memory.ingress, &memory.egress].into_iter().zip(&held) {
                for port in 0..4 {
                    let mut of_port = 0;
                    for class in 0..3 {
                        let here = held.iter().filter(|one| (one.0, one.1) == (port, class));
                        let bytes: u32 = here.map(|one| u32::from(one.2)).sum();
                        prop_assert_eq!(side.bytes(port, class), bytes);
                        prop_assert!(bytes <= 7_000);
                        of_port += bytes.saturating_sub(2_000);
                    }
                    prop_assert!(of_port <= 6_000);
                    used += of_port;
                }
            }
            prop_assert!(used <= 12_000);
        }
    }
}
