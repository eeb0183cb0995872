//! The `[[traffic]]` entries of a scenario.

mod extent;
pub(crate) mod files;

use std::path::Path;

use xoff_core::digest::text_digest;
use xoff_core::{BitRate, Bytes, Ps};
use xoff_net::topo::Topology;
use xoff_workload::elephants::{Elephants, ElephantsConfig};
use xoff_workload::host_set;
use xoff_workload::incast::{Incast, IncastConfig};
use xoff_workload::list::{FlowList, ListConfig};
use xoff_workload::long_lived::{LongLived, LongLivedConfig};
use xoff_workload::open_loop::{LoadOn, OpenLoop, OpenLoopConfig};
use xoff_workload::permutation::{Permutation, PermutationConfig};
use xoff_workload::queries::{Queries, QueriesConfig};
use xoff_workload::staggered::{Staggered, StaggeredConfig};
use xoff_workload::successive::{Successive, SuccessiveConfig};
use xoff_workload::{Capacity, Crowd, Frequency, Locality, Mix, Racks, Source, Traffic, tables};

use crate::diagnostic::Place;
use crate::effective::Effective;
use crate::layers::{Layers, TableRef};
use crate::nearest::suggestion;
use crate::size::Needs;

pub use extent::Span;

/// Kinds of traffic.
pub const KINDS: [&str; 9] = [
    "open-loop",
    "incast",
    "queries",
    "successive",
    "long",
    "elephants",
    "permutation",
    "staggered",
    "list",
];

/// Traffic and its classes.
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

struct Builder<'a> {
    layers: &'a mut Layers,
    folder: &'a Path,
    hosts: u32,
    capacity: &'a Capacity,
    seed: u64,
    span: Option<Span>,
    needs: &'a mut Needs,
    one_class: Option<&'a str>,
    effective: &'a mut Effective,
    crowds: Vec<Crowd>,
    sources: Vec<Box<dyn Source + Send>>,
    classes: Vec<String>,
    class_of: Vec<u16>,
    bits_per_second: f64,
    balances: bool,
    fills: bool,
    waits: Option<Place>,
    stops: Option<Place>,
    first_labelled: Option<Place>,
    labelled: Vec<bool>,
    endless: Option<Place>,
    mix: Mix,
    of_no_size: Option<Place>,
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
    let Basis { capacity, seed, span, one_class } = basis;
    let entries = layers.tables("traffic");
    if entries.is_empty() {
        let kinds = KINDS.join(", ");
        let help = format!("add a [[traffic]] table with a kind, which is one of {kinds}");
        layers.problem(None, "the scenario has no traffic", Some(help));
        return None;
    }
    let mut builder = Builder {
        layers,
        folder,
        hosts: capacity.host_count(),
        capacity,
        seed,
        span,
        needs,
        one_class,
        effective,
        crowds: Vec::new(),
        sources: Vec::new(),
        classes: Vec::new(),
        class_of: Vec::new(),
        bits_per_second: 0.0,
        balances: false,
        fills: false,
        waits: None,
        stops: None,
        first_labelled: None,
        labelled: Vec::new(),
        endless: None,
        mix: Mix::default(),
        of_no_size: None,
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
        let (kind, place) = entry.kind(self.layers).ok()?;
        let mut labelled = false;
        let built: Result<(Box<dyn Source + Send>, String), String> = match kind.as_str() {
            "open-loop" => {
                let config: OpenLoopConfig = entry.read(self.layers);
                self.effective.entry("traffic", &kind, &config);
                for (key, why) in config.without_effect() {
                    self.without_effect(entry, key, why);
                }
                self.open_loop(&config)
            }
            "incast" => {
                let config: IncastConfig = entry.read(self.layers);
                self.effective.entry("traffic", &kind, &config);
                labelled = config.labelled;
                if labelled {
                    self.first_labelled.get_or_insert(place);
                }
                self.incast(config)
            }
            "queries" => {
                let config: QueriesConfig = entry.read(self.layers);
                self.effective.entry("traffic", &kind, &config);
                self.waits.get_or_insert(place.clone());
                self.of_no_size.get_or_insert(place);
                self.queries(&config)
            }
            "successive" => {
                let config: SuccessiveConfig = entry.read(self.layers);
                self.effective.entry("traffic", &kind, &config);
                self.waits.get_or_insert(place.clone());
                self.of_no_size.get_or_insert(place);
                self.fills = true;
                self.successive(config)
            }
            "long" => {
                let config: LongLivedConfig = entry.read(self.layers);
                self.effective.entry("traffic", &kind, &config);
                self.note_endless(config.bytes, place);
                self.long(&config)
            }
            "elephants" => {
                let config: ElephantsConfig = entry.read(self.layers);
                self.effective.entry("traffic", &kind, &config);
                self.note_endless(Bytes(0), place);
                self.elephants(&config)
            }
            "permutation" => {
                let config: PermutationConfig = entry.read(self.layers);
                self.effective.entry("traffic", &kind, &config);
                self.note_endless(config.bytes, place);
                self.permutation(&config)
            }
            "staggered" => {
                let config: StaggeredConfig = entry.read(self.layers);
                self.effective.entry("traffic", &kind, &config);
                self.stops.get_or_insert(place.clone());
                self.note_endless(config.bytes, place);
                self.staggered(config)
            }
            "list" => {
                let config: ListConfig = entry.read(self.layers);
                self.effective.entry("traffic", &kind, &config);
                self.list(&config)
            }
            other => {
                let help = suggestion(other, &KINDS);
                self.layers.problem(
                    Some(place),
                    format!("unknown kind of traffic \"{other}\""),
                    help,
                );
                return None;
            }
        };
        if let Some(why) = self.one_class {
            self.without_effect(entry, "priority", why);
        }
        match built {
            Ok((source, class)) => {
                let known = self.classes.iter().position(|name| *name == class);
                let index = known.unwrap_or_else(|| {
                    self.classes.push(class);
                    self.classes.len() - 1
                });
                self.class_of.push(index as u16);
                self.sources.push(source);
                self.labelled.push(labelled);
                Some(())
            }
            Err(message) => {
                let place = entry.place();
                self.layers.problem(Some(place), format!("[[traffic]] {message}"), None);
                None
            }
        }
    }

    /// A key of the entry that is read has no effect: an error if the user wrote it.
    fn without_effect(&mut self, entry: &TableRef, key: &str, why: &str) {
        entry.unused_key(self.layers, key, why);
        self.effective.leave_out_of_entry("traffic", self.sources.len(), key);
    }

    /// Flows of no bytes are flows without end.
    fn note_endless(&mut self, bytes: Bytes, place: Place) {
        if bytes == Bytes(0) {
            self.endless.get_or_insert(place);
        }
    }

    fn index(&self) -> u16 {
        self.sources.len() as u16
    }

    fn open_loop(
        &mut self,
        config: &OpenLoopConfig,
    ) -> Result<(Box<dyn Source + Send>, String), String> {
        config.check(self.hosts)?;
        let sizes = tables::find(&config.sizes, self.folder)?;
        let mean = sizes.mean(config.reading);
        self.effective.derive(
            &format!("traffic.{}.mean_size", self.index()),
            format!("{mean:.1}B ({}, digest {:016x})", config.sizes, sizes.digest()),
        );
        if let Some(share) = config.leaving(self.capacity)? {
            self.effective.derive(&format!("traffic.{}.share_leaving_racks", self.index()), share);
        }
        let balances = config.locality == Locality::Balanced;
        self.balances |= balances;
        let reference = match config.load_on {
            _ if balances => self.capacity.hosts().0 as f64,
            LoadOn::Core => self.capacity.core.0 as f64,
            LoadOn::Hosts => self.capacity.hosts().0 as f64,
            LoadOn::Receivers => {
                self.capacity.hosts_in(&host_set::parse(&config.receivers, self.hosts)?).0 as f64
            }
        };
        let source = OpenLoop::new(config, sizes.clone(), self.capacity, self.seed, self.index())?;
        self.bits_per_second += config.load * reference;
        let flows = config.load * reference / 8.0 / mean;
        self.crowds.push(Crowd::arriving(flows, mean).between(config.start, config.stop));
        self.mix.add(Frequency::PerSecond(flows), sizes, config.reading);
        Ok((Box::new(source), config.class.clone()))
    }

    fn incast(&mut self, config: IncastConfig) -> Result<(Box<dyn Source + Send>, String), String> {
        let class = config.class.clone();
        // A given number of events is no load that goes on.
        if config.events == 0 {
            let seconds = config.period.seconds().max(1e-12);
            self.bits_per_second += config.bytes.0 as f64 * 8.0 / seconds;
        }
        let flows = config.flows() as f64;
        let frequency = match config.events {
            0 => Frequency::PerSecond(flows / config.period.seconds().max(1e-12)),
            events => Frequency::InAll(flows * events as f64),
        };
        self.mix.add_flows(frequency, vec![config.bytes.0 / config.flows().max(1)]);
        self.crowds.push(config.crowd());
        if let Some(senders) = config.repeated_senders(self.hosts)? {
            self.effective.derive(
                &format!("traffic.{}.senders", self.index()),
                format!("{senders} (degree is {}: they take turns)", config.degree),
            );
        }
        let source = Incast::new(config, self.hosts, self.seed, self.index())?;
        Ok((Box::new(source), class))
    }

    fn queries(
        &mut self,
        config: &QueriesConfig,
    ) -> Result<(Box<dyn Source + Send>, String), String> {
        let source = Queries::new(config, self.hosts, self.seed, self.index())?;
        self.bits_per_second += config.bits_per_second(self.hosts)?;
        self.crowds.push(config.crowd(self.hosts)?);
        Ok((Box::new(source), config.class.clone()))
    }

    fn successive(
        &mut self,
        config: SuccessiveConfig,
    ) -> Result<(Box<dyn Source + Send>, String), String> {
        let class = config.class.clone();
        let source = Successive::new(config, self.capacity, self.seed, self.index())?;
        self.crowds.push(source.crowd());
        Ok((Box::new(source), class))
    }

    fn long(
        &mut self,
        config: &LongLivedConfig,
    ) -> Result<(Box<dyn Source + Send>, String), String> {
        let source = LongLived::new(config, self.hosts, self.index())?;
        self.crowds.push(Crowd::of(f64::from(config.count)).between(config.start, Ps(0)));
        self.add_all(f64::from(config.count), config.bytes);
        Ok((Box::new(source), config.class.clone()))
    }

    fn elephants(
        &mut self,
        config: &ElephantsConfig,
    ) -> Result<(Box<dyn Source + Send>, String), String> {
        let source = Elephants::new(config, self.hosts, self.seed, self.index())?;
        self.crowds.push(Crowd::of(f64::from(config.count)).between(config.start, Ps(0)));
        Ok((Box::new(source), config.class.clone()))
    }

    fn permutation(
        &mut self,
        config: &PermutationConfig,
    ) -> Result<(Box<dyn Source + Send>, String), String> {
        let source = Permutation::new(config, self.hosts, self.seed, self.index())?;
        self.crowds.push(Crowd::of(f64::from(self.hosts)).between(config.start, Ps(0)));
        self.add_all(f64::from(self.hosts), config.bytes);
        Ok((Box::new(source), config.class.clone()))
    }

    fn staggered(
        &mut self,
        config: StaggeredConfig,
    ) -> Result<(Box<dyn Source + Send>, String), String> {
        let class = config.class.clone();
        let source = Staggered::new(config, self.hosts, self.index())?;
        self.crowds.push(source.crowd());
        Ok((Box::new(source), class))
    }

    fn list(&mut self, config: &ListConfig) -> Result<(Box<dyn Source + Send>, String), String> {
        let path = self.folder.join(&config.file);
        let text = files::read(&path, self.needs.memory())
            .map_err(|error| format!("file = {:?}: {}: {error}", config.file, path.display()))?;
        self.crowds.push(Crowd::of(0.0));
        self.effective.derive(
            &format!("traffic.{}.digest", self.index()),
            format!("{:016x}", text_digest(&text)),
        );
        let source = FlowList::from_csv(config, &text, self.hosts, self.index())
            .map_err(|error| error.to_string())?;
        let sizes = source.sizes();
        self.mix.add_flows(Frequency::InAll(sizes.len() as f64), sizes);
        Ok((Box::new(source), config.class.clone()))
    }

    /// Some flows of one size; 0: they do not end.
    fn add_all(&mut self, flows: f64, bytes: Bytes) {
        if bytes.0 > 0 {
            self.mix.add_flows(Frequency::InAll(flows), vec![bytes.0]);
        }
    }

    fn finish(mut self, entries: &[TableRef]) -> Flows {
        let traffic = Traffic::new(std::mem::take(&mut self.sources));
        self.check_beginnings(&traffic, entries);
        let core = self.capacity.core;
        let load_capacity = if core.0 > 0 && !self.balances { core } else { self.capacity.hosts() };
        Flows {
            traffic,
            classes: self.classes,
            class_of: self.class_of,
            nominal_load: self.bits_per_second / load_capacity.0 as f64,
            load_capacity,
            fills: self.fills,
            waits: self.waits,
            stops: self.stops,
            first_labelled: self.first_labelled,
            labelled: self.labelled,
            endless: self.endless,
            sizes: self.mix,
            of_no_size: self.of_no_size,
        }
    }
}

/// The points of the size table that comes with xoff under this name: each size in bytes with the
/// share of flows up to it.
///
/// # Errors
/// The names that exist, the nearest first.
pub fn size_table(name: &str) -> Result<Vec<(f64, f64)>, String> {
    tables::find(name, Path::new("")).map(|table| table.points().collect())
}
