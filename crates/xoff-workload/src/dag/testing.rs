//! Jobs on hosts that deliver in any order.

use std::collections::BTreeMap;

use xoff_core::program::{Act, Event, Job, Program};

/// Runs a job with one waiting event at a time, chosen by `choose`. Returns the acts of each
/// rank in their order. In a job that ends, each step has as many messages as it says.
pub(crate) fn run(dag: &dyn Job, mut choose: impl FnMut(usize) -> usize) -> Vec<Vec<Act>> {
    let ranks = dag.hosts().len();
    let mut programs: Vec<Box<dyn Program>> =
        (0..ranks as u32).map(|rank| dag.program(rank)).collect();
    let mut waiting: Vec<(usize, Event)> = (0..ranks).map(|rank| (rank, Event::Begin)).collect();
    let mut all = vec![Vec::new(); ranks];
    let mut acts = Vec::new();
    while !waiting.is_empty() {
        let (rank, event) = waiting.remove(choose(waiting.len()) % waiting.len());
        programs[rank].react(event, &mut acts);
        for act in acts.drain(..) {
            all[rank].push(act);
            match act {
                Act::Send { message, to, .. } => {
                    let to = dag.hosts().iter().position(|&host| host == to).unwrap();
                    waiting.push((to, Event::Arrived(message)));
                    waiting.push((to, Event::Arrived(message)));
                    waiting.push((rank, Event::Sent(message)));
                }
                Act::Compute { key, .. } => waiting.push((rank, Event::Computed(key))),
                Act::Finish { .. } => {}
            }
        }
    }
    if all.iter().all(|acts| acts.iter().any(|act| matches!(act, Act::Finish { .. }))) {
        let mut steps = BTreeMap::new();
        for act in all.iter().flatten() {
            if let Act::Send { message, .. } = *act {
                *steps.entry(dag.step(message)).or_insert(0) += 1;
            }
        }
        for ((_, step), messages) in steps {
            assert_eq!(messages, dag.messages_of_step(step), "step {step}");
        }
    }
    all
}
