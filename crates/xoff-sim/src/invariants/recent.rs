//! The recent events of the part of a network that a violation concerns, in words.
//!
//! They come from packets that ports have recorded, packets on their way, and packets that wait.
//! A packet that arrived was sent by the port at the other end of the link. Their order depends on
//! the topology alone, not on the partitions.

use xoff_core::invariant::{Part, Recent};
use xoff_core::{FlowId, NodeId, PortId};
use xoff_net::arch::Switch;
use xoff_net::fabric::OnLink;
use xoff_net::hop::{Ask, flow_pause};
use xoff_net::{Kind, Packet};

use super::State;
use crate::partition::Partition;
use crate::partition::recent::PORTS_MAX;

/// Events in a report.
const EVENTS: usize = 16;

/// What happened to a packet at a port, in the order within an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Arrived,
    Dropped,
    /// It joined a queue, where it waits.
    Joined,
    /// Its transmission began.
    Sent,
}

/// An event at a port.
#[derive(Clone, Copy, Debug)]
struct Happened {
    time_ps: u64,
    step: Step,
    port: PortId,
    packet: Packet,
}

/// What a report is about.
#[derive(Clone, Copy, Debug)]
enum Subject {
    Flow(FlowId),
    Node(NodeId),
    Port(PortId, Option<u8>),
}

impl Subject {
    fn of(state: &State<'_>, part: Part) -> Option<Self> {
        let topology = &state.setup.topology;
        match part {
            Part { flow: Some(flow), .. } => Some(Self::Flow(flow)),
            Part { node: Some(node), port: Some(number), queue, .. } => {
                let exists = usize::from(number) < topology.ports_of(node).len();
                exists.then(|| Self::Port(topology.port_at(node, number), queue))
            }
            Part { node, .. } => node.map(Self::Node),
        }
    }

    /// Whether it has an event.
    fn has(self, state: &State<'_>, event: &Happened) -> bool {
        match self {
            Self::Flow(flow) => {
                let packet = &event.packet;
                let is_of_flow = packet.kind != Kind::LinkControl || flow_pause(packet).is_some();
                is_of_flow && packet.flow == flow.0 as u32
            }
            Self::Node(node) => state.setup.topology.port(event.port).node == node,
            Self::Port(port, None) => event.port == port,
            Self::Port(port, Some(queue)) => event.port == port && event.names(queue),
        }
    }

    fn label(self, state: &State<'_>) -> String {
        match self {
            Self::Flow(flow) => format!("flow {flow}"),
            Self::Node(node) => state.node_label(node),
            Self::Port(port, None) => state.port_label(port),
            Self::Port(port, Some(queue)) => format!("{}, queue {queue}", state.port_label(port)),
        }
    }
}

impl Happened {
    /// Whether it concerns a queue of its port, or of the port at the other end of the link.
    fn names(&self, queue: u8) -> bool {
        if self.packet.kind == Kind::LinkControl {
            let bit = 1u128.checked_shl(queue.into()).unwrap_or(0);
            return self.packet.as_link_control().queues() & bit != 0;
        }
        match self.step {
            Step::Arrived | Step::Sent => self.packet.upstream == queue,
            Step::Dropped | Step::Joined => self.packet.queue == queue,
        }
    }

    fn describe(&self, state: &State<'_>) -> String {
        let (whole, part) = (self.time_ps / 1_000_000, self.time_ps % 1_000_000);
        let port = state.port_label(self.port);
        let packet = state.packet_label(&self.packet);
        let step = match self.step {
            Step::Arrived => "arrived at",
            Step::Dropped => "dropped that had arrived at",
            Step::Joined => "joined a queue of",
            Step::Sent => "sent by",
        };
        format!("{whole}.{part:06}us  {step} {port}: {packet}")
    }
}

/// The recent events of a part until a time (ps).
pub(crate) fn of(state: &State<'_>, part: Part, until_ps: u64) -> Recent {
    let Some(subject) = Subject::of(state, part) else { return Recent::default() };
    if state.place.len() > PORTS_MAX {
        let limit = format!("not recorded in a network of more than {PORTS_MAX} ports");
        return Recent { of: subject.label(state), events: vec![limit] };
    }
    let mut events = Vec::new();
    for partition in state.partitions {
        each_event(state, partition, &mut |event| {
            if event.time_ps <= until_ps && subject.has(state, &event) {
                events.push(event);
            }
        });
    }
    events.sort_by_key(|event| (event.time_ps, event.step, event.port));
    let first = events.len().saturating_sub(EVENTS);
    let events = events[first..].iter().map(|event| event.describe(state)).collect();
    Recent { of: subject.label(state), events }
}

/// Calls `visit` with each event that a partition knows.
fn each_event(state: &State<'_>, partition: &Partition, visit: &mut dyn FnMut(Happened)) {
    let fabric = partition.fabric();
    fabric.each_on_link(
        |id, place| {
            if let OnLink::Arriving { port, time } = place {
                visit(sent(state, fabric.port_id(port), time, &fabric.packets[id]));
            }
        },
        |_| (),
    );
    for number in 0..fabric.port_count() as u32 {
        for (&packet, is_dropped) in partition.recent(number) {
            let (port, time_ps) = (fabric.port_id(number), packet.time);
            let step = if is_dropped { Step::Dropped } else { Step::Arrived };
            visit(Happened { time_ps, step, port, packet });
            if !is_dropped {
                visit(sent(state, port, time_ps, &packet));
            }
        }
    }
    for (node, switch) in partition.switches() {
        // Other switches do not say when a packet joined its queue.
        if switch.hop().is_none() {
            continue;
        }
        for (port, egress) in state.setup.topology.port_ids_of(*node).zip(switch.egress()) {
            egress.each_data(&fabric.packets, &mut |id, _| {
                let packet = fabric.packets[id];
                visit(Happened { time_ps: packet.time, step: Step::Joined, port, packet });
            });
        }
    }
}

/// A packet that arrives at a port at a time (ps) was sent at the other end of its link, at the
/// link's full rate.
fn sent(state: &State<'_>, port: PortId, arrival_ps: u64, packet: &Packet) -> Happened {
    let from = state.setup.topology.port(port).peer;
    let (sender, number) = state.partition_of(from);
    let fabric = sender.fabric();
    let takes = fabric.time_at(fabric.rate(number), u64::from(packet.wire_bytes));
    let delay = state.setup.topology.port(from).delay.0;
    let time_ps = arrival_ps.saturating_sub(delay + takes);
    Happened { time_ps, step: Step::Sent, port: from, packet: *packet }
}

/// A frame between neighbours, in words.
pub(super) fn describe_frame(packet: &Packet) -> String {
    let frame = packet.as_link_control();
    let queues = || list(frame.queues());
    match frame.ask() {
        Ask::Pause => format!("frame that pauses {}", queues()),
        Ask::Resume => format!("frame that resumes {}", queues()),
        Ask::Exactly => format!("frame that pauses {} and resumes all others", queues()),
        Ask::PauseFor => format!("frame that pauses {} for {} quanta", queues(), frame.quanta()),
        Ask::PauseFlow => format!("frame that pauses flow {}", packet.flow),
        Ask::ResumeFlow => format!("frame that resumes flow {}", packet.flow),
    }
}

/// Queues, in words.
fn list(queues: u128) -> String {
    let numbers: Vec<_> = (0..128u8).filter(|&queue| queues >> queue & 1 == 1).collect();
    match numbers.as_slice() {
        [] => "no queue".to_owned(),
        [queue] => format!("queue {queue}"),
        several => {
            let numbers: Vec<_> = several.iter().map(u8::to_string).collect();
            format!("queues {}", numbers.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use xoff_net::hop::Signal;

    use super::*;

    fn frame(ask: Ask, queues: u128) -> Packet {
        Signal { quanta: 9, ..Signal::new(0, ask, queues) }.frame(64)
    }

    #[test]
    fn frames_are_described_by_what_they_ask_for() {
        let flow = 1 << 32 | 7;
        for (ask, queues, text) in [
            (Ask::Pause, 1 << 3, "frame that pauses queue 3"),
            (Ask::Resume, 1 << 127 | 3, "frame that resumes queues 0, 1, 127"),
            (Ask::Exactly, 0, "frame that pauses no queue and resumes all others"),
            (Ask::PauseFor, 1, "frame that pauses queue 0 for 9 quanta"),
            (Ask::PauseFlow, flow, "frame that pauses flow 7"),
            (Ask::ResumeFlow, flow, "frame that resumes flow 7"),
        ] {
            assert_eq!(describe_frame(&frame(ask, queues)), text);
        }
    }

    #[test]
    fn a_packet_names_its_queue_and_a_frame_those_it_pauses() {
        let event = |step, packet| Happened { time_ps: 0, step, port: PortId(0), packet };
        let pause = event(Step::Arrived, frame(Ask::Pause, 1 << 3 | 1 << 127));
        let named: Vec<u8> = (0..=255).filter(|&queue| pause.names(queue)).collect();
        assert_eq!(named, [3, 127]);
        let mut packet = Packet::new(Kind::Data, 1000);
        (packet.upstream, packet.queue) = (4, 5);
        for (step, queue) in
            [(Step::Arrived, 4), (Step::Sent, 4), (Step::Dropped, 5), (Step::Joined, 5)]
        {
            let event = event(step, packet);
            assert_eq!([4, 5].map(|queue| event.names(queue)), [queue == 4, queue == 5]);
        }
    }
}
