//! From the layers of a scenario to a network, its traffic and a plan.
//!
//! All sections are read once into a `Spec`. Rules find problems in it (`rules`). Then the network
//! is built and all derived values are computed (`assemble`). Problems are collected during all
//! steps and reported together.

mod assemble;
pub(crate) mod build;
mod elision;
mod faults;
mod network;
mod numerical;
mod reader;
mod rules;
pub(crate) mod size;
mod spec;

use std::path::Path;

use xoff_core::seam::{SectionDoc, Sections};
use xoff_core::{BitRate, HostId, PortId};
use xoff_sim::setup::Setup;
use xoff_sim::simulation::Plan;
use xoff_workload::Traffic;

pub use self::numerical::Numerical;
use self::reader::Reader;
pub(crate) use self::spec::Spec;
use crate::diagnostic::Problems;
use crate::document::Document;
use crate::layers::Layers;
use crate::outputs::Outputs;
use crate::presets;
use crate::resources::Resources;
use crate::scalars::EngineKind;

/// Everything a run needs.
pub struct Resolved {
    /// The scenario's name.
    pub name: String,
    /// The preset it starts from.
    pub scheme: String,
    /// Network and hosts.
    pub setup: Setup,
    /// When to measure.
    pub plan: Plan,
    /// Flows to come.
    pub traffic: Traffic,
    /// Traffic classes.
    pub classes: Vec<String>,
    /// The class of each traffic source.
    pub class_of: Vec<u16>,
    /// Total load of the open-loop sources.
    pub nominal_load: f64,
    /// The rate at a load of 1.
    pub load_capacity: BitRate,
    /// True if some flows are not part of that load.
    pub fills: bool,
    /// Hosts with a monitored access link.
    pub monitored: Vec<HostId>,
    /// Ports of the topology with captured packets.
    pub captured: Vec<PortId>,
    /// Files in the forms of another simulator, for its cases.
    pub outputs: Option<Outputs>,
    /// The scenario with every default and derived value, as TOML.
    pub effective: String,
}

/// Every section that a scenario may have, except the entries of lists.
#[must_use]
pub fn sections() -> Vec<SectionDoc> {
    let mut sections = network::sections();
    sections.extend(spec::Spec::sections());
    sections.extend(numerical::sections());
    sections
}

/// The lists of sections that a scenario may have.
const LISTS: [&str; 2] = ["traffic", "fault"];

/// Every key at the top level of a scenario.
const TOP_LEVEL: [&str; 4] = ["name", "engine", "seed", "scheme"];

/// Every name at the top level of a scenario.
fn known() -> Vec<&'static str> {
    let sections = sections().into_iter().map(|section| section.name);
    sections.chain(LISTS).chain(TOP_LEVEL).collect()
}

/// The engine that runs a scenario. [`resolve`] reports problems.
pub fn engine(text: &str, file: &str, overrides: &[String]) -> EngineKind {
    let documents = || -> Result<Vec<Document>, Problems> {
        let mut documents = vec![Document::parse(file, text)?];
        documents.extend(Document::from_overrides(overrides)?);
        Ok(documents)
    };
    let named = documents().ok().and_then(|all| Layers::new(all).scalar("engine").ok().flatten());
    named.unwrap_or(EngineKind::Packets)
}

/// Reads a scenario for one of the numerical engines.
///
/// # Errors
/// All problems, each with its place.
pub fn resolve_numerical(
    engine: EngineKind,
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Numerical, Problems> {
    let mut documents = vec![Document::parse(file, text)?];
    documents.extend(Document::from_overrides(overrides)?);
    read(Layers::new(documents), file, resources, |resolver| resolver.numerical(engine))
}

/// Reads a scenario: `text` as the content of `file`, with overrides on top.
///
/// # Errors
/// All problems, each with its place.
pub fn resolve(
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Resolved, Problems> {
    let mut own = vec![Document::parse(file, text)?];
    own.extend(Document::from_overrides(overrides)?);
    let scheme = Layers::new(own.clone()).scalar::<String>("scheme").ok().flatten();
    let scheme = scheme.unwrap_or_default();
    let mut documents = Vec::new();
    for preset in presets::find(&scheme).unwrap_or_default() {
        documents.push(Document::preset(&scheme, preset)?);
    }
    documents.extend(own);
    read(Layers::new(documents), file, resources, |resolver| resolver.packets())
}

fn read<T>(
    mut layers: Layers,
    file: &str,
    resources: Resources,
    of: impl FnOnce(Resolver<'_>) -> Option<T>,
) -> Result<T, Problems> {
    let folder = Path::new(file).parent().unwrap_or(Path::new("")).to_path_buf();
    let resolved = of(Resolver::new(&mut layers, &folder, resources));
    layers.finish(&known(), resolved.is_some())?;
    resolved.ok_or_else(|| Problems(Vec::new()))
}

/// A scenario while it is turned into a run.
struct Resolver<'a> {
    reader: Reader<'a>,
    folder: &'a Path,
    needs: crate::size::Needs,
    threads: usize,
}

impl<'a> Resolver<'a> {
    fn new(layers: &'a mut Layers, folder: &'a Path, resources: Resources) -> Self {
        let needs = crate::size::Needs::new(resources.memory);
        Self { reader: Reader::new(layers), folder, needs, threads: resources.threads.count }
    }
}

impl Sections for Resolver<'_> {
    fn fill(&mut self, section: &mut dyn xoff_core::knobs::Knobs) {
        self.reader.fill(section);
    }

    fn unused(&mut self, section: &str, reason: &str) {
        self.reader.unused(section, reason);
    }
}
