//! Checks of a sender's state.

use xoff_core::invariant::{Checker, Part, Violation, holds};
use xoff_net::recount::Checked;

use super::Sender;
use crate::recovery::SenderHalf;

impl Sender {
    /// Its flow, in reports.
    #[must_use]
    pub fn label(&self) -> String {
        let start = &self.start;
        format!("flow {} from host {} to host {}", start.id, start.src.0, start.dst.0)
    }

    /// The same, as a part of the network.
    #[must_use]
    pub(crate) fn part(&self) -> Part {
        Part::flow(self.start.id)
    }

    /// Its progress, in reports.
    #[must_use]
    pub fn progress(&self) -> String {
        format!(
            "{} of {} bytes acknowledged, {} sent, {} lost, {} kept; window {}, rate {}, credit {}",
            self.snd_una,
            self.start.bytes,
            self.snd_nxt,
            self.lost_bytes,
            self.kept_bytes,
            self.pace.window,
            self.pace.rate,
            self.credit,
        )
    }

    fn violation(&self, expected: &str, found: impl std::fmt::Display) -> Violation {
        let violation = Violation::new(Checker::Limits, self.label(), expected, found);
        violation.of(self.part()).with_state(self.progress())
    }

    /// Whether it counts as the HPCC simulator does, whose senders go back behind what is
    /// acknowledged, or waits for the answer to its SYN.
    fn is_apart(&self) -> bool {
        matches!(self.recovery, SenderHalf::LiteralGoBackN) || self.is_opening()
    }

    /// Checks the order of what is acknowledged, sent and to be sent.
    ///
    /// # Errors
    /// The violation.
    pub(crate) fn audit(&self) -> Checked {
        if self.is_apart() {
            return Ok(());
        }
        let Self { snd_una, snd_nxt, high, .. } = *self;
        holds(snd_una <= snd_nxt && snd_nxt <= self.start.bytes && high <= self.start.bytes, || {
            let expected = "acknowledged <= next <= size, and nothing sent beyond the size";
            self.violation(expected, format!("{snd_una}, {snd_nxt} (up to {high})"))
        })
    }

    /// Whether a packet of `payload` bytes, taken at `now` (ps) and never sent before, keeps within
    /// the limits: its window, its distance from what is acknowledged, its credit, its pauses.
    #[inline]
    fn limits(&self, now: u64, payload: u64) -> [bool; 4] {
        let (before, reach) = self.ahead(payload);
        [
            before < self.pace.window,
            reach < self.reach,
            self.credit.saturating_add(payload as i64) > 0,
            self.paused_until <= now,
        ]
    }

    /// Bytes in flight before a packet of `payload` bytes, and its distance from what is
    /// acknowledged.
    #[inline]
    fn ahead(&self, payload: u64) -> (u64, u64) {
        let reach = (self.snd_nxt - self.snd_una).saturating_sub(payload);
        (self.in_flight().wrapping_sub(payload), reach)
    }

    /// Whether [`audit_sent`](Self::audit_sent) finds nothing.
    #[inline]
    pub(crate) fn keeps_limits(&self, now: u64, payload: u64) -> bool {
        self.is_apart() || self.limits(now, payload) == [true; 4]
    }

    /// Checks a packet of `payload` bytes, taken at `now` (ps) and never sent before.
    ///
    /// # Errors
    /// The limit that it exceeds.
    pub(crate) fn audit_sent(&self, now: u64, payload: u64) -> Checked {
        if self.is_apart() {
            return Ok(());
        }
        let [window, distance, credit, pauses] = self.limits(now, payload);
        let (before, reach) = self.ahead(payload);
        holds(window, || self.violation("fewer bytes in flight than the window", before))?;
        holds(distance, || {
            self.violation("a distance from what is acknowledged below its limit", reach)
        })?;
        holds(credit, || self.violation("credit before the packet", self.credit))?;
        holds(pauses, || self.violation("no packet during a pause of the flow", self.paused_until))
    }
}
