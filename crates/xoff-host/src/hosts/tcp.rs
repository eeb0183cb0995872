//! Flows with selective acknowledgements: what an acknowledgement says of losses, and retransmission
//! timeouts. Each flow has a timer of its own: a timeout may be as short as a round trip, and an
//! acknowledgement that moves one back touches nothing but the timer's slot.

use xoff_core::TimerId;
use xoff_net::{Fabric, Packet};

use super::Hosts;
use crate::cc::{AnyControl, CongestionControl, Loss, Path};
use crate::flow::Sender;

/// What flows with selective acknowledgements have beside what all have.
#[derive(Debug, Default)]
pub(super) struct TcpHosts {
    /// Retransmission timers, by the number of the flow.
    timers: Vec<TimerId>,
}

/// What an acknowledgement means to the congestion control of a flow with selective acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    /// Whether the flow recovers from a loss.
    pub(super) recovering: bool,
    /// Bytes on their way.
    pub(super) in_flight: u64,
}

/// A loss at this time.
fn loss_of(flow: &mut Sender, now: u64) -> Loss {
    let again = flow.sack().is_some_and(|half| half.rto.has_backed_off());
    Loss { now, flight: (flow.snd_nxt - flow.snd_una).min(flow.pace.window), again }
}

impl TcpHosts {
    /// An acknowledgement of so many new bytes has been taken in.
    #[inline(never)]
    pub(super) fn on_ack(
        &self,
        fabric: &mut Fabric,
        id: u32,
        flow: &mut Sender,
        path: &Path,
        control: &mut AnyControl,
        (packet, acked): (&Packet, u64),
    ) -> Heard {
        if flow.has_ended() {
            return Heard::default();
        }
        let rtt = fabric.now - packet.as_answer().stamp_ps();
        let probed = flow.sack().is_some_and(|half| half.on_answer(rtt));
        let progress = flow.detect(path.payload);
        if progress.begins {
            let loss = loss_of(flow, fabric.now);
            control.on_loss(path, &loss, &mut flow.pace);
        }
        if acked > 0 {
            // "When an ACK is received that acknowledges new data, restart the retransmission timer" (RFC
            // 6298 §5.3).
            self.restart_timer(fabric, id, flow);
        } else if probed {
            // Nothing is in flight now: the next packet has a whole timeout, not what is left of the
            // probe's.
            fabric.wheel.cancel(self.timers[id as usize]);
        }
        Heard { recovering: progress.recovering, in_flight: flow.in_flight() }
    }

    /// A packet leaves. "If the timer is not running, start it running" (RFC 6298 §5.1). RFC 6675 §6 also
    /// allows to restart it with each retransmission, but where losses are many, a packet lost twice
    /// would wait for as long as others are sent again.
    #[inline(never)]
    pub(super) fn on_sent(&self, fabric: &mut Fabric, id: u32, flow: &mut Sender) {
        if fabric.wheel.armed(self.timers[id as usize]).is_none() {
            self.restart_timer(fabric, id, flow);
        }
    }

    fn restart_timer(&self, fabric: &mut Fabric, id: u32, flow: &mut Sender) {
        let timer = self.timers[id as usize];
        let outstanding = flow.snd_nxt > flow.snd_una;
        match flow.sack() {
            Some(half) if outstanding => fabric.wheel.arm(timer, fabric.now + half.rto.timeout()),
            _ => fabric.wheel.cancel(timer),
        }
    }
}

impl Hosts {
    /// The flow of this number has a retransmission timer, which ranks behind its others.
    pub(super) fn add_retransmission_timer(&mut self, fabric: &mut Fabric, id: u32, rank: u64) {
        let Some(tcp) = &mut self.tcp else { return };
        match tcp.timers.get(id as usize) {
            Some(&timer) => fabric.wheel.set_rank(timer, rank),
            None => tcp.timers.push(fabric.wheel.add_timer(rank, self.tags.retransmission + id)),
        }
    }

    /// A flow ends.
    pub(super) fn stop_timer(&mut self, fabric: &mut Fabric, id: u32) {
        if let Some(tcp) = &self.tcp {
            fabric.wheel.cancel(tcp.timers[id as usize]);
        }
    }

    /// A flow's retransmission timeout has come. The timer runs again from when the first packet is sent
    /// again.
    pub fn on_retransmission_timer(&mut self, fabric: &mut Fabric, id: u32) {
        let flow = &mut self.flows[id as usize];
        let probing = flow.sack().is_some_and(|half| half.is_probing());
        if flow.in_flight() == 0 && !probing {
            // All that is lost waits for its turn at the NIC.
            return;
        }
        let loss = loss_of(flow, fabric.now);
        flow.on_timeout(self.setup.frame.payload.0);
        self.stats.timeouts += u64::from(!flow.open);
        let path = &self.paths[flow.path];
        self.controls[id as usize].on_timeout(path, &loss, &mut flow.pace);
        if let Some(state) = self.onramps.get_mut(id as usize) {
            state.on_timeout();
        }
        self.count_stream_timeout(id);
        self.after_control(fabric, id);
    }
}
