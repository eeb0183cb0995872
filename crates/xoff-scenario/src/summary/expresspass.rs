//! What became of ExpressPass's credits, over the whole run.

use xoff_host::driven::AnyDriven;
use xoff_host::driven::expresspass::CreditCounts;
use xoff_sim::Simulation;

use super::{number, object};

/// Credits by what became of them. `waste_share` is that of the credits that came to senders.
pub(super) fn expresspass(simulation: &Simulation) -> String {
    let Some(counts) = credits(simulation) else { return "null".into() };
    let CreditCounts { sent, dropped, used, wasted } = counts;
    object(&[
        ("credits_sent", sent.to_string()),
        ("credits_dropped", dropped.to_string()),
        ("credits_used", used.to_string()),
        ("credits_wasted", wasted.to_string()),
        ("waste_share", number(wasted as f64 / (used + wasted) as f64)),
    ])
}

/// What hosts and switches counted, if hosts run ExpressPass.
fn credits(simulation: &Simulation) -> Option<CreditCounts> {
    let mut sum = None;
    for partition in simulation.partitions() {
        let Some(AnyDriven::ExpressPass(hosts)) = partition.hosts().driven() else { continue };
        let sum: &mut CreditCounts = sum.get_or_insert_default();
        sum.add(&hosts.counts());
        let ports = partition.switches().iter().flat_map(|(_, switch)| switch.credits());
        sum.dropped += ports.map(|credits| credits.dropped).sum::<u64>();
    }
    sum
}
