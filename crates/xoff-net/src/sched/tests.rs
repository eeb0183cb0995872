//! Tests of all schedulers: the packets they hold, pauses, and packets that pass.

use proptest::prelude::*;

use xoff_core::Ps;
use xoff_core::seam::Seam as _;

use super::ets::tests::ets;
use super::*;
use crate::packet::{Kind, Packet};
use crate::sched::{AssignedQueues, HopQueues};

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(u8),
    Pause(QueueMask),
    Pop,
}

fn steps(queues: u8) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..queues).prop_map(Step::Push),
        1 => any::<QueueMask>().prop_map(Step::Pause),
        3 => Just(Step::Pop),
    ];
    prop::collection::vec(step, 1..200)
}

/// The schedulers that a scenario can ask for, over queues of hop controls that they serve.
fn all_schedulers() -> Vec<AnyScheduler> {
    let assigned = AssignedQueues { count: 8, division: None, pauses_flows: false, tofino: None };
    let of_flows = AssignedQueues { pauses_flows: true, ..assigned.clone() };
    let assigned = [assigned, of_flows].map(HopQueues::Assigned);
    let hops: Vec<_> = [HopQueues::Any, HopQueues::Classes].into_iter().chain(assigned).collect();
    let mut schedulers = Vec::new();
    for mut config in SchedulerConfig::all() {
        config.derive(Ps::from_us(10)).unwrap();
        for queues in hops.iter().filter(|queues| config.serves(queues).is_ok()) {
            let queues = queues.clone();
            let site = SchedulerSite { queues, quantum: 1000, bin_seed: 1, priorities: 8 };
            schedulers.push(config.build(&site));
        }
    }
    schedulers
}

/// Packets of several flows and sizes join all queues. Each leaves once, and packets of a flow in
/// one queue leave in order.
#[test]
fn what_joins_leaves_once_and_flows_stay_in_order() {
    for mut scheduler in all_schedulers() {
        let (mut pool, mut left) = (Pool::default(), Vec::new());
        for number in 0..200u32 {
            let mut packet = Packet::new(Kind::Data, 100 + 7 * (number % 40) as u16);
            (packet.queue, packet.flow) = ((number * 5 % 8) as u8, number * 5 % 8);
            (packet.label, packet.remaining) = (packet.flow, 1000 - number);
            let id = pool.insert(packet);
            each_scheduler!(&mut scheduler, queues => queues.push(&mut pool, id));
            if number % 3 == 0 {
                left.extend(each_scheduler!(&mut scheduler, queues => queues.pop(&mut pool)));
            }
        }
        assert!(left.len() == 67, "{scheduler:?}");
        assert!(each_scheduler!(&scheduler, queues => queues.active()) > 1, "{scheduler:?}");
        while each_scheduler!(&scheduler, queues => queues.is_ready()) {
            left.extend(each_scheduler!(&mut scheduler, queues => queues.pop(&mut pool)));
        }
        assert_eq!(left.len(), 200, "{scheduler:?}");
        for flow in 0..8 {
            let of_flow = left.iter().filter(|&&id| pool[id].flow == flow);
            assert!(of_flow.is_sorted(), "flow {flow} of {scheduler:?}");
        }
        left.sort_unstable();
        left.dedup();
        assert_eq!(left.len(), 200, "{scheduler:?}");
        assert_eq!(each_scheduler!(&scheduler, queues => queues.occupied()), 0, "{scheduler:?}");
        assert_eq!(each_scheduler!(&scheduler, queues => queues.active()), 0, "{scheduler:?}");
    }
}

/// Schedulers with a queue for each flow pause as a whole, by any mask.
#[test]
fn a_paused_port_sends_nothing() {
    let codel = SfqCodelConfig::default().derived(Ps::from_us(10));
    for mut scheduler in [
        AnyScheduler::PerFlow(PerFlow::new(1000)),
        AnyScheduler::PerFlowSrf(PerFlowSrf::default()),
        AnyScheduler::PFabric(PFabric::default()),
        AnyScheduler::SfqCodel(SfqCodel::new(&codel, 1000, 1)),
    ] {
        let mut pool = Pool::default();
        let id = pool.insert(Packet::new(Kind::Data, 1000));
        each_scheduler!(&mut scheduler, queues => {
            assert!(queues.may_pass(0) && queues.occupied() == 0);
            queues.set_paused(1);
            assert!(!queues.may_pass(0));
            queues.push(&mut pool, id);
            assert_eq!((queues.occupied(), queues.paused(), queues.active()), (1, 1, 1));
            assert!(!queues.is_ready() && queues.pop(&mut pool).is_none());
            queues.set_paused(0);
            assert!(queues.is_ready() && queues.paused() == 0);
            assert_eq!(queues.pop(&mut pool), Some(id));
        });
    }
}

/// A popped packet never comes from a paused queue, and a pop returns a packet exactly if an
/// unpaused queue has one.
fn obeys_pauses(mut scheduler: impl Scheduler, queues: u8, steps: &[Step]) {
    let mut pool = Pool::default();
    let mut held = vec![0u32; queues as usize];
    let mut mask = 0;
    for &step in steps {
        match step {
            Step::Push(queue) => {
                let mut packet = Packet::new(Kind::Data, 1048);
                packet.queue = queue;
                let id = pool.insert(packet);
                scheduler.push(&mut pool, id);
                held[queue as usize] += 1;
            }
            Step::Pause(paused) => {
                mask = paused & (QueueMask::MAX >> (128 - u32::from(queues)));
                scheduler.set_paused(mask);
            }
            Step::Pop => {
                let may = (0..queues).any(|q| held[q as usize] > 0 && mask >> q & 1 == 0);
                assert_eq!(scheduler.is_ready(), may);
                let popped = scheduler.pop(&mut pool);
                assert_eq!(popped.is_some(), may);
                if let Some(id) = popped {
                    let queue = pool[id].queue;
                    assert_eq!(mask >> queue & 1, 0, "queue {queue} is paused");
                    held[queue as usize] -= 1;
                    pool.remove(id);
                }
            }
        }
    }
}

/// Two schedulers receive the same packets. In one, packets pass if they may; in the other they
/// always join and leave. Both pop the same packets afterwards.
fn passing_is_joining_and_leaving<S: Scheduler>(make: impl Fn() -> S, steps: &[Step]) {
    let (mut passed, mut joined) = (make(), make());
    let mut pool = Pool::default();
    assert!(passed.may_pass(0), "an idle port lets a packet pass");
    for &step in steps {
        match step {
            Step::Push(queue) => {
                let mut packet = Packet::new(Kind::Data, 64 + 100 * u16::from(queue % 10));
                packet.queue = queue;
                packet.flow = u32::from(queue);
                let passes = passed.may_pass(queue);
                let ids = [packet; 2].map(|packet| pool.insert(packet));
                joined.push(&mut pool, ids[0]);
                if passes {
                    passed.pass(&packet);
                    assert_eq!(joined.pop(&mut pool), Some(ids[0]));
                } else {
                    passed.push(&mut pool, ids[1]);
                }
            }
            Step::Pause(paused) => {
                passed.set_paused(paused);
                joined.set_paused(paused);
            }
            Step::Pop => {
                let mut queue_of = |scheduler: &mut S| {
                    scheduler.pop(&mut pool).map(|id| (pool[id].queue, pool[id].wire_bytes))
                };
                assert_eq!(queue_of(&mut passed), queue_of(&mut joined));
            }
        }
    }
}

proptest! {
    #[test]
    fn passing_round_robin_changes_no_turn(steps in steps(31)) {
        passing_is_joining_and_leaving(|| Drr::new(31, 500), &steps);
    }

    #[test]
    fn passing_a_traffic_manager_changes_no_turn(steps in steps(31), behind in 0u32..3000) {
        passing_is_joining_and_leaving(|| TrafficManager::new(31, 500, 176, behind), &steps);
    }

    #[test]
    fn passing_queues_of_flows_changes_no_turn(steps in steps(31)) {
        passing_is_joining_and_leaving(|| DrrFlows::new(31, 500), &steps);
    }

    #[test]
    fn passing_classes_changes_no_turn(steps in steps(8)) {
        passing_is_joining_and_leaving(Fifo::default, &steps);
    }

    #[test]
    fn passing_priorities_changes_no_turn(steps in steps(32)) {
        passing_is_joining_and_leaving(|| Priorities::new(32), &steps);
    }

    #[test]
    fn priorities_never_serve_a_paused_one(steps in steps(32)) {
        obeys_pauses(Priorities::new(32), 32, &steps);
    }

    #[test]
    fn passing_flows_changes_no_turn(steps in steps(16)) {
        passing_is_joining_and_leaving(|| PerFlow::new(500), &steps);
    }

    #[test]
    fn passing_classes_in_turns_changes_no_turn(steps in steps(32)) {
        let division = crate::division::Division::new(32, 4);
        passing_is_joining_and_leaving(|| Drr::with_classes(division, 500), &steps);
    }

    #[test]
    fn passing_by_size_changes_no_turn(steps in steps(31)) {
        passing_is_joining_and_leaving(|| Srf::new(31), &steps);
    }

    #[test]
    fn passing_flows_by_size_changes_no_turn(steps in steps(16)) {
        passing_is_joining_and_leaving(PerFlowSrf::default, &steps);
    }

    #[test]
    fn passing_pfabric_changes_no_turn(steps in steps(16)) {
        passing_is_joining_and_leaving(PFabric::default, &steps);
    }

    #[test]
    fn passing_strict_and_weighted_classes_changes_no_turn(steps in steps(8)) {
        passing_is_joining_and_leaving(|| ets("2,0", "1,3,1,1,2,1,1,1"), &steps);
    }

    #[test]
    fn strict_and_weighted_classes_never_serve_a_paused_one(steps in steps(8)) {
        obeys_pauses(ets("2,0", "1,3,1,1,2,1,1,1"), 8, &steps);
    }

    #[test]
    fn round_robin_never_serves_a_paused_queue(steps in steps(31)) {
        obeys_pauses(Drr::new(31, 1048), 31, &steps);
    }

    #[test]
    fn round_robin_in_cells_never_serves_a_paused_queue(steps in steps(31)) {
        obeys_pauses(TrafficManager::new(31, 1048, 176, 0), 31, &steps);
    }

    #[test]
    fn round_robin_over_all_queues_never_serves_a_paused_one(steps in steps(128)) {
        obeys_pauses(Drr::new(128, 1048), 128, &steps);
    }

    #[test]
    fn classes_never_serve_a_paused_one(steps in steps(8)) {
        obeys_pauses(Fifo::default(), 8, &steps);
    }
}
