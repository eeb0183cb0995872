//! Homa: its hosts, the priorities of the switches, and how the workload divides them.

use xoff_core::Ps;
use xoff_core::knobs::Knob;
use xoff_host::driven::homa::{HomaConfig, Levels};
use xoff_host::driven::{DrivenConfig, Shape};
use xoff_host::transport::{FrameConfig, TransportConfig, TransportKind};
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::sched::PRIORITIES_MAX;
use xoff_sim::setup::Scheduling;

use super::Reader;
use crate::sections::{ArchitectureKind, SchedulerKind, SwitchConfig};
use crate::traffic::Flows;

impl Reader<'_> {
    /// Homa's hosts.
    pub(super) fn homa(
        &mut self,
        transport: &TransportConfig,
        switch: &SwitchConfig,
        buffer: &BufferConfig,
    ) -> HomaConfig {
        if switch.scheduler != SchedulerKind::Strict {
            let message =
                "Homa's packets carry priorities, so it needs switch.scheduler = \"strict\"";
            let named = self.layers.has("switch", "scheduler").is_some();
            let (section, key) =
                if named { ("switch", "scheduler") } else { ("transport", "kind") };
            self.problem(section, key, message.into());
        }
        if buffer.kind != BufferKind::Unlimited && transport.timeout.0 == 0 {
            let message = "timeout = \"0ps\" waits for ever for packets that find a buffer full: give the \
                           time after which Homa's receivers ask again, or set buffer.kind = \"unlimited\"";
            self.problem("transport", "timeout", message.into());
        }
        let homa = self.section::<HomaConfig>();
        if !(2..=PRIORITIES_MAX).contains(&homa.priorities) {
            let message = format!("priorities are 2 to {PRIORITIES_MAX}");
            self.problem("homa", "priorities", message);
        }
        homa
    }

    /// Strict priorities that packets carry.
    pub(super) fn strict(&mut self, switch: &SwitchConfig) -> Scheduling {
        if self.layers.section::<TransportConfig>().kind != TransportKind::Homa {
            let message = "scheduler = \"strict\" serves priorities that packets carry: set transport.kind \
                           = \"homa\"";
            self.problem("switch", "scheduler", message.into());
        }
        if switch.architecture != ArchitectureKind::OutputQueued {
            let message = "scheduler = \"strict\" needs architecture = \"output-queued\"";
            self.problem("switch", "scheduler", message.into());
        }
        let priorities = self.layers.section::<HomaConfig>().priorities;
        Scheduling::Strict(priorities.clamp(2, PRIORITIES_MAX))
    }

    /// Says what Homa's priorities are for, from the sizes of a workload that runs for so long.
    pub(super) fn divide_priorities(
        &mut self,
        driven: DrivenConfig,
        flows: &Flows,
        run: Ps,
        frame: &FrameConfig,
    ) -> DrivenConfig {
        let DrivenConfig::Homa(config, _) = driven else { return driven };
        let shape = Shape { payload: frame.payload.0.max(1), initial_window: config.rtt_bytes.0 };
        let rtt_bytes = shape.unasked(u64::MAX);
        let given = match cutoffs(&config.cutoffs) {
            Ok(given) => given,
            Err(message) => {
                self.problem("homa", "cutoffs", message);
                None
            }
        };
        let priorities = config.priorities.clamp(2, PRIORITIES_MAX);
        let by_hand = given.as_ref().map(|cutoffs| cutoffs.len() + 1);
        if let (None, Some(place)) = (by_hand, &flows.of_no_size) {
            let message = "Homa divides its priorities by the sizes of flows, and nobody says how many of \
                           which size this [[traffic]] will have: give homa.cutoffs";
            self.layers.problem(Some(place.clone()), message, None);
        }
        let unscheduled = match (by_hand, config.unscheduled_priorities) {
            (Some(count), 0) => count,
            (None, 0) => by_share(flows.sizes.share_of_first(rtt_bytes, run), priorities),
            (None, count) => usize::from(count),
            (Some(count), also) => {
                if count != usize::from(also) {
                    let message =
                        format!("cutoffs make {count} unscheduled priorities: {} sizes", count - 1);
                    self.problem("homa", "unscheduled_priorities", message);
                }
                count
            }
        };
        if unscheduled >= usize::from(priorities) {
            let message = format!(
                "of priorities = {priorities}, {unscheduled} are for unscheduled data: one at least must be \
                 left for scheduled data"
            );
            let key = if by_hand.is_some() { "cutoffs" } else { "unscheduled_priorities" };
            self.problem("homa", key, message);
        }
        let unscheduled = unscheduled.min(usize::from(priorities) - 1) as u8;
        let mut cutoffs =
            given.unwrap_or_else(|| flows.sizes.even_cutoffs(unscheduled, rtt_bytes, run));
        // Too many are refused above.
        cutoffs.truncate(usize::from(unscheduled) - 1);
        let levels = Levels { cutoffs, scheduled: priorities - unscheduled };
        self.describe(&config, &levels, rtt_bytes);
        DrivenConfig::Homa(config, levels)
    }

    fn describe(&mut self, config: &HomaConfig, levels: &Levels, rtt_bytes: u64) {
        self.effective.derive("homa_rtt_bytes", xoff_core::Bytes(rtt_bytes).show());
        self.effective.derive("homa_unscheduled_priorities", levels.unscheduled());
        self.effective.derive("homa_scheduled_priorities", levels.scheduled);
        let cutoffs: Vec<String> = levels.cutoffs.iter().map(ToString::to_string).collect();
        self.effective.derive("homa_cutoffs", format!("\"{}\"", cutoffs.join(",")));
        if config.overcommitment == 0 {
            self.effective.derive("homa_overcommitment", levels.scheduled);
        }
    }
}

/// As many of the priorities as unscheduled bytes are of all, and one of each kind at least.
fn by_share(share: f64, priorities: u8) -> usize {
    let count = (share * f64::from(priorities)).round() as u8;
    usize::from(count.clamp(1, priorities - 1))
}

/// The sizes of `homa.cutoffs`, if it gives any.
fn cutoffs(text: &str) -> Result<Option<Vec<u64>>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let read = |part: &str| part.trim().parse::<u64>();
    let sizes: Vec<u64> = text
        .split(',')
        .map(read)
        .collect::<Result<_, _>>()
        .map_err(|_| format!("cutoffs = {text:?}: give sizes in bytes, as \"300,2000\""))?;
    if !sizes.is_sorted() {
        return Err(format!("cutoffs = {text:?}: sizes must rise"));
    }
    Ok(Some(sizes))
}
