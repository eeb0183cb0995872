//! Checks of hosts: of their state, and of each packet that a flow sends while checks are on.

use xoff_core::FlowId;
use xoff_core::invariant::{Checker, Part, Violation, equal, holds};
use xoff_net::Fabric;
use xoff_net::recount::Checked;

use super::Hosts;
use crate::flow::Sender;
use crate::nic::RoundRobin;
use crate::receiver_driven::Driven;

/// What checks of sent packets remember.
#[derive(Debug, Default)]
pub(super) struct SendChecks {
    /// Payload sent so far, again and again included.
    sent_bytes: u64,
    /// By slot, the flow that sent last and its rate, and when pacing allows its next packet (ps).
    /// A change of the rate may move that time, and moves it back when the rate returns.
    paced: Vec<Option<(FlowId, u64, u64)>>,
    /// Whether senders have no limits to check. Packets that flows post ahead are sent even if
    /// window or rate fall meanwhile.
    is_free: bool,
    /// The first violation.
    broken: Option<Box<Violation>>,
}

impl SendChecks {
    /// A flow has taken a packet: its payload, and whether it was sent before.
    #[inline]
    fn on_sent(&mut self, now: u64, (sender, flow): (u32, &Sender), (payload, again): (u64, bool)) {
        self.sent_bytes += payload;
        if self.is_free {
            return;
        }
        let (id, rate) = (flow.start.id, flow.pace.rate);
        // A segment of a control connection gets its length, and so its pace, after this check.
        let next = if flow.open { now } else { flow.next_avail };
        if self.paced.len() <= sender as usize {
            self.paced.resize(sender as usize + 1, None);
        }
        let before = self.paced[sender as usize].replace((id, rate, next));
        let paced = before.filter(|&(same, then, _)| (same, then) == (id, rate));
        let early = paced.map(|(_, _, time)| time).filter(|&time| time > now);
        if early.is_some() || !(again || flow.keeps_limits(now, payload)) {
            self.report(now, flow, payload, early);
        }
    }

    /// Keeps the first violation. `early`: the time before which pacing allows no packet.
    #[cold]
    #[inline(never)]
    fn report(&mut self, now: u64, flow: &Sender, payload: u64, early: Option<u64>) {
        let outcome = match early {
            Some(time) => {
                let place = flow.label();
                let expected = format!("no packet before {time} ps, by its pace");
                let violation = Violation::new(Checker::Limits, place, expected, "a packet");
                Err(Box::new(violation.of(flow.part()).with_state(flow.progress())))
            }
            None => flow.audit_sent(now, payload),
        };
        if let (Err(violation), None) = (outcome, &self.broken) {
            self.broken = Some(Box::new(violation.at(now)));
        }
    }
}

impl Hosts {
    /// Checks each packet that flows send from now on.
    pub fn check_sends(&mut self) {
        self.sends_plainly = false;
        let is_free = self.setup.transport.round_robin == RoundRobin::Posted;
        let checks = SendChecks { is_free, ..SendChecks::default() };
        self.checks = Some(Box::new(checks));
    }

    /// Checks a packet that leaves, and does what else is to be done with it: its first byte, its
    /// payload, and whether it is a retransmission.
    #[cold]
    #[inline(never)]
    pub(super) fn check_sent(
        &mut self,
        fabric: &mut Fabric,
        sender: u32,
        id: u32,
        (seq, payload, again): (u64, u64, bool),
    ) {
        if let Some(checks) = &mut self.checks {
            checks.on_sent(fabric.now, (sender, &self.flows[sender as usize]), (payload, again));
        }
        if !self.plain {
            self.prepare(fabric, sender, id, (seq, payload, again));
        }
    }

    /// Payload that flows have sent, and payload that has arrived at hosts here.
    #[must_use]
    pub fn payload_bytes(&self) -> (u64, u64) {
        let sent = self.checks.as_ref().map_or(0, |checks| checks.sent_bytes);
        (sent, self.nics.iter().map(|nic| nic.received_bytes).sum())
    }

    /// Calls `visit` with each packet that waits at a NIC.
    pub fn each_packet(&self, fabric: &Fabric, visit: &mut dyn FnMut(u32)) {
        let pool = &fabric.packets;
        self.nics.iter().for_each(|nic| nic.each_packet(pool, visit));
        let posted = self.posted.iter().chain(&self.posted_acks);
        posted.for_each(|posted| posted.each_packet(pool, visit));
        if let Some(transport) = &self.receiver_driven {
            transport.each_packet(pool, visit);
        }
    }

    /// Whether a packet was sent that should not have been. Then the next audit reports it.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.checks.as_ref().is_some_and(|checks| checks.broken.is_some())
    }

    /// Checks the flows and their slots, timers and queues.
    ///
    /// # Errors
    /// The first violation.
    pub fn audit(&self, fabric: &Fabric) -> Checked {
        if let Some(broken) = self.checks.as_ref().and_then(|checks| checks.broken.clone()) {
            return Err(broken);
        }
        self.audit_slots()?;
        self.audit_nics()?;
        for (slot, flow) in self.flows.iter().enumerate() {
            if flow.alive {
                flow.audit()?;
                continue;
            }
            let own = [(flow.pace_timer, "pacing"), (flow.control_timer, "control")];
            let tcp = self.tcp.as_ref().map(|tcp| (tcp.timer(slot), "retransmission"));
            for (timer, name) in own.into_iter().chain(tcp) {
                holds(fabric.wheel.armed(timer).is_none(), || {
                    let place = format!("{}, {name} timer", flow.label());
                    let found = format!("armed for {:?} ps", fabric.wheel.armed(timer));
                    let expected = "no timer: the flow has ended";
                    Violation::new(Checker::Timers, place, expected, found).of(flow.part())
                })?;
            }
        }
        Ok(())
    }

    fn audit_slots(&self) -> Checked {
        let mut free = vec![false; self.flows.len()];
        for &slot in &self.free {
            let flow = &self.flows[slot as usize];
            let twice = std::mem::replace(&mut free[slot as usize], true);
            holds(!flow.alive && !twice, || {
                let found = if twice { "free twice" } else { "alive and free" };
                let place = format!("slot {slot}, {}", flow.label());
                let expected = "a slot that is free once or used";
                Violation::new(Checker::Slots, place, expected, found).of(flow.part())
            })?;
        }
        // With round robin by index, a NIC drops an ended flow when its search passes it.
        if self.setup.transport.round_robin == RoundRobin::Index {
            return Ok(());
        }
        for (slot, flow) in self.flows.iter().enumerate() {
            holds(flow.alive || flow.ringing || free[slot], || {
                let place = format!("slot {slot}, {}", flow.label());
                let expected = "a free slot: the flow has ended";
                Violation::new(Checker::Slots, place, expected, "leaked").of(flow.part())
            })?;
        }
        Ok(())
    }

    fn audit_nics(&self) -> Checked {
        let mut ringed = vec![false; self.flows.len()];
        let rings = self.setup.transport.round_robin == RoundRobin::Ready;
        for (number, nic) in self.nics.iter().enumerate() {
            for (place, &sender) in nic.flows.iter().enumerate() {
                let flow = &self.flows[sender as usize];
                let listed = (flow.alive, flow.nic as usize, flow.place as usize);
                holds(listed == (true, number, place), || {
                    let at = format!("NIC of host {}, {}", nic.host.0, flow.label());
                    let expected = format!("a live flow at place {place} of NIC {number}");
                    let found = format!("{listed:?}");
                    Violation::new(Checker::Slots, at, expected, found).of(flow.part())
                })?;
            }
            if rings {
                let audited = nic.audit_rings(&self.flows, &mut ringed);
                audited.map_err(|broken| {
                    let host = format!("NIC of host {}", nic.host.0);
                    Box::new(broken.within(&host).of(Part::node(nic.host.node())))
                })?;
            }
        }
        let alive = self.flows.iter().filter(|flow| flow.alive).count();
        let listed = self.nics.iter().map(|nic| nic.flows.len()).sum();
        equal(Checker::Slots, alive, listed, || "live flows in the lists of NICs".to_owned())?;
        if !rings {
            return Ok(());
        }
        for (flow, &ringed) in self.flows.iter().zip(&ringed) {
            holds(flow.ringing == ringed, || {
                let (expected, found) = (format!("a turn: {}", flow.ringing), ringed);
                Violation::new(Checker::Slots, flow.label(), expected, found).of(flow.part())
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::sender;

    fn broken(checks: &SendChecks) -> String {
        checks.broken.as_ref().map_or_else(String::new, |violation| violation.to_string())
    }

    #[test]
    fn a_packet_before_its_pace_is_kept_until_the_next_audit() {
        let mut checks = SendChecks::default();
        let mut flow = sender();
        let mut send = |checks: &mut SendChecks, now: u64, rate: u64, next: u64| {
            (flow.pace.rate, flow.next_avail) = (rate, next);
            checks.on_sent(now, (3, &flow), (1000, false));
        };
        send(&mut checks, 0, 1, 800);
        send(&mut checks, 800, 1, 1600);
        // A change of the rate moves the time.
        send(&mut checks, 1000, 2, 1400);
        assert_eq!(broken(&checks), "");
        send(&mut checks, 1399, 2, 1799);
        let first = broken(&checks);
        assert!(first.contains("no packet before 1400 ps, by its pace"), "{first}");
        assert!(first.contains("flow 7 from host 2 to host 5"), "{first}");
        // The first one is reported.
        send(&mut checks, 1400, 2, 1800);
        assert_eq!(broken(&checks), first);
        assert_eq!(checks.sent_bytes, 5000);
    }

    #[test]
    fn a_packet_beyond_the_window_is_kept_unless_it_is_sent_again() {
        let mut flow = sender();
        flow.pace.window = 0;
        for (again, is_free, is_broken) in
            [(false, false, true), (true, false, false), (false, true, false)]
        {
            let mut checks = SendChecks { is_free, ..SendChecks::default() };
            checks.on_sent(0, (0, &flow), (1000, again));
            assert_eq!(broken(&checks).contains("the window"), is_broken);
        }
    }
}
