//! Congestion controls: a rate and a window from acknowledgements.
//!
//! One file per algorithm, with its settings and their defaults. A control receives facts and the
//! time, and changes the flow's [`Pace`]. It sees neither packets nor queues nor the event wheel.
//!
//! To add one: a file in this folder and its line in `controls!` below. The file has the settings
//! ([`knobs!`](xoff_core::knobs!)), what they say about the control ([`ControlSettings`]), how a
//! flow starts ([`Start`]) and the state of a flow ([`CongestionControl`]).

mod added;
mod capped;
mod checks;
mod cubic;
mod dcqcn;
mod dcqcn_rdma15;
mod dctcp;
mod dctcp_htsim;
mod dctcp_tcp;
mod delay_window;
mod hpcc;
pub(crate) mod hpcc_pint;
mod htsim_window;
mod newreno;
mod newreno_htsim;
mod none;
mod ns3_cubic;
mod ns3_dctcp;
mod pfabric;
mod powertcp;
#[cfg(test)]
mod seam_tests;
mod settings;
mod swift;
mod timely;
mod window;
mod xcp;

use xoff_net::Record;
use xoff_net::xcp::{XcpConfig, XcpHeader};

use crate::tcp::{Shrink, TcpConfig};

pub use added::{AddedConfig, AddedControl, AddedSettings, Addition};
pub use capped::Capped;
pub use cubic::{Cubic, CubicConfig};
pub use dcqcn::{Dcqcn, DcqcnConfig};
pub use dcqcn_rdma15::{DcqcnRdma15, DcqcnRdma15Config};
pub use dctcp::{Dctcp, DctcpConfig, DctcpStart};
pub use dctcp_htsim::{DctcpHtsim, DctcpHtsimConfig};
pub use dctcp_tcp::{DctcpTcp, DctcpTcpConfig};
pub use delay_window::{DelayWindow, DelayWindowConfig};
pub use hpcc::{Hpcc, HpccConfig};
pub use hpcc_pint::{HpccPint, HpccPintConfig};
pub use newreno::{NewReno, NewRenoConfig};
pub use newreno_htsim::{NewRenoHtsim, NewRenoHtsimConfig};
pub use none::{NoControl, NoControlConfig};
pub use ns3_cubic::{Ns3Cubic, Ns3CubicConfig};
pub use ns3_dctcp::{Ns3Dctcp, Ns3DctcpConfig};
pub use pfabric::{PFabric, PFabricConfig};
pub use powertcp::theta::{ThetaPowerTcp, ThetaPowerTcpConfig};
pub use powertcp::{PowerTcp, PowerTcpConfig};
pub use settings::{Carries, ControlSettings, Start};
pub use swift::{Swift, SwiftConfig};
pub use timely::{Timely, TimelyConfig};
pub use xcp::Xcp;

/// A congestion control's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Rate in bits per second.
    pub rate: u64,
    /// Window: bytes that may be unacknowledged.
    pub window: u64,
}

/// Constants of a flow's path, known to its control from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The NIC's rate (bit/s).
    pub line_rate: u64,
    /// Base RTT (ps).
    pub base_rtt: u64,
    /// Bandwidth-delay product (bytes).
    pub bdp: u64,
    /// The window before any scaling; `u64::MAX` if unlimited.
    pub window: u64,
    /// True if the window is scaled by rate / line rate.
    pub window_follows_rate: bool,
    /// True if INT has the narrow fields of the HPCC simulator's header.
    pub narrow_int: bool,
    /// Payload of a full packet.
    pub payload: u64,
    /// Size of a full packet on the wire.
    pub full_packet: u64,
}

impl Path {
    /// The pace for a rate.
    #[inline]
    #[must_use]
    pub fn pace(&self, rate: u64) -> Pace {
        let window = if self.window_follows_rate && self.window != u64::MAX {
            match self.window.checked_mul(rate) {
                Some(product) => product / self.line_rate,
                None => {
                    (u128::from(self.window) * u128::from(rate) / u128::from(self.line_rate)) as u64
                }
            }
            .max(1)
        } else {
            self.window
        };
        Pace { rate, window }
    }
}

/// The content of an acknowledgement.
#[derive(Debug, Default)]
pub struct Ack<'a> {
    /// Time of arrival (ps).
    pub now: u64,
    /// Time at which that arrival was set: timers of this instant that were set earlier have fired
    /// (ps).
    pub set: u64,
    /// Next byte the receiver expects.
    pub seq: u64,
    /// Newly acknowledged bytes.
    pub acked: u64,
    /// Next byte the sender will send.
    pub snd_nxt: u64,
    /// Round-trip time of the data packet and its acknowledgement (ps). In the acknowledgement that
    /// completes the flow, only the delay of the acknowledgement.
    pub rtt: u64,
    /// Bytes in flight after this acknowledgement; only with selective acknowledgements.
    pub in_flight: u64,
    /// True if the flow recovers from a loss reported by `on_loss`, or did so until now.
    pub recovering: bool,
    /// True if the data packet was marked.
    pub marked: bool,
    /// The side record of the data packet.
    pub record: Option<&'a Record>,
}

/// A loss of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Time of detection (ps).
    pub now: u64,
    /// Bytes sent and not acknowledged, up to the window. Excludes bytes sent beyond the window
    /// since the first sign of the loss (RFC 5681 §3.2, FlightSize).
    pub flight: u64,
    /// True if the flow has timed out since its last acknowledgement.
    pub again: bool,
}

/// A congestion control: the state of one flow.
pub trait CongestionControl {
    /// An acknowledgement arrived.
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace);
    /// A congestion notification packet arrived.
    fn on_notification(&mut self, _path: &Path, _now: u64, _pace: &mut Pace) {}
    /// The timer of `next_timer` is due.
    fn on_timer(&mut self, _path: &Path, _now: u64, _pace: &mut Pace) {}
    /// A packet was sent.
    fn on_sent(&mut self, _path: &Path, _wire_bytes: u64, _pace: &mut Pace) {}
    /// Acknowledgements report lost packets. Called once until everything sent before the report is
    /// acknowledged. The acknowledgement itself follows with `on_ack`.
    fn on_loss(&mut self, _path: &Path, _loss: &Loss, _pace: &mut Pace) {}
    /// The retransmission timeout has passed without an acknowledgement.
    fn on_timeout(&mut self, _path: &Path, _loss: &Loss, _pace: &mut Pace) {}
    /// A recovery without selective acknowledgements shrinks the congestion window itself. The
    /// acknowledgement follows with `on_ack`.
    fn shrink(&mut self, _path: &Path, _shrink: Shrink) {}
    /// An external allocator opens the window to `bytes`; TCP controls only. The control keeps its
    /// other state and enters congestion avoidance.
    fn reopen(&mut self, _path: &Path, _bytes: u64, _pace: &mut Pace) {}
    /// TCP controls: the congestion window in bytes, not rounded to packets.
    fn window_bytes(&self) -> u64 {
        0
    }
    /// Time of the next call of `on_timer` (ps).
    fn next_timer(&self) -> Option<u64> {
        None
    }
    /// Time at which the timer of `next_timer` was set (ps). The event order of the ns-3 simulator
    /// depends on it.
    fn timer_set(&self) -> u64 {
        0
    }
    /// True if the last acknowledgement also reschedules the packet that is already being paced.
    fn rebases_pacing(&self) -> bool {
        false
    }
}

macro_rules! controls {
    ($(
        $(#[doc = $doc:literal])*
        $variant:ident($settings:ty => $state:ty) = $name:literal
    ),+ $(,)?) => {
        xoff_core::seam! {
            /// Congestion controls.
            pub enum ControlConfig: dyn ControlSettings, named by Congestion {
                $( $(#[doc = $doc])* $variant($settings) = $name ),+
            }
            and Added(AddedConfig)
        }

        xoff_core::dispatch! {
            /// The state of one flow's congestion control.
            #[derive(Clone, Debug)]
            #[repr(u8)] // A tag of its own is read faster than a spare value of a field.
            pub enum AnyControl in crate::cc, each by each_control {
                $( $(#[doc = $doc])* $variant($state) ),+,
                /// A control under the rate limit of an allocator.
                Capped(Capped),
                /// A control that another crate adds.
                Added(Box<dyn AddedControl>),
            }
        }

        impl ControlConfig {
            /// The control of a new flow, and its first pace.
            #[inline]
            #[must_use]
            pub fn start(&self, path: &Path, tcp: &TcpConfig) -> (AnyControl, Pace) {
                match self { $(
                    Self::$variant(settings) => {
                        let (control, pace) = settings.start(path, tcp);
                        (AnyControl::$variant(control), pace)
                    }
                ),+
                    Self::Added(settings) => {
                        let (control, pace) = settings.start(path, tcp);
                        (AnyControl::Added(control), pace)
                    }
                }
            }
        }
    };
}

controls! {
    /// None: flows send at the rate of their link.
    None(NoControlConfig => NoControl) = "none",
    /// DCTCP, section `dctcp`.
    Dctcp(DctcpConfig => Dctcp) = "dctcp",
    /// DCQCN as in Mellanox NICs, section `dcqcn`.
    Dcqcn(DcqcnConfig => Dcqcn) = "dcqcn",
    /// DCQCN as in its paper, section `dcqcn_rdma15`.
    DcqcnRdma15(DcqcnRdma15Config => DcqcnRdma15) = "dcqcn-rdma15",
    /// HPCC, section `hpcc`.
    Hpcc(HpccConfig => Hpcc) = "hpcc",
    /// TCP NewReno: slow start, congestion avoidance, half the window after a loss.
    NewReno(NewRenoConfig => NewReno) = "newreno",
    /// TCP CUBIC, section `cubic`.
    Cubic(CubicConfig => Cubic) = "cubic",
    /// DCTCP with TCP's window, section `dctcp_tcp`.
    DctcpTcp(DctcpTcpConfig => DctcpTcp) = "dctcp-tcp",
    /// DCTCP as in htsim, section `dctcp_htsim`.
    DctcpHtsim(DctcpHtsimConfig => DctcpHtsim) = "dctcp-htsim",
    /// TCP NewReno as htsim has it.
    NewRenoHtsim(NewRenoHtsimConfig => NewRenoHtsim) = "newreno-htsim",
    /// XCP, in hosts and switches, section `xcp`.
    Xcp(XcpConfig => Xcp) = "xcp",
    /// pFabric: a first window of one bandwidth-delay product, reduced after timeouts only, section
    /// `pfabric`.
    PFabric(PFabricConfig => PFabric) = "pfabric",
    /// A window that keeps round trips near a target (BFC App. A.1), section `delay_window`.
    DelayWindow(DelayWindowConfig => DelayWindow) = "delay-window",
    /// Swift: a window with a target for the delay, section `swift`.
    Swift(SwiftConfig => Swift) = "swift",
    /// TIMELY: a rate that follows the gradient of the RTT, section `timely`.
    Timely(TimelyConfig => Timely) = "timely",
    /// CUBIC as ns-3 has it, with HyStart, section `ns3_cubic`.
    Ns3Cubic(Ns3CubicConfig => Ns3Cubic) = "ns3-cubic",
    /// DCTCP with TCP's window as ns-3 has it, section `ns3_dctcp`.
    Ns3Dctcp(Ns3DctcpConfig => Ns3Dctcp) = "ns3-dctcp",
    /// PowerTCP: a window from the power that INT reports, section `powertcp`.
    PowerTcp(PowerTcpConfig => PowerTcp) = "powertcp",
    /// Theta-PowerTCP: PowerTCP from round-trip times, section `theta_powertcp`.
    ThetaPowerTcp(ThetaPowerTcpConfig => ThetaPowerTcp) = "theta-powertcp",
    /// HPCC with the utilisation that PINT reports, section `hpcc_pint`.
    HpccPint(HpccPintConfig => HpccPint) = "hpcc-pint",
}

impl CongestionControl for AnyControl {
    #[inline(always)]
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        each_control!(self, control => control.on_ack(path, ack, pace));
    }
    fn on_notification(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        each_control!(self, control => control.on_notification(path, now, pace));
    }
    fn on_loss(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        each_control!(self, control => control.on_loss(path, loss, pace));
    }
    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        each_control!(self, control => control.on_timeout(path, loss, pace));
    }
    fn shrink(&mut self, path: &Path, shrink: Shrink) {
        each_control!(self, control => control.shrink(path, shrink));
    }
    fn on_timer(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        each_control!(self, control => control.on_timer(path, now, pace));
    }
    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        each_control!(self, control => control.reopen(path, bytes, pace));
    }
    fn window_bytes(&self) -> u64 {
        each_control!(self, control => control.window_bytes())
    }
    #[inline(always)]
    fn on_sent(&mut self, path: &Path, wire_bytes: u64, pace: &mut Pace) {
        each_control!(self, control => control.on_sent(path, wire_bytes, pace));
    }
    #[inline]
    fn next_timer(&self) -> Option<u64> {
        each_control!(self, control => control.next_timer())
    }
    #[inline]
    fn timer_set(&self) -> u64 {
        each_control!(self, control => control.timer_set())
    }
    #[inline]
    fn rebases_pacing(&self) -> bool {
        each_control!(self, control => control.rebases_pacing())
    }
}

impl AnyControl {
    /// The congestion header of a packet of `wire_bytes`.
    #[must_use]
    pub fn xcp_header(&self, path: &Path, wire_bytes: u16) -> XcpHeader {
        match self {
            Self::Xcp(control) => control.header(path, wire_bytes),
            _ => XcpHeader::default(),
        }
    }
}

// Behind the macro that it uses.
#[cfg(test)]
mod history_tests;

/// A path of 100 Gb/s and 8 us for tests.
#[cfg(test)]
pub(crate) const PATH: Path = Path {
    line_rate: 100_000_000_000,
    base_rtt: 8_000_000,
    bdp: 100_000,
    window: 100_000,
    window_follows_rate: true,
    narrow_int: false,
    payload: 1000,
    full_packet: 1048,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// A window follows the rate, also where their product has more than 64 bits.
    #[test]
    fn a_window_follows_the_rate() {
        for window in [1 << 20, 1 << 60] {
            let pace = Path { window, ..PATH }.pace(PATH.line_rate / 2);
            assert_eq!(pace, Pace { rate: PATH.line_rate / 2, window: window / 2 });
        }
        assert_eq!(Path { window: 1, ..PATH }.pace(1).window, 1);
        assert_eq!(Path { window_follows_rate: false, ..PATH }.pace(1).window, PATH.window);
    }
}
