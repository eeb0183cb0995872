//! PowerTCP (Addanki, Michel and Schmid, "PowerTCP: Pushing the Performance Limits of Datacenter
//! Networks", NSDI 2022, Algorithm 1): the window follows the power of the most loaded hop, which
//! is its current (bytes that arrive per second) times its voltage (queue and bandwidth-delay
//! product). Switches report both in INT headers. [`theta`] is its form without switches.
//!
//! The window is cwnd = rate x tau, so the state is the rate. A host never sends faster than its
//! link, so the rate ends there, as in the authors' simulator (inet-tub/ns3-datacenter,
//! `rdma-hw.cc`) and in their kernel module (inet-tub/powertcp-linux, `powertcp.c`). Where both
//! differ from the paper, docs/decisions/0035 lists the readings.

pub(super) mod theta;

use xoff_core::knobs::Checked;
use xoff_core::{BitRate, Bytes, Ps, knobs};
use xoff_net::Record;
use xoff_net::arch::InBand;
use xoff_net::pint::WholeDraws;
use xoff_net::telemetry::{IntHop, IntStack};

use super::{Ack, Carries, CongestionControl, ControlSettings, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// PowerTCP with INT. The paper's parameters are `gamma` and `expected_flows`.
    pub struct PowerTcpConfig in "powertcp" {
        /// Weight of a new window in the moving average (gamma; the authors' kernel module and
        /// their simulator: 0.9).
        gamma: f64 = 0.9,
        /// Expected number of flows that share a host's link (N). Each update adds beta = host
        /// bandwidth x tau / N to the window. The authors' kernel module: 10. Their simulator adds
        /// 150 Mb/s to the rate: N = 166.7 at 25 Gb/s.
        expected_flows: f64 = 10.0,
        /// Normalised power at which a flow keeps its window, except beta (Algorithm 1: 1; the
        /// authors' simulator: 0.95).
        target_power: f64 = 1.0,
        /// Minimum current, as a share of the link's rate (the authors' simulator: 0.5). 0: none,
        /// as printed in Algorithm 1.
        min_current: f64 = 0.5,
        /// Minimum rate (the authors' simulator: MIN_RATE 100 Mb/s).
        min_rate: BitRate = BitRate(100_000_000),
        /// Size of the INT header in every data packet: 5 hops x 8 B + 2 B in the authors'
        /// simulator, as in that of HPCC.
        int_overhead: Bytes = Bytes(42),
        /// Resolution of time stamps in INT; values are truncated (that header: 1 ns). 1 ps: exact.
        int_time_unit: Ps = Ps::from_ns(1),
        /// Resolution of byte counts in INT; values are truncated (that header: 128 B).
        int_bytes_unit: Bytes = Bytes(128),
        /// Resolution of queue lengths in INT; values are truncated (that header: 80 B).
        int_queue_unit: Bytes = Bytes(80),
    }
}

const PRESET: &str = r#"# PowerTCP over PFC: a window from the power that INT reports (NSDI 2022)
[switch]
scheduler = "fifo"
hop = "pfc"
ecn = false
[transport]
congestion = "powertcp"
window = "bdp"
window_follows_rate = true
"#;

/// Checks the parameters that both forms have.
fn check_law(gamma: f64, expected_flows: f64, target_power: f64, min_current: f64) -> Checked {
    for (wrong, key, message) in [
        (
            !(gamma > 0.0 && gamma <= 1.0),
            "gamma",
            "gamma must be above 0 and at most 1: it is a share of an average",
        ),
        (
            !(expected_flows > 0.0 && expected_flows.is_finite()),
            "expected_flows",
            "expected_flows must be above 0: a flow's increase is the link's rate divided by it",
        ),
        (
            !(target_power > 0.0 && target_power.is_finite()),
            "target_power",
            "target_power must be above 0: the window is divided by the power relative to it",
        ),
        (
            !(0.0..=1.0).contains(&min_current),
            "min_current",
            "min_current must be at least 0 and at most 1: it is a share of a link's rate",
        ),
    ] {
        if wrong {
            return Err((key, message.into()));
        }
    }
    Ok(())
}

impl ControlSettings for PowerTcpConfig {
    fn check(&self) -> Checked {
        checks::header("int_overhead", self.int_overhead)?;
        check_law(self.gamma, self.expected_flows, self.target_power, self.min_current)
    }

    fn preset(&self) -> Option<&'static str> {
        Some(PRESET)
    }

    fn sets_rate(&self) -> bool {
        true
    }

    fn min_rate(&self) -> Option<(&'static str, BitRate)> {
        Some((Self::SECTION, self.min_rate))
    }

    fn scales_window(&self) -> Option<&'static str> {
        Some("PowerTCP")
    }

    fn uses_base_rtt(&self) -> bool {
        true
    }

    fn needs_one_path(&self) -> Option<&'static str> {
        Some("PowerTCP compares the INT entries of one hop in successive packets")
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

impl Start for PowerTcpConfig {
    type Control = PowerTcp;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (PowerTcp, Pace) {
        let control = PowerTcp {
            law: Law::new(self.gamma, self.expected_flows, self.target_power, self.min_rate, path),
            last: IntStack::default(),
            reference_rate: path.line_rate,
            round_end: None,
            measured: false,
            min_current: self.min_current,
            time_unit: self.int_time_unit.0.max(1),
            bytes_unit: self.int_bytes_unit.0.max(1),
            queue_unit: self.int_queue_unit.0.max(1),
        };
        (control, path.pace(path.line_rate))
    }
}

/// The part that both forms share: the smoothed power, and the window it gives.
#[derive(Clone, Copy, Debug)]
struct Law {
    gamma: f64,
    /// Additive increase of the rate (bit/s): beta / tau = host bandwidth / N.
    increase: f64,
    target: f64,
    min_rate: u64,
    /// Moving average of the normalised power.
    power: f64,
}

impl Law {
    fn new(gamma: f64, flows: f64, target: f64, min_rate: BitRate, path: &Path) -> Self {
        let increase = path.line_rate as f64 / flows;
        // A path in balance has this power. The authors' simulator begins with it, too.
        Self { gamma, increase, target, min_rate: min_rate.0, power: 1.0 }
    }

    /// "Gamma_smooth = (Gamma_smooth (tau - dt) + Gamma_norm dt) / tau". A measurement of more than
    /// tau counts as one of tau.
    fn smooth(&mut self, path: &Path, power: f64, dt: u64) {
        let dt = dt.min(path.base_rtt);
        let old = self.power * (path.base_rtt - dt) as f64;
        self.power = (old + power * dt as f64) / path.base_rtt as f64;
    }

    /// "cwnd = gamma (cwnd_old / normPower + beta) + (1 - gamma) cwnd", as rates.
    fn rate(&self, path: &Path, old: u64, present: u64) -> u64 {
        let ratio = self.power / self.target;
        let fresh = old as f64 / ratio + self.increase;
        let rate = self.gamma * fresh + (1.0 - self.gamma) * present as f64;
        (rate as u64).max(self.min_rate).min(path.line_rate)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct PowerTcp {
    law: Law,
    /// INT of the previous acknowledgement (prevInt).
    last: IntStack,
    /// The rate of one round trip ago, which is remembered once per round trip (cwnd_old / tau).
    reference_rate: u64,
    /// Acknowledgements up to this byte belong to the present reference rate; none before the first
    /// acknowledgement.
    round_end: Option<u64>,
    /// True if the last acknowledgement set the rate: all but the first do.
    measured: bool,
    min_current: f64,
    time_unit: u64,
    bytes_unit: u64,
    queue_unit: u64,
}

impl PowerTcp {
    /// Bytes that had arrived at a port. INT has its sent and its waiting bytes, and the
    /// sum's growth is q' + mu. The authors' switches report the sum in place of the bytes sent.
    fn arrived(&self, hop: &IntHop) -> u64 {
        (hop.tx_bytes + u64::from(hop.queue_bytes)) / self.bytes_unit * self.bytes_unit
    }

    /// Algorithm 1, NormPower: updates the smoothed power with that of the most loaded hop. Returns
    /// `None` for an acknowledgement overtaken by a later one, such as that of a retransmission.
    fn measure(&mut self, path: &Path, int: &IntStack) -> Option<()> {
        let (mut power, mut covered) = (0.0, 0);
        let tau = path.base_rtt as f64 * 1e-12;
        for (now, before) in int.hops().iter().zip(self.last.hops()) {
            let [end, begin] = [now, before].map(|hop| hop.time_ps / self.time_unit);
            let dt = end.checked_sub(begin)? * self.time_unit;
            if dt == 0 {
                continue;
            }
            let bandwidth = f64::from(now.rate_mbps) * 1e6;
            let bytes = self.arrived(now).checked_sub(self.arrived(before))?;
            let current = (bytes * 8) as f64 / (dt as f64 * 1e-12);
            let current = current.max(self.min_current * bandwidth);
            let queue = u64::from(now.queue_bytes) / self.queue_unit * self.queue_unit;
            let voltage = (queue * 8) as f64 + bandwidth * tau;
            let normalised = current * voltage / (bandwidth * bandwidth * tau);
            // The first hop counts without a current, too, as in the authors' kernel module.
            if covered == 0 || normalised > power {
                (power, covered) = (normalised, dt);
            }
        }
        self.last.copy_from(int);
        self.law.smooth(path, power, covered);
        Some(())
    }
}

impl CongestionControl for PowerTcp {
    /// Algorithm 1, NewAck: every acknowledgement sets the window, relative to the window with
    /// which its packet was sent.
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        let Some(Record::Int(int)) = ack.record else { return };
        let Some(round_end) = self.round_end else {
            self.round_end = Some(ack.snd_nxt);
            self.last.copy_from(int);
            return;
        };
        self.measured = self.measure(path, int).is_some();
        if !self.measured {
            return;
        }
        let rate = self.law.rate(path, self.reference_rate, pace.rate);
        *pace = path.pace(rate);
        if ack.seq > round_end {
            self.reference_rate = rate;
            self.round_end = Some(round_end.max(ack.snd_nxt));
        }
    }

    fn rebases_pacing(&self) -> bool {
        self.measured
    }
}

#[cfg(test)]
mod tests;
