//! The number of flows, and the start of each source's first flow, known before the run.

use xoff_core::Ps;
use xoff_fluid::FluidConfig;
use xoff_sim::simulation::Plan;
use xoff_workload::Traffic;
use xoff_workload::crowd::excess;

use super::Builder;
use crate::layers::TableRef;
use crate::size::{FLOW_BYTES, Need};

/// The time of a run that traffic depends on.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Flows are drawn ahead for this time.
    step: Ps,
    /// Flows that start before this are measured.
    measured_until: Ps,
    /// No flow starts at this time or later.
    end: Ps,
}

impl Span {
    /// The span of a run with packets.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let measured_until = Ps(plan.warmup.0.saturating_add(plan.measure.0));
        let end = Ps(measured_until.0.saturating_add(plan.drain.0));
        Self { step: plan.grid, measured_until, end }
    }

    /// The span of a run without packets.
    #[must_use]
    pub fn of_fluid(config: &FluidConfig) -> Self {
        let end = Ps(config.warmup.0.saturating_add(config.measure.0));
        Self { step: config.step, measured_until: end, end }
    }
}

/// A time with three digits.
fn rough(time: Ps) -> Ps {
    let unit = 10u64.pow(time.0.checked_ilog10().unwrap_or(0).saturating_sub(2));
    Ps(time.0 / unit * unit)
}

impl Builder<'_> {
    /// Checks that the flows present at one time fit into memory; `None` if not.
    pub(super) fn fits(&mut self, entries: &[TableRef]) -> Option<()> {
        let Span { step, measured_until, .. } = self.basis.span?;
        let excess = excess(&self.crowds, self.basis.capacity.hosts(), measured_until);
        let at_once = self.crowds.iter().map(|crowd| crowd.at_once(step, measured_until, excess));
        let mut crowds: Vec<(f64, &TableRef)> = at_once.zip(entries).collect();
        // The largest first: the message names it.
        crowds.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        for (flows, entry) in crowds {
            let need = Need {
                what: format!("{flows:.0} flows of one source at a time"),
                bytes: (flows * FLOW_BYTES) as u128,
                place: Some(entry.place()),
                help: "make flows fewer, rarer or smaller, or run.grid or run.measure shorter"
                    .into(),
            };
            if let Err(error) = self.needs.add(need) {
                self.layers.problem(error.place, error.message, error.help);
                return None;
            }
        }
        Some(())
    }

    /// The number of flows of all sources in the run.
    pub(super) fn expected(&self) -> f64 {
        let end = self.basis.span.map_or(Ps(0), |span| span.end);
        self.crowds.iter().map(|crowd| crowd.flows(end)).sum()
    }

    /// Refuses sources without a flow in the run. If no source has a flow in the measured time,
    /// refuses sources without one there. A source that is set to start after the end is off on
    /// purpose, which the effective scenario shows.
    pub(super) fn check_beginnings(&mut self, traffic: &Traffic, entries: &[TableRef]) {
        let Some(Span { measured_until, end, .. }) = self.basis.span else { return };
        let is_before = |limit: Ps| move |start: &Option<Ps>| start.is_some_and(|at| at < limit);
        let starts: Vec<Option<Ps>> = traffic.first_starts().collect();
        let is_any_measured = starts.iter().any(is_before(measured_until));
        let (limit, what_ends) = match is_any_measured {
            true => (end, "the run ends"),
            false => (measured_until, "the measured time ends"),
        };
        for (index, start) in starts.iter().enumerate() {
            if is_before(limit)(start) {
                continue;
            }
            if is_any_measured && self.crowds[index].start >= end {
                let why =
                    format!("after the end of the run ({end}): no flow of this source starts");
                self.effective.derive(&format!("traffic.{index}.first_flow"), why);
                continue;
            }
            let why = match start {
                Some(start) => format!("at {}, and {what_ends} at {limit}", rough(*start)),
                None if entries[index].has("stop").is_some() => "after its stop".into(),
                None => "after the end of time".into(),
            };
            self.refuse_silent(&entries[index], &why);
        }
    }

    /// A source has no flow in time: its first one would start at the time in `why`.
    fn refuse_silent(&mut self, entry: &TableRef, why: &str) {
        let keys = ["start", "stop", "load", "rate", "period", "file"];
        let place = keys.iter().find_map(|key| entry.has(key)).unwrap_or(entry.place());
        let message =
            format!("[[traffic]] no flow of this source starts: its first one would start {why}");
        let help = "start it earlier or stop it later, raise its load or rate, or measure for \
                    longer (run.measure)";
        self.layers.problem(Some(place), message, Some(help.into()));
    }
}
