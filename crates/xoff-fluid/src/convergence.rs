//! Iterations to the optimum of static networks (§2, Appendix B).

use xoff_alloc::{Allocator, Error, FlowId, LinkId};
use xoff_core::rng::Purpose;
use xoff_core::{Digest, Rng, knobs, table};

use crate::config::AllocatorConfig;
use crate::optimum::Optimum;
use crate::series::Series;

knobs! {
    /// Random networks. Each link's capacity is uniform in a range. The number of links of a flow
    /// is uniform too, and the links are distinct and random. An allocator starts from its initial
    /// prices and iterates. Its error is the largest relative difference between a flow's rate
    /// before normalisation and its optimal rate.
    pub struct ConvergenceConfig in "convergence" {
        /// Number of networks.
        networks: u32 = 100,
        /// Links per network.
        links: u32 = 20,
        /// Flows per network.
        flows: u32 = 60,
        /// Maximum number of links per flow.
        most_hops: u32 = 4,
        /// Smallest capacity (Gb/s).
        least_capacity: f64 = 10.0,
        /// Largest capacity (Gb/s).
        most_capacity: f64 = 40.0,
        /// A network has converged at the first iteration from which its error stays within this
        /// value.
        tolerance: f64 = 0.01,
        /// Iterations per network.
        iterations: u32 = 2000,
    }
}

impl ConvergenceConfig {
    /// Checks the settings together.
    ///
    /// # Errors
    /// The invalid setting and its valid values.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, count) in [
            ("networks", self.networks),
            ("links", self.links),
            ("flows", self.flows),
            ("most_hops", self.most_hops),
            ("iterations", self.iterations),
        ] {
            if count == 0 {
                return Err((key, format!("{key} is 0; it must be at least 1")));
            }
        }
        if self.most_hops > self.links {
            let message = format!(
                "most_hops is {}; it must be at most links = {}",
                self.most_hops, self.links
            );
            return Err(("most_hops", message));
        }
        if !(0.0 < self.least_capacity && self.least_capacity <= self.most_capacity) {
            let message = "least_capacity must be above 0 and at most most_capacity";
            return Err(("least_capacity", message.into()));
        }
        if self.tolerance == 0.0 {
            return Err(("tolerance", "tolerance is 0; it must be above 0, such as 0.01".into()));
        }
        Ok(())
    }
}

table! {
    /// Convergence engine: one row for each iteration, over all networks.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ErrorRow in "samples" {
        /// Number of the iteration, from 1.
        iteration: u32,
        /// Median over networks of their largest relative error.
        error_p50: f64,
        /// 90th percentile over networks of their largest relative error.
        error_p90: f64,
        /// Largest relative error of the first network.
        error_first: f64,
        /// Share of networks within the tolerance.
        within: f64,
    }
}

/// Convergence tolerance of the reference optimum.
const REFERENCE_TOLERANCE: f64 = 1e-11;

/// Maximum number of iterations to find the reference optimum.
const REFERENCE_ITERATIONS: u32 = 1_000_000;

/// A study of convergence.
pub struct Convergence {
    config: ConvergenceConfig,
    allocator: AllocatorConfig,
    seed: u64,
    /// Number of completed networks.
    done: u32,
    /// The error in each network, by iteration.
    errors: Vec<Series>,
    iterations: Series,
    final_error: Series,
    unsolved: u32,
    digest: Digest,
}

/// A network and its flows.
struct Case {
    capacities: Vec<f64>,
    paths: Vec<Vec<LinkId>>,
}

impl Case {
    fn draw(config: &ConvergenceConfig, seed: u64, index: u32) -> Self {
        let mut rng = Rng::stream(seed, Purpose::Traffic, index.into());
        let spread = config.most_capacity - config.least_capacity;
        let mut links: Vec<LinkId> = (0..config.links).map(LinkId).collect();
        let capacities =
            links.iter().map(|_| config.least_capacity + spread * rng.unit()).collect();
        let mut path = || {
            let hops = 1 + rng.below(config.most_hops.into()) as usize;
            for place in 0..hops {
                let other = place + rng.below((links.len() - place) as u64) as usize;
                links.swap(place, other);
            }
            links[..hops].to_vec()
        };
        let paths = (0..config.flows).map(|_| path()).collect();
        Self { capacities, paths }
    }

    fn add_to(&self, allocator: &mut Allocator) -> Result<Vec<FlowId>, Error> {
        self.paths.iter().map(|path| allocator.add_flow(path, 1.0)).collect()
    }

    /// The optimal rates, or `None` if they were not found.
    fn optimum(&self, settings: &AllocatorConfig) -> Result<Option<Vec<f64>>, Error> {
        let (config, most) = (settings.config(), REFERENCE_ITERATIONS);
        let mut optimum = Optimum::new(&self.capacities, &config, REFERENCE_TOLERANCE, most)?;
        let flows = self.add_to(&mut optimum.allocator)?;
        let found = optimum.solve()?;
        let rates = flows.iter().filter_map(|&flow| optimum.allocator.raw_rate(flow)).collect();
        Ok(found.then_some(rates))
    }
}

impl Convergence {
    /// Creates a study of this allocator.
    #[must_use]
    pub fn new(seed: u64, allocator: AllocatorConfig, config: ConvergenceConfig) -> Self {
        let errors = vec![Series::default(); config.iterations as usize];
        Self {
            config,
            allocator,
            seed,
            done: 0,
            errors,
            iterations: Series::default(),
            final_error: Series::default(),
            unsolved: 0,
            digest: Digest::default(),
        }
    }

    /// Studies one network; returns true if there are more.
    ///
    /// # Errors
    /// If the allocator rejects a setting.
    pub fn step(&mut self) -> Result<bool, Error> {
        if self.done == self.config.networks {
            return Ok(false);
        }
        let case = Case::draw(&self.config, self.seed, self.done);
        match case.optimum(&self.allocator)? {
            Some(optimum) => self.follow(&case, &optimum)?,
            None => self.unsolved += 1,
        }
        self.done += 1;
        Ok(true)
    }

    fn follow(&mut self, case: &Case, optimum: &[f64]) -> Result<(), Error> {
        let mut allocator = Allocator::new(&case.capacities, self.allocator.config())?;
        let flows = case.add_to(&mut allocator)?;
        let mut outside = 0;
        let mut error = f64::NAN;
        for (index, errors) in self.errors.iter_mut().enumerate() {
            allocator.iterate();
            let rates = flows.iter().filter_map(|&flow| allocator.raw_rate(flow));
            let off = rates.zip(optimum).map(|(rate, best)| (rate / best - 1.0).abs());
            error = off.fold(0.0, f64::max);
            errors.add(error);
            self.digest.add(error.to_bits());
            if error > self.config.tolerance {
                outside = index + 1;
            }
        }
        self.final_error.add(error);
        let last = self.errors.len();
        self.iterations.add(if outside == last { f64::INFINITY } else { (outside + 1) as f64 });
        Ok(())
    }

    /// Number of completed networks, and the total.
    #[must_use]
    pub fn progress(&self) -> (u32, u32) {
        (self.done, self.config.networks)
    }

    /// Iterations to convergence of each network; infinite if it did not converge.
    #[must_use]
    pub fn iterations(&self) -> &Series {
        &self.iterations
    }

    /// The error of each network after the last iteration.
    #[must_use]
    pub fn final_error(&self) -> &Series {
        &self.final_error
    }

    /// Number of networks whose optimum was not found; they are left out.
    #[must_use]
    pub fn unsolved(&self) -> u32 {
        self.unsolved
    }

    /// Errors by iteration.
    #[must_use]
    pub fn rows(&self) -> Vec<ErrorRow> {
        let row = |(errors, iteration): (&Series, u32)| {
            let first = errors.values().first()?;
            Some(ErrorRow {
                iteration,
                error_p50: errors.quantile(0.5)?,
                error_p90: errors.quantile(0.9)?,
                error_first: *first,
                within: errors.share(|error| error <= self.config.tolerance)?,
            })
        };
        self.errors.iter().zip(1..).filter_map(row).collect()
    }

    /// A hash of all errors.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }
}
