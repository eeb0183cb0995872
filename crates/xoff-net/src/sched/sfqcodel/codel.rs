//! CoDel (RFC 8289). If all packets of a queue have waited for longer than a target for an
//! interval, the queue drops a packet when it is next served, and then more and more often, until
//! the wait is short again.

use xoff_core::math;

/// The limits of a packet's wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// The wait that is acceptable without limit (ps).
    pub(super) target_ps: u64,
    /// How long the wait may exceed the target (ps).
    pub(super) interval_ps: u64,
}

impl Law {
    /// "To increase the drop rate ... t + INTERVAL / sqrt(count)" (RFC 8289 §5.2). A quotient and a
    /// root of IEEE numbers are the same on every machine.
    fn after(&self, time_ps: u64, count: u32) -> u64 {
        time_ps + (self.interval_ps as f64 / math::sqrt(f64::from(count))) as u64
    }
}

/// The state of one queue. Names are those of RFC 8289.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Codel {
    /// When the wait will have been too long for an interval (ps); 0: it is short.
    first_above_time: u64,
    /// When the next packet is dropped (ps).
    drop_next: u64,
    /// Packets dropped since dropping began.
    count: u32,
    /// `count` as dropping began.
    lastcount: u32,
    dropping: bool,
    /// Whether `drop_next` is the time of a packet that is dropped already.
    unscheduled: bool,
}

impl Codel {
    /// Whether the packet that would leave now, after a wait of `sojourn_ps`, is dropped. The
    /// caller then asks again for the next packet. `is_short`: so little waits behind it that a
    /// drop would idle the link.
    pub(super) fn drops(&mut self, law: &Law, now: u64, sojourn_ps: u64, is_short: bool) -> bool {
        let may_drop = self.has_been_above(law, now, sojourn_ps, is_short);
        if !self.dropping {
            if may_drop {
                self.begin(law, now);
            }
            return may_drop;
        }
        if !may_drop {
            // "sojourn time below TARGET - leave drop state"
            self.dropping = false;
            return false;
        }
        if self.unscheduled {
            self.drop_next = law.after(self.drop_next, self.count);
            self.unscheduled = false;
        }
        if now < self.drop_next {
            return false;
        }
        self.count += 1;
        self.unscheduled = true;
        true
    }

    /// A packet left without waiting.
    pub(super) fn on_short_wait(&mut self) {
        self.first_above_time = 0;
        self.dropping = false;
    }

    fn has_been_above(&mut self, law: &Law, now: u64, sojourn_ps: u64, is_short: bool) -> bool {
        if sojourn_ps < law.target_ps || is_short {
            self.first_above_time = 0;
            return false;
        }
        if self.first_above_time == 0 {
            self.first_above_time = now + law.interval_ps;
            return false;
        }
        now >= self.first_above_time
    }

    /// "If min went above TARGET close to when it last went below, assume that the drop rate that
    /// controlled the queue on the last cycle is a good starting point to control it now."
    fn begin(&mut self, law: &Law, now: u64) {
        let delta = self.count - self.lastcount;
        let is_close = now.saturating_sub(self.drop_next) < 16 * law.interval_ps;
        self.count = if delta > 1 && is_close { delta } else { 1 };
        self.drop_next = law.after(now, self.count);
        self.lastcount = self.count;
        self.dropping = true;
        self.unscheduled = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Law = Law { target_ps: 5_000_000, interval_ps: 100_000_000 };
    /// A packet leaves every microsecond.
    const STEP: u64 = 1_000_000;

    /// The times of drops from a queue that is served every step from `begin` to `end`, with
    /// packets that have waited for `sojourn_ps`.
    fn drops(codel: &mut Codel, begin: u64, end: u64, sojourn_ps: u64) -> Vec<u64> {
        let mut times = Vec::new();
        for now in (begin..end).step_by(STEP as usize) {
            while codel.drops(&LAW, now, sojourn_ps, false) {
                times.push(now);
            }
        }
        times
    }

    /// The wait is too long from the first packet on. The first drop comes an interval later, the
    /// next ones after interval / sqrt(1), / sqrt(2) and so on, each at the next packet that
    /// leaves.
    #[test]
    fn a_standing_queue_is_dropped_from_by_the_control_law() {
        let mut codel = Codel::default();
        let found = drops(&mut codel, STEP, 2000 * STEP, 6_000_000);
        let mut due = (STEP + LAW.interval_ps) as f64;
        let mut expected = vec![due as u64];
        for count in 1..found.len() {
            due += (LAW.interval_ps as f64 / (count as f64).sqrt()).floor();
            expected.push((due as u64).div_ceil(STEP) * STEP);
        }
        assert_eq!(found, expected);
        // The sum of 1 / sqrt(k) is about 2 sqrt(n): n = 1 + (19 intervals / 2)^2.
        assert!((90..=105).contains(&found.len()), "{}", found.len());
    }

    #[test]
    fn a_wait_below_the_target_drops_nothing() {
        let mut codel = Codel::default();
        assert_eq!(drops(&mut codel, STEP, 1000 * STEP, LAW.target_ps - 1), []);
    }

    #[test]
    fn a_queue_that_would_run_empty_drops_nothing() {
        let mut codel = Codel::default();
        assert!((1..1000).all(|step| !codel.drops(&LAW, step * STEP, 10 * LAW.interval_ps, true)));
    }

    /// A single short wait ends the drop state and restarts the interval.
    #[test]
    fn a_short_wait_leaves_the_drop_state() {
        let mut codel = Codel::default();
        assert_eq!(drops(&mut codel, STEP, 150 * STEP, 6_000_000), [101 * STEP]);
        assert_eq!(drops(&mut codel, 150 * STEP, 151 * STEP, 1000), []);
        assert_eq!(drops(&mut codel, 151 * STEP, 251 * STEP, 6_000_000), []);
        assert_eq!(drops(&mut codel, 251 * STEP, 252 * STEP, 6_000_000), [251 * STEP]);
    }

    /// Soon after it has left the drop state it resumes at its last rate, later at the first one.
    #[test]
    fn the_drop_rate_is_remembered_for_sixteen_intervals() {
        for (pause, gap) in [(2, 0.5), (20, 1.0)] {
            let mut codel = Codel::default();
            let first = drops(&mut codel, STEP, 400 * STEP, 6_000_000);
            assert_eq!(first.len(), 5);
            let again = 400 * STEP + pause * LAW.interval_ps;
            drops(&mut codel, 400 * STEP, 401 * STEP, 0);
            let second = drops(&mut codel, again, again + 250 * STEP, 6_000_000);
            let expected = (LAW.interval_ps as f64 * gap) as u64;
            assert_eq!(second[1] - second[0], expected.div_ceil(STEP) * STEP);
        }
    }

    /// If the queue is served late, all drops that were due happen then.
    #[test]
    fn drops_that_were_due_all_happen_at_the_next_packet() {
        let mut codel = Codel::default();
        drops(&mut codel, STEP, 102 * STEP, 6_000_000);
        // Due at 201, 271, 329 and 379 us.
        assert_eq!(drops(&mut codel, 340 * STEP, 341 * STEP, 6_000_000), [340 * STEP; 3]);
    }

    /// "sojourn time below TARGET" is acceptable, the target itself is not.
    #[test]
    fn a_wait_as_long_as_the_target_is_too_long() {
        let mut codel = Codel::default();
        assert_eq!(drops(&mut codel, STEP, 150 * STEP, LAW.target_ps), [101 * STEP]);
    }
}
