//! Detects a run that cannot continue, and describes the waiting flows and ports.

use std::collections::{BTreeMap, BTreeSet};

use xoff_core::{NodeId, PortId, Ps};
use xoff_host::flow::Sender;
use xoff_net::arch::{AnySwitch, Switch};
use xoff_net::topo::Topology;

use crate::faults::Fault;
use crate::partition::Partition;
use crate::pause_cycles::{Head, PausedQueues, QueueId};
use crate::setup::Setup;

/// Tracks the time of the last acknowledgement, and paused queues.
#[derive(Debug)]
pub(crate) struct Watchdog {
    limit: Ps,
    acknowledged: u64,
    since: Ps,
    /// The time of the last look at paused queues, and the packets at their heads then.
    looked: Ps,
    heads: BTreeMap<QueueId, Head>,
}

impl Watchdog {
    pub(crate) fn new(limit: Ps) -> Self {
        Self { limit, acknowledged: 0, since: Ps(0), looked: Ps(0), heads: BTreeMap::new() }
    }

    /// No flow has waited until now.
    pub(crate) fn skip_to(&mut self, now: Ps) {
        self.since = now;
        self.looked = now;
        self.heads.clear();
    }

    /// Fails if flows wait and nothing has been acknowledged for too long, or if paused queues have
    /// waited for each other for too long while other flows go on.
    pub(crate) fn check(
        &mut self,
        now: Ps,
        setup: &Setup,
        partitions: &[Partition],
        outstanding: u64,
    ) -> Result<(), String> {
        let acknowledged = partitions.iter().map(|part| part.hosts().stats.acknowledged).sum();
        if acknowledged != self.acknowledged || outstanding == 0 {
            self.acknowledged = acknowledged;
            self.since = now;
            return self.look(now, setup, partitions);
        }
        if now - self.since < self.limit {
            return Ok(());
        }
        let mut text = describe(now, self.since, partitions);
        text += &losses(setup, self.limit, partitions);
        for cycle in PausedQueues::of(&setup.topology, partitions).cycles() {
            text += &cycle.describe(&setup.topology);
        }
        Err(text)
    }

    /// Looks for a deadlock that leaves other flows alone. It is one if no queue of it has moved
    /// since the last look.
    fn look(&mut self, now: Ps, setup: &Setup, partitions: &[Partition]) -> Result<(), String> {
        if now - self.looked < self.limit {
            return Ok(());
        }
        let since = std::mem::replace(&mut self.looked, now);
        let mut queues = PausedQueues::of(&setup.topology, partitions);
        let heads = std::mem::replace(&mut self.heads, queues.heads());
        queues.keep_those_with(&heads);
        let cycles = queues.cycles();
        if cycles.is_empty() {
            return Ok(());
        }
        let mut text = format!(
            "the run is stuck in part: at {now} paused queues have not moved since {since}, as \
             they wait for each other"
        );
        for cycle in &cycles {
            text += &cycle.describe(&setup.topology);
            let flows = queues.flows(cycle);
            text += &format!("\n  with packets of {} flows:", flows.len());
            text += &list(now, partitions, |flow| flows.contains(&(flow.start.id.0 as u32)));
        }
        Err(text)
    }
}

/// The packets that were lost, and why no sender repeats them: the faults that lost some, and a
/// timeout that is missing or too long.
fn losses(setup: &Setup, limit: Ps, partitions: &[Partition]) -> String {
    let switches = partitions.iter().flat_map(Partition::switches);
    let dropped: u64 = switches.map(|(_, switch)| switch.stats().drops).sum();
    let on_links: u64 = partitions.iter().map(Partition::lost_on_links).sum();
    let mut text = String::new();
    if dropped > 0 {
        text += &format!("\n  switches dropped {dropped} packets");
        text.extend(setup.why_dropped().iter().map(|reason| format!("\n  {reason}")));
    }
    text.extend(lost_on_links(setup, partitions).map(|lost| format!("\n  {lost}")));
    // A case of the HPCC simulator has other settings.
    if setup.hosts.literal || dropped + on_links == 0 {
        return text;
    }
    let waits = setup.hosts.driver.receiver_driven().is_some();
    let timeout = setup.transport().timeout;
    if (waits || setup.hosts.recovery.timeouts().act()) && timeout == Ps(0) {
        text += "\n  transport.timeout = \"0ps\": no sender repeats the last packets of a flow if \
                 they are lost; set a timeout, such as transport.timeout = \"10ms\"";
    } else if timeout >= limit {
        text += &format!(
            "\n  transport.timeout = {timeout} does not end before run.watchdog = {limit}: set a \
             shorter timeout or a longer watchdog"
        );
    }
    text
}

/// The packets that links have lost, and the faults that lose packets; `None` if there are none.
pub(crate) fn lost_on_links(setup: &Setup, partitions: &[Partition]) -> Option<String> {
    let lost: u64 = partitions.iter().map(Partition::lost_on_links).sum();
    if lost == 0 {
        return None;
    }
    const SHOWN: usize = 5;
    let mut faults: Vec<&Fault> =
        setup.faults.iter().filter(|fault| fault.defect.loses_packets()).collect();
    // A switch stands before the hosts that go down with it.
    faults.sort_by_key(|fault| fault.dead_switch.is_none());
    let shown = faults.iter().take(SHOWN).map(|fault| describe_fault(fault, &setup.topology));
    let mut shown = shown.collect::<Vec<_>>().join("; ");
    if faults.len() > SHOWN {
        shown += &format!(" and {} more", faults.len() - SHOWN);
    }
    Some(format!("links lost {lost} packets ([[fault]]): {shown}"))
}

/// The faulty part of the network, and when it is faulty. All links of a dead switch can be those
/// of hosts that are down with it.
fn describe_fault(fault: &Fault, topology: &Topology) -> String {
    let part = if let Some(switch) = fault.dead_switch {
        topology.name(switch)
    } else if let Some(host) = fault.host(topology) {
        format!("host {}", topology.name(NodeId(host.0)))
    } else {
        let port = topology.port(fault.ports[0]);
        let ends = [port.node, topology.neighbour(port)].map(|node| topology.name(node)).join(",");
        let link = |&port: &PortId| port.min(topology.port(port).peer);
        match fault.ports.iter().map(link).collect::<BTreeSet<_>>().len() {
            1 => ends,
            several => format!("{ends} and {} more", several - 1),
        }
    };
    match fault.until {
        Ps::NEVER => format!("{part} from {} to the end", fault.at),
        until => format!("{part} from {} to {until}", fault.at),
    }
}

/// The reason that a flow is held, if it is. Only an allocator sets a window of zero.
fn held(flow: &Sender, now: Ps) -> String {
    if flow.pace.window == 0 {
        ", held until the allocator gives it a rate".into()
    } else if flow.credit <= 0 {
        ", without credit from its receiver".into()
    } else if flow.paused_until > now.0 {
        format!(", paused by its flow control until {}", Ps(flow.paused_until))
    } else {
        String::new()
    }
}

/// Lists the first few of some flows.
fn list(now: Ps, partitions: &[Partition], has: impl Fn(&Sender) -> bool) -> String {
    const SHOWN: usize = 5;
    let shown = describe_flows(now, partitions, SHOWN, has);
    shown.iter().map(|flow| format!("\n  {flow}")).collect()
}

/// Describes the first of some flows, by number. The texts must not depend on the partitioning.
pub(crate) fn describe_flows(
    now: Ps,
    partitions: &[Partition],
    most: usize,
    has: impl Fn(&Sender) -> bool,
) -> Vec<String> {
    let alive = |part| Partition::hosts(part).alive().map(move |flow| (part, flow));
    let mut flows: Vec<(&Partition, &Sender)> =
        partitions.iter().flat_map(alive).filter(|(_, flow)| has(flow)).collect();
    flows.sort_unstable_by_key(|(_, flow)| flow.start.id);
    let shown = flows.into_iter().take(most);
    shown.map(|(part, flow)| describe_flow(part, flow, now)).collect()
}

/// Lists waiting flows, and the pauses in force, by switch.
fn describe(now: Ps, since: Ps, partitions: &[Partition]) -> String {
    let mut text = format!(
        "the run is stuck: at {} nothing has been acknowledged since {}, though flows wait",
        now, since
    );
    text += &list(now, partitions, |flow| !flow.open);
    let of_part = |part| Partition::switches(part).iter().map(move |switch| (part, switch));
    let mut switches: Vec<(&Partition, &(NodeId, AnySwitch))> =
        partitions.iter().flat_map(of_part).collect();
    switches.sort_unstable_by_key(|(_, (node, _))| *node);
    for (partition, (node, switch)) in switches {
        text += &describe_switch(partition, *node, switch);
    }
    text
}

fn describe_flow(partition: &Partition, flow: &Sender, now: Ps) -> String {
    let nic = &partition.hosts().nics()[flow.nic as usize];
    let queue = flow.queue.map_or_else(String::new, |queue| {
        format!(", NIC queue {queue}{}", if nic.is_paused(queue) { ", paused" } else { "" })
    });
    let held = held(flow, now);
    format!(
        "flow {} from host {} to host {}: {} of {} bytes acknowledged, {} bytes in flight\
         {queue}{held}",
        flow.start.id,
        partition.given_number(flow.start.src.node()),
        partition.given_number(flow.start.dst.node()),
        flow.snd_una,
        flow.start.bytes,
        flow.in_flight(),
    )
}

pub(crate) fn describe_switch(partition: &Partition, node: NodeId, switch: &AnySwitch) -> String {
    let mut text = String::new();
    let given = partition.given_number(node);
    for (number, port) in switch.egress().iter().enumerate() {
        let holds = switch.holds_paused(number as u16) != 0;
        if port.total_bytes() > 0 || port.paused() != 0 || holds {
            let (kind, neighbour) = partition.neighbour(node, number);
            text += &format!(
                "\n  switch {given} port {number}: {} bytes wait, queues paused by \
                 {kind} {neighbour}: {:#x}, queues of {kind} {neighbour} paused: {:#x}{}",
                port.total_bytes(),
                port.paused(),
                switch.holds_paused(number as u16),
                switch.reasons(number as u16),
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use xoff_core::{FlowId, HostId};
    use xoff_host::cc::Pace;
    use xoff_host::flow::FlowStart;
    use xoff_host::recovery::SenderHalf;
    use xoff_host::transport::{Recovery, TcpConfig};

    use super::*;

    #[test]
    fn the_reason_of_a_held_flow_is_named() {
        let (id, start_ps, src, dst, bytes, label) = (7, 0, 0, 1, 1000, 0);
        let start = FlowStart {
            id: FlowId(id),
            start_ps,
            src: HostId(src),
            dst: HostId(dst),
            bytes,
            label,
            source: 0,
            class: 0,
        };
        let half = SenderHalf::new(Recovery::Sack, &TcpConfig::default());
        let pace = Pace { rate: 1, window: 1000 };
        let mut flow = Sender::new(start, pace, half, 0, Default::default());
        let now = Ps::from_us(3);
        assert_eq!(held(&flow, now), "");
        flow.paused_until = 5_000_000;
        assert_eq!(held(&flow, now), ", paused by its flow control until 5us");
        flow.credit = 0;
        assert_eq!(held(&flow, now), ", without credit from its receiver");
        flow.pace.window = 0;
        assert_eq!(held(&flow, now), ", held until the allocator gives it a rate");
    }
}
