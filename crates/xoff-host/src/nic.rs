//! A NIC: acknowledgements first, then the flows in turn.
//!
//! Each flow belongs to one of the NIC's queues, and a neighbour pauses queues. With PFC the queues
//! are the traffic classes; with BFC they are assigned as at a switch. Within a queue flows take
//! turns packet by packet.

mod audit;
mod posted;
mod round_robin;
mod shortest;

use std::collections::VecDeque;

use xoff_core::{Digest, FlowId, HostId, Rng, TimerId};
use xoff_net::division::Divided;
use xoff_net::hop::{Ask, PausedTime};
use xoff_net::packet::{CLASSES, Kind, NONE, flag};
use xoff_net::{Packet, Pool, Queue};

use xoff_net::Fabric;
use xoff_net::fabric::Passage;

use crate::flow::Sender;

pub use self::posted::{Next, Posted};
pub use self::round_robin::RoundRobin;
pub use self::shortest::ShortestFirst;
pub use xoff_net::hop::NicQueues;

#[derive(Clone, Copy, Debug)]
struct Ring {
    head: u32,
    tail: u32,
    /// Flows assigned to this queue: those with data left to send.
    flows: u32,
}

/// Selects a queue of a range by a hash of the flow.
fn hashed(label: u32, (first, count): (u8, u8)) -> u8 {
    let hash = label.wrapping_mul(0x9e37_79b1);
    first + ((u64::from(hash) * u64::from(count)) >> 32) as u8
}

/// A NIC's timers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NicTimers {
    /// Retransmission timeouts.
    pub timeout: TimerId,
    /// Round robin by index: pacing allows the next packet.
    pub index: TimerId,
    /// The earliest end of a pause of a queue.
    pub pause: TimerId,
    /// The host's backlog falls to the XON threshold.
    pub intake: TimerId,
    /// Timer of a receiver-driven transport.
    pub receiver_driven: TimerId,
}

/// A NIC's state.
#[derive(Debug)]
pub struct Nic {
    /// The host's number.
    pub host: HostId,
    /// Its port number in the fabric.
    pub port: u32,
    /// Pauses and resumes to send to the neighbour.
    pub frames: Queue,
    /// Acknowledgements and notifications to send.
    pub acks: Queue,
    /// Acknowledgements held back by a pause of their class, and the classes with any.
    held: [Queue; CLASSES],
    held_classes: u8,
    rings: Vec<Ring>,
    /// Queues with a ready flow.
    ready: u128,
    /// Queues paused by the neighbour.
    paused: u128,
    paused_time: PausedTime,
    /// Number of flows held by the neighbour.
    held_flows: u32,
    /// Queues with a timed pause, and the end of each (ps).
    pause_ends: Vec<(u8, u64)>,
    /// Pause frames not yet in effect, and the time of each (ps).
    pending_frames: VecDeque<(u64, Packet)>,
    queues: NicQueues,
    /// The queue served last and the queue assigned last, of each class.
    last_queue: [u8; CLASSES],
    last_assigned: [u8; CLASSES],
    rng: Rng,
    /// Payload bytes that arrived here, including duplicates.
    pub received_bytes: u64,
    /// All flows that have not ended.
    pub flows: Vec<u32>,
    /// Hash of all it has sent, and of the flows that ended here.
    pub digest: Digest,
    /// For round robin by index: the flows in order of arrival, with their ids. With posted packets
    /// it has one entry, since the NIC is asked after each packet, too.
    pub order: Vec<(u32, FlowId)>,
    /// Index in `order` served last.
    pub last_index: usize,
    /// Its timers.
    pub timers: NicTimers,
}

impl Nic {
    /// A NIC without flows.
    #[must_use]
    pub fn new(host: HostId, port: u32, queues: NicQueues, rng: Rng, timers: NicTimers) -> Self {
        Self {
            host,
            port,
            frames: Queue::default(),
            acks: Queue::default(),
            held: [Queue::default(); CLASSES],
            held_classes: 0,
            rings: vec![Ring { head: NONE, tail: NONE, flows: 0 }; queues.count()],
            ready: 0,
            paused: 0,
            paused_time: PausedTime::default(),
            held_flows: 0,
            pause_ends: Vec::new(),
            pending_frames: VecDeque::new(),
            received_bytes: 0,
            queues,
            last_queue: [0; CLASSES],
            last_assigned: [queues.count() as u8 - 1; CLASSES],
            rng,
            flows: Vec::new(),
            order: Vec::new(),
            last_index: 0,
            digest: Digest::default(),
            timers,
        }
    }

    /// Assigns a queue to a new flow.
    pub fn assign_queue(&mut self, class: u8, label: u32, labelled: bool) -> u8 {
        let queue = match self.queues {
            NicQueues::DynamicBesideIncast(_) if labelled => 0,
            NicQueues::Classes(queues) => class.min(queues - 1),
            NicQueues::Hashed(queues) => hashed(label, (0, queues)),
            NicQueues::HashedByClass(division) => {
                hashed(label, division.range(division.class(class)))
            }
            NicQueues::Dynamic(queues) => self.empty_or_random(0, (0, queues)),
            NicQueues::DynamicBesideIncast(queues) => self.empty_or_random(0, (1, queues - 1)),
            NicQueues::DynamicByClass(division) => {
                let class = division.class(class);
                self.empty_or_random(class, division.range(class))
            }
        };
        self.last_assigned[self.queues.class_of(queue) as usize] = queue;
        self.rings[queue as usize].flows += 1;
        queue
    }

    /// The queue of a flow. A flow that was idle gets a new assignment.
    #[inline]
    pub fn queue_of(&mut self, flow: &mut Sender) -> u8 {
        let (start, labelled) = (&flow.start, flow.flags & flag::LABELLED != 0);
        let assign = || self.assign_queue(start.class, start.label, labelled);
        *flow.queue.get_or_insert_with(assign)
    }

    /// Selects from `count` queues of a class, starting at `first`: the next queue without flows
    /// after the one assigned last (cyclic), or a random one if all have flows.
    fn empty_or_random(&mut self, class: u8, (first, count): (u8, u8)) -> u8 {
        let last = u32::from(self.last_assigned[class as usize].saturating_sub(first));
        (1..=u32::from(count))
            .map(|step| first + ((last + step) % u32::from(count)) as u8)
            .find(|&queue| self.rings[queue as usize].flows == 0)
            .unwrap_or_else(|| first + self.rng.below(u64::from(count)) as u8)
    }

    /// A flow of this queue has ended.
    pub fn release_queue(&mut self, queue: u8) {
        self.rings[queue as usize].flows -= 1;
    }

    /// Appends a flow of `queue` to its ring, to wait for its turn.
    #[inline]
    pub fn ring(&mut self, flows: &mut [Sender], sender: u32, queue: u8) {
        let flow = &mut flows[sender as usize];
        flow.ringing = true;
        flow.next = NONE;
        let ring = &mut self.rings[queue as usize];
        self.ready |= 1 << queue;
        if ring.tail == NONE {
            ring.head = sender;
        } else {
            flows[ring.tail as usize].next = sender;
        }
        ring.tail = sender;
    }

    /// The queue to serve next.
    #[inline(always)]
    fn next_queue(&self) -> Option<u8> {
        let ready = self.ready & !self.paused;
        if ready == 0 {
            return None;
        }
        let (ready, after) = match self.queues {
            NicQueues::Classes(_) => (ready, u128::MAX),
            NicQueues::DynamicByClass(division) | NicQueues::HashedByClass(division) => {
                let class = division.class_of_queue(ready.trailing_zeros() as u8);
                let last = self.last_queue[class as usize];
                (ready & division.queues(class), u128::MAX << last << 1)
            }
            _ => (ready, u128::MAX << self.last_queue[0] << 1),
        };
        let later = ready & after;
        let from = if later != 0 { later } else { ready };
        Some(from.trailing_zeros() as u8)
    }

    /// Records that a queue is served.
    #[inline(always)]
    fn serve(&mut self, queue: u8) {
        self.last_queue[self.queues.class_of(queue) as usize] = queue;
    }

    /// Takes the flow to serve next out of its ring.
    #[inline]
    pub fn next_turn(&mut self, flows: &mut [Sender]) -> Option<u32> {
        let queue = self.next_queue()?;
        self.serve(queue);
        let ring = &mut self.rings[queue as usize];
        let sender = ring.head;
        let flow = &mut flows[sender as usize];
        flow.ringing = false;
        ring.head = flow.next;
        if ring.head == NONE {
            ring.tail = NONE;
            self.ready &= !(1 << queue);
        }
        Some(sender)
    }

    /// True if a flow of `queue` that becomes ready now would be served next. If so, records the
    /// turn as if the flow had waited for it.
    #[inline]
    pub fn pass(&mut self, queue: u8) -> bool {
        let passes = !self.has_control() && !self.is_ready() && !self.is_paused(queue);
        if passes {
            self.serve(queue);
        }
        passes
    }

    /// True if a flow can be served.
    #[inline]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready & !self.paused != 0
    }

    /// True if a queue is paused.
    #[inline]
    #[must_use]
    pub fn is_paused(&self, queue: u8) -> bool {
        self.paused >> queue & 1 == 1
    }

    /// The paused queues.
    #[must_use]
    pub fn paused(&self) -> u128 {
        self.paused
    }

    /// Sets the mask of paused queues.
    pub fn set_paused(&mut self, now: u64, mask: u128) {
        self.paused_time.set(now, mask != 0);
        self.paused = mask;
    }

    /// Counts a flow that the neighbour holds or releases.
    pub fn count_held_flow(&mut self, now: u64, more: bool) {
        self.held_flows = if more { self.held_flows + 1 } else { self.held_flows - 1 };
        self.paused_time.set(now, self.held_flows > 0);
    }

    /// Number of flows held by the neighbour.
    #[must_use]
    pub fn held_flows(&self) -> u32 {
        self.held_flows
    }

    /// Pauses these queues for a time (ps); zero resumes them (IEEE 802.1Qbb).
    pub fn pause_for(&mut self, fabric: &mut Fabric, queues: u128, pause_ps: u64) {
        self.forget_pause_ends(queues);
        let paused = (0..128).filter(|queue| queues >> queue & 1 == 1);
        self.pause_ends.extend(paused.map(|queue| (queue, fabric.now + pause_ps)));
        self.set_paused(fabric.now, self.paused | queues);
        self.await_pause_end(fabric);
    }

    /// Cancels the timed end of these queues' pauses: a later frame replaces it.
    pub fn forget_pause_ends(&mut self, queues: u128) {
        self.pause_ends.retain(|&(queue, _)| queues >> queue & 1 == 0);
    }

    /// The link has gone down. Forgets pauses without an end, those of frames that wait to take
    /// effect too, and loses the frames that wait to be sent. Returns the queues that stay paused:
    /// their pauses end by themselves, and crossbar and pipelined switches count on them.
    pub fn on_link_down(&mut self, pool: &mut Pool) -> u128 {
        self.frames.discard(pool, Kind::LinkControl);
        self.pending_frames.retain(|(_, frame)| frame.as_link_control().ask() == Ask::PauseFor);
        self.pause_ends.iter().fold(0, |queues, &(queue, _)| queues | 1 << queue)
    }

    fn await_pause_end(&self, fabric: &mut Fabric) {
        let ends = self.pause_ends.iter().map(|&(_, end)| end);
        if let Some(next) = ends.chain(self.pending_frames.front().map(|&(due, _)| due)).min() {
            fabric.wheel.arm(self.timers.pause, next);
        }
    }

    /// Stores a frame that takes effect at `due` (ps), after all frames that arrived before it.
    pub fn delay_frame(&mut self, fabric: &mut Fabric, due: u64, frame: Packet) {
        self.pending_frames.push_back((due, frame));
        self.await_pause_end(fabric);
    }

    /// Takes the next frame that is in effect now.
    pub fn take_due_frame(&mut self, now: u64) -> Option<Packet> {
        let &(due, _) = self.pending_frames.front()?;
        (due <= now).then(|| self.pending_frames.pop_front().map(|(_, frame)| frame))?
    }

    /// Ends the pauses that are due; returns the queues that are still paused.
    pub fn end_pauses(&mut self, fabric: &mut Fabric) -> u128 {
        let mut paused = self.paused;
        self.pause_ends.retain(|&(queue, end)| {
            if end <= fabric.now {
                paused &= !(1 << queue);
            }
            end > fabric.now
        });
        self.await_pause_end(fabric);
        paused
    }

    /// The time during which queues were paused.
    #[must_use]
    pub fn paused_time(&self) -> &PausedTime {
        &self.paused_time
    }

    /// A packet's transmission starts. Returns what [`Fabric::finish`] has to know: whether that is
    /// done, and whether another packet may follow.
    #[inline(always)]
    pub(crate) fn depart(&mut self, passage: Passage<'_>, id: u32) -> (bool, bool) {
        passage.packet.depart(passage.now, &mut self.digest);
        let more = self.is_ready() || self.has_control() || !self.order.is_empty();
        (passage.start(id), more)
    }

    /// True if a frame or an acknowledgement waits and may be sent.
    #[inline]
    #[must_use]
    pub fn has_control(&self) -> bool {
        !self.acks.is_empty() || !self.frames.is_empty() || self.released() != 0
    }

    /// Classes with held acknowledgements whose pause is over.
    #[inline]
    fn released(&self) -> u8 {
        self.held_classes & !self.paused as u8
    }

    /// Bytes of waiting frames and acknowledgements.
    #[must_use]
    pub fn control_bytes(&self) -> u32 {
        let held: u32 = self.held.iter().map(Queue::bytes).sum();
        self.frames.bytes() + self.acks.bytes() + held
    }

    /// Takes the next frame to the neighbour, otherwise the next acknowledgement. With
    /// `behind_pause`, acknowledgements of paused classes are held.
    #[inline]
    pub fn pop_control(&mut self, packets: &mut Pool, behind_pause: bool) -> Option<u32> {
        if let Some(frame) = self.frames.pop(packets) {
            return Some(frame);
        }
        if self.released() != 0 {
            return self.pop_released(packets);
        }
        while let Some(id) = self.acks.pop(packets) {
            let class = packets[id].class();
            if !behind_pause || !self.is_paused(class) {
                return Some(id);
            }
            // Acknowledgements behind it may belong to classes that are not paused.
            self.held[class as usize].push(packets, id);
            self.held_classes |= 1 << class;
        }
        None
    }

    #[cold]
    fn pop_released(&mut self, packets: &Pool) -> Option<u32> {
        let class = self.released().trailing_zeros() as usize;
        let id = self.held[class].pop(packets);
        self.held_classes &= !(u8::from(self.held[class].is_empty()) << class);
        id
    }

    /// Round robin as in the HPCC simulator's NICs. Searches the flows in order of arrival,
    /// starting after the one served last, and drops ended flows that the search passes. If pacing
    /// holds back all flows, it searches again when pacing allows the first. A flow that is ready
    /// but limited by its window counts too: then the next search waits for an acknowledgement.
    pub fn turn_by_index(&mut self, fabric: &mut Fabric, flows: &[Sender]) -> Option<u32> {
        let (count, paused) = (self.order.len(), self.paused);
        let ended = |entry: &(u32, FlowId)| {
            let flow = &flows[entry.0 as usize];
            let is_paused = paused >> flow.start.class & 1 == 1;
            let over = !flow.alive && (is_paused || !flow.haunts());
            over || flow.start.id != entry.1
        };
        let mut found = None;
        let mut first_ended = usize::MAX;
        for step in 1..=count {
            let index = (step + self.last_index) % count;
            if ended(&self.order[index]) {
                first_ended = first_ended.min(index);
                continue;
            }
            let flow = &flows[self.order[index].0 as usize];
            if !self.is_paused(flow.start.class) && flow.may_send() && flow.ready_at() <= fabric.now
            {
                found = Some(index);
                break;
            }
        }
        if first_ended != usize::MAX {
            let gone = |index: usize| index >= first_ended && ended(&self.order[index]);
            found = found.map(|found| found - (0..found).filter(|&index| gone(index)).count());
            let mut index = 0;
            self.order.retain(|entry| {
                index += 1;
                index <= first_ended || !ended(entry)
            });
        }
        if let Some(index) = found {
            self.last_index = index;
            return Some(self.order[index].0);
        }
        let waiting = |entry: &&(u32, FlowId)| !ended(entry) && flows[entry.0 as usize].has_data();
        let next = self.order.iter().filter(waiting).map(|e| flows[e.0 as usize].ready_at()).min();
        if let Some(next) = next
            && next > fabric.now
            && fabric.wheel.armed(self.timers.index).is_none()
        {
            fabric.arm(self.timers.index, next);
        }
        None
    }
}

#[cfg(test)]
#[path = "nic_pause_tests.rs"]
mod pause_tests;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xoff_core::Rng;
    use xoff_core::rng::Purpose;

    use xoff_net::division::Division;

    use super::*;
    use crate::cc::Pace;
    use crate::flow::FlowStart;
    use crate::recovery::SenderHalf;

    pub(super) const QUEUES: u8 = 31;

    pub(super) fn nic(queues: NicQueues) -> Nic {
        let rng = Rng::stream(1, Purpose::Transport, 0);
        Nic::new(HostId(0), 0, queues, rng, NicTimers::default())
    }

    pub(super) fn flow(id: u64, queue: u8) -> Sender {
        let (src, dst, bytes, label) = (0, 1, 1000, id as u32);
        let start = FlowStart {
            id: FlowId(id),
            start_ps: 0,
            src: HostId(src),
            dst: HostId(dst),
            bytes,
            label,
            source: 0,
            class: 0,
        };
        let pace = Pace { rate: 1, window: u64::MAX };
        let mut flow = Sender::new(start, pace, SenderHalf::GoBackN, 0, Default::default());
        flow.queue = Some(queue);
        flow
    }

    #[test]
    fn indistinct_classes_share_a_queue() {
        let queues = |told_apart: u8| {
            let mut nic = nic(NicQueues::Classes(told_apart));
            [0, 1, 7].map(|class| nic.assign_queue(class, 0, false))
        };
        assert_eq!([queues(8), queues(2), queues(1)], [[0, 1, 7], [0, 1, 1], [0, 0, 0]]);
    }

    /// Four classes of eight queues.
    fn divided() -> Division {
        Division::new(32, 4)
    }

    #[test]
    fn classes_never_share_a_queue() {
        for queues in [NicQueues::DynamicByClass(divided()), NicQueues::HashedByClass(divided())] {
            let mut nic = nic(queues);
            for label in 0..200 {
                let class = (label % 5) as u8;
                let queue = nic.assign_queue(class, label, false);
                assert_eq!(queue / 8, class.min(3), "{queues:?}");
            }
        }
        let mut nic = nic(NicQueues::DynamicByClass(divided()));
        let mut queues: Vec<u8> =
            (0..32).map(|flow| nic.assign_queue(flow % 4, 0, false)).collect();
        queues.sort_unstable();
        assert!(queues.into_iter().eq(0..32), "each of the 8 flows of a class has its own queue");
    }

    /// Queues of a class take turns, however often a higher class is served in between.
    #[test]
    fn an_interrupted_class_resumes_where_it_stopped() {
        let mut nic = nic(NicQueues::DynamicByClass(divided()));
        let mut flows: Vec<Sender> = [24, 25, 26, 0].map(|queue| flow(0, queue)).into();
        let mut turns = Vec::new();
        (0..3).for_each(|id| nic.ring(&mut flows, id, 24 + id as u8));
        for _ in 0..6 {
            nic.ring(&mut flows, 3, 0);
            assert_eq!(nic.next_turn(&mut flows), Some(3));
            let id = nic.next_turn(&mut flows).unwrap();
            nic.ring(&mut flows, id, 24 + id as u8);
            turns.push(id);
        }
        assert_eq!(turns, [0, 1, 2, 0, 1, 2]);
    }

    proptest! {
        /// Flows wait for their turns while the mask of paused queues changes at random. Only flows
        /// of unpaused queues are served, and one is served whenever there is one.
        #[test]
        fn no_flow_of_a_paused_queue_is_served(
            classes in any::<bool>(),
            rounds in prop::collection::vec((0..QUEUES, any::<u128>(), 0usize..4), 1..100),
        ) {
            let queues = if classes { NicQueues::Classes(8) } else { NicQueues::Dynamic(QUEUES) };
            let mut nic = nic(queues);
            let mut flows: Vec<Sender> = Vec::new();
            let mut waiting = Vec::new();
            for (queue, mask, turns) in rounds {
                let queue = if classes { queue % 8 } else { queue };
                let id = flows.len() as u32;
                flows.push(flow(u64::from(id), queue));
                nic.ring(&mut flows, id, queue);
                waiting.push(queue);
                nic.set_paused(0, mask);
                for _ in 0..turns {
                    let may = waiting.iter().any(|&queue| mask >> queue & 1 == 0);
                    prop_assert_eq!(nic.is_ready(), may);
                    let turn = nic.next_turn(&mut flows);
                    prop_assert_eq!(turn.is_some(), may);
                    let Some(id) = turn else { continue };
                    let queue = flows[id as usize].queue.unwrap();
                    prop_assert!(mask >> queue & 1 == 0, "queue {} is paused", queue);
                    let place = waiting.iter().position(|&other| other == queue).unwrap();
                    waiting.swap_remove(place);
                }
            }
        }
    }
}
