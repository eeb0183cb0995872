//! The `[[traffic]]` entries of a scenario.

mod extent;

use std::path::Path;
use std::sync::Arc;

use xoff_core::BitRate;
use xoff_core::knobs::Knob as _;
use xoff_core::program::Job;
use xoff_net::topo::Routes;
use xoff_workload::{
    CLASSES, Capacity, Context, Crowd, Mix, Offer, Source, Traffic, TrafficConfig, TrafficKind,
    tables,
};

use crate::diagnostic::Place;
use crate::effective::Effective;
use crate::entries::Entries;
use crate::files::Folder;
use crate::layers::{Layers, TableRef};
use crate::size::Needs;

pub use extent::Span;

/// Most sources: their numbers have 16 bits.
const MOST_SOURCES: usize = u16::MAX as usize;

/// Traffic and its classes.
#[derive(Default)]
pub struct Flows {
    /// All sources, merged.
    pub traffic: Traffic,
    /// Names of the classes, in the order of their first source.
    pub classes: Vec<String>,
    /// The class of each source.
    pub class_of: Vec<u16>,
    /// Total load of the open-loop sources, web requests and unlimited incasts, relative to
    /// `load_capacity`.
    pub nominal_load: f64,
    /// The capacity at a load of 1: of the core links if there are any, otherwise of the hosts'
    /// links. Also of the hosts' links if a source balances between both, so that only a part of it
    /// crosses the core.
    pub load_capacity: BitRate,
    /// Whether some flows are not part of the requested load.
    pub fills: bool,
    /// Place of the first source with flows that wait for others.
    pub waits: Option<Place>,
    /// Place of the first source with triggers.
    pub triggers: Option<Place>,
    /// Place of the first source with flows that stop.
    pub stops: Option<Place>,
    /// Place of the first source with labelled flows.
    pub first_labelled: Option<Place>,
    /// Whether the flows of each source are labelled.
    pub labelled: Vec<bool>,
    /// Place of the first source that gives the paths of its flows.
    pub with_paths: Option<Place>,
    /// Place of the first source that does not.
    pub without_paths: Option<Place>,
    /// Place of the first source with flows without a size.
    pub endless: Option<Place>,
    /// The sizes of flows that end.
    pub sizes: Mix,
    /// Place of the first source without a known distribution of flow sizes.
    pub of_no_size: Option<Place>,
    /// The number of flows expected in a run, without flows that files list.
    pub expected: f64,
}

/// Sources, and their input.
struct Builder<'a> {
    layers: &'a mut Layers,
    folder: Folder<'a>,
    basis: Basis<'a>,
    needs: &'a mut Needs,
    effective: &'a mut Effective,
    sources: Vec<Box<dyn Source + Send>>,
    jobs: Vec<(u16, Arc<dyn Job>)>,
    crowds: Vec<Crowd>,
    bits_per_second: f64,
    /// Whether a source balances between the core links and the hosts' links.
    balances: bool,
    /// The result, without traffic and load.
    flows: Flows,
}

/// The input of traffic sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    /// The rates of the network's links.
    pub(crate) capacity: &'a Capacity,
    /// The run's seed.
    pub(crate) seed: u64,
    /// The times of the run, if these are valid.
    pub(crate) span: Option<Span>,
    /// Why no queue distinguishes traffic classes, if that is the case.
    pub(crate) one_class: Option<&'a str>,
    /// The routes, if there may be hosts that no path joins.
    pub(crate) partial: Option<&'a Routes>,
}

impl Basis<'_> {
    /// Checks that a path joins the ends of every flow. Only jobs say before they begin which flows
    /// they have.
    fn check_pairs(&self, offer: &Offer) -> Result<(), String> {
        let Some(routes) = self.partial else { return Ok(()) };
        let help = "give the rails spines (rail.spines), or use kind = \"collective\" with \
                    algorithm = \"hierarchical\"";
        let Some(job) = &offer.job else {
            return Err(format!(
                "needs a network whose hosts all reach each other, and rail.spines is 0: {help}"
            ));
        };
        let mut apart = None;
        job.each_pair(&mut |from, to| {
            if !routes.joins(from, to) {
                apart.get_or_insert((from, to));
            }
        });
        apart.map_or(Ok(()), |(from, to)| {
            Err(format!(
                "has messages from host {from} to host {to}, which no path joins, as they share \
                 neither a server nor a rail: {help}"
            ))
        })
    }
}

/// Reads all sources; `None` if one is wrong (the problem is in `layers`).
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
    if let Some(entry) = entries.get(MOST_SOURCES) {
        let count = entries.len();
        let message =
            format!("{count} [[traffic]] entries are too many: there may be {MOST_SOURCES}");
        let help = "join some of them: a list has any number of flows".to_owned();
        layers.problem(Some(entry.place()), message, Some(help));
        return None;
    }
    let mut builder = Builder {
        layers,
        folder: Folder::new(folder, needs.memory()),
        basis,
        needs,
        effective,
        sources: Vec::new(),
        jobs: Vec::new(),
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
        let offer =
            settings.offer(&Context { capacity, seed, source, files: &self.folder, one_class });
        match offer.and_then(|offer| self.basis.check_pairs(&offer).map(|()| offer)) {
            Ok(offer) => {
                self.note(&settings, &offer, &place);
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

    /// Stores the properties of a source that other parts of the scenario need.
    fn note(&mut self, settings: &TrafficConfig, offer: &Offer, place: &Place) {
        let flows = &mut self.flows;
        for (first, holds) in [
            (&mut flows.waits, settings.waits() || offer.triggers || offer.job.is_some()),
            (&mut flows.triggers, offer.triggers),
            (&mut flows.stops, settings.stops()),
            (&mut flows.first_labelled, settings.is_labelled()),
            (&mut flows.endless, settings.is_endless()),
            (&mut flows.of_no_size, offer.sizes.is_none()),
            (&mut flows.with_paths, offer.paths),
            (&mut flows.without_paths, !offer.paths),
        ] {
            if holds {
                first.get_or_insert_with(|| place.clone());
            }
        }
        let unrated = offer.bits_per_second == 0.0 && !settings.is_endless();
        flows.fills |= settings.fills() || unrated;
        flows.labelled.push(settings.is_labelled());
        self.balances |= settings.balances();
    }

    fn take(&mut self, class: &str, offer: Offer) {
        let Offer { source, crowd, sizes, bits_per_second, job, derived, .. } = offer;
        self.jobs.extend(job.map(|job| (self.sources.len() as u16, job)));
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
        let mut traffic = Traffic::new(std::mem::take(&mut self.sources));
        self.jobs.drain(..).for_each(|(source, job)| traffic.add_job(source, job));
        self.check_beginnings(&traffic, entries);
        let Capacity { core, .. } = *self.basis.capacity;
        let hosts = self.basis.capacity.hosts();
        let load_capacity = if core.0 > 0 && !self.balances { core } else { hosts };
        let nominal_load = self.bits_per_second / load_capacity.0 as f64;
        let expected = self.expected();
        Flows { traffic, nominal_load, load_capacity, expected, ..self.flows }
    }
}

/// The points of the size table with this name that is shipped with xoff: each size in bytes with
/// the share of flows up to it.
///
/// # Errors
/// The valid names, the nearest first.
pub fn size_table(name: &str) -> Result<Vec<(f64, f64)>, String> {
    tables::find(name, &Path::new("")).map(|table| table.points().collect())
}

#[cfg(test)]
mod tests {
    use xoff_core::{NodeId, Ps};
    use xoff_net::topo::{Link, RailConfig, Topology, rail};

    use super::*;
    use crate::capacity::capacity;

    /// The capacity of a network, and what the effective scenario says of it.
    fn capacity_and_text(topology: &Topology) -> (Capacity, String) {
        let mut effective = Effective::default();
        effective.derive_network(topology, Ps::from_us(1));
        (capacity(topology), effective.text())
    }

    #[test]
    fn all_links_of_a_host_count() {
        let gbps = BitRate::from_gbps;
        let link = |host, switch, rate| Link {
            a: NodeId(host),
            b: NodeId(switch),
            rate: gbps(rate),
            delay: Ps::from_us(1),
        };
        // Two hosts at two switches.
        let links = [link(0, 2, 100), link(0, 3, 100), link(1, 2, 25), link(1, 3, 50)];
        let topology = Topology::new(2, vec![0, 0, 1, 1], &links).unwrap();
        let (found, text) = capacity_and_text(&topology);
        assert_eq!(found.host_rates, [gbps(200), gbps(75)]);
        assert_eq!(found.line_rates, [gbps(100), gbps(50)]);
        assert!(text.contains("host_capacity = 275Gbps\n"), "{text}");
    }

    /// Most of a GPU's capacity stays in its server, which a load of the network cannot mean.
    #[test]
    fn links_inside_servers_do_not_count() {
        let gbps = BitRate::from_gbps;
        let config = RailConfig { servers_per_pod: 2, gpus_per_server: 4, ..RailConfig::default() };
        let (found, text) = capacity_and_text(&rail(&config).unwrap());
        assert_eq!(found.host_rates, [config.nic_rate; 8]);
        assert_eq!(found.line_rates, [config.server_rate; 8]);
        assert!(text.contains(&format!("host_capacity = {}\n", gbps(8 * 400))), "{text}");
    }
}
