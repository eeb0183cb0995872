//! Settings of a pipelined switch.

use xoff_core::knobs::{Effect, because};
use xoff_core::{Bytes, Ps, choices, knobs};

use crate::hop::pfc::{PauseConfig, Reaction, Scope, Thresholds};

choices! {
    /// The fate of a packet that leaves the pipeline while its egress queue is full.
    pub enum OnFull {
        /// It is dropped (the paper's PFC_wdrop, and CaPFC).
        Drop = "drop",
        /// The pipeline stops for all ports and classes until there is room (PFC_wstop).
        Stop = "stop",
    }
}

choices! {
    /// The owner of memory.
    pub enum MemoryKind {
        /// Each queue has its own.
        Dedicated = "dedicated",
        /// Each queue has a part of its own, and all share the rest.
        Shared = "shared",
    }
}

knobs! {
    /// A pipelined switch: its packet processor, and the memory of its queues. Each port has a
    /// queue per class at the ingress and at the egress.
    pub struct PipelineConfig in "pipeline" {
        /// Packets per second that the processor admits (CaPFC Table II: 1 or 0.5 Mpps).
        packet_rate: f64 = 1e6,
        /// Time from a packet's admission until it joins its egress queue. A switch has 25 us in
        /// all (DeTail §7.1); a packet of 1530 B at 1 Gb/s and a link of 6.6 us leave 6.16 us.
        /// There the crossbar takes 3.06 us of it.
        forwarding_delay: Ps = Ps(6_160_000),
        /// The fate of a packet with a full egress queue.
        on_full: OnFull = OnFull::Drop,
        /// The owner of memory.
        memory: MemoryKind = MemoryKind::Dedicated,
        /// Dedicated memory: size of each ingress queue (Table II: 60 KB).
        ingress_size: Bytes = Bytes(60_000) => [
            Effect::Unless(|pipeline| pipeline.unless(MemoryKind::Dedicated)),
        ],
        /// Dedicated memory: size of each egress queue (Table II: 60 KB).
        egress_size: Bytes = Bytes(60_000) => [
            Effect::Unless(|pipeline| pipeline.unless(MemoryKind::Dedicated)),
        ],
        /// Shared memory: each queue's own part (§IV-C-7: 8 KB).
        dedicated: Bytes = Bytes(8_000) => [
            Effect::Unless(|pipeline| pipeline.unless(MemoryKind::Shared)),
        ],
        /// Shared memory: the common part (§IV-C-7: 350 KB).
        pool: Bytes = Bytes(350_000) => [
            Effect::Unless(|pipeline| pipeline.unless(MemoryKind::Shared)),
        ],
        /// Shared memory: the most of the pool for one queue (§IV-C-7: 80 KB).
        queue_max: Bytes = Bytes(80_000) => [
            Effect::Unless(|pipeline| pipeline.unless(MemoryKind::Shared)),
        ],
        /// Shared memory: the most of the pool for the queues of one port and direction (§IV-C-7:
        /// 100 KB).
        port_max: Bytes = Bytes(100_000) => [
            Effect::Unless(|pipeline| pipeline.unless(MemoryKind::Shared)),
        ],
        /// Shared memory: the most of the pool for all ingress queues; 0: all of it.
        all_ingress_max: Bytes = Bytes(0) => [
            Effect::Unless(|pipeline| pipeline.unless(MemoryKind::Shared)),
        ],
        /// Shared memory: the most of the pool for all egress queues; 0: all of it.
        all_egress_max: Bytes = Bytes(0) => [
            Effect::Unless(|pipeline| pipeline.unless(MemoryKind::Shared)),
        ],
    }
}

impl PipelineConfig {
    /// The reason that a setting of this kind of memory has no effect, if it has none.
    fn unless(&self, memory: MemoryKind) -> Option<String> {
        because(
            self.memory != memory,
            match self.memory {
                MemoryKind::Dedicated => "pipeline.memory = \"dedicated\"",
                MemoryKind::Shared => "pipeline.memory = \"shared\"",
            },
        )
    }

    /// The most that an ingress queue and an egress queue can hold while all others are empty.
    #[must_use]
    pub fn capacities(&self) -> [Bytes; 2] {
        if self.memory == MemoryKind::Dedicated {
            return [self.ingress_size, self.egress_size];
        }
        let most = self.queue_max.min(self.port_max).min(self.pool);
        [self.all_ingress_max, self.all_egress_max].map(|of_all| {
            let most = if of_all.0 == 0 { most } else { most.min(of_all) };
            Bytes(self.dedicated.0 + most.0)
        })
    }

    /// Checks the settings. `packet` is the longest packet.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn check(&self, packet: Bytes) -> Result<(), (&'static str, String)> {
        if !(self.packet_rate >= 1.0 && self.packet_rate <= 1e12) {
            let message = "packet_rate must be from 1 to 1e12 packets per second".into();
            return Err(("packet_rate", message));
        }
        let shared = self.memory == MemoryKind::Shared;
        for (key, bytes) in [
            ("queue_max", self.queue_max),
            ("port_max", self.port_max),
            ("all_ingress_max", self.all_ingress_max),
            ("all_egress_max", self.all_egress_max),
        ] {
            if shared && bytes > self.pool {
                let message = format!(
                    "{key} ({bytes}) is more than the size of the pool \
                    ({})",
                    self.pool
                );
                return Err((key, message));
            }
        }
        if shared && self.queue_max > self.port_max {
            let message = format!(
                "queue_max ({}) is more than port_max ({}) allows all queues of a port",
                self.queue_max, self.port_max
            );
            return Err(("queue_max", message));
        }
        let keys = if shared { ["queue_max"; 2] } else { ["ingress_size", "egress_size"] };
        for (key, capacity) in keys.into_iter().zip(self.capacities()) {
            if capacity < packet {
                let message =
                    format!("{key} leaves a queue {capacity}: it must hold a packet of {packet}");
                return Err((key, message));
            }
        }
        Ok(())
    }

    /// The thresholds of an ingress queue. "The XOFF threshold is set by subtracting the headroom
    /// buffer from the MAX threshold" (CaPFC §III), unless it is configured.
    ///
    /// # Errors
    /// The key of section `pause` concerned, and why its value loses packets or is invalid.
    pub fn thresholds(
        &self,
        pause: &PauseConfig,
        reaction: &Reaction,
    ) -> Result<Thresholds, (&'static str, String)> {
        if pause.scope == Scope::None {
            return Ok(Thresholds::NEVER);
        }
        let [capacity, _] = self.capacities();
        let headroom = reaction.headroom();
        let loses = |key, xoff: Bytes, most: u64| {
            let message = format!(
                "xoff = {xoff} loses packets: up to {} arrive after a pause was requested, in {}, \
                 and an ingress queue holds {capacity}; it may be {} at most",
                Bytes(headroom),
                reaction.time(),
                Bytes(most)
            );
            Err((key, message))
        };
        let most = capacity.0.saturating_sub(headroom);
        let xoff = match pause.xoff.0 {
            0 => {
                let reserve = headroom + reaction.granularity();
                Thresholds::highest_xoff(capacity.0, 1, reserve).unwrap_or(0)
            }
            given => given,
        };
        if xoff > most || xoff == 0 {
            let key = if pause.xoff.0 == 0 { "scope" } else { "xoff" };
            return loses(key, Bytes(xoff), most);
        }
        pause.with_xoff(xoff, headroom)
    }

    /// The time between two admissions (ps).
    #[must_use]
    pub fn interval_ps(&self) -> u64 {
        (1e12 / self.packet_rate).round() as u64
    }
}
