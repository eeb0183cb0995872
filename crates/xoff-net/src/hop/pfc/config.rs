//! Settings of priority flow control: `[pfc]` of a shared pool, `[pause]` of ingress queues.

use xoff_core::knobs::{Effect, because};
use xoff_core::{Bytes, Ps, choices, knobs};

knobs! {
    /// Priority flow control.
    pub struct PfcConfig in "pfc" {
        /// An ingress pauses its neighbour once it holds this share of the free pool. BFC §6.2.1:
        /// 11 % ("when traffic from an input port occupies more than 11% of the free buffer"); the
        /// HPCC simulator: 1/8.
        threshold: f64 = 0.11,
        /// Guaranteed bytes of each ingress port, outside the pool (the HPCC simulator's 4 KiB).
        reserve: Bytes = Bytes(4096),
        /// An ingress resumes its neighbour once it holds this much less than the threshold (the
        /// HPCC simulator's 3 KiB).
        resume_offset: Bytes = Bytes(3072),
        /// Headroom of an ingress, as a multiple of the rate x propagation delay of its link. Two
        /// cover the round trip of a pause; the third covers frames already being sent (the HPCC
        /// simulator's 3). On slow or short links they exceed it, and packets may be dropped:
        /// `xoff check` says how much a headroom has to hold.
        headroom_factor: u32 = 3,
        /// The headrooms of all ingresses and classes come from one pool that is this many times
        /// smaller than their sum (SONiC's `over_subscribe_ratio`, by default 2 there). A packet
        /// that finds the pool used up is dropped. 0: each has its headroom to itself.
        headroom_oversubscription: f64 = 0.0,
        /// Bytes of a pause or resume frame on the wire: the smallest Ethernet frame (IEEE
        /// 802.1Qbb), or 43 as in the HPCC simulator (14 + 20 + 9).
        frame_size: Bytes = Bytes(64),
        /// Double the threshold for each doubling of a port's rate over the hosts' rate, as the
        /// HPCC simulator does.
        threshold_follows_rate: bool = false,
        /// What the PFC watchdog of switches does to a queue that stays paused. NICs have none.
        watchdog: Watchdog = Watchdog::Off,
        /// Time for which a queue with packets must be paused before the watchdog releases it
        /// (SONiC's default). `run.watchdog` must be longer, or the run ends as stuck before that.
        watchdog_detection: Ps = Ps::from_us(200_000) => [Effect::Unless(without_watchdog)],
        /// Time without a pause after which the queue obeys pauses again (SONiC's default).
        watchdog_restoration: Ps = Ps::from_us(200_000) => [Effect::Unless(without_watchdog)],
    }
}

choices! {
    /// What a PFC watchdog does to a queue that stays paused.
    pub enum Watchdog {
        /// Nothing.
        Off = "off",
        /// Drops its packets, and until it is restored packets that arrive for it, or at its port
        /// with its class.
        Drop = "drop",
        /// Sends its packets in spite of the pause.
        Forward = "forward",
    }
}

/// The reason that settings of the watchdog have no effect, if they have none.
fn without_watchdog(pfc: &PfcConfig) -> Option<String> {
    because(pfc.watchdog == Watchdog::Off, "pfc.watchdog = \"off\"")
}

choices! {
    /// The unit of a pause.
    pub enum Scope {
        /// None: a full ingress queue drops.
        None = "none",
        /// The neighbour's whole port (pause frames, IEEE 802.3).
        Port = "port",
        /// One class of the neighbour's port (priority flow control, IEEE 802.1Qbb).
        Class = "class",
    }
}

knobs! {
    /// Flow control of ingress queues, in a crossbar or a pipelined switch.
    pub struct PauseConfig in "pause" {
        /// The unit of a pause, or "none".
        scope: Scope = Scope::None,
        /// A class is paused when its drain bytes reach this. Drain bytes are the bytes of the
        /// class and of more important classes; in a pipelined switch, of the class alone. 0: the
        /// highest value that leaves room for the bytes that arrive until a pause takes effect.
        xoff: Bytes = Bytes(0) => [Effect::Unless(without_pauses)],
        /// A class is resumed when its drain bytes fall below this. 0: the bytes that arrive until
        /// a resume takes effect, so that new packets arrive before the queue is empty (DeTail
        /// §6.1).
        xon: Bytes = Bytes(0) => [Effect::Unless(without_pauses)],
        /// Time from the arrival of a frame until switches and NICs obey it: T_R, two times 512 bit
        /// times at 1 Gb/s (DeTail §6.1).
        response: Ps = Ps::from_ns(1_024) => [Effect::Unless(without_pauses)],
        /// Time that a switch takes to put a frame at the head of its queue (DeTail §7.2.2, its
        /// software router: 48 us).
        generation_delay: Ps = Ps(0) => [Effect::Unless(without_pauses)],
        /// Bytes in a switch's hardware, which it sends in spite of a pause (DeTail §7.2.2, its
        /// software router: 6 KB).
        outstanding: Bytes = Bytes(0) => [Effect::Unless(without_pauses)],
    }
}

/// The reason that settings of pauses have no effect, if they have none.
fn without_pauses(pause: &PauseConfig) -> Option<String> {
    because(pause.scope == Scope::None, "pause.scope = \"none\"")
}
