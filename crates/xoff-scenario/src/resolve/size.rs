//! Sizes of the network, its simulation and numerical studies, checked before memory is allocated.

use xoff_alloc::OptimizerKind;
use xoff_core::seam::Seam as _;
use xoff_core::{HostId, PortId, Ps};
use xoff_fluid::config::AllocatorConfig;
use xoff_fluid::{ConvergenceConfig, FluidConfig, Iterates};
use xoff_net::topo::{Census, TopologyConfig};
use xoff_sim::Setup;
use xoff_sim::simulation::Plan;

use super::Resolver;
use crate::diagnostic::Place;
use crate::size::Need;

/// Bytes of an allocator per link.
const LINK_BYTES: u128 = 200;

/// Bytes stored per step of flowlets, in all series.
const STEP_BYTES: u128 = 100;

impl Resolver<'_> {
    /// Adds a need; `None` if there is not enough memory.
    pub(super) fn need(&mut self, need: Need) -> Option<()> {
        let added = self.needs.add(need);
        added
            .map_err(|error| self.reader.layers.problem(error.place, error.message, error.help))
            .ok()
    }

    /// Counts the parts of a network, which must be numbered and fit into memory.
    pub(super) fn count(&mut self, settings: &TopologyConfig) -> Option<()> {
        let section = settings.own_section();
        let counts = settings.counts();
        let keys: Vec<String> = counts.iter().map(|(key, _)| format!("{section}.{key}")).collect();
        // The largest setting that is written in a layer.
        let place_of = |key| self.reader.layers.has(section, key);
        let written = counts.iter().filter_map(|&(key, n)| Some((n, place_of(key)?)));
        let place = written.max_by_key(|&(count, _)| count).map(|(_, place)| place);
        let help = format!("make the network smaller: {}", keys.join(", "));
        let census = settings.census();
        if let Err(message) = census.check() {
            self.reader.layers.problem(place, format!("[{section}] {message}"), Some(help));
            return None;
        }
        self.need(of_network(&census, place, help))
    }

    /// Checks that the simulation of the network fits into memory, too.
    pub(super) fn fits(
        &mut self,
        setup: &Setup,
        plan: &Plan,
        monitored: &[HostId],
        captured: &[PortId],
    ) -> Option<()> {
        let (place, help) = self.needs.of_first();
        let what = format!("queues, tables and counters of {} ports", setup.topology.ports().len());
        self.need(Need { what, bytes: setup.simulated_bytes(plan), place, help })?;
        for (key, bytes, what) in [
            ("monitor", Setup::watched_bytes(monitored.len()), "hosts that are watched"),
            (
                "capture",
                setup.captured_bytes(plan, captured),
                "packets captured in a step of run.grid",
            ),
            ("partitions", setup.partition_bytes(plan, self.threads), "partitions of the network"),
        ] {
            let place = self.reader.layers.has("run", key);
            let help = format!("lower run.{key}");
            self.need(Need { what: what.into(), bytes, place, help })?;
        }
        Some(())
    }

    /// Checks that an allocator of these links and the measured steps fit into memory.
    pub(super) fn fluid_fits(
        &mut self,
        links: u128,
        allocator: &AllocatorConfig,
        config: &FluidConfig,
        flows: f64,
    ) -> Option<()> {
        let bytes = allocator_bytes(links, allocator);
        let help = "make the network smaller, or choose another allocator.optimizer".into();
        let place = self.reader.layers.has("allocator", "optimizer");
        self.need(Need { what: format!("an allocator of {links} links"), bytes, place, help })?;
        let place = |key| self.reader.layers.has("fluid", key);
        let (steps, place, help) = match config.iterate {
            Iterates::Periodically => {
                let length = u128::from(config.warmup.0) + u128::from(config.measure.0);
                let steps = length / u128::from(config.step.max(Ps(1)).0);
                let help = "make fluid.step longer or fluid.measure shorter";
                (steps, place("step").or(place("measure")), help)
            }
            // One when a flowlet arrives, and one when it ends.
            Iterates::OnChange => {
                ((2.0 * flows) as u128, place("measure"), "make fluid.measure shorter")
            }
        };
        let help = help.into();
        let bytes = steps.saturating_mul(STEP_BYTES);
        self.need(Need { what: format!("measurements of {steps} steps"), bytes, place, help })
    }

    /// Checks that a study of convergence fits into memory.
    pub(super) fn convergence_fits(
        &mut self,
        allocator: &AllocatorConfig,
        config: &ConvergenceConfig,
    ) -> Option<()> {
        let [networks, links, flows, hops, iterations] =
            [config.networks, config.links, config.flows, config.most_hops, config.iterations]
                .map(u128::from);
        let errors = iterations.saturating_mul(32 + 8 * networks);
        let paths = flows.saturating_mul(100 + 16 * hops);
        for (key, bytes, what) in [
            ("links", allocator_bytes(links, allocator), format!("an allocator of {links} links")),
            ("flows", paths, format!("{flows} flows of up to {hops} links")),
            (
                "iterations",
                errors,
                format!("the errors of {networks} networks after each of {iterations} iterations"),
            ),
        ] {
            let place = self.reader.layers.has("convergence", key);
            let help = match key {
                "links" => "lower convergence.links",
                "flows" => "lower convergence.flows or convergence.most_hops",
                _ => "lower convergence.iterations or convergence.networks",
            };
            self.need(Need { what, bytes, place, help: help.into() })?;
        }
        Some(())
    }
}

/// The need of a network before it is simulated.
pub(crate) fn of_network(census: &Census, place: Option<Place>, help: String) -> Need {
    let Census { hosts, switches, links, .. } = census;
    let what = format!("a network of {hosts} hosts, {switches} switches and {links} links");
    Need { what, bytes: census.bytes(), place, help }
}

fn allocator_bytes(links: u128, allocator: &AllocatorConfig) -> u128 {
    let matrix = if allocator.optimizer == OptimizerKind::Newton { 8 * links } else { 0 };
    links.saturating_mul(LINK_BYTES + matrix)
}
