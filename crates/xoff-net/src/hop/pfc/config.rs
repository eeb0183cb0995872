//! Settings of priority flow control: `[pfc]` of a shared pool, `[pause]` of ingress queues.

use xoff_core::knobs::{Effect, because};
use xoff_core::{Bytes, Ps, choices, knobs};

knobs! {
    /// Priority flow control.
    pub struct PfcConfig in "pfc" {
        /// An ingress is paused when it holds this share of the free pool. BFC §6.2.1: 11 %
        /// ("when traffic from an input port occupies more than 11% of the free buffer"); the HPCC
        /// simulator: 1/8.
        threshold: f64 = 0.11,
        /// Guaranteed bytes of each ingress port, outside the pool (the HPCC simulator's 4 KiB).
        reserve: Bytes = Bytes(4096),
        /// Resume when an ingress holds this much less than the threshold (the HPCC simulator's 3 KiB).
        resume_offset: Bytes = Bytes(3072),
        /// Headroom of an ingress as a multiple of rate x propagation delay of its link: 2 cover the
        /// round trip of a pause, the third the frames being sent meanwhile (the HPCC simulator's 3).
        headroom_factor: u32 = 3,
        /// Bytes of a pause or resume frame on the wire: the smallest Ethernet frame (IEEE 802.1Qbb),
        /// or 43 as in the HPCC simulator (14 + 20 + 9).
        frame_size: Bytes = Bytes(64),
        /// Double the threshold for each doubling of a port's rate over the hosts' rate, as the HPCC
        /// simulator does.
        threshold_follows_rate: bool = false,
    }
}

choices! {
    /// What a pause speaks of.
    pub enum Scope {
        /// There is none: a full ingress queue drops.
        None = "none",
        /// All of the neighbour's port (pause frames, IEEE 802.3).
        Port = "port",
        /// One class of it (priority flow control, IEEE 802.1Qbb).
        Class = "class",
    }
}

knobs! {
    /// Flow control of ingress queues: those of a crossbar, or of a pipelined switch.
    pub struct PauseConfig in "pause" {
        /// Whether pauses are asked for, and what they speak of.
        scope: Scope = Scope::None,
        /// A class is paused when its drain bytes, those of its class and of more important ones, reach
        /// this; in a pipelined switch those of its class alone. 0: the most that leaves room for what
        /// arrives before a pause is felt.
        xoff: Bytes = Bytes(0) => [Effect::Unless(without_pauses)],
        /// It is resumed when they fall below this. 0: what arrives in that time, so that new packets come
        /// before the queue is empty (DeTail §6.1).
        xon: Bytes = Bytes(0) => [Effect::Unless(without_pauses)],
        /// How long after a frame's arrival switches and NICs obey it: T_R, two 512 bit times at 1 Gb/s
        /// (DeTail §6.1).
        response: Ps = Ps::from_ns(1_024) => [Effect::Unless(without_pauses)],
        /// How long a switch takes to put a frame at the head of its queue (DeTail §7.2.2, its software
        /// router: 48 us).
        generation_delay: Ps = Ps(0) => [Effect::Unless(without_pauses)],
        /// What a paused switch still sends because its hardware has it (DeTail §7.2.2, its software
        /// router: 6 KB).
        outstanding: Bytes = Bytes(0) => [Effect::Unless(without_pauses)],
    }
}

/// Why settings of pauses have no effect, if they have none.
fn without_pauses(pause: &PauseConfig) -> Option<String> {
    because(pause.scope == Scope::None, "pause.scope = \"none\"")
}
