//! What nodes are called, and the paths that flows take through them.

use std::sync::Arc;

use xoff_core::rng::mix64;
use xoff_core::{FlowId, NodeId, PortId};
use xoff_host::FlowStart;
use xoff_net::topo::Routes;
use xoff_workload::Arrival;

use super::Simulation;
use crate::jobs::{hash_of_flow, hash_of_hosts};
use crate::partition::Partition;
use crate::setup::Labels;
use crate::tables::{NodeRow, PathRow};

impl Simulation {
    /// The rows of all nodes.
    #[must_use]
    pub fn nodes(&self) -> Vec<NodeRow> {
        let topology = &self.setup.topology;
        let (numbers, racks) = (topology.numbers(), topology.rack_of_nodes());
        let pods = topology.pod_of_nodes();
        let row = |node: NodeId| {
            let (index, layer) = (node.index(), topology.layer(node));
            NodeRow {
                node: topology.given_number(node),
                name: format!("{layer} {}", numbers[index]),
                layer: layer.into(),
                label: topology.label(node).unwrap_or_default().to_owned(),
                rack: racks[index],
                pod: pods[index],
            }
        };
        let mut rows: Vec<NodeRow> = topology.node_ids().map(row).collect();
        rows.sort_by_key(|row| row.node);
        rows
    }

    /// What switches hash of a flow, besides its hosts.
    pub(super) fn label(&mut self, id: FlowId, arrival: &Arrival) -> u32 {
        let hash = self.hash(id, arrival);
        arrival.paths.map_or(hash, |paths| xoff_net::balance::label(hash, paths))
    }

    fn hash(&mut self, id: FlowId, arrival: &Arrival) -> u32 {
        match &self.setup.labels {
            Labels::Hashed => hash_of_flow(self.setup.seed, id, arrival.src, arrival.dst),
            Labels::Connections => hash_of_hosts(self.setup.seed, id, arrival.src, arrival.dst),
            Labels::Pairs(ports) => {
                let port = ports.get(id.0 as usize).copied().unwrap_or_default();
                let next = self.sports.entry((arrival.src, arrival.dst)).or_insert(10_000);
                *next += 1;
                u32::from(*next - 1) | u32::from(port) << 16
            }
        }
    }

    /// Lets the faults that are due act. Paths may change.
    pub(super) fn apply_faults(&mut self) {
        let before = Arc::clone(self.faults.routes());
        self.faults.apply(self.now, &self.setup, &self.place, &mut self.partitions);
        if self.paths.is_some() && !Arc::ptr_eq(&before, self.faults.routes()) {
            self.add_new_paths(&before);
        }
        self.add_dead_hosts();
    }

    /// Adds the path of a flow that begins, if paths are recorded.
    pub(super) fn add_path(&mut self, start: &FlowStart) {
        if let Some(path) = self.path(start, self.faults.routes()) {
            self.add_path_rows(start.id, start.start_ps, &path);
        }
    }

    /// Adds the paths of flows under way that the present routes change.
    fn add_new_paths(&mut self, before: &Routes) {
        let alive = self.partitions.iter().map(Partition::hosts).flat_map(|hosts| hosts.alive());
        let mut starts: Vec<FlowStart> =
            alive.filter(|flow| !flow.open).map(|flow| flow.start).collect();
        // Partitions hold different flows: the order of rows must not depend on the partitioning.
        starts.sort_unstable_by_key(|start| start.id);
        for start in starts {
            let path = self.path(&start, self.faults.routes());
            if let Some(path) = path.filter(|now| self.path(&start, before).as_ref() != Some(now)) {
                self.add_path_rows(start.id, self.now.0, &path);
            }
        }
    }

    /// The ports of a flow's path under these routes, if it gets rows.
    fn path(&self, start: &FlowStart, routes: &Routes) -> Option<Vec<PortId>> {
        let paths = self.paths.as_ref()?;
        let route = (start.src, start.dst, start.label);
        let every = self.plan.row_every;
        let chosen = every > 0 && mix64(start.id.0).is_multiple_of(every);
        chosen.then(|| paths.follow(&self.setup.topology, routes, route).collect())
    }

    fn add_path_rows(&mut self, FlowId(flow): FlowId, since_ps: u64, path: &[PortId]) {
        let topology = &self.setup.topology;
        let row = |(hop, &id)| {
            let port = topology.port(id);
            let (node, peer) = (port.node, topology.neighbour(port));
            let [node, peer] = [node, peer].map(|node| topology.given_number(node));
            PathRow { flow, since_ps, hop, node, port: port.number, peer }
        };
        self.rows.paths.extend((0..).zip(path).map(row));
    }

    /// Sorts the paths of this step: flows that others have started come after its other flows.
    pub(super) fn sort_paths(&mut self, first_new: usize) {
        self.rows.paths[first_new..].sort_unstable_by_key(|row| (row.since_ps, row.flow, row.hop));
    }
}
