//! What every scheduler of the seam says of itself.

use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam as _;
use xoff_core::{Bytes, Ps};

use super::*;
use crate::division::Division;

/// What of this a scheduler says with its default settings.
fn says(scheduler: &SchedulerConfig) -> Vec<&'static str> {
    let assigned = AssignedQueues { count: 8, division: None, pauses_flows: false, tofino: None };
    let serves = |queues: HopQueues| scheduler.serves(&queues).is_ok();
    [
        ("turns", scheduler.takes_turns()),
        ("queues", scheduler.has_queues()),
        ("sizes", scheduler.uses_flow_sizes()),
        ("carried", scheduler.serves_carried_priorities()),
        ("derives", scheduler.derives_from_base_rtt()),
        ("needs", !scheduler.needs().is_empty()),
        ("memory", scheduler.port_memory(Bytes(1000)).is_some()),
        ("bins", scheduler.port_bytes() > 0),
        ("any", serves(HopQueues::Any)),
        ("classes", serves(HopQueues::Classes)),
        ("assigned", serves(HopQueues::Assigned(assigned))),
    ]
    .into_iter()
    .filter_map(|(word, says)| says.then_some(word))
    .collect()
}

#[test]
fn every_scheduler_says_what_it_is_and_serves() {
    let table = [
        ("fifo", "queues, any, classes"),
        ("drr", "turns, queues, any, assigned"),
        ("per-flow", "turns, any"),
        ("srf", "queues, sizes, assigned"),
        ("per-flow-srf", "sizes, any"),
        ("pfabric", "queues, needs, memory, any"),
        ("sfqcodel", "turns, queues, derives, bins, any"),
        ("ets", "turns, queues, any, classes"),
        ("strict", "queues, carried, needs, any"),
    ];
    let found: Vec<_> = SchedulerConfig::all()
        .iter()
        .map(|scheduler| (scheduler.kind().show().replace('"', ""), says(scheduler).join(", ")))
        .collect();
    assert_eq!(found, table.map(|(name, words)| (name.to_owned(), words.to_owned())));
}

/// "2xBDP" (pFabric §5).
#[test]
fn a_port_of_pfabric_has_two_bandwidth_delay_products() {
    let memory = PFabricSchedulerConfig::default().port_memory(Bytes(18_000));
    assert_eq!(memory, Some(("pfabric_buffer", Bytes(36_000))));
}

/// Settings that derive nothing name nothing.
#[test]
fn only_codel_derives_times() {
    for mut scheduler in SchedulerConfig::all() {
        let is_codel = matches!(scheduler, SchedulerConfig::SfqCodel(_));
        let derived = scheduler.derive(Ps::from_us(10)).unwrap();
        assert_eq!(derived.len(), if is_codel { 2 } else { 0 });
        assert!(!scheduler.derives_from_base_rtt());
    }
}

/// Shortest remaining flow first works with several queues that are paused as a whole.
#[test]
fn shortest_flow_first_serves_only_queues_that_it_can_tell_apart() {
    let queues = || AssignedQueues { count: 8, division: None, pauses_flows: false, tofino: None };
    let tofino = Some(TofinoMemory { cell_bytes: 176, fifo_bytes: 0 });
    let refused = |queues| {
        let refused = SrfConfig::default().serves(&HopQueues::Assigned(queues));
        refused.err().map(|message| message.split(' ').take(2).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(refused(queues()), None);
    for (queues, words) in [
        (AssignedQueues { count: 1, ..queues() }, "has nothing"),
        (AssignedQueues { division: Some(Division::new(8, 2)), ..queues() }, "does not"),
        (AssignedQueues { pauses_flows: true, ..queues() }, "skips paused"),
        (AssignedQueues { tofino, ..queues() }, "is not"),
    ] {
        assert_eq!(refused(queues).as_deref(), Some(words));
    }
}
