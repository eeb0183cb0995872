//! Properties of a hop control's settings.

use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::seam::Need;
use xoff_core::{BitRate, Bytes, Ps, Rng};

use super::{AnyHop, FRAME_BYTES, HopQueues, NicQueues};
use crate::buffer::{BufferConfig, Profile};
use crate::by_class::ByClass;
use crate::topo::Port;

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

/// The properties of a port that PFC uses.
#[derive(Clone, Copy, Debug)]
pub struct PfcPort {
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay (ps).
    pub delay_ps: u64,
}

impl From<&Port> for PfcPort {
    fn from(port: &Port) -> Self {
        Self { rate: port.rate.0, delay_ps: port.delay.0 }
    }
}

/// The site of a hop control: a switch.
#[derive(Debug)]
pub struct HopSite {
    /// Its ports.
    pub ports: Vec<HopPort>,
    /// Its packet memory.
    pub buffer: BufferConfig,
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

impl HopSite {
    /// Its ports, as PFC sees them.
    pub(super) fn pfc_ports(&self) -> Vec<PfcPort> {
        let ports = self.ports.iter();
        ports.map(|port| PfcPort { rate: port.rate, delay_ps: port.delay_ps }).collect()
    }
}

/// The values on which derived settings of a hop control depend.
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
    /// The longest propagation delay at a port of an ordinary switch or host, and at a port of a
    /// gateway.
    pub longest_delays: (Ps, Option<Ps>),
}

/// Derived settings by name.
pub type Derived = Vec<(&'static str, String)>;

/// The interface of a hop control's settings. The defaults describe a control that does nothing.
pub trait HopSettings {
    /// Checks the settings on their own.
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

    /// The bytes that a switch with these ports sets aside before ports share the rest of its
    /// memory.
    fn set_aside(&self, _buffer: &BufferConfig, _ports: &[PfcPort]) -> u64 {
        0
    }

    /// The bytes that it sets aside at a port for packets that arrive after a pause, for each class
    /// without a share of its own, if it means to lose none of them.
    fn headroom(&self, _port: &PfcPort) -> Option<Bytes> {
        None
    }

    /// What follows for a switch with this memory and these ports: names and bytes, for people.
    fn explain(&self, _buffer: &BufferConfig, _ports: &[PfcPort]) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// Its settings that the shares of classes replace, because each class has its own.
    fn replaced(&self, _classes: &ByClass<Profile>) -> Vec<&'static str> {
        Vec::new()
    }

    /// Values that it needs in other settings.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Capabilities that it provides.
    fn provide(&self, _capabilities: &mut Capabilities) {}

    /// The queues into which it puts packets.
    fn queues(&self) -> HopQueues {
        HopQueues::Any
    }

    /// The queues of NICs. `classes` is the number of classes that switches distinguish.
    fn nic_queues(&self, classes: u8) -> NicQueues {
        NicQueues::Classes(classes)
    }

    /// True if NICs obey its pauses. `pfc` is the setting `nic.pfc`.
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

    /// The setting with which it loses packets although it pauses neighbours, and how, if it has
    /// one.
    fn loses_packets(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Checks that its frames fit a link of this rate.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check_rate(&self, _rate: BitRate) -> Checked {
        Ok(())
    }

    /// True if both ends of a link forget its pauses when it goes down.
    fn survives_link_down(&self) -> bool {
        false
    }

    /// True if a lost packet, of any kind, leaves nothing paused.
    fn survives_loss(&self) -> bool {
        false
    }

    /// True if its pauses count in the summary like those of PFC.
    fn pauses_classes(&self) -> bool {
        false
    }

    /// True if its frames pause queues rather than classes.
    fn pauses_queues(&self) -> bool {
        false
    }

    /// True if it limits each ingress, so that the buffer does not limit queues.
    fn limits_ingress(&self) -> bool {
        false
    }

    /// The reason that all packets of a flow must take one path, if they must.
    fn needs_one_path(&self) -> Option<&'static str> {
        None
    }

    /// True if it treats labelled flows separately.
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
