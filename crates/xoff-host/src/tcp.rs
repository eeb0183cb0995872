//! Settings of TCP that its recovery and its congestion controls share, section `tcp`.

use xoff_core::knobs::{Checked, Effect, because};
use xoff_core::{Bytes, Ps, choices, knobs};
use xoff_net::capability::{
    DEFLATION, DUPLICATES, FLIGHT, PROBES, REDUCTION, RENO, REPORTS, TCP_MARKS, TCP_WINDOW,
};

choices! {
    /// What the least timeout bounds from below.
    pub enum RtoFloor {
        /// The timeout: max(min_rto, SRTT + 4 RTTVAR) (RFC 6298 §2.4).
        Timeout = "timeout",
        /// Its term of variation: SRTT + max(min_rto, 4 RTTVAR), as Linux has it
        /// (tcp_rtt_estimator of torvalds/linux, net/ipv4/tcp_input.c).
        Variation = "variation",
    }
}

choices! {
    /// Increase of the window in congestion avoidance.
    pub enum Increase {
        /// One packet, once a window of bytes has been acknowledged (RFC 5681 §3.1; Linux).
        PerWindow = "per-window",
        /// SMSS x SMSS / cwnd bytes, rounded down, at every acknowledgement (RFC 5681 §3.1, eq. 3;
        /// ns-3 and htsim).
        PerAck = "per-ack",
        /// The same without rounding, as in ns-2. Rounding slows a window of 100 packets by 3 %.
        PerAckExact = "per-ack-exact",
    }
}

choices! {
    /// Which acknowledgements measure the round trip.
    pub enum RttSamples {
        /// All: each returns the time at which its packet was sent.
        All = "all",
        /// That of one timed packet at a time, which is never a retransmission (RFC 6298 §3,
        /// Karn).
        One = "one",
    }
}

choices! {
    /// The bytes that a loss halves.
    pub enum Halved {
        /// All that is unacknowledged, up to the window (RFC 5681 §3.1, FlightSize).
        Flight = "flight",
        /// What is estimated to be in the network: neither lost nor known to have arrived (RFC 6675
        /// §2, Pipe; ns-3).
        Pipe = "pipe",
        /// The congestion window, as in ns-2: fractions of a packet stay in the window, but not in
        /// the threshold. A timeout of the same packet halves again. NewReno only.
        Window = "window",
    }
}

choices! {
    /// How a window falls after a loss or a mark.
    pub enum ReductionKind {
        /// At once, so that nothing is sent until half of the packets in flight have arrived (RFC
        /// 6675 §5).
        AtOnce = "at-once",
        /// Over a round trip: proportional rate reduction (RFC 6937), with ns-3's rules for a
        /// recovery. Every acknowledgement of a part retransmits a packet, whatever is outstanding
        /// is sent again when nothing else is left, and only the first such acknowledgement
        /// restarts the timer (RFC 6582 §4: "Impatient").
        Prr = "prr",
    }
}

choices! {
    /// The congestion window after a recovery whose partial acknowledgements deflated it.
    pub enum AfterRecovery {
        /// The slow-start threshold (RFC 6582 §3.2, step 3).
        Threshold = "threshold",
        /// What is left of it, as in ns-2. Slow start then leads back to the threshold.
        Deflated = "deflated",
        /// The threshold, or a packet more than what is in flight if that is less (RFC 6582 §3.2,
        /// step 3, option 1, without its least flight of a packet; htsim).
        Flight = "flight",
    }
}

choices! {
    /// The rules of a recovery without selective acknowledgements.
    pub enum NewRenoRules {
        /// RFC 6582.
        Rfc6582 = "rfc6582",
        /// Those of htsim (`receivePacket` in `sim/tcp.cpp`). What was sent before a timeout is
        /// forgotten. Another recovery may begin as soon as all that was sent is acknowledged.
        /// The third duplicate lets no new data leave. A partial acknowledgement leaves a window
        /// of at least a packet.
        Htsim = "htsim",
    }
}

choices! {
    /// Bytes that selective acknowledgements add to an acknowledgement.
    pub enum SackBytes {
        /// None: all acknowledgements are equally long.
        None = "none",
        /// RFC 2018's option, padded to four bytes: 4 bytes and 8 for each block, up to four of
        /// them.
        Option = "option",
        /// 8 bytes for each block, up to three blocks (ns-2).
        Blocks = "blocks",
    }
}

impl SackBytes {
    /// Bytes for this many blocks of out-of-order packets at the receiver.
    #[must_use]
    pub fn bytes(self, blocks: u16) -> u16 {
        match self {
            Self::None => 0,
            Self::Option if blocks == 0 => 0,
            Self::Option => 4 + 8 * blocks.min(4),
            Self::Blocks => 8 * blocks.min(3),
        }
    }
}

knobs! {
    /// TCP: its recovery (`transport.recovery = "sack"`, `"newreno"` or `"sack1"`) and the start of
    /// its windows.
    pub struct TcpConfig in "tcp" {
        /// First congestion window, in packets (RFC 6928: 10).
        initial_window_packets: u32 = 10 => [Effect::Needs(TCP_WINDOW)],
        /// First slow-start threshold. 0: slow start continues until the first loss.
        initial_ssthresh: Bytes = Bytes(0) => [Effect::Needs(TCP_WINDOW)],
        /// The window grows only while at least half of it is used (RFC 7661). Without this the
        /// window of a flow limited by its own NIC grows without bound, as in ns-2 and ns-3.
        window_validation: bool = true => [Effect::Needs(FLIGHT)],
        /// Increase of the window in congestion avoidance (not of CUBIC's).
        increase: Increase = Increase::PerWindow => [Effect::Needs(RENO)],
        /// How the window falls after a loss or a mark.
        reduction: ReductionKind = ReductionKind::AtOnce => [Effect::Needs(REDUCTION)],
        /// The bytes that a loss halves, or reduces otherwise.
        halved: Halved = Halved::Flight => [Effect::Needs(FLIGHT)],
        /// A flow begins with a packet of one byte, whose answer lets it send data (a SYN).
        handshake: bool = false,
        /// A packet is lost once this many later packets have arrived (RFC 6675: 3; more where
        /// packets overtake each other: Linux raises it to the longest overtaking it has seen, up
        /// to 127). 0: only timeouts detect losses.
        duplicate_acks: u16 = 3,
        /// Bytes that selective acknowledgements add to an acknowledgement.
        sack_bytes: SackBytes = SackBytes::None => [Effect::Needs(REPORTS)],
        /// Least retransmission timeout. RFC 6298 has 1 s; published ns-2 scripts for data centres
        /// have 1 ms with timers of high resolution.
        min_rto: Ps = Ps::from_us(1000),
        /// What `min_rto` bounds: the timeout (RFC 6298), or only its term of variation, to which
        /// the mean round trip is added (Linux).
        rto_floor: RtoFloor = RtoFloor::Timeout => [Effect::Unless(|tcp| because(
            tcp.min_rto == tcp.max_rto,
            "min_rto = max_rto: all timeouts are the same",
        ))],
        /// Timeouts are noticed at multiples of this interval only. A flow then sends after up to
        /// 1/200 of the interval, the sooner the later it was noticed (htsim: 10 ms). 0: at once.
        timeout_scan: Ps = Ps(0),
        /// Longest retransmission timeout, also after doubling.
        max_rto: Ps = Ps::from_us(1_000_000),
        /// Retransmission timeout before the first measured round trip (RFC 6298: 1 s; the same
        /// scripts: the least timeout).
        initial_rto: Ps = Ps::from_us(1000),
        /// NewReno: a marked packet halves the window, at most once a window (RFC 3168).
        ecn: bool = false => [Effect::Needs(TCP_MARKS)],
        /// Round-trip time measured before the first data, by the handshake that opened the
        /// connection. 0: none.
        handshake_rtt: Ps = Ps(0),
        /// The first duplicate acknowledgements, below `duplicate_acks`, let a packet of new data
        /// leave each (RFC 3042). With `recovery = "sack"` the packets they report make room.
        limited_transmit: bool = true => [Effect::Needs(DUPLICATES)],
        /// Which acknowledgements measure the round trip. A timeout stays doubled until the next
        /// measurement.
        rtt_samples: RttSamples = RttSamples::All => [Effect::Needs(DUPLICATES)],
        /// The congestion window after a recovery without selective acknowledgements.
        after_recovery: AfterRecovery = AfterRecovery::Threshold => [Effect::Needs(DEFLATION)],
        /// The rules of a recovery without selective acknowledgements.
        newreno: NewRenoRules = NewRenoRules::Rfc6582 => [Effect::Needs(DEFLATION)],
        /// After this many timeouts in a row a sender probes: it sends one header at each timeout
        /// until one is answered (pFabric §4.2). 0: never.
        probe_after: u16 = 0 => [Effect::Needs(PROBES)],
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
                self.handshake_rtt == Ps(0)
                    && !(self.min_rto..=self.max_rto).contains(&self.initial_rto),
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

/// How a recovery shrinks the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shrink {
    /// By this many bytes.
    By(u64),
    /// To this many bytes, if it has more.
    To(u64),
}

impl Shrink {
    /// What is left of a window (bytes).
    #[must_use]
    pub fn of(self, window: u64) -> u64 {
        match self {
            Self::By(bytes) => window.saturating_sub(bytes),
            Self::To(bytes) => window.min(bytes),
        }
    }
}
