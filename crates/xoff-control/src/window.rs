//! Sequence numbers, acknowledgements and the times of datagrams.

use crate::{NEVER, Nanos};

/// What a receiver has accepted: the newest sequence number, and which of the 64 before it.
///
/// A receiver accepts only what is newer than all it has accepted. So an acknowledgement settles
/// the fate of every older datagram: it was accepted, or it never will be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The newest one; 0: none.
    pub newest: u64,
    /// Bit `i`: number `newest - 1 - i` was accepted.
    pub before: u64,
}

impl Ack {
    /// True for a sequence number newer than all accepted ones.
    pub(crate) fn is_new(&self, sequence: u64) -> bool {
        sequence > self.newest
    }

    pub(crate) fn accept(&mut self, sequence: u64) {
        let step = sequence - self.newest;
        let shifted = |by: u64| if by < 64 { self.before << by } else { 0 };
        let newest = if self.newest == 0 || step > 64 { 0 } else { 1 << (step - 1) };
        *self = Self { newest: sequence, before: shifted(step) | newest };
    }

    /// True if a datagram was accepted; false if it was not, or if too long ago to know.
    pub(crate) fn has(&self, sequence: u64) -> bool {
        match self.newest.checked_sub(sequence) {
            Some(0) => sequence > 0,
            Some(back @ 1..=64) => self.before >> (back - 1) & 1 == 1,
            _ => false,
        }
    }
}

/// Datagrams with content that may be unanswered.
const WINDOW: u32 = 32;

/// The most that an acknowledgement counts as taking.
const LONGEST: Nanos = 1_000_000_000;

/// A sender's datagrams in one connection.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    last: u64,
    /// The newest that the peer has acknowledged.
    acknowledged: u64,
    /// When that was sent, or before; for 0, when the connection began.
    acknowledged_at: Nanos,
    /// When the last 64 were sent.
    times: [Nanos; 64],
    /// Datagrams with content since the last acknowledgement of something new.
    unanswered: u32,
    /// The newest datagram with content.
    content: u64,
    /// Time until an acknowledgement: the longest of late, which fades.
    answer_time: Nanos,
    /// Times that content was given up since the last acknowledgement of something new.
    given_up: u32,
}

impl Sent {
    /// A connection begins.
    pub(crate) fn new(now: Nanos) -> Self {
        Self {
            last: 0,
            acknowledged: 0,
            acknowledged_at: now,
            times: [now; 64],
            unanswered: 0,
            content: 0,
            answer_time: 0,
            given_up: 0,
        }
    }

    /// The next sequence number.
    pub(crate) fn next(&self) -> u64 {
        self.last + 1
    }

    /// The next datagram is sent.
    pub(crate) fn send(&mut self, now: Nanos, has_content: bool) {
        self.last += 1;
        self.times[(self.last & 63) as usize] = now;
        if has_content {
            self.unanswered += 1;
            self.content = self.last;
        }
    }

    /// True if content may be sent.
    pub(crate) fn is_open(&self) -> bool {
        self.unanswered < WINDOW
    }

    /// When the next datagram counts as lost: the oldest one in flight. If all that was in flight
    /// has changed since, and waits for a full window, it is the newest one with content.
    pub(crate) fn next_loss(
        &self,
        oldest_in_flight: Option<u64>,
        waits: bool,
        least: Nanos,
    ) -> Option<Nanos> {
        let blocked = || (waits && !self.is_open()).then_some(self.content);
        oldest_in_flight.or_else(blocked).map(|sequence| self.lost_at(sequence, least))
    }

    /// False if an acknowledgement is of datagrams that were not sent.
    pub(crate) fn is_possible(&self, ack: &Ack) -> bool {
        ack.newest <= self.last
            && (ack.newest > 64 || ack.before >> ack.newest.saturating_sub(1) == 0)
    }

    pub(crate) fn acknowledge(&mut self, ack: &Ack, now: Nanos) {
        if ack.newest > self.acknowledged {
            let faded = self.answer_time - self.answer_time / 8;
            let sent = self.time(ack.newest);
            let took = if sent == 0 { 0 } else { now.saturating_sub(sent) };
            self.acknowledged_at = self.sent_since(ack.newest);
            self.acknowledged = ack.newest;
            self.unanswered = 0;
            self.given_up = 0;
            self.answer_time = faded.max(took).min(LONGEST);
        }
    }

    /// When a datagram without acknowledgement counts as lost: after `least`, or after twice the
    /// time that acknowledgements take. Without that, a peer or a network under more load than it
    /// can bear would get everything twice. The time doubles with each try that nothing answers.
    pub(crate) fn lost_at(&self, sequence: u64, least: Nanos) -> Nanos {
        let once = least.max(2 * self.answer_time);
        let patience = once.saturating_mul(1 << self.given_up.min(32)).min(once.max(2 * LONGEST));
        after(self.time(sequence), patience)
    }

    /// What is unanswered counts as lost; one more datagram is a try.
    pub(crate) fn give_up(&mut self) {
        self.unanswered = self.unanswered.min(WINDOW - 1);
        self.given_up += 1;
    }

    /// True if the peer had only this acknowledgement at a time that is longer ago than the silence
    /// that ends a connection: then its datagram was held back on its way.
    pub(crate) fn is_stale(&self, ack: &Ack, silence: Nanos, now: Nanos) -> bool {
        after(self.sent_since(ack.newest), silence) < now
    }

    /// A time at which a datagram was sent, or before. A peer that hears nothing goes on to
    /// acknowledge the same one, however many follow it.
    fn sent_since(&self, sequence: u64) -> Nanos {
        if self.last - sequence >= 64 && sequence >= self.acknowledged {
            return self.acknowledged_at;
        }
        self.time(sequence)
    }

    /// When a datagram was sent, or for 0 when the connection began; 0 if that was before the last
    /// 64.
    fn time(&self, sequence: u64) -> Nanos {
        if self.last - sequence < 64 { self.times[(sequence & 63) as usize] } else { 0 }
    }
}

/// A budget that refills at a steady rate, up to a most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    left: u64,
    since: Nanos,
}

impl Budget {
    pub(crate) fn new(most: u64) -> Self {
        Self { left: most, since: 0 }
    }

    /// Takes an amount, or nothing if there is less.
    pub(crate) fn take(&mut self, now: Nanos, per_second: u64, most: u64, amount: u64) -> bool {
        const SECOND: u128 = 1_000_000_000;
        let passed = u128::from(now.saturating_sub(self.since));
        let more = passed * u128::from(per_second) / SECOND;
        if more >= u128::from(most) {
            *self = Self { left: most, since: now };
        } else if more > 0 {
            // Keep the fraction that these whole ones leave over.
            let used = more * SECOND / u128::from(per_second);
            *self =
                Self { left: most.min(self.left + more as u64), since: self.since + used as u64 };
        }
        let enough = self.left >= amount;
        self.left -= if enough { amount } else { 0 };
        enough
    }
}

/// A time later by a duration; [`NEVER`] stays.
pub(crate) fn after(time: Nanos, duration: Nanos) -> Nanos {
    time.checked_add(duration).unwrap_or(NEVER)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// An acknowledgement has the accepted ones among the newest 65, however they were lost.
        #[test]
        fn acknowledgements_know_what_was_accepted(
            steps in prop::collection::vec(prop_oneof![9 => 1u64..3, 1 => 1u64..200], 1..300),
        ) {
            let (mut ack, mut accepted, mut sequence) = (Ack::default(), BTreeSet::new(), 0);
            for step in steps {
                sequence += step;
                prop_assert!(ack.is_new(sequence));
                ack.accept(sequence);
                accepted.insert(sequence);
                prop_assert!(!ack.is_new(sequence));
                for back in 0..=64.min(sequence - 1) {
                    let number = sequence - back;
                    prop_assert_eq!(ack.has(number), accepted.contains(&number), "{}", number);
                }
                prop_assert!(!ack.has(0) && !ack.has(sequence + 1));
                let sent = Sent { last: sequence, ..Sent::new(0) };
                prop_assert!(sent.is_possible(&ack));
            }
        }

        /// A budget never gives more than its most and its rate allow.
        #[test]
        fn budgets_are_kept(
            (per_second, most) in (1u64..2_000_000, 1u64..10_000),
            takes in prop::collection::vec((0u64..5_000_000, 1u64..500), 1..200),
        ) {
            let (mut budget, mut now, mut taken) = (Budget::new(most), 0, 0);
            for (step, amount) in takes {
                now += step;
                taken += if budget.take(now, per_second, most, amount) { amount } else { 0 };
                let allowed = most as f64 + now as f64 * per_second as f64 / 1e9;
                prop_assert!(taken as f64 <= allowed + 1.0);
            }
        }
    }

    /// Losses double the wait, up to two seconds. One answer ends that: every datagram has a number
    /// of its own, so its time is that of no other.
    #[test]
    fn an_answer_ends_the_longer_waits_of_losses() {
        const MS: Nanos = 1_000_000;
        let mut sent = Sent::new(0);
        sent.send(0, true);
        let waits = [(); 12].map(|()| {
            let wait = sent.lost_at(1, 10 * MS) / MS;
            sent.give_up();
            wait
        });
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 640, 1280, 2000, 2000, 2000, 2000]);
        sent.send(100 * MS, true);
        sent.acknowledge(&Ack { newest: 2, before: 0 }, 101 * MS);
        assert_eq!(sent.lost_at(2, 10 * MS), 110 * MS);
        // An answer that takes 30 ms doubles what counts as lost from there on.
        sent.send(200 * MS, true);
        sent.acknowledge(&Ack { newest: 3, before: 0 }, 230 * MS);
        assert_eq!(sent.lost_at(3, 10 * MS), 260 * MS);
    }

    #[test]
    fn impossible_acknowledgements_are_found() {
        let sent = Sent { last: 5, ..Sent::new(0) };
        assert!(!sent.is_possible(&Ack { newest: 6, before: 0 }));
        assert!(!sent.is_possible(&Ack { newest: 3, before: 0b100 }));
        assert!(!sent.is_possible(&Ack { newest: 0, before: 1 }));
        assert!(sent.is_possible(&Ack { newest: 3, before: 0b11 }));
    }
}
