//! Scenarios without packets: an allocator of rates by itself.

use std::sync::Arc;

use xoff_alloc::{Error, OptimizerKind};
use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam as _;
use xoff_fluid::config::AllocatorConfig;
use xoff_fluid::{Convergence, ConvergenceConfig, Fluid, FluidConfig, Iterates, RatesAre};
use xoff_net::topo::TopologyConfig;

use super::Reader;
use crate::numerical::Study;
use crate::scalars::EngineKind;
use crate::sections::NetworkConfig;
use crate::traffic::{self, Basis, Span};

/// What a numerical run needs.
pub(crate) struct Numerical {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) study: Study,
    pub(crate) effective: String,
}

impl Reader<'_> {
    pub(super) fn numerical(mut self, engine: EngineKind) -> Option<Numerical> {
        let name = self.layers.scalar::<String>("name").ok()?.unwrap_or_default();
        let engine = self.layers.scalar("engine").ok()?.unwrap_or(engine);
        let seed = self.layers.scalar::<u64>("seed").ok()?.unwrap_or(1);
        self.effective.top(&[
            ("name", &name.show()),
            ("seed", &seed.show()),
            ("engine", &engine.show()),
        ]);
        let study = match engine {
            EngineKind::Convergence => self.convergence(seed)?,
            EngineKind::Fluid | EngineKind::Packets => self.fluid(seed)?,
        };
        Some(Numerical { name, seed, study, effective: self.effective.text() })
    }

    /// Settings of the allocator; `unused` have no effect in this study.
    fn allocator(&mut self, unused: &[&str], why: &str) -> AllocatorConfig {
        let mut unused = unused.to_vec();
        let config: AllocatorConfig = self.layers.section();
        unused.iter().for_each(|key| self.layers.unused_key("allocator", key, why));
        if config.optimizer != OptimizerKind::NewtonLike {
            let why = format!("optimizer = {}", config.optimizer.show());
            self.layers.unused_key("allocator", "interval", &why);
            unused.push("interval");
        }
        self.effective.section(&config, &unused);
        if let Err(error) = config.check() {
            self.refused(&error);
        }
        config
    }

    fn refused(&mut self, error: &Error) {
        let key = if let Error::Setting { name, .. } = *error { name } else { "precision" };
        self.problem("allocator", key, error.to_string());
    }

    fn convergence(&mut self, seed: u64) -> Option<Study> {
        let allocator = self.allocator(&["normalizer"], "convergence is that of rates before it");
        let config: ConvergenceConfig = self.section();
        if let Err((key, message)) = config.check() {
            self.problem("convergence", key, message);
            return None;
        }
        allocator.check().ok()?;
        self.convergence_fits(&allocator, &config)?;
        Some(Study::Convergence(Convergence::new(seed, allocator, config)))
    }

    fn fluid(&mut self, seed: u64) -> Option<Study> {
        let network: NetworkConfig = self.section_without(&["rounding"], "engine = \"fluid\"");
        let shape = TopologyConfig::choose("network.topology", network.topology, self);
        let topology = self.topology(&shape);
        let allocator = self.allocator(&[], "");
        let config = self.fluid_config();
        let (topology, routes) = topology?;
        let span = config.as_ref().map(Span::of_fluid);
        let capacity = traffic::capacity(&topology);
        let one_class = Some("engine = \"fluid\" has no queues");
        let flows = self.flows(Basis { capacity: &capacity, seed, span, one_class })?;
        if let Some(place) = flows.waits {
            let message = "[[traffic]] flows that wait for others need packets: engine = \"fluid\" \
                           has no arrivals to wait for";
            self.layers.problem(Some(place), message, None);
        }
        let config = config?;
        self.fluid_fits(topology.ports.len() as u128, &allocator, &config)?;
        let (topology, routes) = (Arc::new(topology), Arc::new(routes));
        let fluid = Fluid::new(topology, routes, flows.traffic, seed, &allocator, config);
        let fluid = fluid.map_err(|error| self.refused(&error)).ok()?;
        Some(Study::Fluid { fluid: Box::new(fluid), class_of: flows.class_of })
    }

    fn fluid_config(&mut self) -> Option<FluidConfig> {
        let config: FluidConfig = self.layers.section();
        let mut unused = Vec::new();
        if config.optimum_every == 0 {
            unused.push("most_iterations");
            if config.rates == RatesAre::Intermediate {
                unused.push("tolerance");
            }
        }
        for key in &unused {
            self.layers.unused_key("fluid", key, "optimum_every = 0");
        }
        if config.iterate == Iterates::OnChange {
            self.layers.unused_key("fluid", "step", "iterate = \"on-change\"");
            unused.push("step");
        }
        self.effective.section(&config, &unused);
        let problems = [
            ("step", config.step.0 == 0, "step must be more than zero"),
            (
                "rates",
                (config.iterate, config.rates) == (Iterates::OnChange, RatesAre::Converged),
                "rates = \"converged\" takes a step for each iteration: iterate periodically",
            ),
            ("measure", config.measure.0 == 0, "measure must be more than zero"),
            ("tolerance", config.tolerance == 0.0, "tolerance must be more than zero: try 1e-6"),
            ("most_iterations", config.most_iterations == 0, "most_iterations is at least 1"),
        ];
        let wrong = problems.into_iter().filter(|&(_, is_wrong, _)| is_wrong);
        let count =
            wrong.map(|(key, _, message)| self.problem("fluid", key, message.into())).count();
        (count == 0).then_some(config)
    }
}
