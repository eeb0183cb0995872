//! Runs that Python advances in slices of wall-clock time.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use xoff_core::NodeId;
use xoff_core::table::{Table, Tables};

use crate::apart::SLICE;
use crate::batch::PyBatch;
use crate::errors::{InvariantError, RunError};

/// With more rows than this, a step ends early so that Python takes them: some 20 MB.
const ROWS_WAITING: usize = 250_000;

/// Where a run is. Times in picoseconds of simulated time.
#[derive(Clone, Copy, Debug, IntoPyObject)]
pub(crate) struct Progress {
    sim_ps: u64,
    end_ps: u64,
    flows_started: u64,
    flows_finished: u64,
    packet_hops: u64,
    phase: &'static str,
    drain_end_ps: u64,
    measured_flows: u64,
    missing_flows: u64,
    measured_requests: u64,
    missing_requests: u64,
}

impl From<xoff_sim::Progress> for Progress {
    fn from(progress: xoff_sim::Progress) -> Self {
        Self {
            sim_ps: progress.sim_ps,
            end_ps: progress.end_ps,
            flows_started: progress.flows_started,
            flows_finished: progress.flows_finished,
            packet_hops: progress.packet_hops,
            phase: if progress.draining { "drain" } else { "measure" },
            drain_end_ps: progress.drain_end_ps,
            measured_flows: progress.measured_flows,
            missing_flows: progress.missing_flows,
            measured_requests: progress.measured_requests,
            missing_requests: progress.missing_requests,
        }
    }
}

/// A packet that a port began to send.
#[derive(Clone, Debug, IntoPyObject)]
struct Sent {
    time_ps: u64,
    node: u32,
    port: u16,
    peer: u32,
    kind: String,
    flow: u32,
    seq: u64,
    bytes: u16,
}

impl From<xoff_run::sent::Sent> for Sent {
    fn from(sent: xoff_run::sent::Sent) -> Self {
        let xoff_run::sent::Sent { time_ps, node, port, peer, kind, flow, seq, bytes } = sent;
        Self { time_ps, node, port, peer, kind, flow, seq, bytes }
    }
}

/// One simulation, advanced in slices of wall-clock time.
///
/// A run belongs to one thread at a time: a call while another thread is in `step` raises
/// RuntimeError.
#[pyclass(module = "xoff._native")]
// The lock is never taken: it only makes a run shareable, as Python wants. What protects it is the
// borrow that Python takes for every call.
pub struct Run(Mutex<xoff_run::Run>);

impl From<xoff_run::Run> for Run {
    fn from(run: xoff_run::Run) -> Self {
        Self(Mutex::new(run))
    }
}

impl Run {
    fn engine(&mut self) -> &mut xoff_run::Run {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run of any engine: it advances by steps and collects rows meanwhile.
pub(crate) trait Steps: Send {
    /// Advances by one step; whether there is more to do.
    fn step(&mut self) -> Result<bool, String>;
    /// The exception for a step that failed.
    fn error(&self, message: String) -> PyErr {
        RunError::new_err(message)
    }
    /// The rows that wait to be taken.
    fn rows(&mut self) -> &mut impl Tables;
    /// The number of rows and captured packets that wait to be taken.
    fn waiting(&mut self) -> usize {
        self.rows().waiting()
    }
}

impl Steps for xoff_run::Run {
    fn step(&mut self) -> Result<bool, String> {
        self.step()
    }
    fn error(&self, message: String) -> PyErr {
        match self.simulation().violation() {
            Some(_) => InvariantError::new_err(message),
            None => RunError::new_err(message),
        }
    }
    fn rows(&mut self) -> &mut impl Tables {
        self.rows()
    }
    fn waiting(&mut self) -> usize {
        self.rows_waiting()
    }
}

/// The tables that have new rows, by name.
pub(crate) fn take_tables(run: &mut impl Steps) -> Vec<(&'static str, PyBatch)> {
    run.rows().take().into_iter().map(|table| (table.name, table.into())).collect()
}

/// Steps until there is nothing more to do (`Some(false)`), or Python should take rows
/// (`Some(true)`), or `until` has passed (`None`).
fn advance(run: &mut impl Steps, until: Instant) -> Result<Option<bool>, String> {
    loop {
        if !run.step()? {
            return Ok(Some(false));
        }
        if run.waiting() > ROWS_WAITING {
            return Ok(Some(true));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
    }
}

/// Advances for about `wall_ms` milliseconds, or until many rows wait; whether there is more.
/// Between slices, other threads of Python run and signals are handled.
pub(crate) fn advance_for(py: Python<'_>, run: &mut impl Steps, wall_ms: u32) -> PyResult<bool> {
    let end = Instant::now() + Duration::from_millis(wall_ms.into());
    loop {
        let until = end.min(Instant::now() + SLICE);
        let more = py.detach(|| advance(run, until)).map_err(|message| run.error(message))?;
        py.check_signals()?;
        match more {
            Some(more) => return Ok(more),
            None if until == end => return Ok(true),
            None => (),
        }
    }
}

#[pymethods]
impl Run {
    /// Advance for about `wall_ms` milliseconds of wall-clock time; return whether there is more.
    ///
    /// Returns early when many rows wait to be taken. Other threads of Python run meanwhile, and
    /// signals are handled. Raises RunError if the run is stuck, InvariantError if an invariant
    /// does not hold.
    fn step(&mut self, py: Python<'_>, wall_ms: u32) -> PyResult<bool> {
        advance_for(py, self.engine(), wall_ms)
    }

    /// Return where the run is, as a dict.
    fn progress(&mut self) -> Progress {
        self.engine().progress().into()
    }

    /// Return the rows since the last call as (table, batch), without tables that have none. The
    /// table of ports comes when the run is over.
    fn take_tables(&mut self) -> Vec<(&'static str, PyBatch)> {
        take_tables(self.engine())
    }

    /// Return the table of ports as it is now.
    fn ports(&mut self) -> PyBatch {
        Table::of(&self.engine().ports()).into()
    }

    /// Return the table of nodes.
    fn nodes(&mut self) -> PyBatch {
        Table::of(&self.engine().nodes()).into()
    }

    /// Return the bytes that follow in each file besides the tables, as (file name, bytes).
    fn take_files(&mut self) -> Vec<(String, Cow<'static, [u8]>)> {
        self.engine().take_files().into_iter().map(|(name, data)| (name, data.into())).collect()
    }

    /// Return the results as a JSON object.
    fn summary(&mut self) -> String {
        self.engine().summary().json()
    }

    /// How many threads it uses.
    #[getter]
    fn threads(&mut self) -> usize {
        self.engine().simulation().threads()
    }

    /// Why it uses fewer threads than it was given; None if it uses them all.
    #[getter]
    fn threads_note(&mut self) -> Option<String> {
        self.engine().simulation().threads_note().map(str::to_owned)
    }

    /// Return the scenario as TOML, with every default and preset filled in.
    fn effective(&mut self) -> String {
        self.engine().effective().to_owned()
    }

    /// Advance by one step of the grid; return whether there is more. Raises RunError if the run is
    /// stuck.
    fn step_once(&mut self, py: Python<'_>) -> PyResult<bool> {
        let run = self.engine();
        py.detach(|| run.step()).map_err(|message| run.error(message))
    }

    /// Return a hash of what each node did so far, in the order of their numbers.
    fn node_digests(&mut self) -> Vec<u64> {
        self.engine().node_digests()
    }

    /// Return the name of a node: a host's number, or a switch such as `leaf:3`.
    fn node_name(&mut self, node: u32) -> PyResult<String> {
        let nodes = self.engine().simulation().setup().topology.node_ids().len();
        if (node as usize) < nodes {
            return Ok(self.engine().node_name(NodeId(node)));
        }
        Err(PyIndexError::new_err(format!("no node {node}: there are {nodes}, counted from 0")))
    }

    /// Record from now on what every port sends, for `take_sends`.
    fn record_sends(&mut self) {
        self.engine().record_sends();
    }

    /// Return what ports have begun to send since the last call, as dicts in the order (time, port)
    /// of each step.
    fn take_sends(&mut self) -> Vec<Sent> {
        self.engine().take_sends().into_iter().map(Sent::from).collect()
    }

    /// Return a hash of everything that happened, as 16 hexadecimal digits.
    fn digest(&mut self) -> String {
        format!("{:016x}", self.engine().digest())
    }
}
