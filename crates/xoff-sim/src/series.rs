//! Records at intervals of the measurement: of flows and of ports, each if requested.

use xoff_core::{FlowId, HostId, Ps};
use xoff_host::recovery::RxProgress;
use xoff_net::topo::Port;

use crate::flow_series::FlowSeries;
use crate::partition::{Partition, Place};
use crate::port_samples::{PortSamples, PortState};
use crate::tables::Rows;

/// Access to the ports and receivers of all partitions.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) partitions: &'a [Partition],
    /// The partition of each node.
    pub(crate) of_node: &'a [u32],
    /// All ports of the topology, and the place of each.
    pub(crate) ports: &'a [Port],
    pub(crate) place: &'a [Place],
}

impl<'a> View<'a> {
    /// Receive progress of a flow to a host.
    fn rx_progress(self, flow: FlowId, host: HostId) -> Option<RxProgress> {
        let partition = &self.partitions[self.of_node[host.index()] as usize];
        partition.hosts().rx_progress(partition.fabric().now, flow)
    }

    /// The current state of each port, with totals since the start of the run.
    fn ports(self, now: Ps) -> impl Iterator<Item = PortState> + 'a {
        self.ports.iter().zip(self.place).map(move |(port, &Place { partition, port: number })| {
            let partition = &self.partitions[partition as usize];
            PortState {
                node: port.node,
                port: port.number,
                queue_bytes: partition.queue_bytes(number),
                held_bytes: partition.held_bytes(number),
                totals: partition.totals(number, now.0),
            }
        })
    }
}

/// Both records.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) flows: Option<FlowSeries>,
    pub(crate) ports: Option<PortSamples>,
}

impl Series {
    pub(crate) fn new(flows: Ps, ports: Ps) -> Self {
        Self { flows: FlowSeries::new(flows), ports: PortSamples::new(ports) }
    }

    /// The measurement begins.
    pub(crate) fn begin(&mut self, now: Ps, view: View<'_>) {
        if let Some(flows) = &mut self.flows {
            flows.begin(now, |flow, host| view.rx_progress(flow, host));
        }
        if let Some(ports) = &mut self.ports {
            ports.begin(now, view.ports(now).map(|port| port.totals));
        }
    }

    /// A step of the measurement has ended. Adds rows for the intervals that end with it.
    pub(crate) fn step(&mut self, now: Ps, view: View<'_>, rows: &mut Rows) {
        if let Some(flows) = self.flows.as_mut().filter(|flows| flows.is_due(now)) {
            flows.next(now, |flow, host| view.rx_progress(flow, host), &mut rows.flow_series);
        }
        if let Some(ports) = self.ports.as_mut().filter(|ports| ports.is_due(now)) {
            ports.next(now, view.ports(now), &mut rows.port_samples);
        }
    }

    /// The measurement has ended.
    pub(crate) fn finish(&mut self) {
        self.flows = None;
        self.ports = None;
    }
}
