//! The `[[fault]]` entries of a scenario.

use xoff_core::Ps;
use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam as _;
use xoff_net::topo::Topology;
use xoff_sim::faults::{Fault, FaultConfig};

use super::Resolver;
use super::spec::Spec;
use crate::entries::Entries;
use crate::links;

impl Resolver<'_> {
    /// Reads all entries. Problems are in the layers.
    pub(super) fn link_faults(&mut self, topology: &Topology, spec: &Spec) -> Vec<Fault> {
        let mut faults = Vec::new();
        for entry in self.reader.layers.tables("fault") {
            let (layers, effective) = (&mut *self.reader.layers, &mut self.reader.effective);
            let mut list = Entries { list: "fault", layers, effective, lacking: &[] };
            let Some((settings, _)) = list.read::<FaultConfig>(&entry) else { continue };
            let checked = fault(&settings, topology).and_then(|fault| {
                check_steps(&fault, spec.run.grid)?;
                check_composition(&settings, spec)?;
                check_timeout(&fault, spec)?;
                Ok(fault)
            });
            match checked {
                Ok(fault) => faults.push(fault),
                Err(message) => {
                    let message = format!("[[fault]] {message}");
                    self.reader.layers.problem(Some(entry.place()), message, None);
                }
            }
        }
        faults
    }
}

/// The links and the times of a fault.
fn fault(settings: &FaultConfig, topology: &Topology) -> Result<Fault, String> {
    settings.check()?;
    let (link, at, until) = (settings.link(), settings.at(), settings.until());
    if until != Ps(0) && until <= at {
        return Err(format!("until is {until}, which is not after at ({at}); 0s means never"));
    }
    let ports = if link == "all" && settings.may_name_all_links() {
        topology.port_ids().collect()
    } else {
        links::link(link, topology).map_err(|why| format!("link: {why}"))?
    };
    let host = ports.iter().map(|&port| topology.port(port).node).min();
    if let Some(host) = host.filter(|&node| settings.is_outage() && topology.is_host(node)) {
        return Err(format!("link: host {host} has no other link, so it would be cut off"));
    }
    let until = if until == Ps(0) { Ps::NEVER } else { until };
    Ok(Fault { defect: settings.defect(), ports, at, until })
}

/// Whether a fault lasts for at least one step of the grid, to which its times are rounded up.
fn check_steps(fault: &Fault, grid: Ps) -> Result<(), String> {
    let Fault { at, until, .. } = *fault;
    let step = |time: Ps| time.0.div_ceil(grid.0.max(1));
    if step(at) < step(until) {
        return Ok(());
    }
    Err(format!(
        "at ({at}) and until ({until}) are rounded up to the same step of run.grid ({grid}), so \
         the fault would have no effect: make it longer, or make run.grid shorter"
    ))
}

/// Whether the composition recovers from lost packets and from lost pause or resume frames. When a
/// link goes down, both of its ends notice and start again. A link with random loss could leave a
/// queue paused.
fn check_composition(settings: &FaultConfig, spec: &Spec) -> Result<(), String> {
    if spec.recovery.relies_on_switches() {
        let recovery = spec.recovery.kind().show();
        return Err(format!(
            "cannot be combined with transport.recovery = {recovery}: switches report their drops, \
             but no switch reports losses of a link"
        ));
    }
    let survives =
        spec.hop.survives_loss() || settings.both_ends_know() && spec.hop.survives_link_down();
    if !survives || spec.nic.receive_rate.0 > 0 {
        return Err(
            "cannot be combined with switch.hop or nic.receive_rate: lost pause frames are \
                    modelled only for kind = \"link-down\" under PFC and BFC (bfc.backpressure = \
                    \"queues\"); set switch.hop = \"none\" and no receive_rate, or use \
                    faults.control_loss, which drops only such frames"
                .into(),
        );
    }
    Ok(())
}

/// A link that loses packets needs someone who sends them again: without a timeout no sender
/// notices that the last packets of a flow are lost.
fn check_timeout(fault: &Fault, spec: &Spec) -> Result<(), String> {
    let waits = spec.receiver_driven() || spec.recovery.timeouts().act();
    if !waits || spec.transport.timeout.0 > 0 || fault.is_from_the_start() {
        return Ok(());
    }
    let (key, value) = if spec.receiver_driven() {
        ("kind", spec.driver.kind().show())
    } else {
        ("recovery", spec.recovery.kind().show())
    };
    Err(format!(
        "cannot be combined with transport.timeout = \"0ps\": transport.{key} = {value} waits \
         without limit for packets that a link loses; set transport.timeout = \"10ms\", or another \
         time that is longer than a round trip with queues"
    ))
}
