//! The `[[traffic]]` entries of a scenario.

mod extent;
pub(crate) mod files;

use std::path::Path;

use xoff_core::BitRate;
use xoff_core::knobs::Knob as _;
use xoff_net::topo::Topology;
use xoff_workload::{
    CLASSES, Capacity, Context, Crowd, Mix, Offer, Racks, Source, Traffic, TrafficConfig,
    TrafficKind, tables,
};

use self::files::Folder;
use crate::diagnostic::Place;
use crate::effective::Effective;
use crate::entries::Entries;
use crate::layers::{Layers, TableRef};
use crate::size::Needs;

pub use extent::Span;

/// Traffic and its classes.
#[derive(Default)]
pub struct Flows {
    /// All sources, merged.
    pub traffic: Traffic,
    /// Names of the classes, in the order of their first source.
    pub classes: Vec<String>,
    /// The class of each source.
    pub class_of: Vec<u16>,
    /// Load of the open-loop sources, web requests and incasts without a number of events together,
    /// against `load_capacity`.
    pub nominal_load: f64,
    /// What a load of 1 is: the core links where there are any, otherwise the hosts' links. These too if
    /// traffic balances itself between both, and so does not all cross the core.
    pub load_capacity: BitRate,
    /// Whether there are hosts that always send, beside any load that is asked for.
    pub fills: bool,
    /// Where the first source stands whose flows wait for others.
    pub waits: Option<Place>,
    /// Where the first source stands whose flows are stopped.
    pub stops: Option<Place>,
    /// Where the first source stands whose flows are labelled.
    pub first_labelled: Option<Place>,
    /// Of each source, whether its flows are labelled.
    pub labelled: Vec<bool>,
    /// Where the first source stands whose flows have no size.
    pub endless: Option<Place>,
    /// The sizes of flows that end.
    pub sizes: Mix,
    /// Where the first source stands of whose flows nobody says how many of which size there will be.
    pub of_no_size: Option<Place>,
}

/// Sources, and what they are read from.
struct Builder<'a> {
    layers: &'a mut Layers,
    folder: Folder<'a>,
    basis: Basis<'a>,
    needs: &'a mut Needs,
    effective: &'a mut Effective,
    sources: Vec<Box<dyn Source + Send>>,
    crowds: Vec<Crowd>,
    bits_per_second: f64,
    /// Whether a source balances itself between the core links and the hosts' links.
    balances: bool,
    /// All but its traffic and its load.
    flows: Flows,
}

/// What a network can carry.
#[must_use]
pub fn capacity(topology: &Topology) -> Capacity {
    let (core, _) = topology.capacities();
    let racks = topology.racks().map(|(hosts, uplinks)| Racks { hosts, uplinks });
    let rate = |host| topology.ports_of(host)[0].rate;
    Capacity { core, host_rates: (0..topology.servers()).map(rate).collect(), racks }
}

/// What traffic depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    /// The rates of the network's links.
    pub(crate) capacity: &'a Capacity,
    /// The run's seed.
    pub(crate) seed: u64,
    /// The times of the run, unless they are wrong themselves.
    pub(crate) span: Option<Span>,
    /// Why no queue tells traffic classes apart, where that is so.
    pub(crate) one_class: Option<&'a str>,
}

/// Reads all sources; `None` if one is wrong (the mistake is in `layers`).
pub(crate) fn read(
    layers: &mut Layers,
    folder: &Path,
    basis: Basis<'_>,
    needs: &mut Needs,
    effective: &mut Effective,
) -> Option<Flows> {
    let entries = layers.tables("traffic");
    if entries.is_empty() {
        let kinds = TrafficKind::choices().join(", ");
        let help = format!("add a [[traffic]] table with a kind, which is one of {kinds}");
        layers.problem(None, "the scenario has no traffic", Some(help));
        return None;
    }
    let mut builder = Builder {
        layers,
        folder: Folder { path: folder, memory: needs.memory() },
        basis,
        needs,
        effective,
        sources: Vec::new(),
        crowds: Vec::new(),
        bits_per_second: 0.0,
        balances: false,
        flows: Flows::default(),
    };
    let built = entries.iter().filter(|entry| builder.add(entry).is_some()).count();
    if built < entries.len() {
        return None;
    }
    builder.fits(&entries)?;
    Some(builder.finish(&entries))
}

impl Builder<'_> {
    fn add(&mut self, entry: &TableRef) -> Option<()> {
        let Basis { capacity, seed, one_class, .. } = self.basis;
        let lacking: Vec<_> = one_class.map(|reason| (CLASSES, reason)).into_iter().collect();
        let (layers, effective) = (&mut *self.layers, &mut *self.effective);
        let mut list = Entries { list: "traffic", layers, effective, lacking: &lacking };
        let (settings, place): (TrafficConfig, Place) = list.read(entry)?;
        let source = self.sources.len() as u16;
        match settings.offer(&Context { capacity, seed, source, files: &self.folder }) {
            Ok(offer) => {
                self.note(&settings, offer.sizes.is_none(), &place);
                self.take(settings.class(), offer);
                Some(())
            }
            Err(message) => {
                let message = format!("[[traffic]] {message}");
                self.layers.problem(Some(entry.place()), message, None);
                None
            }
        }
    }

    /// Notes what other parts of the scenario must know of a source.
    fn note(&mut self, settings: &TrafficConfig, of_no_size: bool, place: &Place) {
        let flows = &mut self.flows;
        for (first, holds) in [
            (&mut flows.waits, settings.waits()),
            (&mut flows.stops, settings.stops()),
            (&mut flows.first_labelled, settings.is_labelled()),
            (&mut flows.endless, settings.is_endless()),
            (&mut flows.of_no_size, of_no_size),
        ] {
            if holds {
                first.get_or_insert_with(|| place.clone());
            }
        }
        flows.fills |= settings.fills();
        flows.labelled.push(settings.is_labelled());
        self.balances |= settings.balances();
    }

    fn take(&mut self, class: &str, offer: Offer) {
        let Offer { source, crowd, sizes, bits_per_second, derived } = offer;
        for (name, value) in derived {
            self.effective.derive(&format!("traffic.{}.{name}", self.sources.len()), value);
        }
        let flows = &mut self.flows;
        let known = flows.classes.iter().position(|name| name == class);
        let index = known.unwrap_or_else(|| {
            flows.classes.push(class.to_owned());
            flows.classes.len() - 1
        });
        flows.class_of.push(index as u16);
        flows.sizes.extend(sizes.unwrap_or_default());
        self.sources.push(source);
        self.crowds.push(crowd);
        self.bits_per_second += bits_per_second;
    }

    fn finish(mut self, entries: &[TableRef]) -> Flows {
        let traffic = Traffic::new(std::mem::take(&mut self.sources));
        self.check_beginnings(&traffic, entries);
        let Capacity { core, .. } = *self.basis.capacity;
        let hosts = self.basis.capacity.hosts();
        let load_capacity = if core.0 > 0 && !self.balances { core } else { hosts };
        let nominal_load = self.bits_per_second / load_capacity.0 as f64;
        Flows { traffic, nominal_load, load_capacity, ..self.flows }
    }
}

/// The points of the size table that comes with xoff under this name: each size in bytes with the
/// share of flows up to it.
///
/// # Errors
/// The names that exist, the nearest first.
pub fn size_table(name: &str) -> Result<Vec<(f64, f64)>, String> {
    tables::find(name, &Path::new("")).map(|table| table.points().collect())
}
