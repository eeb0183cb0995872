//! What the settings of a hop control say about it.

use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::seam::Need;
use xoff_core::{BitRate, Bytes, Ps, Rng};

use super::{AnyHop, FRAME_BYTES, NicQueues, TofinoConfig};
use crate::division::Division;
use crate::packet::CLASSES;

/// Queues of an egress port that a hop control puts packets into.
#[derive(Clone, Debug)]
pub enum HopQueues {
    /// It has no queues of its own: any scheduler will do.
    Any,
    /// One queue for each traffic class, in order of arrival.
    Classes,
    /// Queues that flows are assigned to.
    Assigned(AssignedQueues),
}

/// Queues that flows are assigned to.
#[derive(Clone, Debug)]
pub struct AssignedQueues {
    /// How many there are.
    pub count: u8,
    /// The queues of each traffic class, if classes divide them.
    pub division: Option<Division>,
    /// True if single flows are paused inside a queue.
    pub pauses_flows: bool,
    /// The switch that they are on, if it is not an ideal one.
    pub tofino: Option<TofinoConfig>,
}

/// A port of a switch.
#[derive(Clone, Copy, Debug)]
pub struct HopPort {
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay (ps).
    pub delay_ps: u64,
    /// True if a host is at the other end.
    pub host: bool,
}

/// A switch that gets a hop control.
#[derive(Debug)]
pub struct HopSite {
    /// Its ports.
    pub ports: Vec<HopPort>,
    /// Its packet memory (bytes).
    pub buffer_bytes: u64,
    /// The rate of the fastest host (bit/s).
    pub nic_rate: u64,
    /// Hosts of the network.
    pub hosts: usize,
    /// Pairs of ports, ingress and egress, without backpressure.
    pub elided: Vec<(u16, u16)>,
    /// True if packets carry the number of their queue.
    pub carried_queues: bool,
    /// A random stream for the hop control.
    pub rng: Rng,
}

/// What derived settings of a hop control depend on.
#[derive(Clone, Copy, Debug)]
pub struct HopContext {
    /// Base RTT of the longest path.
    pub base_rtt: Ps,
    /// Base RTT x rate of the fastest host.
    pub bandwidth_delay_product: Bytes,
    /// The rate of the slowest link.
    pub slowest: BitRate,
    /// The rate of the first host.
    pub host_rate: BitRate,
    /// Most bytes of one queue, if the buffer limits them.
    pub queue_limit: Option<Bytes>,
    /// The longest propagation delay at a port of an ordinary switch or host, and at a port of a gateway.
    pub longest_delays: (Ps, Option<Ps>),
}

/// Derived settings by name.
pub type Derived = Vec<(&'static str, String)>;

/// What the rest of the program asks the settings of a hop control. The defaults describe one that
/// does nothing.
pub trait HopSettings {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self) -> Checked {
        Ok(())
    }

    /// Checks the settings with full packets of this many bytes, and switches by node and number of
    /// ports.
    ///
    /// # Errors
    /// Section, key, and what to write instead.
    fn check_switches(
        &self,
        _full_packet: u64,
        _switches: &[(u32, usize)],
    ) -> Result<(), (&'static str, &'static str, String)> {
        Ok(())
    }

    /// Values that it needs other settings to have.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Capabilities that it provides.
    fn provide(&self, _capabilities: &mut Capabilities) {}

    /// The queues that it puts packets into.
    fn queues(&self) -> HopQueues {
        HopQueues::Any
    }

    /// The queues of NICs; `classes` is the number of classes that switches tell apart.
    fn nic_queues(&self, classes: u8) -> NicQueues {
        NicQueues::Classes(classes)
    }

    /// True if NICs obey its pauses; `pfc` is `nic.pfc`.
    fn nics_obey(&self, pfc: bool) -> bool {
        pfc
    }

    /// Its name, if neighbours pause each other so that pauses can form a cycle.
    fn backpressure(&self) -> Option<&'static str> {
        None
    }

    /// Whether backpressure can be left out for pairs of ports.
    ///
    /// # Errors
    /// What to write instead.
    fn can_elide(&self) -> Result<(), &'static str> {
        Err("there is no backpressure to leave out")
    }

    /// True if pauses of a link that goes down are forgotten at both ends.
    fn survives_link_down(&self) -> bool {
        false
    }

    /// True if a lost packet, of any kind, leaves nothing paused.
    fn survives_loss(&self) -> bool {
        false
    }

    /// True if pauses count in the summary as those of PFC do.
    fn pauses_classes(&self) -> bool {
        false
    }

    /// True if its frames pause queues rather than classes.
    fn pauses_queues(&self) -> bool {
        false
    }

    /// True if it limits each ingress, so that the buffer sets no limit to a queue.
    fn limits_ingress(&self) -> bool {
        false
    }

    /// Why all packets of a flow must take one path, if they must.
    fn needs_one_path(&self) -> Option<&'static str> {
        None
    }

    /// True if it treats labelled flows apart.
    fn reads_labels(&self) -> bool {
        false
    }

    /// True if derived settings depend on the base RTT.
    fn derives_from_base_rtt(&self) -> bool {
        false
    }

    /// Fills in derived settings, and checks them.
    ///
    /// # Errors
    /// The key that does not fit the network, and what to write instead.
    fn derive(&mut self, _context: &HopContext) -> Result<Derived, (&'static str, String)> {
        Ok(Vec::new())
    }

    /// Bytes of its frames to a neighbour on the wire.
    fn frame_bytes(&self) -> u16 {
        FRAME_BYTES
    }

    /// Estimated memory of all switches and NICs (bytes).
    fn bytes(&self, _network: &NetworkSize) -> u128 {
        0
    }

    /// The hop control of a switch.
    ///
    /// # Errors
    /// Why the switch cannot have it.
    fn build(&self, site: HopSite) -> Result<AnyHop, String>;
}

/// The size of a network.
#[derive(Clone, Copy, Debug)]
pub struct NetworkSize {
    /// Hosts.
    pub hosts: u128,
    /// Switches.
    pub switches: u128,
    /// Switches with hosts.
    pub racks: u128,
    /// Ports of all switches.
    pub switch_ports: u128,
}

/// The number of traffic classes as the number of a port's queues.
pub(crate) const CLASS_QUEUES: u8 = CLASSES as u8;
