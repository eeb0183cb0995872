//! Settings of a crossbar switch and of its flow control.

use xoff_core::knobs::{Checked, Effect, because};
use xoff_core::{Bytes, Ps, choices, knobs};

use crate::packet::CLASSES;

knobs! {
    /// A switch with ingress and egress queues around a crossbar (`switch.architecture = "crossbar"`).
    pub struct CrossbarConfig in "crossbar" {
        /// Memory of each port's ingress queues (DeTail §7.1: 128 KB).
        ingress_size: Bytes = Bytes(131_072),
        /// Memory of each port's egress queues (DeTail §7.1: 128 KB).
        egress_size: Bytes = Bytes(131_072),
        /// Rate of the crossbar's lines, as a multiple of that of the switch's fastest port (DeTail §7.1:
        /// 4).
        speedup: f64 = 4.0,
        /// How long the forwarding engine takes to find a packet's egress port (DeTail §7.1: 3.1 us).
        forwarding_delay: Ps = Ps::from_ns(3_100),
        /// Iterations of iSlip a matching: log2 of 16 ports.
        iterations: u8 = 4,
        /// Classes told apart at ingress, crossbar and egress, 1 to 8; the last one takes in those after
        /// it. 1: priorities mean nothing to switches.
        classes: u8 = 8,
        /// Share of the line rate that an egress port sends at (DeTail §7.2.1, its software router: 0.98).
        rate_limit: f64 = 1.0,
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

impl CrossbarConfig {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    pub fn check(&self) -> Checked {
        for (wrong, key, message) in [
            (
                !(1.0..=1e3).contains(&self.speedup),
                "speedup",
                "speedup is 1 to 1000 times the rate of the fastest port".to_owned(),
            ),
            (
                self.iterations == 0,
                "iterations",
                "a matching takes at least one iteration".to_owned(),
            ),
            (
                !(1..=CLASSES as u8).contains(&self.classes),
                "classes",
                format!("classes are 1 to {CLASSES}"),
            ),
            (
                !(0.01..=1.0).contains(&self.rate_limit),
                "rate_limit",
                "rate_limit is a share of the line rate: 0.01 to 1".to_owned(),
            ),
        ] {
            if wrong {
                return Err((key, message));
            }
        }
        Ok(())
    }

    /// Checks that queues hold a packet of `mtu` bytes.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    pub fn check_packet(&self, mtu: u64) -> Checked {
        let classes = u64::from(self.classes);
        if self.egress_size.0 < classes * mtu {
            let message = format!(
                "egress_size must hold a packet of {mtu}B of each class: {}",
                Bytes(classes * mtu)
            );
            return Err(("egress_size", message));
        }
        if self.ingress_size.0 < mtu {
            return Err(("ingress_size", format!("ingress_size must hold a packet of {mtu}B")));
        }
        Ok(())
    }
}
