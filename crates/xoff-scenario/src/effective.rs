//! The effective scenario: every setting with its value, and what follows from them.

use xoff_core::Ps;
use xoff_core::knobs::Knobs;
use xoff_net::division::Divided;
use xoff_net::hop::BackpressureKind;
use xoff_net::topo::Topology;
use xoff_sim::setup::HopSetup;

/// The text as it grows.
#[derive(Debug, Default)]
pub struct Effective {
    text: String,
    derived: String,
}

impl Effective {
    /// Top-level keys.
    pub fn top(&mut self, keys: &[(&str, &str)]) {
        for (key, value) in keys {
            self.text += &format!("{key} = {value}\n");
        }
    }

    /// A section, but for the keys that have no effect in this composition.
    pub fn section<K: Knobs>(&mut self, section: &K, unused: &[&str]) {
        self.text += &format!("\n[{}]\n", K::SECTION);
        let mut keys = section.show();
        keys.retain(|(key, _)| !unused.contains(key));
        self.top_of(&keys);
    }

    /// An entry of a list of sections.
    pub fn entry<K: Knobs>(&mut self, list: &str, kind: &str, section: &K) {
        self.text += &format!("\n[[{list}]]\nkind = \"{kind}\"\n");
        self.top_of(&section.show());
    }

    fn top_of(&mut self, keys: &[(&'static str, String)]) {
        for (key, value) in keys {
            self.text += &format!("{key} = {value}\n");
        }
    }

    /// Something that follows from the settings; written as a comment, so that the text is a
    /// scenario itself.
    pub fn derive(&mut self, name: &str, value: impl std::fmt::Display) {
        self.derived += &format!("#   {name} = {value}\n");
    }

    /// What follows from the network.
    pub fn derive_network(&mut self, topology: &Topology, base_rtt: Ps, hop: &HopSetup) {
        let (core, hosts) = topology.capacities();
        let line = topology.ports_of(0)[0].rate;
        self.derive("hosts", topology.servers());
        self.derive("switches", topology.nodes() - topology.hosts);
        self.derive("core_capacity", core);
        self.derive("host_capacity", hosts);
        self.derive("base_rtt", base_rtt);
        self.derive("bdp", line.bytes_in(base_rtt));
        if let HopSetup::Bfc(bfc) = hop {
            let longest = |of_gateways: bool| {
                let ports = topology.ports.iter();
                let ports = ports.filter(|port| topology.is_gateway(port.node) == of_gateways);
                ports.map(|port| port.delay.0).max()
            };
            let hrtt = |delay: u64| Ps(2 * delay + bfc.hop_processing.0);
            if let Some(delay) = longest(true) {
                self.derive("bfc_1_hop_rtt_of_gateways", hrtt(delay));
            }
            let hrtt = hrtt(longest(false).unwrap_or(0));
            self.derive("bfc_1_hop_rtt", hrtt);
            if bfc.backpressure != BackpressureKind::None {
                self.derive("bfc_pause_threshold_one_queue", line.bytes_in(hrtt));
            }
            self.derive("bfc_data_queues", bfc.data_queues());
            if let Some(division) = bfc.division() {
                self.derive("bfc_queues_a_class", division.range(0).1);
            }
            self.derive("bfc_table_entries_a_port", u32::from(bfc.queues) * bfc.table_factor);
        }
        if let HopSetup::Sfc(sfc) = hop {
            self.derive("sfc_trigger", sfc.trigger);
            self.derive("sfc_target", sfc.target);
            self.derive("sfc_filter_reset", sfc.filter_reset);
            self.derive("sfc_estimator_tau", sfc.estimator_tau);
        }
    }

    /// The whole text.
    #[must_use]
    pub fn text(self) -> String {
        format!("{}\n# Derived:\n{}", self.text, self.derived)
    }
}
