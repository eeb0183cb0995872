//! The packet record, and the pool of all packets.
//!
//! A packet keeps its place in the pool from its first link to its last. Queues are linked lists
//! through [`Packet::next`], so a hop moves no bytes and allocates nothing.

pub use xoff_core::ids::CLASSES;

use xoff_core::Digest;
use xoff_core::prefetch::prefetch;

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Payload from a flow's sender.
    Data,
    /// A data packet without its payload, which a switch removed.
    Trimmed,
    /// A trimmed packet that a switch returns to its sender.
    Returned,
    /// Acknowledgement of all bytes before `seq`.
    Ack,
    /// Report of missing data at `seq`.
    Nack,
    /// A receiver allows a sender to send a number of bytes more.
    Pull,
    /// A sender requests credits from its receiver, or ends them (ExpressPass).
    Request,
    /// Congestion notification (DCQCN's CNP).
    Notification,
    /// A frame between two neighbours that pauses or resumes queues.
    LinkControl,
    /// A switch asks a sender to pause one flow (SFC's BTS).
    BackToSender,
    /// A receiver allows a sender to send one packet. Switches shape these (ExpressPass).
    Credit,
    /// Bytes of a control connection between two hosts. Switches treat it as an acknowledgement,
    /// but it can be as long as data.
    Segment,
}

impl Kind {
    /// Its bit in a set of kinds.
    #[inline]
    #[must_use]
    pub const fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// Frames from switches, which may be for the switch that receives them, and credits, which it
/// shapes. No load balancer chooses their port.
pub(crate) const SIGNALS: u16 =
    Kind::LinkControl.bit() | Kind::BackToSender.bit() | Kind::Credit.bit();

/// Bits of [`Packet::flags`]; the upper three bits hold the traffic class.
pub mod flag {
    /// Congestion experienced (ECN CE), or its echo on an acknowledgement.
    pub const MARKED: u8 = 1;
    /// BFC: this packet holds one count of its ingress's pause counter.
    pub const COUNTED: u8 = 2;
    /// The sender has already received an acknowledgement for this flow.
    pub const PROGRESSED: u8 = 4;
    /// BFC on Tofino2: this packet counts in its flow's size, and its header returns once it has
    /// left.
    pub const RECIRCULATED: u8 = 8;
    /// The sender has labelled the flow as part of an incast (BFC App. A.7).
    pub const LABELLED: u8 = 16;
    /// First bit of the class.
    pub const CLASS_SHIFT: u32 = 5;

    // Each flag has its own bit.
    const _: () =
        assert!(MARKED + COUNTED + PROGRESSED + RECIRCULATED + LABELLED == (1 << CLASS_SHIFT) - 1);
}

/// The queue number of packets that no pause of a queue can stop: the control queue.
pub const CONTROL_QUEUE: u8 = u8::MAX;
/// A set of data queues of a port, one bit each.
pub type QueueMask = u128;
/// No packet, no side record.
pub const NONE: u32 = u32::MAX;

/// A packet on the wire or in a queue: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// See [`crate::header`]. Trimmed and returned: the first byte that was carried. NDP's answers
    /// and pulls: bytes received without a gap.
    pub seq: u64,
    /// See [`crate::header`]. NDP, data: the flow's size (bytes); its answers: the answered packet,
    /// or the arrival of the last byte.
    pub stamp: u64,
    /// In a queue: time of enqueue (ps). On the way to another partition: time of arrival there.
    pub time: u64,
    /// In a queue: the packet behind it. On the way to another partition: the port of its arrival.
    pub next: u32,
    /// Its side record, or NONE.
    pub record: u32,
    /// Low half of the flow's number.
    pub flow: u32,
    /// Sending host.
    pub src: u32,
    /// Destination host.
    pub dst: u32,
    /// Source and destination port of the 5-tuple, as one number. Load balancers and flow tables
    /// hash it together with the addresses. Link control: see [`crate::header`].
    pub label: u32,
    /// The sender's own number for its half of the flow.
    pub sender: u32,
    /// See [`crate::header`]. NDP, data: bytes that switches have returned; its answers and pulls:
    /// bytes pulled so far.
    pub remaining: u32,
    /// Bytes on the wire.
    pub wire_bytes: u16,
    /// Number of the port at which it entered the switch. On a link: the header of a load balancer
    /// that has one (CONGA).
    pub ingress: u16,
    /// Its queue at this node.
    pub queue: u8,
    /// Its queue at the node before (BFC's upstreamQ; a priority for the whole path).
    pub upstream: u8,
    /// Its kind.
    pub kind: Kind,
    /// See [`flag`].
    pub flags: u8,
}

const _: () = assert!(size_of::<Packet>() == 64);

impl Packet {
    /// A blank packet of a kind.
    #[must_use]
    pub fn new(kind: Kind, wire_bytes: u16) -> Self {
        Self {
            seq: 0,
            stamp: 0,
            time: 0,
            next: NONE,
            record: NONE,
            flow: 0,
            src: 0,
            dst: 0,
            label: 0,
            sender: NONE,
            remaining: 0,
            wire_bytes,
            ingress: 0,
            queue: 0,
            upstream: CONTROL_QUEUE,
            kind,
            flags: 0,
        }
    }

    /// Its traffic class, 0 to 7.
    #[inline]
    #[must_use]
    pub fn class(&self) -> u8 {
        self.flags >> flag::CLASS_SHIFT
    }

    /// Data: bytes that its flow had left when it was sent, including this packet's headers, with
    /// the limit of [`Packet::remaining`].
    #[inline]
    #[must_use]
    pub fn left(&self) -> u64 {
        u64::from(self.remaining) + u64::from(self.wire_bytes)
    }

    /// Its transmission starts at `now` (ps): the next node knows its queue here as the upstream
    /// one, and the digest of this node has it.
    #[inline(always)]
    pub fn depart(&mut self, now: u64, digest: &mut Digest) {
        self.upstream = self.queue;
        digest.add(now ^ self.seq.rotate_left(20) ^ u64::from(self.flow) << 32);
    }

    /// Whether a flag is set.
    #[inline]
    #[must_use]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// All packets of a partition.
#[derive(Debug, Default)]
pub struct Pool {
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Pool {
    /// Puts a packet into the pool.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> u32 {
        let id = self.take_place();
        self[id] = packet;
        id
    }

    /// Takes a place for a packet that is written there. An earlier packet may still be in it.
    #[inline]
    pub fn take_place(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.add_place())
    }

    #[cold]
    #[inline(never)]
    fn add_place(&mut self) -> u32 {
        self.packets.push(Packet::new(Kind::Data, 0));
        (self.packets.len() - 1) as u32
    }

    /// Frees a packet's place.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// A packet is used soon.
    #[inline(always)]
    pub fn prefetch(&self, id: u32) {
        prefetch(&self.packets, id as usize);
    }

    /// The number of packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// Whether there are no packets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Places without a packet.
    #[must_use]
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// Packets that fit without more memory: the high-water mark.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.packets.len()
    }
}

impl core::ops::Index<u32> for Pool {
    type Output = Packet;
    #[inline]
    fn index(&self, id: u32) -> &Packet {
        &self.packets[id as usize]
    }
}

impl core::ops::IndexMut<u32> for Pool {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.packets[id as usize]
    }
}

/// A first-in first-out list of packets.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    head: u32,
    tail: u32,
    bytes: u32,
    count: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, bytes: 0, count: 0 }
    }
}

impl Queue {
    /// Bytes on the wire of all packets in it.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Packets in it.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether it is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// The packet at the head.
    #[inline]
    #[must_use]
    pub fn head(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// Appends a packet. Returns whether the queue was empty.
    #[inline]
    pub fn push(&mut self, pool: &mut Pool, id: u32) -> bool {
        let packet = &mut pool[id];
        packet.next = NONE;
        self.bytes += u32::from(packet.wire_bytes);
        self.count += 1;
        let was_empty = self.tail == NONE;
        if was_empty {
            self.head = id;
        } else {
            pool[self.tail].next = id;
        }
        self.tail = id;
        was_empty
    }

    /// Replaces the packet at the tail: the two exchange their records, so that `id` is the old one
    /// afterwards. The queue must not be empty.
    pub fn replace_tail(&mut self, pool: &mut Pool, id: u32) {
        let before = pool[self.tail];
        let mut after = pool[id];
        after.next = before.next;
        self.bytes = self.bytes - u32::from(before.wire_bytes) + u32::from(after.wire_bytes);
        pool[self.tail] = after;
        pool[id] = before;
    }

    /// All packets in it, in order.
    pub fn packets<'a>(&self, pool: &'a Pool) -> impl Iterator<Item = u32> + use<'a> {
        std::iter::successors(self.head(), |&id| Some(pool[id].next).filter(|&next| next != NONE))
    }

    /// The packet that joined last.
    #[must_use]
    pub fn tail(&self) -> Option<u32> {
        (self.tail != NONE).then_some(self.tail)
    }

    /// Takes the packet at the tail. It looks at all packets.
    pub fn pop_tail(&mut self, pool: &mut Pool) -> Option<u32> {
        let id = self.tail()?;
        let before = self.packets(pool).find(|&other| pool[other].next == id);
        match before {
            Some(before) => pool[before].next = NONE,
            None => self.head = NONE,
        }
        self.tail = before.unwrap_or(NONE);
        self.bytes -= u32::from(pool[id].wire_bytes);
        self.count -= 1;
        Some(id)
    }

    /// Removes all packets of a kind, from the pool as well. Returns how many there were. It looks
    /// at all packets.
    pub fn discard(&mut self, pool: &mut Pool, kind: Kind) -> u32 {
        let mut before = std::mem::take(self);
        let mut discarded = 0;
        while let Some(id) = before.pop(pool) {
            if pool[id].kind == kind {
                pool.remove(id);
                discarded += 1;
            } else {
                self.push(pool, id);
            }
        }
        discarded
    }

    /// Takes the packet at the head.
    #[inline]
    pub fn pop(&mut self, pool: &Pool) -> Option<u32> {
        let id = self.head()?;
        let packet = &pool[id];
        self.head = packet.next;
        if self.head == NONE {
            self.tail = NONE;
        } else {
            // It may have waited longer than caches keep it.
            pool.prefetch(self.head);
        }
        self.bytes -= u32::from(packet.wire_bytes);
        self.count -= 1;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_discarded_and_the_others_keep_their_order() {
        let mut pool = Pool::default();
        let mut queue = Queue::default();
        let kinds =
            [Kind::LinkControl, Kind::Ack, Kind::LinkControl, Kind::Nack, Kind::LinkControl];
        let ids = kinds.map(|kind| pool.insert(Packet::new(kind, 64)));
        for id in ids {
            queue.push(&mut pool, id);
        }
        assert_eq!(queue.discard(&mut pool, Kind::LinkControl), 3);
        assert!(queue.packets(&pool).eq([ids[1], ids[3]]));
        assert_eq!((queue.bytes(), queue.count()), (128, 2));
        assert_eq!(queue.discard(&mut pool, Kind::Ack), 1);
        assert_eq!(queue.discard(&mut pool, Kind::Nack), 1);
        assert!(queue.is_empty() && queue.discard(&mut pool, Kind::Ack) == 0);
        assert_eq!(pool.insert(Packet::new(Kind::Data, 1)), ids[3], "its place is free again");
    }

    #[test]
    fn a_queue_keeps_order_and_counts() {
        let mut pool = Pool::default();
        let mut queue = Queue::default();
        let ids: Vec<u32> =
            [100, 200, 300].map(|bytes| pool.insert(Packet::new(Kind::Data, bytes))).into();
        for &id in &ids {
            queue.push(&mut pool, id);
        }
        assert_eq!((queue.bytes(), queue.count()), (600, 3));
        assert!(queue.packets(&pool).eq(ids.iter().copied()));
        assert_eq!(queue.pop(&pool), Some(ids[0]));
        pool.remove(ids[0]);
        assert_eq!(pool.insert(Packet::new(Kind::Ack, 60)), ids[0]);
        assert_eq!(queue.pop(&pool), Some(ids[1]));
        assert_eq!(queue.pop(&pool), Some(ids[2]));
        assert_eq!(queue.pop(&pool), None);
        assert_eq!((queue.bytes(), queue.count(), queue.is_empty()), (0, 0, true));
    }

    #[test]
    fn packets_leave_at_the_tail_too() {
        let mut pool = Pool::default();
        let mut queue = Queue::default();
        for bytes in [100, 200, 300] {
            let id = pool.insert(Packet::new(Kind::Data, bytes));
            queue.push(&mut pool, id);
        }
        assert_eq!((queue.pop_tail(&mut pool), queue.bytes(), queue.count()), (Some(2), 300, 2));
        assert_eq!((queue.pop(&pool), queue.pop_tail(&mut pool)), (Some(0), Some(1)));
        assert_eq!((queue.bytes(), queue.tail(), queue.pop_tail(&mut pool)), (0, None, None));
        queue.push(&mut pool, 2);
        assert_eq!(queue.pop(&pool), Some(2));
    }

    #[test]
    fn another_packet_takes_the_place_of_the_tail() {
        let mut pool = Pool::default();
        let mut queue = Queue::default();
        for bytes in [100, 200] {
            let id = pool.insert(Packet::new(Kind::Data, bytes));
            queue.push(&mut pool, id);
        }
        let other = pool.insert(Packet::new(Kind::Data, 50));
        queue.replace_tail(&mut pool, other);
        assert_eq!((queue.bytes(), pool[other].wire_bytes), (150, 200));
        let order = [0, 1].map(|_| queue.pop(&pool).map(|id| pool[id].wire_bytes));
        assert_eq!((order, queue.pop(&pool), queue.bytes()), ([Some(100), Some(50)], None, 0));
    }
}
