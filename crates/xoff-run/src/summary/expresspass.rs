//! Credits of ExpressPass.

use xoff_host::receiver_driven::AnyDriven;
use xoff_host::receiver_driven::expresspass::CreditCounts;
use xoff_sim::Simulation;

use super::keys::keys;
use super::share;

keys! {
    /// Credits of ExpressPass over the whole run.
    pub struct ExpressPass {
        /// Credits that receivers sent.
        credits_sent: u64,
        /// Credits dropped by NICs and switches.
        credits_dropped: u64,
        /// Credits that released a data packet.
        credits_used: u64,
        /// Credits that reached a sender without data.
        credits_wasted: u64,
        /// Wasted credits as a share of the credits that reached senders.
        waste_share: f64,
    }
}

impl ExpressPass {
    pub(super) fn of(simulation: &Simulation) -> Option<Self> {
        let CreditCounts { sent, dropped, used, wasted } = credits(simulation)?;
        Some(Self {
            credits_sent: sent,
            credits_dropped: dropped,
            credits_used: used,
            credits_wasted: wasted,
            waste_share: share(wasted, used + wasted),
        })
    }
}

/// Counters of hosts and switches, if hosts run ExpressPass.
fn credits(simulation: &Simulation) -> Option<CreditCounts> {
    let mut sum = None;
    for partition in simulation.partitions() {
        let Some(AnyDriven::ExpressPass(hosts)) = partition.hosts().receiver_driven() else {
            continue;
        };
        let sum: &mut CreditCounts = sum.get_or_insert_default();
        sum.add(&hosts.counts());
        let ports = partition.switches().iter().flat_map(|(_, switch)| switch.credits());
        sum.dropped += ports.map(|credits| credits.dropped).sum::<u64>();
    }
    sum
}
