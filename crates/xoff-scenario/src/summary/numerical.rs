//! Results of runs without packets.

use xoff_fluid::{Convergence, Fluid, Series};

use super::classes::Class;
use super::json;
use super::keys::keys;

keys! {
    /// The run.
    pub struct Identity {
        /// Name of the scenario.
        name: String,
        /// `fluid` or `convergence`.
        engine: &'static str,
        /// Seed of the random numbers.
        seed: u64,
        /// Hash of all events, as 16 hexadecimal digits.
        digest: String,
        /// Traffic classes: an empty list.
        classes: Vec<Class>,
    }
}

/// Declares the statistics of a series: the mean, the minimum, percentiles and the maximum. Their
/// names end in the unit of the values.
macro_rules! spread {
    (
        $(#[doc = $doc:literal])*
        $name:ident: $mean:ident $min:ident $p01:ident $p50:ident $p90:ident $p99:ident $max:ident
    ) => {
        keys! {
            $(#[doc = $doc])*
            pub struct $name {
                /// Mean.
                $mean: Option<f64>,
                /// Minimum.
                $min: Option<f64>,
                /// 1st percentile.
                $p01: Option<f64>,
                /// Median.
                $p50: Option<f64>,
                /// 90th percentile.
                $p90: Option<f64>,
                /// 99th percentile.
                $p99: Option<f64>,
                /// Maximum.
                $max: Option<f64>,
            }
        }

        impl $name {
            fn of(series: &Series) -> Self {
                Self {
                    $mean: series.mean(),
                    $min: series.quantile(0.0),
                    $p01: series.quantile(0.01),
                    $p50: series.quantile(0.5),
                    $p90: series.quantile(0.9),
                    $p99: series.quantile(0.99),
                    $max: series.quantile(1.0),
                }
            }
        }
    };
}
spread! {
    /// Statistics of a number without a unit. All are null without values.
    Spread: mean min p01 p50 p90 p99 max
}
spread! {
    /// Statistics of a rate in Gb/s. All are null without values.
    RateSpread: mean_gbps min_gbps p01_gbps p50_gbps p90_gbps p99_gbps max_gbps
}
spread! {
    /// Statistics of a time in microseconds. All are null without values.
    TimeSpread: mean_us min_us p01_us p50_us p90_us p99_us max_us
}

keys! {
    /// Allocations beyond capacities, summed over links, at each step.
    pub struct OverCapacity {
        /// Statistics over the measured steps.
        #[serde(flatten)]
        spread: RateSpread,
        /// Mean over the steps that follow at least 50 steps without arrival or end of a flowlet.
        settled_mean_gbps: Option<f64>,
        /// Share of steps with any allocation beyond a capacity.
        steps: Option<f64>,
    }
}

keys! {
    /// Throughput over that of the optimal rates.
    pub struct OptimumShare {
        /// Statistics over the samples.
        #[serde(flatten)]
        spread: Spread,
        /// Share of samples above 1.
        above_one: Option<f64>,
    }
}

impl OptimumShare {
    fn of(series: &Series) -> Self {
        Self { spread: Spread::of(series), above_one: series.share(|share| share > 1.0) }
    }
}

keys! {
    /// Comparison with the optimal rates, at the steps that compute them.
    pub struct Optimum {
        /// Throughput of the flowlets.
        share: OptimumShare,
        /// Throughput of the allocator's rates under F-NORM.
        f_norm: OptimumShare,
        /// The same under F-NORM as printed.
        f_norm_as_printed: OptimumShare,
        /// The same under U-NORM.
        u_norm: OptimumShare,
        /// Number of comparisons.
        samples: usize,
        /// Steps without a comparison, because the optimum was not found.
        unsolved: u64,
    }
}

keys! {
    /// The results of a run of the fluid engine, over the measured steps.
    pub struct FluidSummary {
        /// Identity of the run.
        #[serde(flatten)]
        identity: Identity,
        /// Flowlets with bytes to send, at each step.
        flows: Spread,
        /// Sum of their allocations, at each step.
        allocated: RateSpread,
        /// Allocations beyond capacities.
        over_capacity: OverCapacity,
        /// Largest allocated share of a link's capacity, at each step.
        most_used_link: Spread,
        /// Comparison with the optimal rates.
        optimum: Optimum,
        /// Time from the start of a flowlet to its first rate.
        wait: TimeSpread,
        /// FCT over the FCT at the whole capacity of the path, of flowlets that began and ended in
        /// the measured time.
        slowdown: Spread,
        /// Number of measured steps.
        steps: usize,
        /// Flowlets that began in the measured time and did not end.
        unfinished: u64,
        /// Flowlets that began, over the whole run.
        flows_started: u64,
        /// Flowlets that ended, over the whole run.
        flows_finished: u64,
        /// Simulated time.
        sim_ps: u64,
    }
}

keys! {
    /// The results of a run of the convergence engine.
    pub struct ConvergenceSummary {
        /// Identity of the run.
        #[serde(flatten)]
        identity: Identity,
        /// Number of networks.
        networks: u32,
        /// Networks left out, because their optimum was not found.
        unsolved: u32,
        /// Share of networks that converged.
        converged: Option<f64>,
        /// Iterations to convergence of each network; infinite, hence null, if it did not converge.
        iterations: Spread,
        /// Error of each network after the last iteration.
        final_error: Spread,
    }
}

/// The results of a run without packets.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(untagged)]
pub enum NumericalSummary {
    /// Of the fluid engine.
    Fluid(Box<FluidSummary>),
    /// Of the convergence engine.
    Convergence(Box<ConvergenceSummary>),
}

impl NumericalSummary {
    /// The text of `summary.json`.
    #[must_use]
    pub fn json(&self) -> String {
        json::json(self)
    }
}

pub(crate) fn fluid(identity: Identity, fluid: &Fluid) -> NumericalSummary {
    let measured = fluid.measured();
    let (flows_started, flows_finished) = fluid.counts();
    let over_capacity = &measured.over_capacity_gbps;
    let by = &measured.normalized_share;
    NumericalSummary::Fluid(Box::new(FluidSummary {
        identity,
        flows: Spread::of(&measured.flows),
        allocated: RateSpread::of(&measured.allocated_gbps),
        over_capacity: OverCapacity {
            spread: RateSpread::of(over_capacity),
            settled_mean_gbps: measured.settled_over_capacity_gbps.mean(),
            steps: over_capacity.share(|gbps| gbps > 1e-9),
        },
        most_used_link: Spread::of(&measured.most_used_link),
        optimum: Optimum {
            share: OptimumShare::of(&measured.optimum_share),
            f_norm: OptimumShare::of(&by.flow),
            f_norm_as_printed: OptimumShare::of(&by.flow_as_printed),
            u_norm: OptimumShare::of(&by.uniform),
            samples: measured.optimum_share.len(),
            unsolved: measured.unsolved,
        },
        wait: TimeSpread::of(&measured.wait_us),
        slowdown: Spread::of(&measured.slowdown),
        steps: measured.flows.len(),
        unfinished: measured.unfinished,
        flows_started,
        flows_finished,
        sim_ps: fluid.now().0,
    }))
}

pub(crate) fn convergence(identity: Identity, study: &Convergence) -> NumericalSummary {
    NumericalSummary::Convergence(Box::new(ConvergenceSummary {
        identity,
        networks: study.progress().1,
        unsolved: study.unsolved(),
        converged: study.iterations().share(f64::is_finite),
        iterations: Spread::of(study.iterations()),
        final_error: Spread::of(study.final_error()),
    }))
}
