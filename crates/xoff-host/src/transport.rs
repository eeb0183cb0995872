//! What all transports share: frames, windows, recovery of losses.

use xoff_core::knobs::{Checked, Effect, because};
use xoff_core::{Bytes, Ps, choices, knobs};
use xoff_net::capability::{
    ACK_HEADER, BASE_RTT, FLOW_BASE_RTT, NACK_INTERVAL, RATE_FOR_WINDOW, SENDER_DRIVEN,
    SHORT_TIMEOUT, TCP_MARKS, TCP_WINDOW, TIMEOUT,
};

pub use crate::cc::Congestion;
pub use crate::onramp::FlowControl;
pub use crate::receiver_driven::TransportKind;
pub use crate::recovery::Recovery;

knobs! {
    /// Frame sizes. The defaults are those of the HPCC simulator: 1000 B of payload, 48 B of headers
    /// (14 PPP, 20 IP, 8 UDP, 6 sequence), a 60 B acknowledgement for every data packet, no preamble.
    pub struct FrameConfig in "frame" {
        /// Payload of a full packet.
        payload: Bytes = Bytes(1000),
        /// Headers of a data packet, without INT.
        header: Bytes = Bytes(48),
        /// An acknowledgement, without INT (the smallest frame).
        ack: Bytes = Bytes(60),
        /// Headers of an acknowledgement before padding. With INT an acknowledgement has the length of
        /// these headers and the INT header, and at least that of `ack` (the HPCC simulator: 88 B with
        /// 42 B of INT).
        ack_header: Bytes = Bytes(46) => [Effect::Needs(ACK_HEADER)],
    }
}

impl FrameConfig {
    /// Checks the sizes.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    pub fn check(&self) -> Checked {
        const LONGEST: u64 = 60_000;
        if self.payload.0 == 0 {
            return Err(("payload", "payload must be above 0".into()));
        }
        if self.full_packet() > LONGEST || self.ack.0.max(self.ack_header.0) > LONGEST {
            let message = format!("a frame may have up to {LONGEST} bytes with its headers");
            return Err(("payload", message));
        }
        if self.ack.0 == 0 || self.header.0 == 0 {
            return Err(("header", "header and ack must be above 0B".into()));
        }
        Ok(())
    }

    /// Bytes of a full packet with its headers, without those of the congestion control.
    #[must_use]
    pub fn full_packet(&self) -> u64 {
        self.payload.0 + self.header.0
    }
}

choices! {
    /// What allocates rates to flows, in addition to their congestion control.
    pub enum AllocatorKind {
        /// Nothing.
        None = "none",
        /// Flowtune's allocator, section `flowtune`. `congestion` controls the flows without a rate.
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

choices! {
    /// Order in which a NIC serves its flows.
    pub enum RoundRobin {
        /// The flow that has been ready for longest: O(1) a packet.
        Ready = "ready",
        /// The next ready flow in order of arrival, as NICs of the HPCC simulator search for it:
        /// O(flows) a packet.
        Index = "index",
        /// The ready flow with the fewest bytes left to send, over all queues that are not paused;
        /// strictly by class where queues are classes (pFabric §4.2; BFC App. A.2: "NICs also follow SRF
        /// scheduling").
        Shortest = "shortest",
    }
}

knobs! {
    /// TCP: its recovery (`transport.recovery = "sack"`) and the start of its windows.
    pub struct TcpConfig in "tcp" {
        /// First congestion window, in packets (RFC 6928: 10).
        initial_window_packets: u32 = 10 => [Effect::Needs(TCP_WINDOW)],
        /// First slow-start threshold. 0: slow start continues until the first loss.
        initial_ssthresh: Bytes = Bytes(0) => [Effect::Needs(TCP_WINDOW)],
        /// A packet is lost once this many later packets have arrived (RFC 6675: 3). 0: only timeouts
        /// detect losses.
        duplicate_acks: u16 = 3,
        /// Least retransmission timeout. RFC 6298 has 1 s; published ns-2 scripts for data centres have
        /// 1 ms with timers of high resolution.
        min_rto: Ps = Ps::from_us(1000),
        /// Longest retransmission timeout, also after doubling.
        max_rto: Ps = Ps::from_us(1_000_000),
        /// Retransmission timeout before the first measured round trip (RFC 6298: 1 s; the same scripts:
        /// the least timeout).
        initial_rto: Ps = Ps::from_us(1000),
        /// NewReno: a marked packet halves the window, at most once a window (RFC 3168).
        ecn: bool = false => [Effect::Needs(TCP_MARKS)],
        /// After this many timeouts in a row a sender probes: it sends one header at each timeout until
        /// one is answered (pFabric §4.2). 0: never.
        probe_after: u16 = 0,
    }
}

impl TcpConfig {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    pub fn check(&self) -> Checked {
        for (wrong, key, message) in [
            (
                self.initial_window_packets == 0,
                "initial_window_packets",
                "initial_window_packets must be at least 1",
            ),
            (self.min_rto.0 == 0, "min_rto", "min_rto must be above 0"),
            (self.min_rto > self.max_rto, "min_rto", "min_rto must be at most max_rto"),
            (
                self.initial_rto < self.min_rto || self.initial_rto > self.max_rto,
                "initial_rto",
                "initial_rto must be from min_rto to max_rto",
            ),
        ] {
            if wrong {
                return Err((key, message.into()));
            }
        }
        Ok(())
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
        /// Base RTT for the window and for controls that need one. 0: derived, two propagation delays of
        /// the longest path and the serialisation of one full packet at each of its links.
        base_rtt: Ps = Ps(0) => [Effect::Needs(BASE_RTT)],
        /// Path whose base RTT the window and the congestion control of a flow use: the longest path (as
        /// in the HPCC simulator), or the flow's own. Use the latter if paths differ much.
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
        /// Space the packets of a flow by its rate. Without pacing only the window limits a flow, and must
        /// follow the rate. Models a NIC that sends whole packets only, so that a flow never sends less
        /// than one packet a round trip (SFC §5.2: Intel's E810).
        pacing: bool = true => [Effect::Needs(SENDER_DRIVEN)],
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
        /// selective repeat it skips what is known to have arrived; with NDP the sender repeats what its
        /// receiver has not answered; with Homa the receiver asks for what is missing. 0: never (right
        /// where nothing is lost). RoCE NICs use milliseconds; IRN's RTO_high is 320 us (IRN §4.1), and
        /// 1350 us in ConWeave's simulator.
        timeout: Ps = Ps(0) => [Effect::Needs(TIMEOUT)],
        /// The timeout of a flow with few packets in flight, with selective repeat: IRN's RTO_low is
        /// 100 us (IRN §4.1), 454 us in ConWeave's simulator. 0: `timeout` for all.
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
                transport.timeout.0 == 0,
                "transport.timeout = \"0ps\" means never",
            )),
        ],
        /// Where acknowledgements queue at switches and NICs.
        ack_class: AckClass = AckClass::Data => [Effect::Needs(SENDER_DRIVEN)],
        /// Order in which a NIC serves its flows.
        round_robin: RoundRobin = RoundRobin::Ready => [Effect::Needs(SENDER_DRIVEN)],
    }
}
