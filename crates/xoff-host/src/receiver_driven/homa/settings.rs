//! Homa's settings, and how the workload divides its priorities.

use xoff_core::Ps;
use xoff_core::knobs::{Checked, Knob as _};
use xoff_core::seam::{Need, SectionDoc, Sections, Settings, need};
use xoff_net::sched::PRIORITIES_MAX;

use super::{HomaConfig, HomaHosts};
use crate::nic::RoundRobin;
use crate::receiver_driven::settings::Derived;
use crate::receiver_driven::{AnyDriven, Context, DrivenSetup, DriverSettings, Levels, Shape};

/// Section `homa`, and what its priorities are used for.
#[derive(Clone, Debug, Default)]
pub struct HomaSettings {
    /// The section.
    pub config: HomaConfig,
    /// The use of the priorities, once derived.
    pub levels: Levels,
}

impl Settings for HomaSettings {
    fn read(sections: &mut impl Sections) -> Self {
        Self { config: sections.read(), levels: Levels::default() }
    }

    fn sections() -> Vec<SectionDoc> {
        vec![SectionDoc::of::<HomaConfig>()]
    }
}

impl HomaSettings {
    fn priorities(&self) -> u8 {
        self.config.priorities.clamp(2, PRIORITIES_MAX)
    }

    /// How many priorities unscheduled data has; `given` are the cutoffs of the section.
    fn unscheduled(
        &self,
        given: Option<&[u64]>,
        share: impl Fn() -> f64,
    ) -> Result<u8, (&'static str, String)> {
        let priorities = self.priorities();
        let by_cutoffs = given.map(|cutoffs| cutoffs.len() + 1);
        let count = match (by_cutoffs, usize::from(self.config.unscheduled_priorities)) {
            (Some(count), 0) => count,
            (None, 0) => by_share(share(), priorities),
            (None, count) => count,
            (Some(count), also) if count == also => count,
            (Some(count), _) => {
                let message = format!(
                    "cutoffs has {} sizes, which divide unscheduled data into {count} priorities",
                    count - 1
                );
                return Err(("unscheduled_priorities", message));
            }
        };
        if count >= usize::from(priorities) {
            let key = if given.is_some() { "cutoffs" } else { "unscheduled_priorities" };
            let message = format!(
                "{count} of priorities = {priorities} are for unscheduled data: leave at least one for \
                 scheduled data"
            );
            return Err((key, message));
        }
        Ok(count as u8)
    }

    fn describe(&self, rtt_bytes: u64) -> Derived {
        let cutoffs: Vec<String> = self.levels.cutoffs.iter().map(ToString::to_string).collect();
        let mut derived = vec![
            ("homa_rtt_bytes", xoff_core::Bytes(rtt_bytes).show()),
            ("homa_unscheduled_priorities", self.levels.unscheduled().to_string()),
            ("homa_scheduled_priorities", self.levels.scheduled.to_string()),
            ("homa_cutoffs", format!("\"{}\"", cutoffs.join(","))),
        ];
        if self.config.overcommitment == 0 {
            derived.push(("homa_overcommitment", self.levels.scheduled.to_string()));
        }
        derived
    }
}

impl DriverSettings for HomaSettings {
    fn check(&self, _timeout: Ps) -> Checked {
        if !(2..=PRIORITIES_MAX).contains(&self.config.priorities) {
            return Err(("priorities", format!("priorities are 2 to {PRIORITIES_MAX}")));
        }
        cutoffs(&self.config.cutoffs).map(|_| ()).map_err(|message| ("cutoffs", message))
    }

    fn receiver_driven(&self) -> Option<&'static str> {
        Some("Homa")
    }

    fn needs(&self) -> Vec<Need> {
        vec![need(("switch", "scheduler"), &["strict"], "its packets carry priorities")]
    }

    /// "The sender transmits the message with the fewest remaining bytes" (Homa §3.2).
    fn round_robin(&self) -> RoundRobin {
        RoundRobin::Shortest
    }

    fn repeats_after_timeout(&self) -> bool {
        true
    }

    fn carries_priorities(&self) -> bool {
        true
    }

    fn levels(&self) -> Option<(u8, &Levels)> {
        Some((self.priorities(), &self.levels))
    }

    fn needs_flow_sizes(&self) -> bool {
        self.config.cutoffs.is_empty()
    }

    fn derives_from_bdp(&self) -> bool {
        self.config.rtt_bytes.0 == 0
    }

    fn derive(&mut self, context: &Context<'_>) -> Result<Derived, Vec<(&'static str, String)>> {
        if self.config.rtt_bytes.0 == 0 {
            self.config.rtt_bytes = context.bandwidth_delay_product;
        }
        let payload = context.frame.payload.0.max(1);
        let shape = Shape { payload, initial_window: self.config.rtt_bytes.0 };
        let rtt_bytes = shape.unasked(u64::MAX);
        let given = cutoffs(&self.config.cutoffs).map_err(|message| vec![("cutoffs", message)])?;
        let share = || context.sizes.share_of_first(rtt_bytes);
        let unscheduled = self.unscheduled(given.as_deref(), share).map_err(|wrong| vec![wrong])?;
        let even = || context.sizes.even_cutoffs(unscheduled, rtt_bytes);
        let scheduled = self.priorities() - unscheduled;
        self.levels = Levels { cutoffs: given.unwrap_or_else(even), scheduled };
        Ok(self.describe(rtt_bytes))
    }

    fn build(&self, setup: &DrivenSetup) -> Option<AnyDriven> {
        Some(AnyDriven::Homa(HomaHosts::new(&self.config, self.levels.clone(), setup)))
    }
}

/// Divides the priorities by the share of unscheduled bytes, at least one for each kind.
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
    let sizes: Vec<u64> =
        text.split(',').map(read).collect::<Result<_, _>>().map_err(|_| {
            format!("cutoffs = {text:?}: write sizes in bytes, such as \"300,2000\"")
        })?;
    if !sizes.is_sorted() {
        return Err(format!("cutoffs = {text:?}: sizes must rise"));
    }
    Ok(Some(sizes))
}
