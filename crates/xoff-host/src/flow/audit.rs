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

#[cfg(test)]
pub(super) mod tests {
    use xoff_core::{FlowId, HostId};

    use super::*;
    use crate::cc::Pace;
    use crate::flow::FlowStart;

    const PAYLOAD: u64 = 1000;

    /// A sender of ten packets with a window of four, which has sent two.
    pub(crate) fn sender() -> Sender {
        let start = FlowStart {
            id: FlowId(7),
            start_ps: 0,
            src: HostId(2),
            dst: HostId(5),
            bytes: 10 * PAYLOAD,
            label: 0,
            source: 0,
            class: 0,
        };
        let pace = Pace { rate: 1, window: 4 * PAYLOAD };
        let recovery = SenderHalf::GoBackN;
        let flow = Sender::new(start, pace, recovery, 0, Default::default());
        let sent = 2 * PAYLOAD;
        Sender { snd_nxt: sent, high: sent, reach: 8 * PAYLOAD, credit: i64::MAX / 2, ..flow }
    }

    #[test]
    fn a_limit_that_a_packet_exceeds_is_named() {
        let found = |change: fn(&mut Sender)| {
            let mut flow = sender();
            change(&mut flow);
            let audited = flow.audit_sent(50, PAYLOAD);
            assert_eq!(flow.keeps_limits(50, PAYLOAD), audited.is_ok());
            audited.map_or_else(|violation| violation.to_string(), |()| String::new())
        };
        assert_eq!(found(|_| {}), "");
        let window = found(|flow| flow.pace.window = PAYLOAD);
        assert!(window.contains("fewer bytes in flight than the window"), "{window}");
        assert!(window.contains("flow 7 from host 2 to host 5"), "{window}");
        assert!(window.contains("0 of 10000 bytes acknowledged, 2000 sent"), "{window}");
        let reach = found(|flow| flow.reach = PAYLOAD);
        assert!(reach.contains("a distance from what is acknowledged below"), "{reach}");
        let credit = found(|flow| flow.credit = -(PAYLOAD as i64));
        assert!(credit.contains("credit before the packet"), "{credit}");
        let pause = found(|flow| flow.paused_until = 51);
        assert!(pause.contains("no packet during a pause of the flow"), "{pause}");
        // The HPCC simulator's senders go back behind what is acknowledged.
        let literal = found(|flow| {
            flow.recovery = SenderHalf::LiteralGoBackN;
            flow.pace.window = 0;
        });
        assert_eq!(literal, "");
    }

    #[test]
    fn what_is_acknowledged_was_sent() {
        let found = |una: u64, next: u64, high: u64| {
            let flow = Sender { snd_una: una, snd_nxt: next, high, ..sender() };
            flow.audit().map_or_else(|violation| violation.to_string(), |()| String::new())
        };
        assert_eq!(found(1000, 2000, 2000), "");
        for (una, next, high) in [(3000, 2000, 2000), (0, 11_000, 10_000), (0, 2000, 11_000)] {
            let broken = found(una, next, high);
            assert!(broken.contains("acknowledged <= next <= size"), "{broken}");
            assert!(broken.contains(&format!("{una}, {next} (up to {high})")), "{broken}");
        }
    }
}
