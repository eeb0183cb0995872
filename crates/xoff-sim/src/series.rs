//! What is recorded at intervals of the measured time: flows and ports, each if asked for.

use xoff_core::Ps;
use xoff_host::receiver::Got;
use xoff_net::topo::Port;

use crate::flow_series::FlowSeries;
use crate::partition::Partition;
use crate::port_samples::{PortSamples, PortState};
use crate::tables::Rows;

/// Where to look.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) partitions: &'a [Partition],
    /// The partition of each node.
    pub(crate) of_node: &'a [u32],
    /// All ports of the topology, and for each its partition and its number there.
    pub(crate) ports: &'a [Port],
    pub(crate) place: &'a [(u32, u32)],
}

impl<'a> View<'a> {
    /// What has come of a flow to a host.
    fn got(self, flow: u64, host: u32) -> Option<Got> {
        let partition = &self.partitions[self.of_node[host as usize] as usize];
        partition.hosts().got(partition.fabric().now, flow)
    }

    /// Each port as it is now, with what it has sent and lost since the run began.
    fn ports(self) -> impl Iterator<Item = PortState> + 'a {
        self.ports.iter().zip(self.place).map(move |(port, &(partition, number))| {
            let partition = &self.partitions[partition as usize];
            PortState {
                node: port.node,
                port: port.number,
                queue_bytes: partition.queue_bytes(number),
                totals: partition.totals(number),
            }
        })
    }
}

/// Both.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) flows: Option<FlowSeries>,
    pub(crate) ports: Option<PortSamples>,
}

impl Series {
    pub(crate) fn new(flows: Ps, ports: Ps) -> Self {
        Self { flows: FlowSeries::new(flows), ports: PortSamples::new(ports) }
    }

    /// The measured time begins.
    pub(crate) fn begin(&mut self, now: Ps, view: View<'_>) {
        if let Some(flows) = &mut self.flows {
            flows.begin(now, |flow, host| view.got(flow, host));
        }
        if let Some(ports) = &mut self.ports {
            ports.begin(now, view.ports().map(|port| port.totals));
        }
    }

    /// A step of the measured time has ended. Adds rows for the intervals that end with it.
    pub(crate) fn step(&mut self, now: Ps, view: View<'_>, rows: &mut Rows) {
        if let Some(flows) = self.flows.as_mut().filter(|flows| flows.is_due(now)) {
            flows.next(now, |flow, host| view.got(flow, host), &mut rows.flow_series);
        }
        if let Some(ports) = self.ports.as_mut().filter(|ports| ports.is_due(now)) {
            ports.next(now, view.ports(), &mut rows.port_samples);
        }
    }

    /// The measured time has ended.
    pub(crate) fn finish(&mut self) {
        self.flows = None;
        self.ports = None;
    }
}
