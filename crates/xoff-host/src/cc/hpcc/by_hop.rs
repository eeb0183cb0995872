//! HPCC with all settings of its authors' simulator: a rate for each hop, hops that are looked at
//! only with a queue, and one reaction a round trip.

use xoff_net::telemetry::{HOPS_MAX, IntHop, IntStack};

use super::{Hpcc, Pace, Path, Settings, narrow, whole};
use crate::cc::Ack;
use narrow::PS_PER_NS;

/// What a flow knows of one hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopRate {
    /// Moving average of its utilisation.
    u: f64,
    /// Its reference rate.
    reference: u64,
    stage: u32,
}

/// All hops of a path.
pub(super) type Hops = [HopRate; HOPS_MAX];

/// Those of a new flow.
pub(super) fn new_hops(line_rate: u64) -> Box<Hops> {
    Box::new([HopRate { u: 1.0, reference: line_rate, stage: 0 }; HOPS_MAX])
}

impl HopRate {
    /// Takes in a utilisation over a time (ns).
    fn average(&mut self, base: u64, (u, tau): (f64, u64)) {
        self.u = average(base, self.u, (u, tau));
    }
}

/// The moving average over a base RTT, after a utilisation over `tau` (both ns).
fn average(base: u64, before: f64, (u, tau): (f64, u64)) -> f64 {
    let tau = tau.min(base);
    (before * (base - tau) as f64 + u * tau as f64) / base as f64
}

impl Hpcc {
    /// True if a setting differs from the form of the paper.
    #[inline(always)]
    pub(super) fn is_varied(&self) -> bool {
        self.hops.is_some() || self.settings.sample_feedback || !self.settings.fast_react
    }

    /// As for a header that holds what a record does, to the letter of that simulator. A header
    /// with too many entries sets no rate.
    pub(super) fn on_ack_by_hop(
        &mut self,
        path: &Path,
        ack: &Ack<'_>,
        int: &IntStack,
        pace: &mut Pace,
    ) {
        self.measured = false;
        let full_round = ack.seq > self.update_until;
        if !full_round && !self.settings.fast_react {
            return;
        }
        let places = if path.narrow_int { narrow::ENTRIES } else { HOPS_MAX };
        if self.update_until == 0 {
            self.update_until = ack.snd_nxt;
            self.last.overlay(int, places);
            return;
        }
        if int.hops().len() <= places && (path.narrow_int || !self.is_overtaken(int)) {
            let rate = if self.hops.is_some() {
                self.lowest_rate(path, int, full_round)
            } else {
                self.rate_of_path(path, int, full_round)
            };
            if let Some(rate) = rate {
                self.measured = true;
                *pace = path.pace(rate);
            }
        }
        if full_round {
            self.update_until = self.update_until.max(ack.snd_nxt);
        }
    }

    /// True for an acknowledgement overtaken by a later one.
    fn is_overtaken(&self, int: &IntStack) -> bool {
        let hops = int.hops().iter().zip(self.last.hops());
        hops.clone().any(|(now, last)| now.time_ps <= last.time_ps)
    }

    /// Whether an acknowledgement says something about a hop.
    fn looks_at(&self, hop: &IntHop, full_round: bool) -> bool {
        let skips = self.settings.sample_feedback && !full_round;
        !skips || hop.queue_bytes >= self.settings.queue_unit
    }

    /// The utilisation of a hop since the last acknowledgement that said something about it, and
    /// the time (ns) that it covers.
    fn load(&self, path: &Path, place: usize, now: &IntHop) -> (f64, u64) {
        let before = self.last.hops().get(place).copied().unwrap_or_default();
        if path.narrow_int {
            narrow::load(&self.settings, path, now, &before)
        } else {
            load(&self.settings, path, now, &before)
        }
    }

    /// The rate that follows the most loaded hop, if the acknowledgement says something.
    fn rate_of_path(&mut self, path: &Path, int: &IntStack, full_round: bool) -> Option<u64> {
        let (mut most, mut any) = ((0.0, 0), false);
        let mut last = self.last;
        for (place, now) in int.hops().iter().enumerate() {
            if self.looks_at(now, full_round) {
                any = true;
                let load = self.load(path, place, now);
                if load.0 > most.0 {
                    most = load;
                }
                last.set(place, *now);
            }
        }
        self.last = last;
        if !any {
            return None;
        }
        self.u = average(path.base_rtt / PS_PER_NS, self.u, most);
        let (rate, stage) = self.compute(path);
        if full_round {
            (self.reference_rate, self.stage) = (rate, stage);
        }
        Some(rate)
    }

    /// The lowest of the hops' rates, if the acknowledgement says something about any.
    fn lowest_rate(&mut self, path: &Path, int: &IntStack, full_round: bool) -> Option<u64> {
        let base = path.base_rtt / PS_PER_NS;
        let (mut lowest, mut any) = (path.line_rate, false);
        let (mut hops, mut last) = (self.hops.take()?, self.last);
        for (place, (now, hop)) in int.hops().iter().zip(hops.iter_mut()).enumerate() {
            let mut rate = hop.reference;
            if self.looks_at(now, full_round) {
                any = true;
                hop.average(base, self.load(path, place, now));
                last.set(place, *now);
                let (new, stage) =
                    self.settings.reaction.react(path, hop.u, hop.reference, hop.stage);
                rate = new;
                if full_round {
                    (hop.reference, hop.stage) = (new, stage);
                }
            }
            lowest = lowest.min(rate);
        }
        (self.hops, self.last) = (Some(hops), last);
        any.then_some(lowest)
    }
}

/// The utilisation of a hop, and the nanoseconds that it covers, from counts that do not wrap.
fn load(settings: &Settings, path: &Path, now: &IntHop, before: &IntHop) -> (f64, u64) {
    let span = |now, before, unit| whole(now, unit).saturating_sub(whole(before, unit));
    let tau = span(now.time_ps, before.time_ps, settings.time_unit);
    let bytes = span(now.tx_bytes, before.tx_bytes, settings.bytes_unit);
    let queue = now.queue_bytes.min(before.queue_bytes) / settings.queue_unit * settings.queue_unit;
    let rate = f64::from(now.rate_mbps) * 1e6;
    let tx_rate = (bytes * 8) as f64 / (tau.max(1) as f64 * 1e-12);
    let u = tx_rate / rate + f64::from(queue) * path.line_rate as f64 / rate / path.window as f64;
    (u, tau / PS_PER_NS)
}

#[cfg(test)]
mod tests {
    use xoff_core::{Bytes, Ps};
    use xoff_net::Record;

    use super::*;
    use crate::cc::hpcc::HpccConfig;
    use crate::cc::{CongestionControl as _, PATH};

    /// An entry of 100 Gb/s at a time (us).
    fn entry(time_us: u64, tx_bytes: u64, queue_bytes: u32) -> IntHop {
        IntHop { time_ps: time_us * 1_000_000, tx_bytes, queue_bytes, rate_mbps: 100_000 }
    }

    fn exact() -> HpccConfig {
        let (int_bytes_unit, int_queue_unit) = (Bytes(1), Bytes(1));
        let int_time_unit = Ps::from_ns(1);
        HpccConfig { int_bytes_unit, int_queue_unit, int_time_unit, ..HpccConfig::default() }
    }

    fn react(control: &mut Hpcc, seq: u64, hops: &[IntHop]) -> u64 {
        let mut stack = IntStack::default();
        hops.iter().for_each(|hop| stack.push(*hop));
        let record = Record::Int(stack);
        let ack = Ack { seq, snd_nxt: seq + 100_000, record: Some(&record), ..Ack::default() };
        let mut pace = PATH.pace(PATH.line_rate);
        control.on_ack(&PATH, &ack, &mut pace);
        pace.rate
    }

    /// One base RTT: the first hop at full load, the second with half a BDP more in its queue.
    const LATER: [(u64, u64, u32); 2] = [(8, 100_000, 0), (8, 100_000, 50_000)];

    #[test]
    fn the_lowest_of_the_rates_of_all_hops_counts() {
        let mut control = Hpcc::new(&HpccConfig { multi_rate: true, ..exact() }, &PATH);
        react(&mut control, 1000, &[entry(0, 0, 0), entry(0, 0, 50_000)]);
        let later = LATER.map(|(time, bytes, queue)| entry(time, bytes, queue));
        let rate = react(&mut control, 101_001, &later);
        assert_eq!(rate, (1e11 / (1.5 / 0.95)) as u64 + 40_000_000);
        let references = control.hops.as_ref().unwrap().map(|hop| hop.reference);
        assert_eq!(references[..2], [(1e11 / (1.0 / 0.95)) as u64 + 40_000_000, rate]);
    }

    #[test]
    fn without_fast_reaction_only_whole_rounds_count() {
        let mut control = Hpcc::new(&HpccConfig { fast_react: false, ..exact() }, &PATH);
        react(&mut control, 1000, &[entry(0, 0, 50_000)]);
        let second = entry(8, 100_000, 50_000);
        assert_eq!(react(&mut control, 2000, &[second]), PATH.line_rate);
        assert!(!control.rebases_pacing());
        assert!(react(&mut control, 101_001, &[second]) < PATH.line_rate);
        assert!(control.rebases_pacing());
    }

    #[test]
    fn a_sampled_hop_without_a_queue_says_nothing() {
        let mut control = Hpcc::new(&HpccConfig { sample_feedback: true, ..exact() }, &PATH);
        react(&mut control, 1000, &[entry(0, 0, 0)]);
        assert_eq!(react(&mut control, 2000, &[entry(8, 100_000, 0)]), PATH.line_rate);
        assert_eq!(control.u, 1.0);
        assert!(!control.rebases_pacing());
        react(&mut control, 2000, &[entry(8, 100_000, 50_000)]);
        assert!(control.rebases_pacing());
    }

    /// Entries must all be newer than those of the last acknowledgement that was not overtaken.
    #[test]
    fn an_overtaken_acknowledgement_says_nothing() {
        let mut control = Hpcc::new(&HpccConfig { multi_rate: true, ..exact() }, &PATH);
        react(&mut control, 1000, &[entry(8, 100_000, 50_000)]);
        for old in [entry(0, 0, 50_000), entry(8, 100_000, 50_000)] {
            assert_eq!(react(&mut control, 2000, &[old]), PATH.line_rate);
            assert!(!control.rebases_pacing());
        }
        // A base RTT at line rate with half a BDP queued, since the first one.
        let rate = react(&mut control, 2000, &[entry(16, 200_000, 50_000)]);
        assert_eq!(rate, (1e11 / (1.5 / 0.95)) as u64 + 40_000_000);
        assert!(control.rebases_pacing());
    }
}
