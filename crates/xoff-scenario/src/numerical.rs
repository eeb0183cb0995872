//! A numerical run from its scenario to its results.

use xoff_fluid::{Convergence, ErrorRow, Fluid, Series, StepRow};
use xoff_sim::{FlowRow, Progress};

use crate::diagnostic::Problems;
use crate::resolve::resolve_numerical;
use crate::resources::Resources;
use crate::scalars::EngineKind;
use crate::schema::json_string;
use crate::summary::{array, number, object};

/// What is studied.
pub enum Study {
    /// Flowlets that come and go.
    Fluid {
        /// The simulation.
        fluid: Box<Fluid>,
        /// The class of each traffic source.
        class_of: Vec<u16>,
    },
    /// Networks that do not change.
    Convergence(Convergence),
}

/// Rows of a study.
#[derive(Debug)]
pub enum StudyRows {
    /// Steps of flowlets.
    Steps(Vec<StepRow>),
    /// Errors by iteration.
    Errors(Vec<ErrorRow>),
}

/// A numerical run in progress.
pub struct NumericalRun {
    name: String,
    seed: u64,
    study: Study,
    effective: String,
    is_over: bool,
}

impl NumericalRun {
    /// Reads a scenario whose `engine` is this one. `file` names it in errors, and relative paths in
    /// it are relative to its folder.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn open(
        engine: EngineKind,
        text: &str,
        file: &str,
        overrides: &[String],
        resources: impl Into<Resources>,
    ) -> Result<Self, Problems> {
        let resolved = resolve_numerical(engine, text, file, overrides, resources.into())?;
        let (name, seed, study) = (resolved.name, resolved.seed, resolved.study);
        Ok(Self { name, seed, study, effective: resolved.effective, is_over: false })
    }

    /// Advances by a step or a network. Returns whether there is more to do.
    ///
    /// # Errors
    /// If the allocator refuses something, which it should not.
    pub fn step(&mut self) -> Result<bool, String> {
        let more = match &mut self.study {
            Study::Fluid { fluid, .. } => fluid.step(),
            Study::Convergence(convergence) => convergence.step(),
        };
        self.is_over = !more.map_err(|error| error.to_string())?;
        Ok(!self.is_over)
    }

    /// How far the run is. A study without time counts networks in the place of picoseconds.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let (sim_ps, end_ps, (flows_started, flows_finished)) = match &self.study {
            Study::Fluid { fluid, .. } => (fluid.now().0, fluid.end().0, fluid.counts()),
            Study::Convergence(convergence) => {
                let (done, all) = convergence.progress();
                (done.into(), all.into(), (0, 0))
            }
        };
        let (packet_hops, draining) = (0, false);
        Progress { sim_ps, end_ps, flows_started, flows_finished, packet_hops, draining }
    }

    /// How many rows wait to be taken.
    #[must_use]
    pub fn rows_waiting(&self) -> usize {
        match &self.study {
            Study::Fluid { fluid, .. } => fluid.rows_waiting(),
            Study::Convergence(_) => 0,
        }
    }

    /// Flowlets that ended since the last call.
    pub fn take_flows(&mut self) -> Vec<FlowRow> {
        let Study::Fluid { fluid, class_of } = &mut self.study else {
            return Vec::new();
        };
        let row = |flow: xoff_fluid::Finished| FlowRow {
            flow: flow.number,
            src: flow.arrival.src,
            dst: flow.arrival.dst,
            size_bytes: flow.arrival.bytes,
            start_ps: flow.arrival.start.0,
            fct_ps: flow.fct.0,
            rx_fct_ps: flow.fct.0,
            ideal_fct_ps: flow.ideal.0,
            class: class_of[usize::from(flow.arrival.source)],
        };
        fluid.take_finished().into_iter().map(row).collect()
    }

    /// Rows since the last call. Errors are there when all networks are done.
    pub fn take_rows(&mut self) -> StudyRows {
        match &mut self.study {
            Study::Fluid { fluid, .. } => StudyRows::Steps(fluid.take_rows()),
            Study::Convergence(convergence) if self.is_over => {
                StudyRows::Errors(convergence.rows())
            }
            Study::Convergence(_) => StudyRows::Errors(Vec::new()),
        }
    }

    /// The results in brief, as JSON.
    #[must_use]
    pub fn summary(&self) -> String {
        let (engine, mut own) = match &self.study {
            Study::Fluid { fluid, .. } => ("fluid", fluid_fields(fluid)),
            Study::Convergence(convergence) => ("convergence", convergence_fields(convergence)),
        };
        let mut fields = vec![
            ("name", json_string(&self.name)),
            ("engine", json_string(engine)),
            ("seed", self.seed.to_string()),
            ("digest", json_string(&format!("{:016x}", self.digest()))),
            ("classes", array([])),
        ];
        fields.append(&mut own);
        object(&fields)
    }

    /// The scenario with every default and derived value, as TOML.
    #[must_use]
    pub fn effective(&self) -> &str {
        &self.effective
    }

    /// The digest of everything that happened.
    #[must_use]
    pub fn digest(&self) -> u64 {
        match &self.study {
            Study::Fluid { fluid, .. } => fluid.digest(),
            Study::Convergence(convergence) => convergence.digest(),
        }
    }
}

type Fields = Vec<(&'static str, String)>;

fn finite(value: Option<f64>) -> String {
    value.map_or_else(|| "null".into(), number)
}

/// What is said of a series; names end in the unit of its values.
macro_rules! spread {
    ($series:expr, $unit:literal) => {{
        let series = $series;
        vec![
            (concat!("mean", $unit), finite(series.mean())),
            (concat!("min", $unit), finite(series.quantile(0.0))),
            (concat!("p01", $unit), finite(series.quantile(0.01))),
            (concat!("p50", $unit), finite(series.quantile(0.5))),
            (concat!("p90", $unit), finite(series.quantile(0.9))),
            (concat!("p99", $unit), finite(series.quantile(0.99))),
            (concat!("max", $unit), finite(series.quantile(1.0))),
        ]
    }};
}

fn share(series: &Series) -> String {
    let mut fields: Fields = spread!(series, "");
    fields.push(("above_one", finite(series.share(|share| share > 1.0))));
    object(&fields)
}

fn fluid_fields(fluid: &Fluid) -> Fields {
    let measured = fluid.measured();
    let (started, finished) = fluid.counts();
    let mut over_capacity: Fields = spread!(&measured.over_capacity_gbps, "_gbps");
    let settled = &measured.settled_over_capacity_gbps;
    over_capacity.push(("settled_mean_gbps", finite(settled.mean())));
    over_capacity.push(("steps", finite(measured.over_capacity_gbps.share(|gbps| gbps > 1e-9))));
    let by = &measured.normalized_share;
    vec![
        ("flows", object(&spread!(&measured.flows, ""))),
        ("allocated", object(&spread!(&measured.allocated_gbps, "_gbps"))),
        ("over_capacity", object(&over_capacity)),
        ("most_used_link", object(&spread!(&measured.most_used_link, ""))),
        (
            "optimum",
            object(&[
                ("share", share(&measured.optimum_share)),
                ("f_norm", share(&by.flow)),
                ("f_norm_as_printed", share(&by.flow_as_printed)),
                ("u_norm", share(&by.uniform)),
                ("samples", measured.optimum_share.len().to_string()),
                ("unsolved", measured.unsolved.to_string()),
            ]),
        ),
        ("wait", object(&spread!(&measured.wait_us, "_us"))),
        ("slowdown", object(&spread!(&measured.slowdown, ""))),
        ("steps", measured.flows.len().to_string()),
        ("unfinished", measured.unfinished.to_string()),
        ("flows_started", started.to_string()),
        ("flows_finished", finished.to_string()),
        ("sim_ps", fluid.now().0.to_string()),
    ]
}

fn convergence_fields(convergence: &Convergence) -> Fields {
    let iterations = convergence.iterations();
    vec![
        ("networks", convergence.progress().1.to_string()),
        ("unsolved", convergence.unsolved().to_string()),
        ("converged", finite(iterations.share(f64::is_finite))),
        ("iterations", object(&spread!(iterations, ""))),
        ("final_error", object(&spread!(convergence.final_error(), ""))),
    ]
}
