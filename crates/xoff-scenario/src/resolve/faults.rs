//! The `[[fault]]` entries of a scenario.

use xoff_core::Ps;
use xoff_core::knobs::Knob;
use xoff_host::intake::NicConfig;
use xoff_host::transport::{Recovery, TransportConfig, TransportKind};
use xoff_net::hop::BackpressureKind;
use xoff_net::topo::Topology;
use xoff_sim::faults::{Fault, FaultConfig};
use xoff_sim::setup::HopSetup;

use super::Reader;
use crate::capture;
use crate::entries::Entries;

impl Reader<'_> {
    /// Reads them all; the mistakes are in the layers.
    pub(super) fn link_faults(
        &mut self,
        topology: &Topology,
        transport: &TransportConfig,
        hop: &HopSetup,
        nic: &NicConfig,
        grid: Ps,
    ) -> Vec<Fault> {
        let mut faults = Vec::new();
        for entry in self.layers.tables("fault") {
            let (layers, effective) = (&mut *self.layers, &mut self.effective);
            let mut list = Entries { list: "fault", layers, effective, lacking: &[] };
            let Some((settings, _)) = list.read::<FaultConfig>(&entry) else { continue };
            let checked = fault(&settings, topology).and_then(|fault| {
                check_steps(&fault, grid)?;
                check_composition(&settings, transport, hop, nic)?;
                Ok(fault)
            });
            match checked {
                Ok(fault) => faults.push(fault),
                Err(message) => {
                    let message = format!("[[fault]] {message}");
                    self.layers.problem(Some(entry.place()), message, None);
                }
            }
        }
        faults
    }
}

/// The links of a fault, and its times.
fn fault(settings: &FaultConfig, topology: &Topology) -> Result<Fault, String> {
    settings.check()?;
    let (link, at, until) = (settings.link(), settings.at(), settings.until());
    if until != Ps(0) && until <= at {
        return Err(format!("until is {until}, which is not after at ({at}); 0s means never"));
    }
    let ports = if link == "all" && settings.may_name_all_links() {
        (0..topology.ports.len() as u32).collect()
    } else {
        capture::link(link, topology).map_err(|why| format!("link: {why}"))?
    };
    let host = ports.iter().map(|&port| topology.ports[port as usize].node).min();
    if let Some(host) = host.filter(|&node| settings.is_outage() && node < topology.hosts) {
        return Err(format!("link: host {host} has no other link, so it would be cut off"));
    }
    let until = if until == Ps(0) { Ps::NEVER } else { until };
    Ok(Fault { defect: settings.defect(), ports, at, until })
}

/// Whether a fault lasts for a step of the grid, to which its times are rounded up.
fn check_steps(fault: &Fault, grid: Ps) -> Result<(), String> {
    let Fault { at, until, .. } = *fault;
    let step = |time: Ps| time.0.div_ceil(grid.0.max(1));
    if step(at) < step(until) {
        return Ok(());
    }
    Err(format!(
        "at ({at}) and until ({until}) are rounded up to the same step of run.grid ({grid}), so that \
         nothing would happen: let it last longer, or make run.grid shorter"
    ))
}

/// Whether a link may lose packets that nobody speaks of, and frames that pause or resume. Of one that
/// is down both ends know it, and begin anew; one that loses at random would leave a queue paused.
fn check_composition(
    settings: &FaultConfig,
    transport: &TransportConfig,
    hop: &HopSetup,
    nic: &NicConfig,
) -> Result<(), String> {
    if transport.recovery == Recovery::Perfect {
        return Err(
            "cannot go with transport.recovery = \"perfect\": switches tell of what they drop, \
                    but nobody of what a link loses"
                .into(),
        );
    }
    if transport.kind != TransportKind::Sender && transport.timeout.0 == 0 {
        let kind = transport.kind.show();
        return Err(format!(
            "cannot go with transport.timeout = \"0ps\": transport.kind = {kind} waits for ever for packets \
             that a link loses"
        ));
    }
    let knows_queues = match hop {
        HopSetup::Pfc(_) => true,
        HopSetup::Bfc(bfc) => bfc.backpressure == BackpressureKind::Queues,
        HopSetup::None | HopSetup::Sfc(_) => false,
    };
    let begins_anew = settings.both_ends_know() && knows_queues;
    if !(begins_anew || matches!(hop, HopSetup::None)) || nic.receive_rate.0 > 0 {
        return Err("cannot go with switch.hop or nic.receive_rate: what becomes of a pause when \
                    frames are lost with their link is not modelled, but for kind = \"link-down\" \
                    under PFC and BFC (bfc.backpressure = \"queues\"); faults.control_loss loses such frames alone"
            .into());
    }
    Ok(())
}
