//! Settings that have no effect in a composition, and what says so.
//!
//! What a part does with a setting is said where the part is declared (`ControlConfig::heeds_marks`,
//! `HopSetup::sends_frames`, `SchedulerKind::takes_turns`). Here it is asked, once all parts
//! are known.

use xoff_core::knobs::Knob;
use xoff_core::{Bytes, Ps};
use xoff_host::cc::ControlConfig;
use xoff_host::driven::DrivenConfig;
use xoff_host::transport::{FlowControl, TransportConfig, Window};
use xoff_net::arch::{PauseConfig, Scope};
use xoff_net::buffer::BufferConfig;
use xoff_net::trim::TrimConfig;
use xoff_sim::setup::{HopSetup, Scheduling};

use super::Reader;
use crate::sections::{SchedulerKind, SwitchConfig};

/// The parts that settings act on, as they are written: nothing is derived yet.
pub(super) struct Composition<'a> {
    pub(super) switch: &'a SwitchConfig,
    pub(super) transport: &'a TransportConfig,
    pub(super) control: &'a ControlConfig,
    pub(super) driven: Option<&'a DrivenConfig>,
    pub(super) hop: &'a HopSetup,
    pub(super) scheduling: &'a Scheduling,
    pub(super) buffer: &'a BufferConfig,
    pub(super) trim: Option<&'a TrimConfig>,
    pub(super) pause: Option<&'a PauseConfig>,
    /// Whether an allocator hands out rates.
    pub(super) allocator: bool,
}

/// Whether something that follows from the base RTT depends on it.
fn follows<T: PartialEq>(derived: impl Fn(Ps) -> T) -> bool {
    derived(Ps(1_000_000_000_000)) != derived(Ps(2_000_000_000_000))
}

/// The same of a bandwidth-delay product.
fn follows_product<T: PartialEq>(derived: impl Fn(Bytes) -> T) -> bool {
    follows(|rtt| derived(Bytes(rtt.0)))
}

impl Composition<'_> {
    /// Whether flows go by the base RTT of their own path.
    fn flows_use_base_rtt(&self) -> bool {
        let window = self.driven.is_none() && self.transport.window == Window::Bdp;
        let held = self.transport.flow_control != FlowControl::None;
        window || held || self.control.uses_base_rtt() || self.allocator
    }

    /// Whether something else goes by the base RTT of the longest path.
    fn network_uses_base_rtt(&self) -> bool {
        let hop = match self.hop {
            HopSetup::Sfc(sfc) => follows(|rtt| sfc.clone().derived(rtt.0, rtt)),
            HopSetup::None | HopSetup::Pfc(_) | HopSetup::Bfc(_) => false,
        };
        let scheduling = match self.scheduling {
            Scheduling::SfqCodel(config) => follows(|rtt| config.clone().derived(rtt)),
            Scheduling::PFabric => self.buffer.size.0 == 0,
            _ => false,
        };
        let control = match self.control {
            ControlConfig::Xcp(config) => follows(|rtt| config.clone().settled(rtt)),
            ControlConfig::PFabric(config) => follows(|rtt| config.recovery(rtt)),
            _ => false,
        };
        let driven = self.driven.is_some_and(|config| match config {
            DrivenConfig::Ndp(ndp) => follows_product(|product| ndp.clone().settled(product)),
            DrivenConfig::Homa(homa, _) => follows_product(|product| homa.clone().settled(product)),
            DrivenConfig::ExpressPass(_) => false,
        });
        let trim = |trim: &TrimConfig| follows_product(|product| trim.clone().settled(product));
        hop || scheduling || control || driven || self.trim.is_some_and(trim)
    }

    /// Whether anybody sends frames that `faults.control_loss` could lose.
    fn sends_frames(&self) -> bool {
        let pauses = self.pause.is_some_and(|pause| pause.scope != Scope::None);
        pauses || self.hop.sends_frames()
    }
}

impl Reader<'_> {
    /// Finds them, once all parts have been read.
    pub(super) fn check_effects(&mut self, of: &Composition<'_>) {
        self.check_marks(of);
        let control = match of.driven {
            Some(driven) => driven.name().to_owned(),
            None => format!("transport.congestion = {}", of.transport.congestion.show()),
        };
        if of.control.header_bytes().is_none() {
            let why = format!("{control} puts no header of its own into acknowledgements");
            self.without_effect("frame", "ack_header", &why);
        }
        if of.driven.is_none() {
            if of.transport.window == Window::Unlimited {
                let why = "transport.window = \"unlimited\" cannot follow a rate";
                self.without_effect("transport", "window_follows_rate", why);
            } else if !of.control.sets_rate() {
                let why = format!("{control} sets no rate");
                self.without_effect("transport", "window_follows_rate", &why);
            }
        }
        let by_flows = of.flows_use_base_rtt();
        if !by_flows && !of.network_uses_base_rtt() {
            let why = "no window, control or switch of this scenario goes by the base RTT";
            self.without_effect("transport", "base_rtt", why);
        }
        if !by_flows {
            let why = "neither window nor control of a flow goes by its base RTT";
            self.without_effect("transport", "base_rtt_of", why);
        }
        if !of.sends_frames() {
            let why = "switches send no frames of a flow control";
            self.without_effect("faults", "control_loss", why);
        }
        self.check_turns(of);
    }

    /// Marks need somebody who heeds them, and who heeds marks needs some.
    fn check_marks(&mut self, of: &Composition<'_>) {
        let congestion = of.transport.congestion.show();
        match (of.control.heeds_marks(), of.switch.ecn) {
            (false, true) => {
                let or = match of.control {
                    ControlConfig::NewReno(_) => ", or tcp.ecn = true",
                    _ => "",
                };
                let senders = match of.driven {
                    Some(driven) => format!("{}'s senders heed", driven.name()),
                    None => format!("congestion = {congestion} heeds"),
                };
                let message = format!("{senders} no marks: set ecn = false{or}");
                self.problem("switch", "ecn", message);
            }
            (true, false) => {
                let (section, key) = match of.control {
                    _ if self.layers.set_by_user("switch", "ecn") => ("switch", "ecn"),
                    ControlConfig::NewReno(_) => ("tcp", "ecn"),
                    _ => ("transport", "congestion"),
                };
                let message = format!(
                    "congestion = {congestion} waits for marks, which no switch makes: set switch.ecn = \
                     true"
                );
                self.problem(section, key, message);
            }
            (true, true) | (false, false) => {}
        }
    }

    fn check_turns(&mut self, of: &Composition<'_>) {
        let kind = of.switch.scheduler;
        let reason = match of.hop {
            _ if !kind.takes_turns() => {
                format!("switch.scheduler = {} serves its queues without turns", kind.show())
            }
            HopSetup::Bfc(bfc) if kind == SchedulerKind::Drr && bfc.data_queues() == 1 => {
                "one queue takes no turns".to_owned()
            }
            _ => {
                self.check_quantum(of.switch);
                return;
            }
        };
        self.without_effect("switch", "quantum", &reason);
    }

    /// A key that has no effect in this composition: an error if the user wrote it.
    fn without_effect(&mut self, section: &str, key: &str, why: &str) {
        self.layers.unused_key(section, key, why);
        self.effective.leave_out(section, key);
    }
}
