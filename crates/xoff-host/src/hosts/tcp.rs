//! Flows of TCP: loss detection from acknowledgements, and retransmission timeouts. Each flow has
//! its own timer. A timeout may be as short as a round trip, and an acknowledgement that postpones
//! it only writes the timer's slot.

use xoff_core::TimerId;
use xoff_net::packet::{CONTROL_QUEUE, flag};
use xoff_net::{Fabric, Kind, Packet};

use super::Hosts;
use crate::cc::{AnyControl, CongestionControl, Loss, Path};
use crate::flow::Sender;
use crate::recovery::progress::Answer;
use crate::tcp::{Halved, TcpConfig};

/// State of TCP's flows.
#[derive(Debug)]
pub(super) struct TcpHosts {
    /// Retransmission timers, by flow slot.
    timers: Vec<TimerId>,
    halved: Halved,
}

/// An acknowledgement's information for the congestion control.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckOutcome {
    /// True if the flow recovers from a loss, or reduces its window after a mark.
    pub(super) recovering: bool,
    /// True if the recovery acts again, after the congestion control.
    pub(super) follows: bool,
    /// Bytes in flight.
    pub(super) in_flight: u64,
}

/// A loss at this time.
fn loss_of(flow: &mut Sender, now: u64, halved: Halved) -> Loss {
    let again = flow.rto().is_some_and(|rto| rto.has_backed_off());
    let flight = match halved {
        Halved::Flight | Halved::Window => (flow.snd_nxt - flow.snd_una).min(flow.pace.window),
        Halved::Pipe => flow.in_flight(),
    };
    Loss { now, flight, again }
}

impl TcpHosts {
    /// Hosts without flows.
    pub(super) fn new(config: &TcpConfig) -> Self {
        Self { timers: Vec::new(), halved: config.halved }
    }

    /// Handles an acknowledgement of `acked` new bytes, after the flow has processed it.
    #[inline(never)]
    pub(super) fn on_ack(
        &self,
        fabric: &mut Fabric,
        sender: u32,
        flow: &mut Sender,
        path: &Path,
        control: &mut AnyControl,
        (packet, acked, news): (&Packet, u64, bool),
    ) -> AckOutcome {
        if flow.has_ended() {
            return AckOutcome::default();
        }
        let rtt = fabric.now - packet.as_answer().stamp_ps();
        if flow.is_opening() {
            flow.on_opened();
            fabric.wheel.cancel(self.timers[sender as usize]);
            if let Some(rto) = flow.rto() {
                rto.on_sample(rtt);
            }
            return AckOutcome::default();
        }
        if flow.counts_duplicates() {
            let repeats = acked == 0 && packet.as_answer().expected() == flow.snd_una;
            let answer = Answer { now: fabric.now, rtt, acked, repeats, news };
            return self.count_duplicates(fabric, sender, flow, path, control, &answer);
        }
        let probed = flow.sack().is_some_and(|half| half.on_answer(rtt));
        let progress = flow.detect(path.payload, acked > 0 && packet.has(flag::MARKED));
        if progress.begins {
            let loss = loss_of(flow, fabric.now, self.halved);
            control.on_loss(path, &loss, &mut flow.pace);
        }
        if acked > 0 && flow.sack().is_none_or(|half| half.restarts_timer()) {
            // "When an ACK is received that acknowledges new data, restart the retransmission
            // timer" (RFC 6298 §5.3).
            self.restart_timer(fabric, sender, flow);
        } else if probed {
            // Nothing is in flight now. The next packet gets a full timeout, not the rest of the
            // probe's.
            fabric.wheel.cancel(self.timers[sender as usize]);
        }
        let una = flow.snd_una;
        let prr = flow.sack().and_then(|half| half.prr.as_mut());
        let (reduces, reducing) = (prr.is_some(), prr.is_some_and(|prr| prr.is_reducing(una)));
        AckOutcome {
            recovering: progress.recovering || reducing,
            follows: progress.recovering || reduces,
            in_flight: flow.in_flight(),
        }
    }

    /// The same for recoveries that count duplicates.
    fn count_duplicates(
        &self,
        fabric: &mut Fabric,
        sender: u32,
        flow: &mut Sender,
        path: &Path,
        control: &mut AnyControl,
        answer: &Answer,
    ) -> AckOutcome {
        let progress = flow.on_answer(path.payload, answer);
        if progress.begins {
            let loss = loss_of(flow, fabric.now, self.halved);
            control.on_loss(path, &loss, &mut flow.pace);
        }
        if let Some(shrink) = progress.shrink {
            control.shrink(path, shrink);
        }
        if progress.restarts {
            self.restart_timer(fabric, sender, flow);
        }
        let (recovering, in_flight) = (progress.recovering, flow.in_flight());
        AckOutcome { recovering, follows: true, in_flight }
    }

    /// A packet leaves. "If the timer is not running, start it running" (RFC 6298 §5.1). RFC 6675
    /// §6 also allows a restart with each retransmission, but with many losses a packet lost twice
    /// would then wait until all others are retransmitted.
    #[inline(never)]
    pub(super) fn on_sent(
        &self,
        fabric: &mut Fabric,
        sender: u32,
        flow: &mut Sender,
        (end, payload, again): (u64, u64, bool),
    ) {
        if flow.counts_duplicates() {
            flow.on_sent(end, fabric.now, again);
        } else if let Some(prr) = flow.sack().and_then(|half| half.prr.as_mut()) {
            prr.on_sent(payload);
        }
        if fabric.wheel.armed(self.timers[sender as usize]).is_none() {
            self.restart_timer(fabric, sender, flow);
        }
    }

    /// The retransmission timer of a flow slot.
    pub(super) fn timer(&self, slot: usize) -> TimerId {
        self.timers[slot]
    }

    fn restart_timer(&self, fabric: &mut Fabric, sender: u32, flow: &mut Sender) {
        let timer = self.timers[sender as usize];
        let outstanding = flow.snd_nxt > flow.snd_una || flow.is_opening();
        match flow.rto() {
            Some(rto) if outstanding => fabric.wheel.arm(timer, rto.expiry(fabric.now)),
            _ => fabric.wheel.cancel(timer),
        }
    }
}

impl Hosts {
    /// A flow's SYN, or its answer, is lost.
    #[cold]
    fn repeat_opening(&mut self, fabric: &mut Fabric, sender: u32) {
        let flow = &mut self.flows[sender as usize];
        if let Some(rto) = flow.rto() {
            rto.back_off();
        }
        flow.request_opening();
        self.stats.timeouts += 1;
        self.stats.retransmitted += 1;
        self.make_ready(fabric, sender);
    }

    /// Turns the packet of an opening flow into its SYN, of one byte.
    pub(super) fn make_opening(packet: &mut Packet) {
        packet.kind = Kind::Request;
        packet.wire_bytes = 1;
    }

    /// A SYN has arrived: turns it into its answer, in place.
    #[cold]
    pub(super) fn on_opening(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let packet = &mut fabric.packets[id];
        std::mem::swap(&mut packet.src, &mut packet.dst);
        packet.label = packet.label.rotate_left(16);
        packet.kind = Kind::Ack;
        packet.as_answer_mut().set(0, 0);
        packet.wire_bytes = self.ack_bytes;
        packet.queue = CONTROL_QUEUE;
        packet.flags &= flag::MARKED | 7 << flag::CLASS_SHIFT;
        let state = &mut self.nics[nic as usize];
        state.acks.push(&mut fabric.packets, id);
        fabric.kick(state.port);
    }

    /// Adds the retransmission timer of a flow slot. It ranks after the flow's other timers.
    pub(super) fn add_retransmission_timer(&mut self, fabric: &mut Fabric, sender: u32, rank: u64) {
        let Some(tcp) = &mut self.tcp else { return };
        match tcp.timers.get(sender as usize) {
            Some(&timer) => fabric.wheel.set_rank(timer, rank),
            None => {
                tcp.timers.push(fabric.wheel.add_timer(rank, self.tags.retransmission + sender))
            }
        }
    }

    /// A flow ends.
    pub(super) fn stop_timer(&mut self, fabric: &mut Fabric, sender: u32) {
        if let Some(tcp) = &self.tcp {
            fabric.wheel.cancel(tcp.timers[sender as usize]);
        }
    }

    /// Handles a flow's retransmission timeout. The timer restarts when the first packet is
    /// retransmitted.
    pub fn on_retransmission_timer(&mut self, fabric: &mut Fabric, sender: u32) {
        let flow = &mut self.flows[sender as usize];
        if flow.is_opening() {
            self.repeat_opening(fabric, sender);
            return;
        }
        let probing = flow.sack().is_some_and(|half| half.is_probing());
        if flow.in_flight() == 0 && !probing {
            // All lost packets wait for their turn at the NIC.
            return;
        }
        let loss = loss_of(flow, fabric.now, self.setup.tcp.halved);
        flow.on_timeout(self.setup.frame.payload.0);
        self.stats.timeouts += u64::from(!flow.open);
        let path = &self.paths[flow.path];
        self.controls[sender as usize].on_timeout(path, &loss, &mut flow.pace);
        if let Some(state) = self.onramps.get_mut(sender as usize) {
            state.on_timeout();
        }
        self.count_stream_timeout(sender);
        self.after_control(fabric, sender);
    }
}
