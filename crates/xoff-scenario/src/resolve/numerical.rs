//! Scenarios without packets: only an allocator of rates.

use std::sync::Arc;

use xoff_alloc::Error;
use xoff_core::knobs::{Capabilities, Knob as _};
use xoff_core::seam::{Seam as _, SectionDoc, Sections as _};
use xoff_fluid::config::AllocatorConfig;
use xoff_fluid::{Convergence, ConvergenceConfig, Fluid, FluidConfig, Iterates, RatesAre};
use xoff_net::topo::TopologyConfig;

use super::Resolver;
use super::network::LATEST;
use crate::scalars::EngineKind;
use crate::sections::NetworkConfig;
use crate::study::Study;
use crate::traffic::{self, Basis, Flows, Span};

/// The input of a numerical run.
pub struct Numerical {
    /// The scenario's name.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
    /// What to simulate.
    pub study: Study,
    /// The scenario with every default and derived value, as TOML.
    pub effective: String,
}

/// Sections of numerical studies.
pub(super) fn sections() -> Vec<SectionDoc> {
    vec![
        SectionDoc::of::<FluidConfig>(),
        SectionDoc::of::<ConvergenceConfig>(),
        SectionDoc::of::<AllocatorConfig>(),
    ]
}

impl Resolver<'_> {
    pub(super) fn numerical(mut self, engine: EngineKind) -> Option<Numerical> {
        let name = self.reader.layers.scalar::<String>("name").ok()?.unwrap_or_default();
        let engine = self.reader.layers.scalar("engine").ok()?.unwrap_or(engine);
        let seed = self.reader.layers.scalar::<u64>("seed").ok()?.unwrap_or(1);
        self.reader.effective.top(&[
            ("name", &name.show()),
            ("seed", &seed.show()),
            ("engine", &engine.show()),
        ]);
        let study = match engine {
            EngineKind::Convergence => self.convergence(seed)?,
            EngineKind::Fluid | EngineKind::Packets => self.fluid(seed)?,
        };
        self.reader.check_effects(&Capabilities::default());
        Some(Numerical { name, seed, study, effective: self.reader.effective.text() })
    }

    /// Settings of the allocator.
    fn allocator(&mut self) -> AllocatorConfig {
        let config: AllocatorConfig = self.read();
        if let Err(error) = config.check() {
            self.refused(&error);
        }
        config
    }

    fn refused(&mut self, error: &Error) {
        let key = if let Error::Setting { name, .. } = *error { name } else { "precision" };
        self.reader.problem("allocator", key, error.to_string());
    }

    fn convergence(&mut self, seed: u64) -> Option<Study> {
        let allocator = self.allocator();
        let reason = "convergence measures rates before normalisation";
        self.reader.without_effect("allocator", "normalizer", reason);
        let config: ConvergenceConfig = self.read();
        if let Err((key, message)) = config.check() {
            self.reader.problem("convergence", key, message);
            return None;
        }
        allocator.check().ok()?;
        self.convergence_fits(&allocator, &config)?;
        Some(Study::Convergence(Convergence::new(seed, allocator, config)))
    }

    fn fluid(&mut self, seed: u64) -> Option<Study> {
        let network: NetworkConfig = self.read();
        for key in ["rounding", "instants"] {
            self.reader.without_effect("network", key, "engine = \"fluid\"");
        }
        let mut shape = TopologyConfig::choose("network.topology", network.topology, self);
        let topology = self.topology(&mut shape);
        let allocator = self.allocator();
        let config = self.fluid_config();
        let (topology, routes) = topology?;
        let span = config.as_ref().map(Span::of_fluid);
        let capacity = crate::capacity::capacity(&topology);
        let one_class = Some("engine = \"fluid\" has no queues");
        let partial = topology.is_partial.then_some(&routes);
        let basis = Basis { capacity: &capacity, seed, span, one_class, partial };
        let Self { reader, folder, needs, .. } = self;
        let effective = &mut reader.effective;
        let flows = traffic::read(reader.layers, folder, basis, needs, effective)?;
        self.refuse_packets(&flows);
        let config = config?;
        let links = topology.ports().len() as u128;
        self.fluid_fits(links, &allocator, &config, flows.expected)?;
        let (topology, routes) = (Arc::new(topology), Arc::new(routes));
        let fluid = Fluid::new(topology, routes, flows.traffic, seed, &allocator, config);
        let fluid = fluid.map_err(|error| self.refused(&error)).ok()?;
        Some(Study::Fluid { fluid: Box::new(fluid), class_of: flows.class_of })
    }

    /// Refuses traffic with properties that only packets have.
    fn refuse_packets(&mut self, flows: &Flows) {
        for (place, message) in [
            (
                &flows.waits,
                "flows that wait for others need packets: engine = \"fluid\" has no arrivals to \
                 wait for",
            ),
            (
                &flows.stops,
                "flows that stop need packets: under engine = \"fluid\" flowlets end with their \
                 last byte",
            ),
            (
                &flows.first_labelled,
                "labelled = true has no effect: engine = \"fluid\" has no queues that read labels",
            ),
            (
                &flows.with_paths,
                "columns data_path,ack_path have no effect: engine = \"fluid\" draws a path for \
                 each flowlet",
            ),
        ] {
            if let Some(place) = place {
                self.reader.problem_in(place.clone(), format!("[[traffic]] {message}"));
            }
        }
    }

    fn fluid_config(&mut self) -> Option<FluidConfig> {
        let config: FluidConfig = self.read();
        let too_long = config.warmup.0.saturating_add(config.measure.0) > LATEST.0;
        let is_long_step = config.iterate == Iterates::Periodically && config.step > config.measure;
        let problems = [
            ("step", config.step.0 == 0, "step must be more than zero"),
            (
                "rates",
                (config.iterate, config.rates) == (Iterates::OnChange, RatesAre::Converged),
                "rates = \"converged\" takes a step for each iteration: iterate periodically",
            ),
            ("measure", config.measure.0 == 0, "measure must be more than zero"),
            ("measure", too_long, "warmup and measure must be at most 106 days together"),
            (
                "step",
                is_long_step && config.measure.0 > 0,
                &format!(
                    "step must be at most measure = {}: it is {}",
                    config.measure, config.step
                ),
            ),
            ("tolerance", config.tolerance == 0.0, "tolerance must be more than zero: try 1e-6"),
            ("most_iterations", config.most_iterations == 0, "most_iterations is at least 1"),
        ];
        let wrong = problems.into_iter().filter(|&(_, is_wrong, _)| is_wrong);
        let count =
            wrong.map(|(key, _, message)| self.reader.problem("fluid", key, message)).count();
        (count == 0).then_some(config)
    }
}
