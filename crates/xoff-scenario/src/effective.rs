//! The effective scenario: every setting with its value, and derived values.

use xoff_core::knobs::Knobs;
use xoff_core::{HostId, Ps};
use xoff_net::topo::Topology;

/// A section, an entry of a list, or the top level.
#[derive(Debug)]
struct Table {
    /// The name of the section or of the list; empty: the top level.
    name: String,
    /// The kind of a list's entry; `None`: a section.
    kind: Option<String>,
    keys: Vec<(String, String)>,
}

impl Table {
    fn text(&self) -> String {
        let heading = match &self.kind {
            _ if self.name.is_empty() => String::new(),
            None => format!("\n[{}]\n", self.name),
            Some(kind) => format!("\n[[{}]]\nkind = \"{kind}\"\n", self.name),
        };
        let keys = self.keys.iter().map(|(key, value)| format!("{key} = {value}\n"));
        heading + &keys.collect::<String>()
    }
}

/// The text so far.
#[derive(Debug, Default)]
pub struct Effective {
    tables: Vec<Table>,
    derived: String,
}

impl Effective {
    /// Top-level keys.
    pub fn top(&mut self, keys: &[(&str, &str)]) {
        let keys = keys.iter().map(|&(key, value)| (key.into(), value.into())).collect();
        self.tables.push(Table { name: String::new(), kind: None, keys });
    }

    /// A section.
    pub fn section(&mut self, section: &dyn Knobs) {
        let keys = shown(section).collect();
        self.tables.push(Table { name: section.section().into(), kind: None, keys });
    }

    /// An entry of a list of sections, without the keys that have no effect in this composition.
    pub fn entry(&mut self, list: &str, kind: &str, section: &dyn Knobs, unused: &[&str]) {
        let keys = shown(section).filter(|(key, _)| !unused.contains(&key.as_str())).collect();
        self.tables.push(Table { name: list.into(), kind: Some(kind.into()), keys });
    }

    /// Removes a key that proves to have no effect, and its section if that has no other key.
    pub fn leave_out(&mut self, section: &str, key: &str) {
        for table in &mut self.tables {
            if table.name == section && table.kind.is_none() {
                table.keys.retain(|(name, _)| name != key);
            }
        }
        self.tables.retain(|table| table.kind.is_some() || !table.keys.is_empty());
    }

    /// A value derived from the settings, written as a comment, so that the text is a valid
    /// scenario.
    pub fn derive(&mut self, name: &str, value: impl std::fmt::Display) {
        self.derived += &format!("#   {name} = {value}\n");
    }

    /// Values derived from the network.
    pub fn derive_network(&mut self, topology: &Topology, base_rtt: Ps) {
        let capacity = crate::capacity::capacity(topology);
        let line = topology.port_of_host(HostId(0)).rate;
        self.derive("hosts", topology.servers());
        self.derive("switches", topology.nodes() - topology.hosts);
        self.derive("core_capacity", capacity.core);
        self.derive("host_capacity", capacity.hosts());
        self.derive("base_rtt", base_rtt);
        self.derive("bdp", line.bytes_in(base_rtt));
    }

    /// The whole text.
    #[must_use]
    pub fn text(self) -> String {
        let tables: String = self.tables.iter().map(Table::text).collect();
        format!("{tables}\n# Derived:\n{}", self.derived)
    }
}

fn shown(section: &dyn Knobs) -> impl Iterator<Item = (String, String)> + use<> {
    section.show().into_iter().map(|(key, value)| (key.to_owned(), value))
}
