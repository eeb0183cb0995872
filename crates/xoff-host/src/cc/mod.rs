//! Congestion controls: a rate and a window from what acknowledgements say.
//!
//! One file an algorithm, with its settings and defaults. A control is told facts and the time, and
//! changes the flow's [`Pace`]; it sees neither packets nor queues nor the event wheel. To add one: a
//! file here, a variant of [`AnyControl`] and its lines, a name in
//! [`Congestion`](crate::transport::Congestion).

mod capped;
mod cubic;
mod dcqcn;
mod dcqcn_rdma15;
mod dctcp;
mod dctcp_tcp;
mod delay_window;
mod hpcc;
mod newreno;
mod pfabric;
mod window;
mod xcp;

use xoff_core::knobs::Knobs;
use xoff_core::{BitRate, Ps};
use xoff_net::Record;
use xoff_net::xcp::{XcpConfig, XcpHeader};

use crate::flow::Pace;
use crate::transport::TcpConfig;

pub use capped::Capped;
pub use cubic::{Cubic, CubicConfig};
pub use dcqcn::{Dcqcn, DcqcnConfig};
pub use dcqcn_rdma15::{DcqcnRdma15, DcqcnRdma15Config};
pub use dctcp::{Dctcp, DctcpConfig, DctcpStart};
pub use dctcp_tcp::{DctcpTcp, DctcpTcpConfig};
pub use delay_window::{DelayWindow, DelayWindowConfig};
pub use hpcc::{Hpcc, HpccConfig};
pub use newreno::NewReno;
pub use pfabric::{PFabric, PFabricConfig};
pub use xcp::Xcp;

/// What a control knows of its flow's path from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The NIC's rate (bit/s).
    pub line_rate: u64,
    /// Base RTT (ps).
    pub base_rtt: u64,
    /// Bandwidth-delay product (bytes).
    pub bdp: u64,
    /// The window before any scaling; `u64::MAX` without one.
    pub window: u64,
    /// Whether the window is scaled by rate / line rate.
    pub window_follows_rate: bool,
    /// Payload of a full packet.
    pub payload: u64,
    /// Bytes of a full packet on the wire.
    pub full_packet: u64,
}

impl Path {
    /// The pace that belongs to a rate.
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

/// What an acknowledgement says.
#[derive(Debug, Default)]
pub struct Ack<'a> {
    /// When it arrived (ps).
    pub now: u64,
    /// When that arrival was set: a timer of this instant that was set before has fired (ps).
    pub set: u64,
    /// Next byte the receiver expects.
    pub seq: u64,
    /// Bytes it acknowledged anew.
    pub acked: u64,
    /// Next byte the sender will send.
    pub snd_nxt: u64,
    /// How long the data packet and the acknowledgement took (ps); of a flow's last, only the latter.
    pub rtt: u64,
    /// Bytes on their way, after what it says; only with selective acknowledgements.
    pub in_flight: u64,
    /// Whether the flow recovers from a loss that `on_loss` told of, or did until now.
    pub recovering: bool,
    /// Whether the data packet was marked.
    pub marked: bool,
    /// What the data packet carried beside its payload.
    pub record: Option<&'a Record>,
}

/// Packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When that was found (ps).
    pub now: u64,
    /// Bytes that were sent and not acknowledged, up to the window: without what was sent beyond it
    /// since the first sign of the loss (RFC 5681 §3.2, FlightSize).
    pub flight: u64,
    /// Whether the flow has timed out since it last heard anything.
    pub again: bool,
}

/// What every congestion control does.
pub trait CongestionControl {
    /// An acknowledgement arrived.
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace);
    /// A congestion notification packet arrived.
    fn on_notification(&mut self, _path: &Path, _now: u64, _pace: &mut Pace) {}
    /// The time asked for by `next_timer` has come.
    fn on_timer(&mut self, _path: &Path, _now: u64, _pace: &mut Pace) {}
    /// A packet of so many bytes on the wire was sent.
    fn on_sent(&mut self, _path: &Path, _wire_bytes: u64, _pace: &mut Pace) {}
    /// Acknowledgements say that packets are lost: told once until all is acknowledged that was sent
    /// before. The acknowledgement follows with `on_ack`.
    fn on_loss(&mut self, _path: &Path, _loss: &Loss, _pace: &mut Pace) {}
    /// Nothing was heard for the retransmission timeout.
    fn on_timeout(&mut self, _path: &Path, _loss: &Loss, _pace: &mut Pace) {}
    /// Somebody who knows more opens the flow's window to so many bytes. What the control has learnt
    /// stays. Only those of TCP stand under such a one; they are in congestion avoidance then.
    fn reopen(&mut self, _path: &Path, _bytes: u64, _pace: &mut Pace) {}
    /// When this control next wants to be asked (ps).
    fn next_timer(&self) -> Option<u64> {
        None
    }
    /// When the timer of `next_timer` was set, for an order of events that depends on it (ps).
    fn timer_set(&self) -> u64 {
        0
    }
    /// Whether the last acknowledgement set the rate in a way that also moves the time of the packet
    /// already being paced.
    fn rebases_pacing(&self) -> bool {
        false
    }
}

/// One of the congestion controls.
#[derive(Clone, Debug)]
pub enum AnyControl {
    /// None.
    None,
    /// DCTCP.
    Dctcp(Dctcp),
    /// DCQCN, Mellanox form.
    Dcqcn(Dcqcn),
    /// DCQCN, paper form.
    DcqcnRdma15(DcqcnRdma15),
    /// HPCC.
    Hpcc(Hpcc),
    /// TCP NewReno.
    NewReno(NewReno),
    /// TCP CUBIC.
    Cubic(Cubic),
    /// DCTCP with TCP's window.
    DctcpTcp(DctcpTcp),
    /// XCP.
    Xcp(Xcp),
    /// pFabric.
    PFabric(PFabric),
    /// A window that keeps round trips near a target.
    DelayWindow(DelayWindow),
    /// Another one, whose rate has an upper limit.
    Capped(Capped),
}

macro_rules! each {
    ($self:expr, $control:ident => $call:expr, $none:expr) => {
        match $self {
            AnyControl::None => $none,
            AnyControl::Dctcp($control) => $call,
            AnyControl::Dcqcn($control) => $call,
            AnyControl::DcqcnRdma15($control) => $call,
            AnyControl::Hpcc($control) => $call,
            AnyControl::NewReno($control) => $call,
            AnyControl::Cubic($control) => $call,
            AnyControl::DctcpTcp($control) => $call,
            AnyControl::Xcp($control) => $call,
            AnyControl::PFabric($control) => $call,
            AnyControl::DelayWindow($control) => $call,
            AnyControl::Capped($control) => $call,
        }
    };
}

impl CongestionControl for AnyControl {
    #[inline(always)]
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        each!(self, control => control.on_ack(path, ack, pace), ());
    }
    fn on_notification(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        each!(self, control => control.on_notification(path, now, pace), ());
    }
    fn on_loss(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        each!(self, control => control.on_loss(path, loss, pace), ());
    }
    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        each!(self, control => control.on_timeout(path, loss, pace), ());
    }
    fn on_timer(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        each!(self, control => control.on_timer(path, now, pace), ());
    }
    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        each!(self, control => control.reopen(path, bytes, pace), ());
    }
    #[inline]
    fn on_sent(&mut self, path: &Path, wire_bytes: u64, pace: &mut Pace) {
        each!(self, control => control.on_sent(path, wire_bytes, pace), ());
    }
    #[inline]
    fn next_timer(&self) -> Option<u64> {
        each!(self, control => control.next_timer(), None)
    }
    #[inline]
    fn timer_set(&self) -> u64 {
        each!(self, control => control.timer_set(), 0)
    }
    #[inline]
    fn rebases_pacing(&self) -> bool {
        each!(self, control => control.rebases_pacing(), false)
    }
}

/// The settings of the control in use: new flows start from them.
#[derive(Clone, Debug)]
pub enum ControlConfig {
    /// No control.
    None,
    /// DCTCP.
    Dctcp(DctcpConfig),
    /// DCQCN, Mellanox form.
    Dcqcn(DcqcnConfig),
    /// DCQCN, paper form.
    DcqcnRdma15(DcqcnRdma15Config),
    /// HPCC.
    Hpcc(HpccConfig),
    /// TCP NewReno.
    NewReno(TcpConfig),
    /// TCP CUBIC.
    Cubic(CubicConfig, TcpConfig),
    /// DCTCP with TCP's window.
    DctcpTcp(DctcpTcpConfig, TcpConfig),
    /// XCP, with its first interval settled.
    Xcp(XcpConfig),
    /// pFabric.
    PFabric(PFabricConfig),
    /// A window that keeps round trips near a target.
    DelayWindow(DelayWindowConfig),
}

/// What data packets carry beside their payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Nothing.
    Nothing,
    /// INT entries.
    Int,
    /// A congestion header.
    Xcp,
}

impl AnyControl {
    /// The congestion header of a packet of so many bytes on the wire.
    #[must_use]
    pub fn xcp_header(&self, path: &Path, wire_bytes: u16) -> XcpHeader {
        match self {
            Self::Xcp(control) => control.header(path, wire_bytes),
            _ => XcpHeader::default(),
        }
    }
}

impl ControlConfig {
    /// A control for a new flow, and its first pace.
    #[inline]
    #[must_use]
    pub fn start(&self, path: &Path) -> (AnyControl, Pace) {
        match self {
            Self::None => (AnyControl::None, path.pace(path.line_rate)),
            Self::Dctcp(config) => {
                let (control, pace) = Dctcp::start(config, path);
                (AnyControl::Dctcp(control), pace)
            }
            Self::Dcqcn(config) => {
                (AnyControl::Dcqcn(Dcqcn::new(config, path)), path.pace(path.line_rate))
            }
            Self::DcqcnRdma15(config) => {
                (AnyControl::DcqcnRdma15(DcqcnRdma15::new(config, path)), path.pace(path.line_rate))
            }
            Self::Hpcc(config) => {
                (AnyControl::Hpcc(Hpcc::new(config, path)), path.pace(path.line_rate))
            }
            Self::NewReno(config) => {
                let (control, pace) = NewReno::start(config, path);
                (AnyControl::NewReno(control), pace)
            }
            Self::Cubic(config, tcp) => {
                let (control, pace) = Cubic::start(config, tcp, path);
                (AnyControl::Cubic(control), pace)
            }
            Self::DctcpTcp(config, tcp) => {
                let (control, pace) = DctcpTcp::start(config, tcp, path);
                (AnyControl::DctcpTcp(control), pace)
            }
            Self::Xcp(config) => {
                let (control, pace) = Xcp::start(config, path);
                (AnyControl::Xcp(control), pace)
            }
            Self::PFabric(config) => {
                let (control, pace) = PFabric::start(config, path);
                (AnyControl::PFabric(control), pace)
            }
            Self::DelayWindow(config) => {
                let (control, pace) = DelayWindow::start(config, path);
                (AnyControl::DelayWindow(control), pace)
            }
        }
    }

    /// Whether its flows ever ask for a time.
    #[must_use]
    pub fn has_timers(&self) -> bool {
        matches!(self, Self::Dcqcn(_) | Self::DcqcnRdma15(_))
    }

    /// Whether its flows react to marked packets. Where they do, switches have to mark.
    #[must_use]
    pub fn heeds_marks(&self) -> bool {
        match self {
            Self::Dctcp(_) | Self::Dcqcn(_) | Self::DcqcnRdma15(_) | Self::DctcpTcp(..) => true,
            Self::NewReno(tcp) => tcp.ecn,
            Self::None
            | Self::Hpcc(_)
            | Self::Cubic(..)
            | Self::Xcp(_)
            | Self::PFabric(_)
            | Self::DelayWindow(_) => false,
        }
    }

    /// Whether it sets a rate, which a window may follow. Others send at line rate, or set a window.
    #[must_use]
    pub fn sets_rate(&self) -> bool {
        match self {
            Self::Dctcp(_) | Self::Dcqcn(_) | Self::DcqcnRdma15(_) | Self::Hpcc(_) => true,
            Self::None
            | Self::NewReno(_)
            | Self::Cubic(..)
            | Self::DctcpTcp(..)
            | Self::Xcp(_)
            | Self::PFabric(_)
            | Self::DelayWindow(_) => false,
        }
    }

    /// Whether it goes by the base RTT that its flow's [`Path`] says, or by the bandwidth-delay product
    /// that follows from it, beside the transport's window.
    #[must_use]
    pub fn uses_base_rtt(&self) -> bool {
        match self {
            Self::Hpcc(_) | Self::DelayWindow(_) => true,
            Self::Dctcp(config) => config.uses_base_rtt(),
            Self::PFabric(config) => config.initial_window.0 == 0,
            Self::None
            | Self::Dcqcn(_)
            | Self::DcqcnRdma15(_)
            | Self::NewReno(_)
            | Self::Cubic(..)
            | Self::DctcpTcp(..)
            | Self::Xcp(_) => false,
        }
    }

    /// What data packets carry.
    #[must_use]
    pub fn carries(&self) -> Carries {
        match self {
            Self::Hpcc(_) => Carries::Int,
            Self::Xcp(_) => Carries::Xcp,
            _ => Carries::Nothing,
        }
    }

    /// How many bytes of a packet that takes, if it carries anything.
    #[must_use]
    pub fn header_bytes(&self) -> Option<u64> {
        match self {
            Self::Hpcc(config) => Some(config.int_overhead.0),
            Self::Xcp(config) => Some(config.header.0),
            _ => None,
        }
    }

    /// The same with what follows from the base RTT.
    #[must_use]
    pub fn settled(self, base_rtt: Ps) -> Self {
        match self {
            Self::Xcp(config) => Self::Xcp(config.settled(base_rtt)),
            other => other,
        }
    }

    /// The rate below which a flow never goes, where there is one, and the section that says it.
    #[must_use]
    pub fn min_rate(&self) -> Option<(&'static str, BitRate)> {
        match self {
            Self::Dctcp(config) => Some((DctcpConfig::SECTION, config.min_rate)),
            Self::Dcqcn(config) => Some((DcqcnConfig::SECTION, config.min_rate)),
            Self::DcqcnRdma15(config) => Some((DcqcnRdma15Config::SECTION, config.min_rate)),
            Self::Hpcc(config) => Some((HpccConfig::SECTION, config.min_rate)),
            _ => None,
        }
    }

    /// How long a receiver waits between two notifications of a flow, where it sends any (ps).
    #[must_use]
    pub fn notification_interval(&self) -> Option<u64> {
        match self {
            Self::DcqcnRdma15(config) => Some(config.notification_interval.0),
            _ => None,
        }
    }
}

/// A path of 100 Gb/s and 8 us for the tests of this folder.
#[cfg(test)]
const PATH: Path = Path {
    line_rate: 100_000_000_000,
    base_rtt: 8_000_000,
    bdp: 100_000,
    window: 100_000,
    window_follows_rate: true,
    payload: 1000,
    full_packet: 1048,
};
