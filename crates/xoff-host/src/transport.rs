//! What all transports share: frames, windows, recovery of losses.

use xoff_core::{Bytes, Ps, choices, knobs};

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
        /// Headers of an acknowledgement before padding; with INT it is as long as these and the INT
        /// header, but not shorter than `ack` (the HPCC simulator: 88 B with 42 B of INT).
        ack_header: Bytes = Bytes(46),
    }
}

choices! {
    /// Congestion controls.
    pub enum Congestion {
        /// None: line rate, limited by the window if there is one.
        None = "none",
        /// DCTCP.
        Dctcp = "dctcp",
        /// DCQCN as Mellanox's NICs do it.
        Dcqcn = "dcqcn",
        /// DCQCN as in its paper and first simulator.
        DcqcnRdma15 = "dcqcn-rdma15",
        /// HPCC.
        Hpcc = "hpcc",
        /// TCP NewReno: slow start, congestion avoidance, half for a loss.
        NewReno = "newreno",
        /// TCP CUBIC.
        Cubic = "cubic",
        /// DCTCP with TCP's window.
        DctcpTcp = "dctcp-tcp",
        /// XCP, in hosts and switches.
        Xcp = "xcp",
        /// pFabric: a first window of a bandwidth-delay product, less after timeouts only, section
        /// `pfabric`.
        PFabric = "pfabric",
        /// A window that keeps round trips near a target (BFC App. A.1), section `delay_window`.
        DelayWindow = "delay-window",
    }
}

choices! {
    /// Who decides what is sent.
    pub enum TransportKind {
        /// The sender: a congestion control, a window, or nothing.
        Sender = "sender",
        /// NDP: the receiver pulls what does not go at once, section `ndp`.
        Ndp = "ndp",
        /// Homa: the receiver grants what does not go at once, section `homa`.
        Homa = "homa",
        /// ExpressPass: a packet for each credit of the receiver, section `expresspass`.
        ExpressPass = "expresspass",
    }
}

choices! {
    /// Who hands out rates, beside the congestion controls of the flows.
    pub enum AllocatorKind {
        /// Nobody.
        None = "none",
        /// Flowtune's allocator, section `flowtune`: `congestion` is that of flows without a rate.
        Flowtune = "flowtune",
    }
}

choices! {
    /// How much of a flow may be unacknowledged.
    pub enum Window {
        /// One bandwidth-delay product: base RTT (`base_rtt_of`) x the host's rate.
        Bdp = "bdp",
        /// What `window_size` says.
        Fixed = "fixed",
        /// Any amount.
        Unlimited = "unlimited",
    }
}

choices! {
    /// Whose base RTT a flow knows.
    pub enum BaseRttOf {
        /// That of the network's longest path, whatever path it takes.
        Longest = "longest",
        /// That of the path between its two hosts.
        Pair = "pair",
    }
}

choices! {
    /// What holds a flow's packets back beside its congestion control.
    pub enum FlowControl {
        /// Nothing at the sender.
        None = "none",
        /// The one-way delay of its packets, section `onramp`.
        OnRampLike = "onramp-like",
    }
}

choices! {
    /// What happens after a loss.
    pub enum Recovery {
        /// The receiver asks for the missing packet and drops all later ones (RoCE).
        GoBackN = "go-back-n",
        /// The switch that dropped a packet tells its sender, which sends that packet again
        /// (BFC §6.2.1, HPCC-PFC: "perfect retransmission").
        Perfect = "perfect",
        /// The receiver keeps what comes out of order, and the sender repeats what is missing (IRN).
        SelectiveRepeat = "selective-repeat",
        /// Selective acknowledgements and a timeout from measured round trips, section `tcp` (RFC 6675,
        /// RFC 6298).
        Sack = "sack",
    }
}

choices! {
    /// Where acknowledgements queue.
    pub enum AckClass {
        /// With the data, in their flow's class.
        Data = "data",
        /// In the control queue, ahead of all data.
        Control = "control",
    }
}

choices! {
    /// Whose turn it is at a NIC.
    pub enum RoundRobin {
        /// The flow that has been ready for longest: O(1) a packet.
        Ready = "ready",
        /// The next ready flow in the order of arrival, as the HPCC simulator's NICs search for it:
        /// O(flows) a packet.
        Index = "index",
        /// The ready flow with the least left to send over all queues that are not paused; strictly by
        /// class where queues are classes (pFabric §4.2; BFC App. A.2: "NICs also follow SRF
        /// scheduling").
        Shortest = "shortest",
    }
}

knobs! {
    /// TCP: its recovery (`transport.recovery = "sack"`) and the start of its windows.
    pub struct TcpConfig in "tcp" {
        /// First congestion window, in packets (RFC 6928: 10).
        initial_window_packets: u32 = 10,
        /// Up to this window a flow begins with slow start; 0: up to its first loss.
        initial_ssthresh: Bytes = Bytes(0),
        /// A packet is lost once so many packets after it have arrived (RFC 6675: 3); 0: losses show by
        /// timeouts only.
        duplicate_acks: u16 = 3,
        /// Least retransmission timeout. RFC 6298 has 1 s; published ns-2 scripts for data centres have
        /// 1 ms with timers of high resolution.
        min_rto: Ps = Ps::from_us(1000),
        /// Longest retransmission timeout, also after doubling.
        max_rto: Ps = Ps::from_us(1_000_000),
        /// Retransmission timeout before the first measured round trip (RFC 6298: 1 s; the same scripts:
        /// as the least).
        initial_rto: Ps = Ps::from_us(1000),
        /// NewReno: whether a marked packet halves the window, no more than once a window (RFC 3168).
        ecn: bool = false,
        /// After so many timeouts in a row a sender probes: it sends headers only, one each timeout, until
        /// one is answered (pFabric §4.2); 0: never.
        probe_after: u16 = 0,
    }
}

knobs! {
    /// Transport of every flow.
    pub struct TransportConfig in "transport" {
        /// Who decides what is sent.
        kind: TransportKind = TransportKind::Sender,
        /// Congestion control.
        congestion: Congestion = Congestion::None,
        /// Who hands out rates beside it.
        allocator: AllocatorKind = AllocatorKind::None,
        /// How much of a flow may be unacknowledged.
        window: Window = Window::Bdp,
        /// The window, where it is fixed.
        window_size: Bytes = Bytes(0),
        /// Base RTT for the window and the controls that need one; 0: derived, two propagation delays
        /// of the longest path and one full packet's serialisation at each of its links.
        base_rtt: Ps = Ps(0),
        /// Whose base RTT a flow's window and congestion control go by: that of the longest path (what the
        /// HPCC simulator does), or that of the flow's own. Paths that differ by much need the latter.
        base_rtt_of: BaseRttOf = BaseRttOf::Longest,
        /// Scale the window by rate / line rate (HPCC and DCTCP of the HPCC simulator).
        window_follows_rate: bool = false,
        /// Whether a flow's rate spaces its packets. Without, its window alone decides, which then must
        /// follow the rate: a NIC that cannot hold a part of a packet, so that a flow never goes below
        /// one packet a round trip (SFC §5.2: Intel's E810).
        pacing: bool = true,
        /// What holds a flow's packets back beside its congestion control.
        flow_control: FlowControl = FlowControl::None,
        /// What happens after a loss.
        recovery: Recovery = Recovery::GoBackN,
        /// Least time between two requests for the same missing packet (HPCC simulator: 500 us).
        nack_interval: Ps = Ps::from_us(500),
        /// A flow without progress for so long goes back to its first unacknowledged byte, and with
        /// selective repeat passes over what is known to have arrived; with NDP it sends again what its
        /// receiver has not answered for, and with Homa receivers ask for what is missing. 0: never (right
        /// where nothing is ever lost). RoCE NICs use milliseconds; IRN's RTO_high is 320 us (IRN §4.1),
        /// 1350 us in ConWeave's simulator.
        timeout: Ps = Ps(0),
        /// The same for a flow with few packets in flight, with selective repeat: IRN's RTO_low is
        /// 100 us (IRN §4.1), 454 us in ConWeave's simulator. 0: `timeout` for all.
        timeout_low: Ps = Ps::from_us(100),
        /// Up to so many packets are few (IRN §4.1: N = 3).
        timeout_low_packets: u16 = 3,
        /// Where acknowledgements queue at switches and NICs.
        ack_class: AckClass = AckClass::Data,
        /// Whose turn it is at a NIC.
        round_robin: RoundRobin = RoundRobin::Ready,
    }
}
