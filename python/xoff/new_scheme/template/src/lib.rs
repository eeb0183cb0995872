//! @NAME@: additive increase, multiplicative decrease (Chiu and Jain, "Analysis of the Increase and
//! Decrease Algorithms for Congestion Avoidance in Computer Networks", 1989), with ECN marks as the
//! sign of congestion. Replace it by a scheme of your own.

use xoff_core::knobs;
use xoff_core::knobs::Checked;
use xoff_host::cc::{Ack, CongestionControl, ControlSettings, Pace, Path, Start};
use xoff_host::tcp::TcpConfig;

/// The engine's Python module.
#[cfg(feature = "engine")]
pub use xoff_python as engine;

knobs! {
    /// @NAME@: additive increase and multiplicative decrease on ECN marks.
    pub struct @TYPE@Config in "@NAME@" {
        /// Packets that a round trip without marks adds to the window.
        increase: f64 = 1.0,
        /// Share of the window that a mark leaves.
        decrease: f64 = 0.5,
    }
}

xoff_host::add_control!(@TYPE@Config);

/// What `scheme = "@NAME@"` means. The first line is shown by `xoff presets`.
const PRESET: &str = r#"# Additive increase, multiplicative decrease on ECN marks, over PFC
[switch]
scheduler = "fifo"
hop = "pfc"
ecn = true
[transport]
congestion = "@NAME@"
window = "bdp"
"#;

impl ControlSettings for @TYPE@Config {
    fn check(&self) -> Checked {
        if !(self.decrease > 0.0 && self.decrease < 1.0) {
            let message = "decrease must be above 0 and below 1: it is the share that is left";
            return Err(("decrease", message.into()));
        }
        Ok(())
    }

    fn preset(&self) -> Option<&'static str> {
        Some(PRESET)
    }

    fn reacts_to_marks(&self, _tcp: &TcpConfig) -> bool {
        true
    }

    /// The first window is one bandwidth-delay product.
    fn uses_base_rtt(&self) -> bool {
        true
    }
}

impl Start for @TYPE@Config {
    type Control = @TYPE@;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (@TYPE@, Pace) {
        let window = (path.bdp as f64 / path.payload as f64).max(1.0);
        let control =
            @TYPE@ { window, increase: self.increase, decrease: self.decrease, cut_until: 0 };
        (control, control.pace(path))
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct @TYPE@ {
    /// In packets.
    window: f64,
    increase: f64,
    decrease: f64,
    /// Marks up to this byte belong to a window that was already cut.
    cut_until: u64,
}

impl @TYPE@ {
    /// Whole packets at line rate. Bounded by the transport's window, as by a receiver's window.
    fn pace(&self, path: &Path) -> Pace {
        let window = self.window as u64 * path.payload;
        Pace { rate: path.line_rate, window: window.min(path.window) }
    }
}

impl CongestionControl for @TYPE@ {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        if !ack.marked {
            let packets = ack.acked as f64 / path.payload as f64;
            let most = (path.window as f64 / path.payload as f64).max(1.0);
            self.window = (self.window + self.increase * packets / self.window).min(most);
        } else if ack.seq > self.cut_until {
            self.window = (self.window * self.decrease).max(1.0);
            self.cut_until = ack.snd_nxt;
        }
        *pace = self.pace(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 Gb/s and 8 us.
    const PATH: Path = Path {
        line_rate: 100_000_000_000,
        base_rtt: 8_000_000,
        bdp: 100_000,
        window: 100_000,
        window_follows_rate: false,
        narrow_int: false,
        payload: 1000,
        full_packet: 1048,
    };

    fn flow() -> (@TYPE@, Pace) {
        @TYPE@Config::default().start(&PATH, &TcpConfig::default())
    }

    fn ack(seq: u64, snd_nxt: u64, marked: bool) -> Ack<'static> {
        Ack { seq, acked: PATH.payload, snd_nxt, marked, ..Ack::default() }
    }

    #[test]
    fn a_flow_starts_with_one_bandwidth_delay_product() {
        assert_eq!(flow().1, Pace { rate: PATH.line_rate, window: 100_000 });
    }

    /// The second mark belongs to the same window. The third one follows it.
    #[test]
    fn marks_halve_the_window_once_per_round_trip() {
        let (mut control, mut pace) = flow();
        for (seq, snd_nxt, packets) in
            [(1000, 100_000, 50), (100_000, 150_000, 50), (101_000, 150_000, 25)]
        {
            control.on_ack(&PATH, &ack(seq, snd_nxt, true), &mut pace);
            assert_eq!(pace.window, packets * PATH.payload);
        }
    }

    /// Fifty times 1 / window, with the window between 50 and 51.
    #[test]
    fn a_round_trip_without_marks_adds_a_packet() {
        let (mut control, mut pace) = flow();
        control.window = 50.0;
        for packet in 1..=50 {
            control.on_ack(&PATH, &ack(packet * PATH.payload, 100_000, false), &mut pace);
        }
        assert!((50.0 + 50.0 / 51.0..51.0).contains(&control.window), "{}", control.window);
    }
}
