//! A run from its scenario to its results. All front ends drive it.

use xoff_core::table::{Declared, Tables as _};
use xoff_core::{NodeId, PortId};
use xoff_scenario::diagnostic::{Diagnostic, Problems};
use xoff_scenario::outputs::Outputs;
use xoff_scenario::scalars::EngineKind;
use xoff_scenario::{Memory, Resolved, Resources, engine, read};
use xoff_sim::{NodeRow, PortRow, Progress, Rows, Simulation, Threads};

use crate::capture::Capture;
use crate::explain::Explanation;
use crate::network::Network;
use crate::ns3_files::{self, FileChunk};
use crate::numerical::{NumericalRun, StudyRows};
use crate::sent::Sent;
use crate::summary::{Context, Summary};

/// The file of captured packets.
const CAPTURE: &str = "trace.pcapng";

/// A run in progress.
pub struct Run {
    simulation: Simulation,
    context: Context,
    effective: String,
    capture: Option<Capture>,
    outputs: Option<Outputs>,
    over: bool,
}

fn plain(message: String) -> Problems {
    Problems(vec![Diagnostic { message, place: None, help: None }])
}

impl Run {
    /// Reads a scenario and builds its network. `file` names it in errors, and relative paths in it
    /// are relative to its folder. Results do not depend on the threads. A network that does not
    /// fit into memory is refused before any memory is allocated for it.
    ///
    /// # Errors
    /// All problems of the scenario.
    pub fn open(
        text: &str,
        file: &str,
        overrides: &[String],
        resources: impl Into<Resources>,
    ) -> Result<Self, Problems> {
        let resources = resources.into();
        let resolved = read(text, file, overrides, resources)?;
        let context = Context {
            name: resolved.name,
            scheme: resolved.scheme,
            seed: resolved.setup.seed,
            plan: resolved.plan,
            nominal_load: resolved.nominal_load,
            load_capacity: resolved.load_capacity,
            fills: resolved.fills,
        };
        let capture = Capture::new(resolved.captured, &resolved.setup);
        let mut simulation = Simulation::new(
            resolved.setup,
            resolved.plan,
            resolved.traffic,
            &resolved.classes,
            resolved.class_of,
            &resolved.monitored,
            resources.threads,
        )
        .map_err(plain)?;
        if let Some(capture) = &capture {
            simulation.capture(capture.ports());
        }
        let outputs = resolved.outputs;
        if let Some(outputs) = &outputs {
            simulation.record_ends_and_pauses();
            if let Some((_, plan)) = outputs.queue_lengths {
                simulation.watch_queue_lengths(plan);
            }
        }
        Ok(Self {
            simulation,
            context,
            effective: resolved.effective,
            capture,
            outputs,
            over: false,
        })
    }

    /// Advances by one step of the grid. Returns whether there is more to do.
    ///
    /// # Errors
    /// If the run is stuck: the packets that wait, and the pauses that hold them.
    pub fn step(&mut self) -> Result<bool, String> {
        if !self.over {
            self.over = !self.simulation.step()?;
        }
        Ok(!self.over)
    }

    /// Progress of the run.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.simulation.progress()
    }

    /// Rows to be taken. Rows of ports come when the run is over.
    pub fn rows(&mut self) -> &mut Rows {
        self.simulation.rows()
    }

    /// The number of rows and captured packets to be taken.
    #[must_use]
    pub fn rows_waiting(&self) -> usize {
        self.simulation.rows_waiting()
    }

    /// The next bytes of the file of captured packets; `None` if nothing is captured.
    pub fn take_capture(&mut self) -> Option<Vec<u8>> {
        let capture = self.capture.as_mut()?;
        let captured = self.simulation.take_captured();
        Some(capture.bytes(&captured, &self.simulation.setup().topology))
    }

    /// The next bytes of each file that the run has besides its tables: captured packets, and the
    /// files of a case of another simulator. A file occurs in the first call, even if it is empty.
    pub fn take_files(&mut self) -> Vec<FileChunk> {
        let capture = self.take_capture().map(|bytes| (CAPTURE.to_owned(), bytes));
        let outputs = self.outputs.as_ref();
        let outputs = outputs.map(|outputs| ns3_files::take(outputs, &mut self.simulation));
        capture.into_iter().chain(outputs.into_iter().flatten()).collect()
    }

    /// Counts of each port in the measured time.
    #[must_use]
    pub fn ports(&self) -> Vec<PortRow> {
        self.simulation.ports()
    }

    /// The names and places of all nodes.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeRow> {
        self.simulation.nodes()
    }

    /// The results in brief.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary::of(&self.simulation, &self.context)
    }

    /// The scenario with every default and derived value, as TOML.
    #[must_use]
    pub fn effective(&self) -> &str {
        &self.effective
    }

    /// The digest of all events.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.simulation.digest()
    }

    /// Makes every packet join its queue, for tests: results must not change.
    #[cfg(debug_assertions)]
    pub fn let_nothing_pass(&mut self) {
        self.simulation.let_nothing_pass();
    }

    /// The name of a node: a host's number, or a switch such as `leaf:3`.
    #[must_use]
    pub fn node_name(&self, node: NodeId) -> String {
        self.simulation.setup().topology.name(node)
    }

    /// The hash chain of each node. The digest is their combination.
    #[must_use]
    pub fn node_digests(&self) -> Vec<u64> {
        self.simulation.node_digests()
    }

    /// Records the packets of every port from now on. A configured capture ends.
    pub fn record_sends(&mut self) {
        self.capture = None;
        let ports: Vec<PortId> = self.simulation.setup().topology.port_ids().collect();
        self.simulation.capture(&ports);
        self.simulation.take_captured();
    }

    /// The packets sent since the last call, in the order (time, port) of each step.
    pub fn take_sends(&mut self) -> Vec<Sent> {
        let captured = self.simulation.take_captured();
        let topology = &self.simulation.setup().topology;
        captured.iter().map(|packet| Sent::new(packet, topology)).collect()
    }

    /// The simulation itself.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }
}

/// A run of any engine.
pub enum AnyRun {
    /// With packets.
    Packets(Box<Run>),
    /// Without packets.
    Numerical(Box<NumericalRun>),
}

/// Reads a scenario and builds a run of the engine that it names. See [`Run::open`].
///
/// # Errors
/// All problems of the scenario.
pub fn open(
    text: &str,
    file: &str,
    overrides: &[String],
    resources: impl Into<Resources>,
) -> Result<AnyRun, Problems> {
    let resources = resources.into();
    match engine(text, file, overrides) {
        EngineKind::Packets => {
            Run::open(text, file, overrides, resources).map(Box::new).map(AnyRun::Packets)
        }
        other => {
            let run = NumericalRun::open(other, text, file, overrides, resources);
            run.map(Box::new).map(AnyRun::Numerical)
        }
    }
}

/// The tables of all engines. A name occurs several times if engines have different columns for it.
#[must_use]
pub fn tables() -> Vec<Declared> {
    let mut tables = Rows::declared();
    for table in StudyRows::declared() {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    tables
}

/// Checks a scenario and returns its effective form.
///
/// # Errors
/// All problems of the scenario.
pub fn check(
    text: &str,
    file: &str,
    overrides: &[String],
    memory: Memory,
) -> Result<String, Problems> {
    open(text, file, overrides, Resources { threads: Threads::ONE, memory }).map(|run| match run {
        AnyRun::Packets(run) => run.effective,
        AnyRun::Numerical(run) => run.effective().to_owned(),
    })
}

/// The cycles of pauses in a scenario, as comments of TOML; with `any_link`, also for each case of
/// one link down. `None` if switches do not pause each other.
///
/// # Errors
/// All problems of the scenario.
pub fn backpressure(
    text: &str,
    file: &str,
    overrides: &[String],
    any_link: bool,
    memory: Memory,
) -> Result<Option<String>, Problems> {
    match packets(text, file, overrides, memory)? {
        Some(resolved) => {
            crate::backpressure::report(&resolved.setup, any_link, memory).map_err(plain)
        }
        None => Ok(None),
    }
}

/// The network of a scenario and its faults; `None` for an engine without packets.
///
/// # Errors
/// All problems of the scenario.
pub fn network(
    text: &str,
    file: &str,
    overrides: &[String],
    memory: Memory,
) -> Result<Option<Network>, Problems> {
    Ok(packets(text, file, overrides, memory)?.as_ref().map(Network::of))
}

/// What a scenario comes to, beyond its settings; `None` for an engine without packets.
///
/// # Errors
/// All problems of the scenario.
pub fn explain(
    text: &str,
    file: &str,
    overrides: &[String],
    memory: Memory,
) -> Result<Option<Explanation>, Problems> {
    Ok(packets(text, file, overrides, memory)?.map(Explanation::of))
}

/// A scenario with packets; `None` for an engine without them.
fn packets(
    text: &str,
    file: &str,
    overrides: &[String],
    memory: Memory,
) -> Result<Option<Resolved>, Problems> {
    match engine(text, file, overrides) {
        EngineKind::Packets => {
            let resources = Resources { threads: Threads::ONE, memory };
            read(text, file, overrides, resources).map(Some)
        }
        _ => Ok(None),
    }
}
