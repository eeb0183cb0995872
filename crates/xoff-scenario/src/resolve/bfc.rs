//! The section `bfc`: what does not go with it, and which of its settings mean nothing beside others.

use xoff_core::knobs::Knob;
use xoff_host::TransportConfig;
use xoff_host::transport::AckClass;
use xoff_net::hop::{Assignment, BackpressureKind, BfcConfig, Hardware};

use super::Reader;
use crate::diagnostic::Place;
use crate::sections::{FaultsConfig, SchedulerKind, SwitchConfig};

impl Reader<'_> {
    pub(super) fn bfc(&mut self, switch: &SwitchConfig, transport: &TransportConfig) -> BfcConfig {
        if !matches!(switch.scheduler, SchedulerKind::Drr | SchedulerKind::Srf) {
            let message = "BFC schedules its queues, so it needs scheduler = \"drr\" or \"srf\"";
            self.problem("switch", "scheduler", message.into());
        }
        let written = self.layers.section::<BfcConfig>();
        if let Err((key, message)) = written.check() {
            self.problem("bfc", key, format!("{key}: {message}"));
        }
        if written.backpressure == BackpressureKind::Flows {
            self.check_flow_pauses(switch, transport);
        }
        if written.backpressure != BackpressureKind::Queues {
            self.check_counters(&written);
        }
        if written.hardware == Hardware::Tofino && switch.scheduler != SchedulerKind::Drr {
            let message = "bfc.hardware = \"tofino\" measures queues in cells and has a queue behind them: \
                           both are known for scheduler = \"drr\" only";
            self.problem("switch", "scheduler", message.into());
        }
        self.bfc_section(&written)
    }

    /// What a frame that speaks of one flow cannot do.
    fn check_flow_pauses(&mut self, switch: &SwitchConfig, transport: &TransportConfig) {
        if switch.scheduler != SchedulerKind::Drr {
            let message = "bfc.backpressure = \"flows\" holds single flows back, which only \
                           scheduler = \"drr\" can";
            self.problem("switch", "scheduler", message.into());
        }
        if transport.ack_class == AckClass::Data {
            let message = "bfc.backpressure = \"flows\" pauses flows at their sender, which does not queue \
                           acknowledgements by flow: set ack_class = \"control\"";
            self.problem("transport", "ack_class", message.into());
        }
        if self.layers.section::<FaultsConfig>().control_loss > 0.0 {
            let message = "bfc.backpressure = \"flows\" does not repeat its frames, so a lost one never heals: \
                           set control_loss = 0";
            self.problem("faults", "control_loss", message.into());
        }
    }

    /// Hardware and samples are about pause counters.
    fn check_counters(&mut self, bfc: &BfcConfig) {
        let kind = bfc.backpressure.show();
        if bfc.sampling < 1.0 {
            let message = format!(
                "sampling needs backpressure = \"queues\", whose counters it is of; not {kind}"
            );
            self.problem("bfc", "backpressure", message);
        }
        if bfc.hardware != Hardware::Ideal {
            let message = format!(
                "hardware = {} needs backpressure = \"queues\", which is what it runs; not {kind}",
                bfc.hardware.show()
            );
            self.problem("bfc", "backpressure", message);
        }
    }

    /// Labels and the queue for them need each other.
    pub(super) fn check_labels(&mut self, reads: bool, labelled: Option<&Place>) {
        match (reads, labelled) {
            (true, None) => {
                let message = "incast_queue = true keeps a queue for labelled flows, and no traffic is: set \
                               labelled = true where kind = \"incast\"";
                self.problem("bfc", "incast_queue", message.into());
            }
            (false, Some(place)) => {
                let message = "[[traffic]] labelled = true has no effect here: only bfc.incast_queue = true \
                               reads labels";
                self.layers.problem(Some(place.clone()), message, None);
            }
            _ => {}
        }
    }

    /// Without the settings that mean nothing beside others.
    fn bfc_section(&mut self, bfc: &BfcConfig) -> BfcConfig {
        let hashed = bfc.assignment != Assignment::Dynamic;
        let silent = bfc.backpressure == BackpressureKind::None;
        let by_flow = bfc.backpressure == BackpressureKind::Flows;
        let single = bfc.assignment == Assignment::Single;
        let alone = bfc.data_queues() == 1 && bfc.backpressure != BackpressureKind::Occupancy;
        self.section_where(&[
            (hashed, "a flow's queue never changes", &["empty_queue", "sticky_hrtts"]),
            (
                silent,
                "bfc.backpressure = \"none\"",
                &[
                    "threshold",
                    "threshold_factor",
                    "refresh_period",
                    "empty_refreshes",
                    "nics_obey",
                ],
            ),
            (hashed && silent, "nothing depends on the 1-hop RTT", &["hop_processing"]),
            (
                single,
                "bfc.assignment = \"single\" has one queue",
                &["queues", "reserve_control_queue"],
            ),
            (
                !bfc.table_decides(),
                "flows of one table entry have one queue in any case",
                &["table_factor"],
            ),
            (alone && !silent, "there is one queue, active or not", &["threshold"]),
            (
                by_flow,
                "bfc.backpressure = \"flows\"",
                &["sticky_hrtts", "refresh_period", "empty_refreshes"],
            ),
        ])
    }
}
