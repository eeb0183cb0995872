//! CUBIC as ns-3 has it (`TcpCubic`, release 3.37): windows in whole packets, HyStart (Ha and Rhee,
//! 2011), and no Reno-friendly region, so that the window is nearly flat for seconds where round
//! trips are short.
//!
//! HyStart ends slow start when acknowledgements have arrived without a long gap for longer than
//! the shortest round trip (Linux: half of it), or when round trips are `hystart_delay` longer than
//! the shortest. Use it with `tcp.reduction = "prr"`.

use xoff_core::knobs::{Checked, Effect, because};
use xoff_core::{Ps, knobs, math};

use super::window::CongestionWindow;
use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// CUBIC as ns-3 has it.
    pub struct Ns3CubicConfig in "ns3_cubic" {
        /// The constant C, in packets per cubic second.
        scale: f64 = 0.4,
        /// Factor of the window after a loss.
        beta: f64 = 0.7,
        /// HyStart may end slow start before the first loss.
        hystart: bool = true,
        /// HyStart acts from this window on, in packets.
        hystart_window: u32 = 16 => [Effect::Unless(no_hystart)],
        /// The longest gap between acknowledgements of one train.
        hystart_gap: Ps = Ps::from_us(2000) => [Effect::Unless(no_hystart)],
        /// Least excess over the shortest round trip that ends slow start.
        hystart_delay: Ps = Ps::from_us(4000) => [Effect::Unless(no_hystart)],
    }
}

fn no_hystart(config: &Ns3CubicConfig) -> Option<String> {
    because(!config.hystart, "ns3_cubic.hystart = false")
}

const PS_PER_S: f64 = 1e12;

/// Round trips measured before their shortest one counts (`HyStartMinSamples`).
const SAMPLES: u32 = 8;

/// The largest count before a loss, in packets (`CntClamp`).
const MOST_COUNTED: u64 = 20;

/// After the start of an epoch no round trip counts for this long (ps) (`CubicDelta`).
const SETTLING: u64 = 10_000_000_000;

impl ControlSettings for Ns3CubicConfig {
    fn check(&self) -> Checked {
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            return Err(("scale", "scale must be above 0".into()));
        }
        if !(self.beta > 0.0 && self.beta < 1.0) {
            return Err(("beta", "beta must be above 0 and below 1".into()));
        }
        Ok(())
    }

    fn has_tcp_window(&self) -> bool {
        true
    }

    fn tells_window(&self) -> bool {
        true
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }
}

impl Start for Ns3CubicConfig {
    type Control = Ns3Cubic;

    fn start(&self, path: &Path, tcp: &TcpConfig) -> (Ns3Cubic, Pace) {
        let window = CongestionWindow::start(tcp, path);
        let control = Ns3Cubic {
            scale: self.scale,
            beta: self.beta,
            hystart: self.hystart.then(|| HyStart::new(self)),
            window,
            counted: 0,
            maximum: 0,
            epoch: None,
            rtt: tcp.handshake_rtt.0,
            shortest: None,
        };
        (control, window.pace(path))
    }
}

/// HyStart: the round that it observes.
#[derive(Clone, Copy, Debug)]
struct HyStart {
    least_window: u64,
    gap: u64,
    delay: u64,
    /// Start of the round, and its last acknowledgement without a gap (ps).
    began: u64,
    last: u64,
    /// The byte whose acknowledgement ends the round.
    until: u64,
    /// The shortest of its first round trips (ps), and their number.
    shortest: u64,
    samples: u32,
    found: bool,
}

impl HyStart {
    fn new(config: &Ns3CubicConfig) -> Self {
        Self {
            least_window: config.hystart_window.into(),
            gap: config.hystart_gap.0,
            delay: config.hystart_delay.0,
            began: 0,
            last: 0,
            until: 0,
            shortest: u64::MAX,
            samples: 0,
            found: false,
        }
    }

    /// A round begins.
    fn begin(&mut self, now: u64, until: u64) {
        let (began, last) = (now, now);
        *self = Self { began, last, until, shortest: u64::MAX, samples: 0, ..*self };
    }

    /// An acknowledgement in slow start. Returns true if slow start ends.
    fn ends(&mut self, now: u64, rtt: u64, least: u64) -> bool {
        if self.found {
            return false;
        }
        if now - self.last <= self.gap {
            self.last = now;
            self.found |= now - self.began > least;
        }
        if self.samples < SAMPLES {
            self.shortest = self.shortest.min(rtt);
            self.samples += 1;
        } else {
            self.found |= self.shortest > least + least.min(1_000_000_000_000).max(self.delay);
        }
        self.found
    }
}

/// The cubic since the last loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Its start (ps).
    began: u64,
    /// Time of the plateau (s from the start), and its window (packets).
    flat_after: f64,
    origin: u64,
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Ns3Cubic {
    scale: f64,
    beta: f64,
    hystart: Option<HyStart>,
    window: CongestionWindow,
    /// Packets acknowledged in congestion avoidance since the window last grew.
    counted: u64,
    /// The window before the last loss, or less with fast convergence (packets); 0 before it.
    maximum: u64,
    epoch: Option<Epoch>,
    /// Smoothed round-trip time, and the shortest such (ps).
    rtt: u64,
    shortest: Option<u64>,
}

impl Ns3Cubic {
    /// `PktsAcked`: measures round trips.
    fn observe(&mut self, path: &Path, ack: &Ack<'_>) {
        self.rtt = if self.rtt == 0 { ack.rtt } else { self.rtt - self.rtt / 8 + ack.rtt / 8 };
        if self.epoch.is_some_and(|epoch| ack.now - epoch.began < SETTLING) {
            return;
        }
        let shortest = self.shortest.map_or(self.rtt, |shortest| shortest.min(self.rtt));
        self.shortest = Some(shortest);
        let CongestionWindow { bytes, threshold, .. } = self.window;
        if let Some(hystart) = &mut self.hystart
            && bytes <= threshold
            && bytes >= hystart.least_window * path.payload
            && hystart.ends(ack.now, self.rtt, shortest)
        {
            self.window.threshold = bytes;
        }
    }

    /// `IncreaseWindow`.
    fn grow(&mut self, path: &Path, ack: &Ack<'_>) {
        let packets = ack.acked.div_ceil(path.payload);
        if self.window.bytes < self.window.threshold {
            if let Some(hystart) = self.hystart.as_mut().filter(|hystart| ack.seq > hystart.until) {
                hystart.begin(ack.now, ack.snd_nxt);
            }
            self.window.bytes += packets * path.payload;
            return;
        }
        self.counted += packets;
        let needed = self.needed(path, ack.now);
        if self.counted >= needed {
            self.window.bytes += path.payload;
            self.counted -= needed;
        }
    }

    /// `Update`: acknowledged packets after which the window grows by one.
    fn needed(&mut self, path: &Path, now: u64) -> u64 {
        let packets = self.window.bytes / path.payload;
        let (maximum, scale) = (self.maximum, self.scale);
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            began: now,
            flat_after: match maximum.checked_sub(packets) {
                Some(below) => math::cbrt(below as f64 / scale),
                None => 0.0,
            },
            origin: maximum.max(packets),
        });
        let later = now + self.shortest.unwrap_or(0) - epoch.began;
        let from_flat = later as f64 / PS_PER_S - epoch.flat_after;
        let delta = (scale * from_flat.abs() * from_flat.abs() * from_flat.abs()) as u64;
        let target =
            if from_flat < 0.0 { epoch.origin.saturating_sub(delta) } else { epoch.origin + delta };
        let count = match target.checked_sub(packets) {
            Some(above) if above > 0 => packets / above,
            _ => 100 * packets,
        };
        // "The maximum rate of cwnd increase CUBIC allows is 1 packet per 2 packets ACKed".
        if self.maximum == 0 { count.clamp(2, MOST_COUNTED) } else { count.max(2) }
    }

    /// `GetSsThresh`: remembers the window before a loss and returns the reduced one in bytes.
    fn cut(&mut self, path: &Path) -> u64 {
        let packets = self.window.bytes / path.payload;
        let converges = packets < self.maximum;
        self.maximum =
            if converges { (packets as f64 * (1.0 + self.beta) / 2.0) as u64 } else { packets };
        self.epoch = None;
        ((packets as f64 * self.beta) as u64).max(2) * path.payload
    }
}

impl CongestionControl for Ns3Cubic {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.observe(path, ack);
        if ack.acked > 0 && !ack.recovering {
            self.grow(path, ack);
        }
        *pace = self.window.pace(path);
    }

    fn on_loss(&mut self, path: &Path, _loss: &Loss, pace: &mut Pace) {
        self.window.threshold = self.cut(path);
        self.window.bytes = self.window.threshold;
        *pace = self.window.pace(path);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        if !loss.again {
            self.window.threshold = self.cut(path);
        }
        self.window.bytes = path.payload;
        // `CubicReset`: a timeout forgets the last maximum and the round trips.
        self.maximum = 0;
        self.shortest = None;
        if let Some(hystart) = &mut self.hystart {
            hystart.begin(loss.now, hystart.until);
            hystart.found = false;
        }
        *pace = self.window.pace(path);
    }

    fn window_bytes(&self) -> u64 {
        self.window.bytes
    }

    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        self.window.open(path, bytes);
        self.counted = 0;
        self.epoch = None;
        *pace = self.window.pace(path);
    }
}

#[cfg(test)]
mod tests;
