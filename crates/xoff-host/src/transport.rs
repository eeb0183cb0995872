//! Transport of every flow, section `transport`: which end decides, how much may be unacknowledged,
//! and the kinds of congestion control and recovery.

use xoff_core::knobs::{Effect, because};
use xoff_core::{Bytes, Ps, choices, knobs};
use xoff_net::capability::{
    BASE_RTT, FLOW_BASE_RTT, NACK_INTERVAL, RATE_FOR_WINDOW, SENDER_DRIVEN, SHORT_TIMEOUT, TIMEOUT,
};

pub use crate::cc::Congestion;
pub use crate::frame::FrameConfig;
pub use crate::nic::RoundRobin;
pub use crate::onramp::FlowControl;
pub use crate::receiver_driven::TransportKind;
pub use crate::recovery::Recovery;
pub use crate::tcp::TcpConfig;

choices! {
    /// What allocates rates to flows, in addition to their congestion control.
    pub enum AllocatorKind {
        /// Nothing.
        None = "none",
        /// Flowtune's allocator, section `flowtune`. `congestion` controls the flows without a
        /// rate.
        Flowtune = "flowtune",
    }
}

choices! {
    /// How much of a flow may be unacknowledged.
    pub enum Window {
        /// One bandwidth-delay product: base RTT (`base_rtt_of`) x the host's rate.
        Bdp = "bdp",
        /// `window_size`.
        Fixed = "fixed",
        /// Any amount.
        Unlimited = "unlimited",
    }
}

choices! {
    /// Path whose base RTT a flow uses.
    pub enum BaseRttOf {
        /// The longest path of the network.
        Longest = "longest",
        /// The path between the flow's two hosts.
        Pair = "pair",
    }
}

choices! {
    /// Where acknowledgements queue.
    pub enum AckClass {
        /// With the data, in the class of their flow.
        Data = "data",
        /// In the control queue, ahead of all data.
        Control = "control",
    }
}

knobs! {
    /// Transport of every flow.
    pub struct TransportConfig in "transport" {
        /// Which end of a flow decides what is sent.
        kind: TransportKind = TransportKind::Sender,
        /// Congestion control.
        congestion: Congestion = Congestion::None => [Effect::Needs(SENDER_DRIVEN)],
        /// Allocator of rates, in addition to the congestion control.
        allocator: AllocatorKind = AllocatorKind::None => [Effect::Needs(SENDER_DRIVEN)],
        /// How much of a flow may be unacknowledged.
        window: Window = Window::Bdp => [Effect::Needs(SENDER_DRIVEN)],
        /// The window with `window = "fixed"`.
        window_size: Bytes = Bytes(0) => [
            Effect::Needs(SENDER_DRIVEN),
            Effect::Unless(|transport| match transport.window {
                Window::Fixed => None,
                Window::Bdp => Some("transport.window = \"bdp\"".into()),
                Window::Unlimited => Some("transport.window = \"unlimited\"".into()),
            }),
        ],
        /// Base RTT for the window and for controls that need one. 0: derived, two propagation
        /// delays of the longest path and the serialisation of one full packet at each of its
        /// links.
        base_rtt: Ps = Ps(0) => [Effect::Needs(BASE_RTT)],
        /// Path whose base RTT the window and the congestion control of a flow use: the longest
        /// path (as in the HPCC simulator), or the flow's own. Use the latter if paths differ much.
        base_rtt_of: BaseRttOf = BaseRttOf::Longest => [Effect::Needs(FLOW_BASE_RTT)],
        /// Scale the window by rate / line rate (HPCC and DCTCP of the HPCC simulator).
        window_follows_rate: bool = false => [
            Effect::Needs(SENDER_DRIVEN),
            Effect::Unless(|transport| because(
                transport.window == Window::Unlimited,
                "transport.window = \"unlimited\" cannot follow a rate",
            )),
            Effect::Needs(RATE_FOR_WINDOW),
        ],
        /// Space the packets of a flow by its rate. Without pacing only the window limits a flow,
        /// and must follow the rate. Models a NIC that sends whole packets only, so that a flow
        /// never sends less than one packet a round trip (SFC §5.2: Intel's E810).
        pacing: bool = true => [Effect::Needs(SENDER_DRIVEN)],
        /// Space packets by the flow's rate. Otherwise by the rate of its link, so that the rate
        /// only counts where the window follows it (the HPCC simulator's RATE_BOUND 0).
        rate_bound: bool = true => [
            Effect::Needs(SENDER_DRIVEN),
            Effect::Needs(RATE_FOR_WINDOW),
            Effect::Unless(|transport| because(
                !transport.pacing,
                "transport.pacing = false does not space packets",
            )),
        ],
        /// Flow control of the sender, in addition to its congestion control.
        flow_control: FlowControl = FlowControl::None => [Effect::Needs(SENDER_DRIVEN)],
        /// Recovery from losses.
        recovery: Recovery = Recovery::GoBackN => [Effect::Needs(SENDER_DRIVEN)],
        /// Least time between two requests for the same missing packet (HPCC simulator: 500 us).
        nack_interval: Ps = Ps::from_us(500) => [
            Effect::Needs(SENDER_DRIVEN),
            Effect::Needs(NACK_INTERVAL),
        ],
        /// A flow without progress for this long goes back to its first unacknowledged byte. With
        /// selective repeat it skips what is known to have arrived; with NDP the sender repeats
        /// what its receiver has not answered; with Homa the receiver asks for what is missing. 0:
        /// never (right where nothing is lost). RoCE NICs use milliseconds; IRN's RTO_high is
        /// 320 us (IRN §4.1), and 1350 us in ConWeave's simulator.
        timeout: Ps = Ps(0) => [Effect::Needs(TIMEOUT)],
        /// The timeout of a flow with few packets in flight, with selective repeat: IRN's RTO_low
        /// is 100 us (IRN §4.1), 454 us in ConWeave's simulator. 0: `timeout` for all.
        timeout_low: Ps = Ps::from_us(100) => [
            Effect::Needs(SENDER_DRIVEN),
            Effect::Needs(SHORT_TIMEOUT),
            Effect::Unless(|transport| because(
                transport.timeout.0 == 0,
                "transport.timeout = \"0ps\" means never",
            )),
        ],
        /// Up to this many packets are few (IRN §4.1: N = 3).
        timeout_low_packets: u16 = 3 => [
            Effect::Needs(SENDER_DRIVEN),
            Effect::Needs(SHORT_TIMEOUT),
            Effect::Unless(|transport| because(
                transport.timeout_low.0 == 0 || transport.timeout_low == transport.timeout,
                "all flows have the same timeout (transport.timeout_low)",
            )),
            Effect::Unless(|transport| because(
                transport.timeout.0 == 0,
                "transport.timeout = \"0ps\" means never",
            )),
        ],
        /// Where acknowledgements queue at switches and NICs.
        ack_class: AckClass = AckClass::Data => [Effect::Needs(SENDER_DRIVEN)],
        /// Order in which a NIC serves its flows.
        round_robin: RoundRobin = RoundRobin::Ready => [Effect::Needs(SENDER_DRIVEN)],
        /// Acknowledgements take turns with the flows that post packets. Otherwise they go first,
        /// in turns by flow.
        posted_acks: bool = true => [
            Effect::Needs(SENDER_DRIVEN),
            Effect::Unless(|transport| because(
                transport.round_robin != RoundRobin::Posted,
                "transport.round_robin is not \"posted\"",
            )),
        ],
        /// Packets that a flow may have at the NIC, the one in service included (htsim: 3).
        posted_packets: u8 = 3 => [
            Effect::Needs(SENDER_DRIVEN),
            Effect::Unless(|transport| because(
                transport.round_robin != RoundRobin::Posted,
                "transport.round_robin is not \"posted\"",
            )),
        ],
    }
}
