//! A numerical run from its scenario to its results.

use xoff_core::tables;
use xoff_fluid::{ErrorRow, Finished, StepRow};
use xoff_sim::{FlowRow, Progress};

use crate::summary::{self, Identity, NumericalSummary};
use xoff_scenario::diagnostic::Problems;
use xoff_scenario::resolve::resolve_numerical;
use xoff_scenario::resources::Resources;
use xoff_scenario::scalars::EngineKind;
use xoff_scenario::study::Study;

tables! {
    /// The tables of a numerical run: rows to be taken.
    pub struct StudyRows { flows: FlowRow, steps: StepRow, errors: ErrorRow }
}

/// A numerical run in progress.
pub struct NumericalRun {
    name: String,
    seed: u64,
    study: Study,
    effective: String,
    rows: StudyRows,
}

impl NumericalRun {
    /// Reads a scenario for a numerical `engine`. `file` names it in errors, and relative paths in
    /// it are relative to its folder.
    ///
    /// # Errors
    /// All problems of the scenario.
    pub fn open(
        engine: EngineKind,
        text: &str,
        file: &str,
        overrides: &[String],
        resources: impl Into<Resources>,
    ) -> Result<Self, Problems> {
        let resolved = resolve_numerical(engine, text, file, overrides, resources.into())?;
        let (name, seed, study) = (resolved.name, resolved.seed, resolved.study);
        Ok(Self { name, seed, study, effective: resolved.effective, rows: StudyRows::default() })
    }

    /// Advances by a step or a network. Returns whether there is more to do.
    ///
    /// # Errors
    /// If the allocator refuses a request, which it should not.
    pub fn step(&mut self) -> Result<bool, String> {
        let more = match &mut self.study {
            Study::Fluid { fluid, class_of } => fluid.step().inspect(|_| {
                self.rows.steps.append(&mut fluid.take_rows());
                let finished = fluid.take_finished().into_iter();
                self.rows.flows.extend(finished.map(|flow| row(&flow, class_of)));
            }),
            Study::Convergence(convergence) => convergence.step().inspect(|&more| {
                if !more {
                    self.rows.errors = convergence.rows();
                }
            }),
        };
        more.map_err(|error| error.to_string())
    }

    /// Progress of the run. A study without time counts networks instead of picoseconds.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let (sim_ps, end_ps, (flows_started, flows_finished)) = match &self.study {
            Study::Fluid { fluid, .. } => (fluid.now().0, fluid.end().0, fluid.counts()),
            Study::Convergence(convergence) => {
                let (done, all) = convergence.progress();
                (done.into(), all.into(), (0, 0))
            }
        };
        let drain_end_ps = end_ps;
        let known =
            Progress { sim_ps, end_ps, flows_started, flows_finished, ..Default::default() };
        Progress { drain_end_ps, ..known }
    }

    /// Rows to be taken. Rows of errors come when all networks are done.
    pub fn rows(&mut self) -> &mut StudyRows {
        &mut self.rows
    }

    /// The results in brief.
    #[must_use]
    pub fn summary(&self) -> NumericalSummary {
        let identity = |engine| Identity {
            name: self.name.clone(),
            engine,
            seed: self.seed,
            digest: format!("{:016x}", self.digest()),
            classes: Vec::new(),
        };
        match &self.study {
            Study::Fluid { fluid, .. } => summary::fluid(identity("fluid"), fluid),
            Study::Convergence(study) => summary::convergence(identity("convergence"), study),
        }
    }

    /// The scenario with every default and derived value, as TOML.
    #[must_use]
    pub fn effective(&self) -> &str {
        &self.effective
    }

    /// The digest of all events.
    #[must_use]
    pub fn digest(&self) -> u64 {
        match &self.study {
            Study::Fluid { fluid, .. } => fluid.digest(),
            Study::Convergence(convergence) => convergence.digest(),
        }
    }
}

fn row(flow: &Finished, class_of: &[u16]) -> FlowRow {
    FlowRow {
        flow: flow.number,
        src: flow.arrival.src.0,
        dst: flow.arrival.dst.0,
        size_bytes: flow.arrival.bytes,
        start_ps: flow.arrival.start.0,
        fct_ps: flow.fct.0,
        rx_fct_ps: flow.fct.0,
        ideal_fct_ps: flow.ideal.0,
        class: class_of[usize::from(flow.arrival.source)],
    }
}
