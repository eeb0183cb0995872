//! The packet memory of a pipelined switch: dedicated to each queue, or shared (CaPFC §II-F).
//!
//! There is a queue per port, direction and class. A packet is buffered once: in its ingress queue
//! until the end of the pipeline, then in its egress queue.

use xoff_core::Bytes;
use xoff_core::invariant::{Checker, Part, equal};

use super::config::{MemoryKind, PipelineConfig};
use crate::hop::pfc::{Accounting, Recountable, Thresholds};
use crate::packet::CLASSES;
use crate::recount::{Checked, of_part};

/// The queues of one direction.
#[derive(Debug)]
struct Side {
    /// Bytes in each queue, by port and class.
    queues: Vec<[u32; CLASSES]>,
    /// Bytes of the pool in each port's queues, and in all of them.
    of_pool: Vec<u32>,
    of_pool_all: u32,
    /// Limits: of a queue outside the pool, and inside the pool of a queue, a port and all.
    own: u32,
    queue_max: u32,
    port_max: u32,
    all_max: u32,
}

impl Side {
    fn new(ports: usize, own: Bytes, [queue, port, all]: [Bytes; 3]) -> Self {
        let bounded = |bytes: Bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX);
        Self {
            queues: vec![[0; CLASSES]; ports],
            of_pool: vec![0; ports],
            of_pool_all: 0,
            own: bounded(own),
            queue_max: bounded(queue),
            port_max: bounded(port),
            all_max: bounded(all),
        }
    }

    /// Bytes of the pool in a queue of `bytes`.
    fn shared(&self, bytes: u32) -> u32 {
        bytes.saturating_sub(self.own)
    }

    /// Additional bytes of the pool for `bytes` more, if the limits of this side allow them.
    #[inline]
    fn needs(&self, port: u16, class: u8, bytes: u16) -> Option<u32> {
        let held = self.queues[usize::from(port)][usize::from(class)];
        let after = self.shared(held + u32::from(bytes));
        let more = after - self.shared(held);
        let fits = more == 0
            || after <= self.queue_max
                && self.of_pool[usize::from(port)] + more <= self.port_max
                && self.of_pool_all + more <= self.all_max;
        fits.then_some(more)
    }

    /// Sets the bytes of a queue. Returns its bytes of the pool before and after.
    #[inline]
    fn set(&mut self, port: u16, class: u8, bytes: u32) -> [u32; 2] {
        let held = &mut self.queues[usize::from(port)][usize::from(class)];
        let change = [*held, bytes].map(|bytes| bytes.saturating_sub(self.own));
        *held = bytes;
        let [before, after] = change;
        let of_port = &mut self.of_pool[usize::from(port)];
        *of_port = *of_port - before + after;
        self.of_pool_all = self.of_pool_all - before + after;
        change
    }

    fn add(&mut self, port: u16, class: u8, bytes: u16) {
        self.set(port, class, self.bytes(port, class) + u32::from(bytes));
    }

    /// # Panics
    /// If more bytes leave than arrived, which is a bug.
    fn take(&mut self, port: u16, class: u8, bytes: u16) {
        let left = self.bytes(port, class).checked_sub(u32::from(bytes));
        self.set(port, class, left.expect("a queue's bytes went negative"));
    }

    fn bytes(&self, port: u16, class: u8) -> u32 {
        self.queues[usize::from(port)][usize::from(class)]
    }

    /// Counts the bytes of the pool again.
    fn recount_pool(&self, side: &str) -> Checked {
        let mut all = 0;
        for (port, (queues, &counted)) in (0..).zip(self.queues.iter().zip(&self.of_pool)) {
            let bytes: u32 = queues.iter().map(|&bytes| self.shared(bytes)).sum();
            let place = || format!("bytes of the pool at {side} {port}");
            let compared = equal(Checker::Buffers, bytes, counted, place);
            compared.map_err(of_part(Part::port(port)))?;
            all += bytes;
        }
        let place = || format!("bytes of the pool at each {side}");
        equal(Checker::Buffers, all, self.of_pool_all, place)
    }
}

/// The memory of one switch.
#[derive(Debug)]
pub(in crate::arch) struct Memory {
    ingress: Side,
    egress: Side,
    pool: u32,
}

impl Memory {
    /// An empty memory.
    #[must_use]
    pub(super) fn new(config: &PipelineConfig, ports: usize) -> Self {
        if config.memory == MemoryKind::Dedicated {
            let side = |size| Side::new(ports, size, [Bytes(0); 3]);
            let (ingress, egress) = (side(config.ingress_size), side(config.egress_size));
            return Self { ingress, egress, pool: 0 };
        }
        let side = |all: Bytes| {
            let all = if all.0 == 0 { config.pool } else { all };
            Side::new(ports, config.dedicated, [config.queue_max, config.port_max, all])
        };
        let (ingress, egress) = (side(config.all_ingress_max), side(config.all_egress_max));
        Self { ingress, egress, pool: u32::try_from(config.pool.0).unwrap_or(u32::MAX) }
    }

    /// Whether an arriving packet may join an ingress queue.
    #[inline]
    #[must_use]
    pub(super) fn admits_ingress(&self, port: u16, class: u8, bytes: u16) -> bool {
        let used = self.ingress.of_pool_all + self.egress.of_pool_all;
        self.ingress
            .needs(port, class, bytes)
            .is_some_and(|more| more == 0 || used + more <= self.pool)
    }

    /// Whether a packet of ingress queue `(from, class)` may move to the egress queue of a port. It
    /// frees its memory at the ingress.
    #[inline]
    #[must_use]
    pub(super) fn admits_egress(&self, from: u16, port: u16, class: u8, bytes: u16) -> bool {
        let Some(more) = self.egress.needs(port, class, bytes) else { return false };
        let held = self.ingress.bytes(from, class);
        let freed = self.ingress.shared(held) - self.ingress.shared(held - u32::from(bytes));
        let used = self.ingress.of_pool_all + self.egress.of_pool_all;
        more <= freed || used + more - freed <= self.pool
    }

    /// A packet joins an ingress queue. Returns the bytes of the queue.
    #[inline]
    pub(super) fn join(&mut self, port: u16, class: u8, bytes: u16) -> u32 {
        self.ingress.add(port, class, bytes);
        self.ingress.bytes(port, class)
    }

    /// A packet leaves an ingress queue. Returns the bytes of the queue.
    #[inline]
    pub(super) fn leave_ingress(&mut self, port: u16, class: u8, bytes: u16) -> u32 {
        self.ingress.take(port, class, bytes);
        self.ingress.bytes(port, class)
    }

    /// A packet that has left its ingress queue joins an egress queue.
    #[inline]
    pub(super) fn join_egress(&mut self, port: u16, class: u8, bytes: u16) {
        self.egress.add(port, class, bytes);
    }

    /// A packet leaves an egress queue.
    #[inline]
    pub(super) fn leave_egress(&mut self, port: u16, class: u8, bytes: u16) {
        self.egress.take(port, class, bytes);
    }

    /// The bytes of an egress queue.
    pub(super) fn egress_bytes(&self, port: u16, class: u8) -> u32 {
        self.egress.bytes(port, class)
    }

    /// Counts the bytes of the pool again.
    ///
    /// # Errors
    /// A count that differs.
    pub(super) fn recount_pool(&self) -> Checked {
        self.ingress.recount_pool("ingress")?;
        self.egress.recount_pool("egress")
    }
}

/// Thresholds apply to one ingress queue, so to one class alone.
impl Accounting for Memory {
    type Ingress = Thresholds;

    #[inline]
    fn add(
        &mut self,
        number: u16,
        thresholds: &mut Thresholds,
        class: u8,
        bytes: u16,
        paused: u8,
    ) -> u8 {
        let held = u64::from(self.join(number, class, bytes));
        u8::from(held >= thresholds.xoff) << class & !paused
    }

    #[inline]
    fn remove(
        &mut self,
        number: u16,
        thresholds: &mut Thresholds,
        class: u8,
        bytes: u16,
        paused: u8,
    ) -> u8 {
        let held = u64::from(self.leave_ingress(number, class, bytes));
        u8::from(held < thresholds.xon) << class & paused
    }
}

impl Recountable for Memory {
    fn bytes(&self, number: u16, _thresholds: &Thresholds, class: u8) -> u32 {
        self.ingress.bytes(number, class)
    }

    fn reached(&self, number: u16, thresholds: &Thresholds) -> [u8; 2] {
        let reaches = |limit: u64| {
            let is_reached = |class: u8| u64::from(self.ingress.bytes(number, class)) >= limit;
            (0..CLASSES as u8).fold(0, |all, class| all | u8::from(is_reached(class)) << class)
        };
        [reaches(thresholds.xoff), reaches(thresholds.xon)]
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
