//! HPCC (Li et al., SIGCOMM 2019): the rate follows the utilisation of the most loaded link of the
//! path, as reported by switches in INT headers. This is the form of its authors' simulator (one
//! rate for all hops), which the BFC paper used.

mod by_hop;
mod narrow;

use xoff_core::knobs::{Checked, Effect, because};
use xoff_core::{BitRate, Bytes, Ps, knobs};
use xoff_net::Record;
use xoff_net::arch::InBand;
use xoff_net::pint::WholeDraws;
use xoff_net::telemetry::{HOPS_MAX, IntHop, IntStack};

use super::{Ack, Carries, CongestionControl, ControlSettings, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// HPCC. Defaults: the parameters of its paper as repeated by the BFC paper (§6.2.1) and
    /// otherwise of its authors' simulator at 100 Gb/s.
    pub struct HpccConfig in "hpcc" {
        /// Target utilisation eta.
        target_utilisation: f64 = 0.95,
        /// Number of additive increases before the next multiplicative one (maxStage).
        max_stage: u32 = 5,
        /// Additive increase of the rate (10 Mb/s x 100 G / 25 G).
        additive_increase: BitRate = BitRate(40_000_000),
        /// Minimum rate (the simulator's run.py: 1 Gb/s).
        min_rate: BitRate = BitRate::from_gbps(1),
        /// Size of the INT header in every data packet: 80 B in the BFC paper (§6.3), 42 B in the
        /// simulator (5 hops x 8 + 2).
        int_overhead: Bytes = Bytes(80),
        /// Resolution of time stamps in INT; values are truncated (the simulator's header: 1 ns). 1
        /// ps: exact.
        int_time_unit: Ps = Ps::from_ns(1),
        /// Resolution of byte counts in INT; values are truncated (the simulator's header: 128 B x
        /// 100 G / 25 G).
        int_bytes_unit: Bytes = Bytes(512),
        /// Resolution of queue lengths in INT; values are truncated (the simulator's header: 80 B x
        /// 100 G / 25 G).
        int_queue_unit: Bytes = Bytes(320),
        /// Keep a rate for each hop, and send at the lowest. Otherwise one rate follows the most
        /// loaded hop (the simulator's MULTI_RATE).
        multi_rate: bool = false,
        /// React to every acknowledgement. Otherwise once a round trip (the simulator's
        /// FAST_REACT).
        fast_react: bool = true,
        /// Between the updates of the reference rate, look only at hops with a queue (the
        /// simulator's SAMPLE_FEEDBACK).
        sample_feedback: bool = false => [Effect::Unless(|hpcc| because(
            !hpcc.fast_react,
            "hpcc.fast_react = false ignores acknowledgements between the updates",
        ))],
    }
}

impl ControlSettings for HpccConfig {
    fn check(&self) -> Checked {
        if self.int_queue_unit.0 > u64::from(u32::MAX) {
            let message = "int_queue_unit must be below 4GiB: queues are not longer";
            return Err(("int_queue_unit", message.into()));
        }
        checks::positive_share("target_utilisation", self.target_utilisation)?;
        checks::header("int_overhead", self.int_overhead)
    }

    fn sets_rate(&self) -> bool {
        true
    }

    fn min_rate(&self) -> Option<(&'static str, BitRate)> {
        Some((Self::SECTION, self.min_rate))
    }

    fn scales_window(&self) -> Option<&'static str> {
        Some("HPCC")
    }

    fn uses_base_rtt(&self) -> bool {
        true
    }

    fn needs_one_path(&self) -> Option<&'static str> {
        Some("HPCC compares the INT entries of one hop in successive packets")
    }

    fn carries(&self) -> Carries {
        Carries::Int
    }

    fn header_bytes(&self) -> Option<u64> {
        Some(self.int_overhead.0)
    }

    fn in_band(&self, _rates: &[u64], _draws: WholeDraws) -> InBand {
        InBand::Int
    }
}

impl Start for HpccConfig {
    type Control = Hpcc;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (Hpcc, Pace) {
        (Hpcc::new(self, path), path.pace(path.line_rate))
    }
}

/// The state of one flow.
#[derive(Clone, Debug)]
pub struct Hpcc {
    /// INT of the previous acknowledgement.
    last: IntStack,
    /// Moving average of the path's normalised in-flight bytes (HPCC Alg. 1, U).
    u: f64,
    /// The reference rate, updated once per window (HPCC Alg. 1, W^c).
    reference_rate: u64,
    stage: u32,
    /// Acknowledgements up to this byte belong to the present reference rate.
    update_until: u64,
    /// True if the last acknowledgement set the rate: all but the first do.
    measured: bool,
    /// The rates of the hops, if each has its own.
    hops: Option<Box<by_hop::Hops>>,
    settings: Settings,
}

/// The settings as plain numbers.
#[derive(Clone, Copy, Debug)]
struct Settings {
    reaction: Reaction,
    time_unit: u64,
    bytes_unit: u64,
    queue_unit: u32,
    fast_react: bool,
    sample_feedback: bool,
}

impl Hpcc {
    /// A new flow's state.
    #[must_use]
    pub fn new(config: &HpccConfig, path: &Path) -> Self {
        Self {
            last: IntStack::default(),
            u: 1.0,
            reference_rate: path.line_rate,
            stage: 0,
            update_until: 0,
            measured: false,
            hops: config.multi_rate.then(|| by_hop::new_hops(path.line_rate)),
            settings: Settings {
                reaction: Reaction {
                    eta: config.target_utilisation,
                    max_stage: config.max_stage,
                    increase: config.additive_increase.0,
                    min_rate: config.min_rate.0,
                },
                time_unit: config.int_time_unit.0.max(1),
                bytes_unit: config.int_bytes_unit.0.max(1),
                queue_unit: config.int_queue_unit.0.max(1) as u32,
                fast_react: config.fast_react,
                sample_feedback: config.sample_feedback,
            },
        }
    }

    /// HPCC Alg. 1, MeasureInflight: the utilisation of the most loaded hop and the time it covers.
    /// Returns `None` for an acknowledgement overtaken by a later one, such as that of a
    /// retransmission.
    fn measure(&mut self, path: &Path, int: &IntStack) -> Option<()> {
        let settings = &self.settings;
        let (mut utilisation, mut covered) = (0.0, 0);
        for (now, before) in int.hops().iter().zip(self.last.hops()) {
            let tau = whole(now.time_ps, settings.time_unit)
                .checked_sub(whole(before.time_ps, settings.time_unit))?;
            if tau == 0 {
                continue;
            }
            let bytes = whole(now.tx_bytes, settings.bytes_unit)
                .checked_sub(whole(before.tx_bytes, settings.bytes_unit))?;
            let queue =
                now.queue_bytes.min(before.queue_bytes) / settings.queue_unit * settings.queue_unit;
            // The order of these operations decides the last bit. It follows the authors'
            // simulator, in its unit of time, so that its runs can be reproduced exactly.
            let rate = f64::from(now.rate_mbps) * 1e6;
            let tx_rate = (bytes * 8) as f64 / (nanoseconds(tau) * 1e-9);
            let window = path.window as f64;
            let u = tx_rate / rate + f64::from(queue) * path.line_rate as f64 / rate / window;
            if u > utilisation {
                utilisation = u;
                covered = tau;
            }
        }
        self.last.copy_from(int);
        let base = path.base_rtt;
        let covered = covered.min(base);
        self.u = (self.u * nanoseconds(base - covered) + utilisation * nanoseconds(covered))
            / nanoseconds(base);
        Some(())
    }

    /// HPCC Alg. 1, ComputeWind, in terms of the rate.
    fn compute(&self, path: &Path) -> (u64, u32) {
        self.settings.reaction.react(path, self.u, self.reference_rate, self.stage)
    }
}

/// How a rate follows a utilisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reaction {
    pub(super) eta: f64,
    pub(super) max_stage: u32,
    pub(super) increase: u64,
    pub(super) min_rate: u64,
}

impl Reaction {
    /// The rate and stage after those of a reference, at a utilisation `u`.
    #[inline(always)]
    pub(super) fn react(&self, path: &Path, u: f64, reference: u64, stage: u32) -> (u64, u32) {
        let ratio = u / self.eta;
        let (rate, stage) = if ratio >= 1.0 || stage >= self.max_stage {
            (as_rate(reference as f64 / ratio).wrapping_add(self.increase), 0)
        } else {
            (reference + self.increase, stage + 1)
        };
        (rate.max(self.min_rate).min(path.line_rate), stage)
    }
}

/// A rate as a whole number. What is none becomes what the authors' simulator makes of it on the
/// processors it runs on: the lowest rate for a division by no load, the highest for no number.
#[inline(always)]
fn as_rate(rate: f64) -> u64 {
    const HALF: f64 = (1u64 << 63) as f64;
    if rate < 2.0 * HALF {
        rate as u64
    } else if rate.is_nan() {
        HALF as u64
    } else {
        0
    }
}

#[inline]
fn nanoseconds(ps: u64) -> f64 {
    ps as f64 / 1e3
}

#[inline]
fn whole(value: u64, unit: u64) -> u64 {
    if unit == 1 { value } else { value / unit * unit }
}

impl CongestionControl for Hpcc {
    /// HPCC Alg. 1, NewAck: every acknowledgement sets the rate, but only one per round trip sets
    /// the reference.
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        let Some(Record::Int(int)) = ack.record else { return };
        if path.narrow_int || self.is_varied() {
            self.on_ack_by_hop(path, ack, int, pace);
            return;
        }
        let full_round = ack.seq > self.update_until;
        if self.update_until == 0 {
            if full_round {
                self.update_until = ack.snd_nxt;
                self.last.copy_from(int);
            }
            return;
        }
        self.measured = true;
        if self.measure(path, int).is_none() {
            return;
        }
        let (rate, stage) = self.compute(path);
        *pace = path.pace(rate);
        if full_round {
            self.reference_rate = rate;
            self.stage = stage;
            self.update_until = self.update_until.max(ack.snd_nxt);
        }
    }

    fn rebases_pacing(&self) -> bool {
        self.measured
    }
}

const _: () = assert!(HOPS_MAX >= 5 && size_of::<IntHop>() == 24);

#[cfg(test)]
mod tests;
