//! Settings of a crossbar switch, and the thresholds of its ingresses.

use xoff_core::knobs::Checked;
use xoff_core::{Bytes, Ps, choices, knobs};

use crate::hop::pfc::{PauseConfig, Reaction, Scope, Thresholds};

use crate::packet::CLASSES;

choices! {
    /// What becomes of packets for a full egress.
    pub enum EgressOverflow {
        /// They wait at their ingress until there is room, as link-layer flow control requires: "we
        /// also require logic in the egress queues that prevents buffer overflows" (DeTail §5.2).
        Hold = "hold",
        /// A packet that has crossed is dropped, whatever its class.
        Drop = "drop",
        /// The last packets of the least important class are dropped, if that class is less
        /// important than that of the packet that has crossed; otherwise that packet.
        PushOut = "push-out",
        /// Each class has an equal part of the memory. A packet that has crossed is dropped if that
        /// of its class is full.
        Partition = "partition",
    }
}

knobs! {
    /// A switch with ingress and egress queues around a crossbar (`switch.architecture =
    /// "crossbar"`).
    pub struct CrossbarConfig in "crossbar" {
        /// Memory of each port's ingress queues (DeTail §7.1: 128 KB).
        ingress_size: Bytes = Bytes(131_072),
        /// Memory of each port's egress queues (DeTail §7.1: 128 KB).
        egress_size: Bytes = Bytes(131_072),
        /// What becomes of packets for a full egress: they wait at their ingress, or packets are
        /// dropped there.
        egress_overflow: EgressOverflow = EgressOverflow::Hold,
        /// Rate of the crossbar's lines, as a multiple of that of the switch's fastest port (DeTail
        /// §7.1: 4).
        speedup: f64 = 4.0,
        /// Time that the forwarding engine takes to find a packet's egress port (DeTail §7.1: 3.1
        /// us).
        forwarding_delay: Ps = Ps::from_ns(3_100),
        /// Iterations of iSlip per matching: log2 of 16 ports.
        iterations: u8 = 4,
        /// Classes at ingress, crossbar and egress, 1 to 8. Higher priorities count as the last
        /// class. 1: switches ignore priorities.
        classes: u8 = 8,
        /// Rate of an egress port, as a share of the line rate (DeTail §7.2.1, its software router:
        /// 0.98).
        rate_limit: f64 = 1.0,
    }
}

impl EgressOverflow {
    /// Whether a packet's class decides if it is dropped.
    fn by_class(self) -> bool {
        matches!(self, Self::PushOut | Self::Partition)
    }
}

impl CrossbarConfig {
    /// Checks the settings on their own.
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
            (
                self.classes == 1 && self.egress_overflow.by_class(),
                "egress_overflow",
                "packets of one class are dropped alike: set egress_overflow = \"drop\", or more \
                 classes"
                    .to_owned(),
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
        let each = !matches!(self.egress_overflow, EgressOverflow::Drop | EgressOverflow::PushOut);
        let least = Bytes(if each { u64::from(self.classes) * mtu } else { mtu });
        if self.egress_size < least {
            let of_each = if each { " of each class" } else { "" };
            let message = format!("egress_size must hold a packet of {mtu}B{of_each}: {least}");
            return Err(("egress_size", message));
        }
        if self.ingress_size.0 < mtu {
            return Err(("ingress_size", format!("ingress_size must hold a packet of {mtu}B")));
        }
        Ok(())
    }

    /// The thresholds at which an ingress pauses and resumes its neighbour.
    ///
    /// # Errors
    /// The key of section `pause` concerned, and why its value loses packets or is invalid.
    pub fn thresholds(
        &self,
        pause: &PauseConfig,
        reaction: &Reaction,
    ) -> Result<Thresholds, (&'static str, String)> {
        let classes = match pause.scope {
            Scope::None => return Ok(Thresholds::NEVER),
            Scope::Port => 1,
            Scope::Class => u64::from(self.classes),
        };
        let (size, headroom) = (self.ingress_size, reaction.headroom());
        let arrives = format!(
            "up to {} arrive after a pause was requested, in {}, for each class with a pause of \
             its own ({classes})",
            Bytes(headroom),
            reaction.time()
        );
        if pause.xoff.0 == 0 {
            let reserve = headroom + reaction.granularity();
            let xoff = Thresholds::highest_xoff(size.0, classes, reserve).ok_or_else(|| {
                let message = format!(
                    "ingress_size = {size} leaves no room below a threshold: {arrives}; set a \
                     larger ingress_size, or fewer classes"
                );
                ("scope", message)
            })?;
            return pause.with_xoff(xoff, headroom);
        }
        // DeTail's own thresholds leave out the granularity, as (1) does. To lose a packet that
        // way, all eight classes have to block at once.
        let all = classes == CLASSES as u64;
        let reserve = headroom + if all { 0 } else { reaction.granularity() };
        if classes * (pause.xoff.0 + reserve) > size.0 {
            let loses = format!("xoff = {} loses packets of an ingress of {size}", pause.xoff);
            let needed = Bytes(classes * (pause.xoff.0 + reserve));
            let remedy = match (size.0 / classes).saturating_sub(reserve) {
                0 => format!(
                    "no threshold leaves room for them; set crossbar.ingress_size = \"{needed}\" \
                     or more, or fewer crossbar.classes"
                ),
                most => format!(
                    "it may be {} at most, or set crossbar.ingress_size = \"{needed}\"",
                    Bytes(most)
                ),
            };
            return Err(("xoff", format!("{loses}: {arrives}; {remedy}")));
        }
        pause.with_xoff(pause.xoff.0, headroom)
    }
}
