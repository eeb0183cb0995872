//! Flow control of ingress queues by pauses (DeTail §5.2, §5.4, §6.1).
//!
//! An ingress counts *drain bytes* for each class: what it holds of that class and of more important
//! ones. Where they reach XOFF the neighbour is asked to pause the class "with the max duration", where
//! they fall below XON to resume it, "with the duration set to 0".

use xoff_core::{Bytes, Ps};

use super::config::{CrossbarConfig, PauseConfig, Scope};
use crate::packet::CLASSES;

/// What decides how much arrives after a pause was called for.
#[derive(Clone, Copy, Debug)]
pub struct Reaction {
    /// Bits per second of the link.
    pub rate: u64,
    /// Its propagation delay, with that of the transceivers.
    pub delay: Ps,
    /// Bytes of the longest packet.
    pub mtu: u64,
    /// Bytes of the frame that asks for a pause.
    pub frame: u64,
    /// How long after its arrival the neighbour obeys.
    pub response: Ps,
    /// How long the switch takes to make the frame.
    pub generation: Ps,
    /// What the neighbour's hardware sends in any case.
    pub outstanding: u64,
}

impl Reaction {
    /// How long a pause takes to be felt: "T = T_O + T_P + T_R + T_O + T_P" (DeTail §6.1, (1)), after the
    /// frame was made. T_O is the longest packet, which has just begun here or there.
    #[must_use]
    pub fn time(&self) -> Ps {
        let packet = self.mtu * 8_000_000_000_000 / self.rate;
        Ps(self.generation.0 + 2 * (packet + self.delay.0) + self.response.0)
    }

    /// Bytes that may arrive in that time.
    #[must_use]
    pub fn headroom(&self) -> u64 {
        let bits = u128::from(self.time().0) * u128::from(self.rate);
        bits.div_ceil(8_000_000_000_000) as u64 + self.outstanding
    }

    /// What (1) leaves out: the packet that reaches the threshold may pass it by all but a byte, and the
    /// frame itself takes its time on the link.
    #[must_use]
    pub fn granularity(&self) -> u64 {
        self.mtu - 1 + self.frame
    }
}

/// When to pause and when to resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Drain bytes from which on a class is paused.
    pub xoff: u64,
    /// Drain bytes below which it is resumed.
    pub xon: u64,
}

impl Thresholds {
    /// "We must leave 4,838B x 8 of buffer space for receiving packets after PFC generation": what an
    /// ingress of `size` bytes has beyond `reserve` for each of the `classes` that are paused apart;
    /// resumed so early that new packets come "before the ingress queue drains completely". `None` if
    /// nothing is left.
    #[must_use]
    pub fn new(size: u64, classes: u64, reserve: u64, headroom: u64) -> Option<Self> {
        let xoff = size.checked_sub(classes * reserve)? / classes;
        (xoff > 0).then_some(Self { xoff, xon: headroom.min(xoff) })
    }
}

impl PauseConfig {
    /// What decides how much arrives by a link of this rate (bit/s) and delay after a pause was called for.
    #[must_use]
    pub fn reaction(&self, rate: u64, delay: Ps, mtu: u64, frame: u64) -> Reaction {
        let (response, generation) = (self.response, self.generation_delay);
        Reaction { rate, delay, mtu, frame, response, generation, outstanding: self.outstanding.0 }
    }

    /// When an ingress pauses its neighbour and when it resumes it.
    ///
    /// # Errors
    /// The key concerned, and why its value loses packets or has no sense.
    pub fn thresholds(
        &self,
        crossbar: &CrossbarConfig,
        reaction: &Reaction,
    ) -> Result<Thresholds, (&'static str, String)> {
        let classes = match self.scope {
            Scope::None => return Ok(Thresholds { xoff: u64::MAX, xon: 0 }),
            Scope::Port => 1,
            Scope::Class => u64::from(crossbar.classes),
        };
        let (size, headroom) = (crossbar.ingress_size, reaction.headroom());
        let arrives = format!(
            "up to {} arrive after a pause was called for, in {}, for each of the classes that are paused \
             apart ({classes})",
            Bytes(headroom),
            reaction.time()
        );
        let mut thresholds = if self.xoff.0 == 0 {
            let reserve = headroom + reaction.granularity();
            Thresholds::new(size.0, classes, reserve, headroom).ok_or_else(|| {
                let message = format!(
                    "ingress_size = {size} leaves no room below a threshold: {arrives}; set a larger \
                     ingress_size, or fewer classes"
                );
                ("scope", message)
            })?
        } else {
            // DeTail's own thresholds leave out what (1) does; it takes all eight classes, blocked at
            // once, to lose a packet of it.
            let all = classes == CLASSES as u64;
            let reserve = headroom + if all { 0 } else { reaction.granularity() };
            if classes * (self.xoff.0 + reserve) > size.0 {
                let most = (size.0 / classes).saturating_sub(reserve);
                let message = format!(
                    "xoff = {} loses packets of an ingress of {size}: {arrives}; it may be up to {}",
                    self.xoff,
                    Bytes(most)
                );
                return Err(("xoff", message));
            }
            Thresholds { xoff: self.xoff.0, xon: headroom.min(self.xoff.0) }
        };
        if self.xon.0 > 0 {
            thresholds.xon = self.xon.0;
        }
        if thresholds.xon > thresholds.xoff {
            let message = format!(
                "xon = {} must not be more than xoff = {}",
                self.xon,
                Bytes(thresholds.xoff)
            );
            return Err(("xon", message));
        }
        Ok(thresholds)
    }
}

/// An ingress's share of the switch's memory, and what it has asked its neighbour for.
#[derive(Debug)]
struct Ingress {
    /// Bytes in all.
    held: u32,
    xoff: u32,
    xon: u32,
    /// Classes that the neighbour was asked to pause.
    paused: u8,
    bytes: [u32; CLASSES],
}

/// The pauses of one switch: who holds what, and what to say about it.
#[derive(Debug)]
pub(super) struct Pauses {
    ingresses: Vec<Ingress>,
    /// The neighbour's classes that each class stands for; the last one also for those that are not
    /// told apart. With one pause for all: all of them, at the last class.
    queues: [u8; CLASSES],
    /// Classes that are paused at all.
    pausable: u8,
}

impl Pauses {
    /// For ingresses with these thresholds, of which `classes` are told apart.
    #[must_use]
    pub(super) fn new(scope: Scope, classes: u8, thresholds: &[Thresholds]) -> Self {
        let last = classes - 1;
        let mut queues = std::array::from_fn(|class| 1 << class);
        let pausable = match scope {
            Scope::None => 0,
            // The drain bytes of the least important class are all bytes.
            Scope::Port => 1 << last,
            Scope::Class => u8::MAX >> (8 - classes),
        };
        queues[last as usize] = if scope == Scope::Port { u8::MAX } else { u8::MAX << last };
        let bounded = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let ingress = |thresholds: &Thresholds| Ingress {
            held: 0,
            xoff: bounded(thresholds.xoff),
            xon: bounded(thresholds.xon),
            paused: 0,
            bytes: [0; CLASSES],
        };
        Self { ingresses: thresholds.iter().map(ingress).collect(), queues, pausable }
    }

    /// Bytes an ingress holds.
    #[inline]
    #[must_use]
    pub(super) fn held(&self, port: u16) -> u32 {
        self.ingresses[port as usize].held
    }

    /// A packet of `class` joins an ingress. Returns the classes to pause now.
    #[inline]
    pub(super) fn join(&mut self, port: u16, class: u8, bytes: u16) -> u8 {
        let ingress = &mut self.ingresses[port as usize];
        ingress.held += u32::from(bytes);
        ingress.bytes[class as usize] += u32::from(bytes);
        if ingress.held < ingress.xoff || self.pausable == 0 {
            return 0;
        }
        let reached = self.pausable & ingress.drain_reaches(ingress.xoff) & !ingress.paused;
        ingress.paused |= reached;
        reached
    }

    /// A packet of `class` has left an ingress. Returns the classes to resume now.
    ///
    /// # Panics
    /// If more leaves than came: that is a bug.
    #[inline]
    pub(super) fn leave(&mut self, port: u16, class: u8, bytes: u16) -> u8 {
        let ingress = &mut self.ingresses[port as usize];
        let held = &mut ingress.bytes[class as usize];
        *held = held.checked_sub(u32::from(bytes)).expect("an ingress's bytes went negative");
        ingress.held -= u32::from(bytes);
        if ingress.paused == 0 {
            return 0;
        }
        let below = ingress.paused & !ingress.drain_reaches(ingress.xon);
        ingress.paused &= !below;
        below
    }

    /// The neighbour's queues that these classes stand for.
    #[must_use]
    pub(super) fn queues(&self, classes: u8) -> u8 {
        let each = (0..CLASSES).filter(|class| classes >> class & 1 == 1);
        each.fold(0, |all, class| all | self.queues[class])
    }

    /// The classes that an ingress holds paused.
    #[inline]
    #[must_use]
    pub(super) fn paused(&self, port: u16) -> u8 {
        self.ingresses[port as usize].paused
    }

    /// The neighbour's queues that an ingress holds paused.
    #[must_use]
    pub(super) fn holds_paused(&self, port: u16) -> u128 {
        u128::from(self.queues(self.paused(port)))
    }
}

impl Ingress {
    /// Classes whose drain bytes are `limit` or more.
    fn drain_reaches(&self, limit: u32) -> u8 {
        let mut drain = 0;
        let mut reached = 0;
        for (class, bytes) in self.bytes.iter().enumerate() {
            drain += bytes;
            reached |= u8::from(drain >= limit) << class;
        }
        reached
    }
}

#[cfg(test)]
#[path = "pause_tests.rs"]
mod tests;
