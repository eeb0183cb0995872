//! Flowlets that come and go, with rates from an allocator (§5.4).

use std::sync::Arc;

use xoff_alloc::{Allocator, Error, FlowId, Normalizer};
use xoff_core::knobs::{Effect, because};
use xoff_core::{Digest, Ps, choices, knobs};
use xoff_net::topo::{Routes, Topology};
use xoff_workload::{Arrival, Traffic};

use crate::config::AllocatorConfig;
use crate::flowlets::{Finished, Flowlet};
use crate::measured::{Measured, SETTLED_STEPS, StepRow};
use crate::optimum::{Optimum, Residual};
use crate::paths::Paths;

choices! {
    /// The optimiser's rates that flowlets use (Fig. 1).
    pub enum RatesAre {
        /// The rates of every iteration: (b), and with a normaliser (c).
        Intermediate = "intermediate",
        /// The rates of a converged optimiser: (a). Convergence takes one step per iteration.
        /// Flowlets that come or go meanwhile wait for the next run.
        Converged = "converged",
    }
}

choices! {
    /// The times at which the allocator iterates.
    pub enum Iterates {
        /// At every step (§5.3).
        Periodically = "periodically",
        /// Once whenever a flowlet arrives or ends.
        OnChange = "on-change",
    }
}

knobs! {
    /// A numerical simulation of fluid flowlets, without packets, queues or delays. At every step
    /// the allocator learns of flowlets that arrived or ended since the last step and iterates
    /// once. Flowlets then flow at the new rates until the next step.
    pub struct FluidConfig in "fluid" {
        /// The times of the steps.
        iterate: Iterates = Iterates::Periodically,
        /// Time between steps (§5.3: 10 us).
        step: Ps = Ps::from_us(10) => [Effect::Unless(|fluid| because(
            fluid.iterate == Iterates::OnChange,
            "iterate = \"on-change\"",
        ))],
        /// Steps before this time are not measured.
        warmup: Ps = Ps::from_us(20_000),
        /// Duration of the measurement.
        measure: Ps = Ps::from_us(20_000),
        /// The rates that flowlets use.
        rates: RatesAre = RatesAre::Intermediate,
        /// Measured steps between computations of the optimum, by another allocator that runs to
        /// convergence; 0 disables them.
        optimum_every: u32 = 0,
        /// Convergence tolerance: the largest relative excess of a link's load over its capacity,
        /// and the largest fraction of the flows' payments for unused capacity.
        tolerance: f64 = 1e-6 => [Effect::Unless(|fluid| because(
            fluid.optimum_every == 0 && fluid.rates == RatesAre::Intermediate,
            "optimum_every = 0",
        ))],
        /// Maximum number of iterations to find the optimum.
        most_iterations: u32 = 100_000 => [Effect::Unless(|fluid| because(
            fluid.optimum_every == 0,
            "optimum_every = 0",
        ))],
    }
}

/// A numerical simulation.
pub struct Fluid {
    config: FluidConfig,
    paths: Paths,
    traffic: Traffic,
    capacities: Vec<f64>,
    allocator: Allocator,
    optimum: Option<Optimum>,
    flowlets: Vec<Flowlet>,
    /// Flows that have ended but are still in the allocator.
    ended: Vec<FlowId>,
    residual: Residual,
    /// True while the optimiser runs and accepts no changes.
    is_busy: bool,
    arrivals: Vec<Arrival>,
    now: Ps,
    /// Number of completed steps.
    steps: u64,
    /// The step of the last change of flows.
    changed: u64,
    /// The allocation of each link, in Gb/s.
    loads: Vec<f64>,
    measured: Measured,
    rows: Vec<StepRow>,
    finished: Vec<Finished>,
    finished_count: u64,
    digest: Digest,
}

impl Fluid {
    /// Creates a simulation of this network and workload.
    ///
    /// # Errors
    /// If the allocator rejects a setting or a capacity.
    pub fn new(
        topology: Arc<Topology>,
        routes: Arc<Routes>,
        traffic: Traffic,
        seed: u64,
        allocator: &AllocatorConfig,
        config: FluidConfig,
    ) -> Result<Self, Error> {
        let paths = Paths::new(topology, routes, seed);
        let capacities = paths.capacities();
        let settings = allocator.config();
        let allocator = Allocator::new(&capacities, settings)?;
        let mut optimum = None;
        if config.optimum_every > 0 {
            let (tolerance, most) = (config.tolerance, config.most_iterations);
            optimum = Some(Optimum::new(&capacities, &settings, tolerance, most)?);
        }
        Ok(Self {
            config,
            traffic,
            allocator,
            optimum,
            flowlets: Vec::new(),
            ended: Vec::new(),
            residual: Residual::default(),
            is_busy: false,
            arrivals: Vec::new(),
            now: Ps(0),
            steps: 0,
            changed: 0,
            loads: vec![0.0; capacities.len()],
            measured: Measured::default(),
            rows: Vec::new(),
            finished: Vec::new(),
            finished_count: 0,
            digest: Digest::default(),
            paths,
            capacities,
        })
    }

    /// Time of the next step.
    #[must_use]
    pub fn now(&self) -> Ps {
        self.now
    }

    /// End of the last step.
    #[must_use]
    pub fn end(&self) -> Ps {
        self.config.warmup + self.config.measure
    }

    /// Advances by one step; returns true if there are more.
    ///
    /// # Errors
    /// If the allocator rejects a flow.
    pub fn step(&mut self) -> Result<bool, Error> {
        let now = self.now;
        if now >= self.end() {
            self.measured.unfinished = self.unfinished();
            return Ok(false);
        }
        self.take_arrivals(now)?;
        if !self.is_busy {
            self.tell_changes()?;
        }
        if self.iterate()? {
            self.tell_rates(now);
        }
        self.carry();
        if now >= self.config.warmup {
            self.measure(now)?;
        }
        self.advance(now, self.next_step(now))?;
        self.steps += 1;
        Ok(true)
    }

    /// Time of the step after this one; requires current rates.
    fn next_step(&self, now: Ps) -> Ps {
        match self.config.iterate {
            Iterates::Periodically => now + self.config.step,
            Iterates::OnChange => {
                let ends = self.flowlets.iter().filter_map(|flowlet| flowlet.end(now));
                ends.chain(self.traffic.next_start()).min().unwrap_or(Ps::NEVER).min(self.end())
            }
        }
    }

    /// Adds the flowlets that have arrived.
    fn take_arrivals(&mut self, now: Ps) -> Result<(), Error> {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let first = self.traffic.take_before(Ps(now.0 + 1), &mut arrivals);
        for (number, arrival) in (first.0..).zip(arrivals.drain(..)) {
            let path = self.paths.draw(arrival.src, arrival.dst);
            let mut flowlet = Flowlet::new(number, arrival, path);
            if let Some(optimum) = &mut self.optimum {
                flowlet.twin = Some(optimum.allocator.add_flow(&flowlet.path, 1.0)?);
            }
            self.flowlets.push(flowlet);
            self.changed = self.steps;
        }
        self.arrivals = arrivals;
        Ok(())
    }

    /// Removes ended flowlets from the allocator and adds new ones.
    fn tell_changes(&mut self) -> Result<(), Error> {
        let mut any = !self.ended.is_empty();
        for flow in self.ended.drain(..) {
            self.allocator.remove_flow(flow)?;
        }
        for flowlet in self.flowlets.iter_mut().filter(|flowlet| flowlet.flow.is_none()) {
            flowlet.flow = Some(self.allocator.add_flow(&flowlet.path, 1.0)?);
            any = true;
        }
        self.is_busy = any && self.config.rates == RatesAre::Converged;
        Ok(())
    }

    /// Iterates; returns true if the resulting rates must be applied.
    fn iterate(&mut self) -> Result<bool, Error> {
        match self.config.rates {
            RatesAre::Intermediate => {
                self.allocator.iterate();
                Ok(true)
            }
            RatesAre::Converged => {
                let residual = self.residual.iterate(&mut self.allocator)?;
                let is_done = self.is_busy && residual <= self.config.tolerance;
                self.is_busy &= !is_done;
                Ok(is_done)
            }
        }
    }

    fn tell_rates(&mut self, now: Ps) {
        for flowlet in &mut self.flowlets {
            let Some(rate) = flowlet.flow.and_then(|flow| self.allocator.rate(flow)) else {
                continue;
            };
            if flowlet.allocated.is_none() && self.config.warmup <= flowlet.arrival.start {
                let wait = now - flowlet.arrival.start;
                self.measured.wait_us.add(wait.seconds() * 1e6);
            }
            flowlet.allocated = Some(rate);
        }
    }

    /// Computes the carried rates. On an over-allocated link every flow gets the same fraction of
    /// its rate, as from a FIFO queue.
    fn carry(&mut self) {
        self.loads.fill(0.0);
        for flowlet in &self.flowlets {
            let rate = flowlet.allocated.unwrap_or(0.0);
            flowlet.path.iter().for_each(|link| self.loads[link.0 as usize] += rate);
        }
        for flowlet in &mut self.flowlets {
            let used = flowlet.path.iter().map(|link| {
                let link = link.0 as usize;
                self.loads[link] / self.capacities[link]
            });
            flowlet.carried = flowlet.allocated.unwrap_or(0.0) / used.fold(1.0, f64::max);
        }
    }

    fn measure(&mut self, now: Ps) -> Result<(), Error> {
        let allocated_gbps = self.flowlets.iter().filter_map(|flowlet| flowlet.allocated).sum();
        let carried_gbps: f64 = self.flowlets.iter().map(|flowlet| flowlet.carried).sum();
        let links = || self.loads.iter().zip(&self.capacities);
        let over_capacity_gbps = links().map(|(load, capacity)| (load - capacity).max(0.0)).sum();
        let most_used = links().map(|(load, capacity)| load / capacity).fold(0.0, f64::max);
        let measured = &mut self.measured;
        measured.flows.add(self.flowlets.len() as f64);
        measured.allocated_gbps.add(allocated_gbps);
        measured.over_capacity_gbps.add(over_capacity_gbps);
        if self.steps >= self.changed + SETTLED_STEPS {
            measured.settled_over_capacity_gbps.add(over_capacity_gbps);
        }
        measured.most_used_link.add(most_used);
        let optimal_gbps = self.compare(carried_gbps)?.unwrap_or(f64::NAN);
        let row = StepRow {
            time_ps: now.0,
            flows: self.flowlets.len() as u32,
            allocated_gbps,
            carried_gbps,
            over_capacity_gbps,
            optimal_gbps,
        };
        for value in [allocated_gbps, carried_gbps, over_capacity_gbps, optimal_gbps] {
            self.digest.add(value.to_bits());
        }
        self.rows.push(row);
        Ok(())
    }

    /// Compares with the optimum if it is due; returns the optimum's throughput.
    fn compare(&mut self, carried_gbps: f64) -> Result<Option<f64>, Error> {
        let Some(optimum) = &mut self.optimum else { return Ok(None) };
        let step = self.measured.flows.len() as u64;
        if !step.is_multiple_of(self.config.optimum_every.into()) || self.flowlets.is_empty() {
            return Ok(None);
        }
        if !optimum.solve()? {
            self.measured.unsolved += 1;
            return Ok(None);
        }
        let optimal = optimum.total(self.flowlets.iter().filter_map(|flowlet| flowlet.twin));
        self.measured.optimum_share.add(carried_gbps / optimal);
        let shares = &mut self.measured.normalized_share;
        for (series, normalizer) in [
            (&mut shares.flow, Normalizer::Flow),
            (&mut shares.flow_as_printed, Normalizer::FlowAsPrinted),
            (&mut shares.uniform, Normalizer::Uniform),
        ] {
            series.add(self.allocator.rates_by(normalizer).iter().sum::<f64>() / optimal);
        }
        Ok(Some(optimal))
    }

    /// Lets flowlets flow until the next step.
    fn advance(&mut self, now: Ps, next: Ps) -> Result<(), Error> {
        for mut flowlet in std::mem::take(&mut self.flowlets) {
            let Some(end) = flowlet.advance(now, next - now) else {
                self.flowlets.push(flowlet);
                continue;
            };
            self.changed = self.steps;
            self.ended.extend(flowlet.flow);
            if let (Some(optimum), Some(twin)) = (&mut self.optimum, flowlet.twin) {
                optimum.allocator.remove_flow(twin)?;
            }
            self.finish(&flowlet, end);
        }
        self.now = next;
        Ok(())
    }

    fn finish(&mut self, flowlet: &Flowlet, end: Ps) {
        let capacities = flowlet.path.iter().map(|link| self.capacities[link.0 as usize]);
        let ideal = flowlet.time_at(capacities.fold(f64::INFINITY, f64::min));
        let fct = end - flowlet.arrival.start;
        self.digest.add(flowlet.number);
        self.digest.add(fct.0);
        self.finished_count += 1;
        if flowlet.arrival.start >= self.config.warmup {
            let Flowlet { number, arrival, .. } = *flowlet;
            self.measured.slowdown.add(fct.0 as f64 / ideal.0 as f64);
            self.finished.push(Finished { number, arrival, fct, ideal });
        }
    }

    fn unfinished(&self) -> u64 {
        let begun = |flowlet: &&Flowlet| flowlet.arrival.start >= self.config.warmup;
        self.flowlets.iter().filter(begun).count() as u64
    }

    /// Results over the measured steps so far.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Number of flowlets that began, and number that ended.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.traffic.issued(), self.finished_count)
    }

    /// Measured steps since the last call.
    pub fn take_rows(&mut self) -> Vec<StepRow> {
        std::mem::take(&mut self.rows)
    }

    /// Measured flowlets that ended since the last call.
    pub fn take_finished(&mut self) -> Vec<Finished> {
        std::mem::take(&mut self.finished)
    }

    /// Number of rows and flowlets not yet taken.
    #[must_use]
    pub fn rows_waiting(&self) -> usize {
        self.rows.len() + self.finished.len()
    }

    /// A hash of all events.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }
}
