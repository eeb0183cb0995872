//! Counters over all switches and hosts.

use xoff_host::hosts::SignalStats;
use xoff_net::arch::{AnySwitch, Switch};
use xoff_net::hop::{AnyHop, BfcStats, TofinoStats};
use xoff_sim::Simulation;

use super::sfc::SfcCounts;

#[derive(Default)]
pub(super) struct Totals {
    pub(super) drops: u64,
    pub(super) control_drops: u64,
    pub(super) trimmed: u64,
    pub(super) returned: u64,
    pub(super) marks: u64,
    pub(super) pauses: u64,
    pub(super) nic_pauses: u64,
    pub(super) control_lost: u64,
    pub(super) retransmitted: u64,
    pub(super) timeouts: u64,
    pub(super) signals: SignalStats,
    pub(super) bfc: Option<BfcStats>,
    pub(super) tofino: Option<TofinoStats>,
    pub(super) sfc: Option<SfcCounts>,
}

impl Totals {
    pub(super) fn of(simulation: &Simulation) -> Self {
        let mut totals = Self::default();
        for partition in simulation.partitions() {
            let streams = partition.hosts().flowtune_stats().map(|(_, streams)| streams);
            let of_streams: u64 = streams.into_iter().flatten().map(|sent| sent.repeated).sum();
            totals.retransmitted += partition.hosts().stats.retransmitted - of_streams;
            totals.timeouts += partition.hosts().stats.timeouts;
            totals.nic_pauses += partition.hosts().stats.pauses;
            totals.signals.merge(&partition.hosts().stats.signals);
            partition.switches().iter().for_each(|(_, switch)| totals.add_switch(switch));
        }
        totals
    }

    fn add_switch(&mut self, switch: &AnySwitch) {
        let stats = switch.stats();
        self.drops += stats.drops;
        self.control_drops += stats.control_drops;
        self.trimmed += stats.trimmed;
        self.returned += stats.returned;
        self.marks += stats.marks;
        self.pauses += stats.pauses;
        self.control_lost += stats.control_lost;
        if let Some(stats) = switch.hop().and_then(AnyHop::bfc_stats) {
            self.bfc.get_or_insert_default().add(&stats);
        }
        match switch.hop() {
            Some(AnyHop::Sfc(sfc)) => self.sfc.get_or_insert_default().add(sfc),
            Some(AnyHop::Tofino(tofino)) => {
                self.tofino.get_or_insert_default().add(&tofino.hardware_stats());
            }
            _ => {}
        }
    }
}
