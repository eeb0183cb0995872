//! The `[[fault]]` entries of a scenario.

use xoff_core::Ps;
use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam as _;
use xoff_net::topo::Topology;
use xoff_sim::faults::{Fault, FaultKind};

use super::Resolver;
use super::spec::Spec;
use crate::capture;
use crate::layers::TableRef;
use crate::nearest::suggestion;

/// Kinds of fault.
const KINDS: [&str; 2] = ["link-down", "loss"];

xoff_core::knobs! {
    /// A link goes down: what is on it is lost, and what is sent into it. Times are rounded up to
    /// `run.grid`.
    pub struct LinkDownConfig in "link_down" {
        /// The two ends, such as leaf:0,spine:1; all parallel links between them go down.
        link: String = String::new(),
        /// When it goes down.
        at: Ps = Ps(0),
        /// When it is back; 0: never.
        until: Ps = Ps(0),
        /// How long after it went down all switches route around it, and after it is back use it
        /// again.
        detection: Ps = Ps::from_us(1000),
    }
}

xoff_core::knobs! {
    /// Links lose packets at random, of every kind and in both directions. Times are rounded up to
    /// `run.grid`.
    pub struct LossConfig in "loss" {
        /// The two ends of the link, such as leaf:0,spine:1 or 3,leaf:0; all: all links.
        link: String = "all".to_owned(),
        /// The share of packets that are lost.
        share: f64 = 0.01,
        /// When it begins.
        at: Ps = Ps(0),
        /// When it ends; 0: never.
        until: Ps = Ps(0),
    }
}

impl Resolver<'_> {
    /// Reads them all; the mistakes are in the layers.
    pub(super) fn link_faults(&mut self, topology: &Topology, spec: &Spec) -> Vec<Fault> {
        let entries = self.reader.layers.tables("fault");
        let mut faults = Vec::new();
        for entry in &entries {
            let problem = self.link_fault(entry, topology).and_then(|fault| {
                let Some(fault) = fault else { return Ok(()) };
                check_steps(&fault, spec.run.grid)?;
                check_composition(&fault, spec)?;
                faults.push(fault);
                Ok(())
            });
            if let Err(message) = problem {
                self.reader.layers.problem(
                    Some(entry.place()),
                    format!("[[fault]] {message}"),
                    None,
                );
            }
        }
        faults
    }

    /// One entry; `None` if what is wrong with it has been said.
    fn link_fault(
        &mut self,
        entry: &TableRef,
        topology: &Topology,
    ) -> Result<Option<Fault>, String> {
        let Ok((kind, place)) = entry.kind(self.reader.layers) else { return Ok(None) };
        let (kind, link, at, until) = match kind.as_str() {
            "link-down" => {
                let config: LinkDownConfig = entry.read(self.reader.layers);
                self.reader.effective.entry("fault", &kind, &config);
                let LinkDownConfig { link, at, until, detection } = config;
                (FaultKind::LinkDown { detection }, link, at, until)
            }
            "loss" => {
                let config: LossConfig = entry.read(self.reader.layers);
                self.reader.effective.entry("fault", &kind, &config);
                let LossConfig { link, share, at, until } = config;
                if share > 1.0 {
                    return Err(format!("share is {share}: it is a share of the packets, 0 to 1"));
                }
                (FaultKind::Loss { share }, link, at, until)
            }
            other => {
                let help = suggestion(other, &KINDS);
                let message = format!("unknown kind of fault \"{other}\"");
                self.reader.layers.problem(Some(place), message, help);
                return Ok(None);
            }
        };
        if until != Ps(0) && until <= at {
            return Err(format!("until is {until}, which is not after at ({at}); 0s means never"));
        }
        let ports = if link == "all" && matches!(kind, FaultKind::Loss { .. }) {
            (0..topology.ports.len() as u32).collect()
        } else {
            capture::link(&link, topology).map_err(|why| format!("link: {why}"))?
        };
        let host = ports.iter().map(|&port| topology.ports[port as usize].node).min();
        if let (FaultKind::LinkDown { .. }, Some(host)) =
            (kind, host.filter(|&n| n < topology.hosts))
        {
            return Err(format!("link: host {host} has no other link, so it would be cut off"));
        }
        let until = if until == Ps(0) { Ps::NEVER } else { until };
        Ok(Some(Fault { kind, ports, at, until }))
    }
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

/// Whether lost packets, and lost frames that pause or resume, are made good. Both ends of a link that
/// goes down know it, and begin anew; a link that loses at random would leave a queue paused.
fn check_composition(fault: &Fault, spec: &Spec) -> Result<(), String> {
    if spec.recovery.relies_on_switches() {
        let recovery = spec.recovery.kind().show();
        return Err(format!(
            "cannot be combined with transport.recovery = {recovery}: switches report what they drop, but \
             nobody reports losses of a link"
        ));
    }
    if spec.receiver_driven() && spec.transport.timeout.0 == 0 {
        let kind = spec.driver.kind().show();
        return Err(format!(
            "cannot be combined with transport.timeout = \"0ps\": transport.kind = {kind} waits for ever \
             for packets that a link loses"
        ));
    }
    let is_down = matches!(fault.kind, FaultKind::LinkDown { .. });
    let survives = spec.hop.survives_loss() || is_down && spec.hop.survives_link_down();
    if !survives || spec.nic.receive_rate.0 > 0 {
        return Err(
            "cannot be combined with switch.hop or nic.receive_rate: lost pause frames are \
                    modelled for kind = \"link-down\" under PFC and BFC (bfc.backpressure = \
                    \"queues\") only; faults.control_loss loses such frames alone"
                .into(),
        );
    }
    Ok(())
}
