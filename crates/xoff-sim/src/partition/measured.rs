//! What measurements read from a partition.

use xoff_core::NodeId;
use xoff_net::arch::{AnySwitch, Switch};
use xoff_net::hop::PausedTime;
use xoff_net::sched::{Delays, Drops, QueueMask};

use super::{Owner, Partition};
use crate::port_samples::PortTotals;

impl Partition {
    /// Its switches with their node numbers.
    #[must_use]
    pub fn switches(&self) -> &[(NodeId, AnySwitch)] {
        &self.switches
    }

    /// The owner of a port.
    #[must_use]
    pub fn owner(&self, port: u32) -> Owner {
        self.owners[port as usize]
    }

    /// The neighbour at a node's port: "host" or "switch", and its number where the network comes
    /// from.
    #[must_use]
    pub fn neighbour(&self, node: NodeId, number: usize) -> (&'static str, u32) {
        let port = &self.topology.ports_of(node)[number];
        let neighbour = self.topology.neighbour(port);
        let kind = if self.topology.is_host(neighbour) { "host" } else { "switch" };
        (kind, self.given_number(neighbour))
    }

    /// The number of a node where the network comes from.
    #[must_use]
    pub fn given_number(&self, node: NodeId) -> u32 {
        self.topology.given_number(node)
    }

    /// Number of packets that its ports have sent.
    #[must_use]
    pub fn packet_hops(&self) -> u64 {
        (0..self.fabric.port_count() as u32).map(|port| self.fabric.tx_packets(port)).sum()
    }

    /// The time during which queues of a port were paused.
    #[must_use]
    pub fn paused_time(&self, port: u32) -> &PausedTime {
        match self.owners[port as usize] {
            Owner::Host(nic) => self.hosts.nics()[nic as usize].paused_time(),
            Owner::Switch(switch, number) => {
                self.switches[switch as usize].1.egress()[number as usize].paused_time()
            }
        }
    }

    /// Bytes in all queues of a port; for a host, without the data of its flows.
    #[must_use]
    pub fn queue_bytes(&self, port: u32) -> u64 {
        match self.owners[port as usize] {
            Owner::Host(nic) => {
                let nic = &self.hosts.nics()[nic as usize];
                u64::from(nic.control_bytes())
            }
            Owner::Switch(switch, number) => {
                let switch = &self.switches[switch as usize].1;
                u64::from(switch.egress()[number as usize].total_bytes())
            }
        }
    }

    /// Bytes in the paused queues of a port; none for a host, whose NIC makes packets of its data
    /// when it sends them.
    #[must_use]
    pub fn held_bytes(&self, port: u32) -> u64 {
        match self.owners[port as usize] {
            Owner::Host(_) => 0,
            Owner::Switch(switch, number) => {
                self.switches[switch as usize].1.egress()[number as usize].held_bytes()
            }
        }
    }

    /// Totals of a port up to the time `now` (ps).
    #[must_use]
    pub fn totals(&self, port: u32, now: u64) -> PortTotals {
        let Drops { packets, bytes } = self.drops(port);
        PortTotals {
            tx_bytes: self.fabric.tx_bytes(port),
            tx_packets: self.fabric.tx_packets(port),
            drops: packets,
            drop_bytes: bytes,
            paused_ps: self.paused_time(port).total(now),
        }
    }

    /// Packets dropped for lack of buffer at a port, and those lost on its link.
    fn drops(&self, port: u32) -> Drops {
        let mut drops = self.fabric.lost(port);
        if let Owner::Switch(switch, number) = self.owners[port as usize] {
            let full = self.switches[switch as usize].1.egress()[number as usize].drops();
            drops.packets += full.packets;
            drops.bytes += full.bytes;
        }
        drops
    }

    /// Packets lost on links.
    #[must_use]
    pub fn lost_on_links(&self) -> u64 {
        (0..self.owners.len() as u32).map(|port| self.fabric.lost(port).packets).sum()
    }

    /// Maximum bytes that each switch held after any instant since the last call.
    pub fn take_watermarks(&mut self) -> impl Iterator<Item = u64> {
        self.switches.iter_mut().map(|(_, switch)| switch.take_watermark())
    }

    /// Starts recording the queueing delays of data packets at a switch's port, for each of these
    /// sets of queues.
    pub fn watch_delays(&mut self, port: u32, groups: &[QueueMask]) {
        if let Owner::Switch(switch, number) = self.owners[port as usize] {
            self.switches[switch as usize].1.watch_delays(number, groups);
        }
    }

    /// Stops recording delays and returns them.
    pub fn take_delays(&mut self, port: u32) -> Option<Delays> {
        match self.owners[port as usize] {
            Owner::Switch(switch, number) => self.switches[switch as usize].1.take_delays(number),
            Owner::Host(_) => None,
        }
    }
}
