//! Memory of switches by traffic class: headroom in use, and packets that found no room.

use xoff_net::hop::{ClassStats, Refused};
use xoff_sim::Simulation;

use super::keys::{Named, keys};

keys! {
    /// Accounts of classes in the memory of switches (`buffer.by_class`,
    /// `pfc.headroom_oversubscription`, or a watchdog of PFC), over the whole run.
    pub struct ClassMemory {
        /// The most bytes of headroom in use at once in one switch.
        headroom_max_bytes: u64,
        /// Packets that found no room, by class and cause; classes without any are left out. A part
        /// of `drops_packets`.
        refused: Named<RefusedPackets>,
    }
}

keys! {
    /// Packets of one class that found no room.
    pub struct RefusedPackets {
        /// Lossy: their queue had reached its dynamic threshold.
        threshold: u64,
        /// Lossless: the headroom of their ingress was full.
        headroom: u64,
        /// Lossless: the pool of all headrooms was used up.
        headroom_pool: u64,
        /// The memory was full: more classes used headroom than it was set aside for.
        memory: u64,
    }
}

impl ClassMemory {
    pub(super) fn of(simulation: &Simulation) -> Option<Self> {
        let switches = simulation.partitions().iter().flat_map(|part| part.switches());
        let counted = switches.filter_map(|(_, switch)| switch.hop()?.class_stats());
        let mut sum: Option<ClassStats> = None;
        for stats in counted {
            let sum = sum.get_or_insert_default();
            sum.headroom_max = sum.headroom_max.max(stats.headroom_max);
            sum.refused.iter_mut().zip(&stats.refused).for_each(|(sum, more)| sum.add(more));
        }
        let ClassStats { headroom_max, refused } = sum?;
        let classes = (0..).zip(refused).filter(|(_, refused)| *refused != Refused::default());
        let named = classes.map(|(class, refused): (u8, _)| {
            let Refused { threshold, headroom, headroom_pool, memory } = refused;
            (class.to_string(), RefusedPackets { threshold, headroom, headroom_pool, memory })
        });
        Some(Self { headroom_max_bytes: headroom_max, refused: named.collect() })
    }
}
