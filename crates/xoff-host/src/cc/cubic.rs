//! CUBIC (RFC 9438): the window is a cubic function of the time since the last loss, and never
//! below Reno's window.
//!
//! With round trips of microseconds the cubic is flat for seconds, so that flows are mostly in the
//! Reno-friendly region. There a flow differs from NewReno by a factor of 0.7 instead of 1/2 and by
//! fast convergence. Not modelled: HyStart++, spurious losses (§4.9).

use xoff_core::knobs::Checked;
use xoff_core::{knobs, math};

use super::window::CongestionWindow;
use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// CUBIC.
    pub struct CubicConfig in "cubic" {
        /// The constant C, in packets per cubic second (RFC 9438 §5: 0.4).
        scale: f64 = 0.4,
        /// Factor of the window after a loss (RFC 9438 §4.6: 0.7).
        beta: f64 = 0.7,
        /// Reduce W_max further if the window was larger before the previous loss, to free
        /// bandwidth for new flows (§4.7).
        fast_convergence: bool = true,
    }
}

const PS_PER_S: f64 = 1e12;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Start of the stage (ps).
    began: u64,
    /// W_max: the plateau of the cubic (packets).
    plateau: f64,
    /// K: time of the plateau (s from the start of the stage).
    flat_after: f64,
    /// W_est: Reno's window (packets).
    reno: f64,
}

impl ControlSettings for CubicConfig {
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

    fn reduces_flight(&self) -> bool {
        true
    }

    fn tells_window(&self) -> bool {
        true
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }
}

impl Start for CubicConfig {
    type Control = Cubic;

    fn start(&self, path: &Path, tcp: &TcpConfig) -> (Cubic, Pace) {
        Cubic::start(self, tcp, path)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    scale: f64,
    beta: f64,
    fast_convergence: bool,
    window: CongestionWindow,
    /// The window, including fractions of a byte (packets).
    packets: f64,
    /// W_max: the window before the last loss, or less with fast convergence (packets). `None`
    /// before the first loss.
    maximum: Option<f64>,
    /// cwnd_prior: the window before the last loss (packets).
    prior: f64,
    /// True if the last loss was a timeout.
    timed_out: bool,
    stage: Option<Stage>,
    /// Smoothed round-trip time (ps).
    rtt: u64,
}

impl Cubic {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &CubicConfig, tcp: &TcpConfig, path: &Path) -> (Self, Pace) {
        let window = CongestionWindow::start(tcp, path);
        let control = Self {
            scale: config.scale,
            beta: config.beta,
            fast_convergence: config.fast_convergence,
            window,
            packets: f64::from(tcp.initial_window_packets),
            maximum: None,
            prior: 0.0,
            timed_out: false,
            stage: None,
            rtt: 0,
        };
        (control, window.pace(path))
    }

    fn begin_stage(&self, now: u64) -> Stage {
        let packets = self.packets;
        // "During the first congestion avoidance stage after a timeout, [...] K is set to 0, and
        // W_max is set to the congestion window size at the beginning of the current congestion
        // avoidance stage" (§4.8); the same if there was no loss yet (§4.10).
        let plateau = match self.maximum {
            Some(maximum) if !self.timed_out => maximum.max(packets),
            _ => packets,
        };
        // K is the cubic root of (W_max - cwnd) / C (§4.2).
        let flat_after = math::cbrt((plateau - packets) / self.scale);
        Stage { began: now, plateau, flat_after, reno: packets }
    }

    /// W_cubic(t) = C (t - K)^3 + W_max (§4.2).
    fn cubic(&self, stage: &Stage, seconds: f64) -> f64 {
        let from_flat = seconds - stage.flat_after;
        self.scale * from_flat * from_flat * from_flat + stage.plateau
    }

    fn avoid_congestion(&mut self, path: &Path, ack: &Ack<'_>) {
        let mut stage = self.stage.unwrap_or_else(|| self.begin_stage(ack.now));
        let seconds = (ack.now - stage.began) as f64 / PS_PER_S;
        let acked = ack.acked as f64 / path.payload as f64;
        // alpha is 3 (1 - beta) / (1 + beta), and 1 once W_est has reached the previous window
        // (§4.3).
        let caught_up = stage.reno >= self.prior;
        let step = if caught_up { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) };
        // W_est = W_est + alpha segments_acked / cwnd (§4.3).
        stage.reno += step * acked / self.packets;
        if self.cubic(&stage, seconds) < stage.reno {
            // "cwnd SHOULD be set to W_est at each reception of a new ACK" (§4.3).
            self.packets = self.packets.max(stage.reno);
        } else {
            // "cwnd MUST be incremented by (target - cwnd) / cwnd for each received new ACK" (§4.4,
            // §4.5), where target is W_cubic(t + RTT), but within cwnd and 1.5 cwnd (§4.2).
            let target = self.cubic(&stage, seconds + self.rtt as f64 / PS_PER_S);
            let target = target.clamp(self.packets, 1.5 * self.packets);
            self.packets += (target - self.packets) / self.packets * acked;
        }
        self.window.bytes = (self.packets * path.payload as f64) as u64;
        self.stage = Some(stage);
    }

    /// Remembers the window before a loss and returns the reduced flight size in bytes.
    fn cut(&mut self, loss: &Loss) -> u64 {
        self.prior = self.packets;
        // W_max = cwnd (1 + beta) / 2 "if cwnd < W_max and fast convergence is enabled" (§4.7).
        let makes_room =
            self.fast_convergence && self.maximum.is_some_and(|maximum| self.packets < maximum);
        let share = if makes_room { (1.0 + self.beta) / 2.0 } else { 1.0 };
        self.maximum = Some(self.packets * share);
        self.stage = None;
        // ssthresh = flight_size beta (§4.6).
        (loss.flight as f64 * self.beta) as u64
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.rtt = if self.rtt == 0 { ack.rtt } else { self.rtt - self.rtt / 8 + ack.rtt / 8 };
        if !self.window.may_grow(ack) {
            return;
        }
        if self.window.slow_start(path, ack) {
            self.packets = self.window.bytes as f64 / path.payload as f64;
        } else {
            self.avoid_congestion(path, ack);
        }
        *pace = self.window.pace(path);
    }

    fn on_loss(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        let left = self.cut(loss);
        self.window.reduce_to(path, left);
        self.packets = self.window.bytes as f64 / path.payload as f64;
        self.timed_out = false;
        *pace = self.window.pace(path);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        let left = self.cut(loss);
        self.window.collapse(path, left, loss.again);
        self.packets = 1.0;
        self.timed_out = true;
        *pace = self.window.pace(path);
    }

    fn window_bytes(&self) -> u64 {
        self.window.bytes
    }

    /// Starts a new stage with this window, below the plateau of the last loss.
    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        self.window.open(path, bytes);
        self.packets = self.window.bytes as f64 / path.payload as f64;
        self.stage = None;
        *pace = self.window.pace(path);
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::{Driver, PATH, loss_of};
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// A flow that has lost a packet at a window of this many packets.
    fn after_a_loss(packets: u32) -> Driver<Cubic> {
        let tcp = TcpConfig { initial_window_packets: packets, ..TcpConfig::default() };
        let (control, pace) = Cubic::start(&CubicConfig::default(), &tcp, &PATH);
        let mut driver = Driver::new(control, pace);
        driver.control.on_loss(&PATH, &loss_of(u64::from(packets)), &mut driver.pace);
        driver
    }

    /// Far from Reno, with round trips of 100 ms: the window follows the closed form through its
    /// plateau, which it reaches after K.
    #[test]
    fn the_window_is_the_cubic_of_the_time_since_the_loss() {
        let mut driver = after_a_loss(4000);
        assert_eq!(driver.packets(), 2800);
        let began = driver.now + 100 * MS;
        let flat_after = (4000.0 * 0.3 / 0.4f64).cbrt();
        assert!((flat_after - 14.422_495).abs() < 1e-6);
        while driver.now < 25_000 * MS {
            driver.round(100 * MS);
            let seconds = (driver.now - began) as f64 / PS_PER_S;
            let expected = 0.4 * (seconds - flat_after).powi(3) + 4000.0;
            let off = (driver.control.packets - expected).abs() / expected;
            assert!(off < 0.01, "{seconds} s: {} for {expected}", driver.control.packets);
        }
        let stage = driver.control.stage.unwrap();
        assert!((stage.flat_after - flat_after).abs() < 1e-12 && stage.plateau == 4000.0);
        assert!(driver.packets() > 4000);
    }

    /// With round trips of 100 us the cubic is flat. The window grows as in a Reno with the same
    /// cut, by 9/17 of a packet per round trip, and by a whole packet once it is back at its
    /// previous size.
    #[test]
    fn short_round_trips_are_reno_friendly() {
        let mut driver = after_a_loss(100);
        assert_eq!(driver.packets(), 70);
        for round in 1..=50 {
            driver.round(MS / 10);
            let expected = 70.0 + f64::from(round) * 9.0 / 17.0;
            let off = driver.control.packets - expected;
            assert!(off.abs() < 0.02 * f64::from(round), "{round}: {off}");
        }
        while driver.control.packets < 100.0 {
            driver.round(MS / 10);
        }
        let before = driver.control.packets;
        (0..10).for_each(|_| driver.round(MS / 10));
        assert!((driver.control.packets - before - 10.0).abs() < 0.6);
    }

    #[test]
    fn fast_convergence_lowers_the_plateau() {
        let mut driver = after_a_loss(100);
        driver.control.on_loss(&PATH, &loss_of(70), &mut driver.pace);
        // 70 (1 + 0.7) / 2, not 70.
        assert_eq!((driver.control.maximum, driver.packets()), (Some(59.5), 49));
    }

    /// As an allocator's rate does: knowledge from the last loss is kept.
    #[test]
    fn reopening_the_window_keeps_the_plateau() {
        let mut driver = after_a_loss(100);
        driver.round(MS / 10);
        driver.control.reopen(&PATH, 40_000, &mut driver.pace);
        assert_eq!((driver.packets(), driver.control.maximum), (40, Some(100.0)));
        driver.round(MS / 10);
        let stage = driver.control.stage.unwrap();
        assert_eq!((stage.plateau, stage.flat_after), (100.0, math::cbrt(60.0 / 0.4)));
        assert!((driver.control.packets - 40.5).abs() < 0.1, "{}", driver.control.packets);
    }

    #[test]
    fn after_a_timeout_slow_start_leads_to_a_flat_cubic() {
        let mut driver = after_a_loss(100);
        driver.control.on_timeout(&PATH, &loss_of(70), &mut driver.pace);
        assert_eq!((driver.packets(), driver.control.window.threshold), (1, 49_000));
        (0..6).for_each(|_| driver.round(MS / 10));
        assert_eq!(driver.packets(), 49);
        driver.round(MS / 10);
        let stage = driver.control.stage.unwrap();
        assert_eq!((stage.plateau, stage.flat_after), (49.0, 0.0));
    }
}
