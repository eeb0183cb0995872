//! The network, and the time and place of measurements.

use std::sync::Arc;

use xoff_core::seam::{Seam as _, SectionDoc};
use xoff_core::{HostId, PortId, Ps};
use xoff_host::hosts::BaseRtts;
use xoff_host::transport::{BaseRttOf, FrameConfig, TransportConfig};
use xoff_net::topo::{Routes, Topology, TopologyConfig};
use xoff_sim::setup::{base_rtt, base_rtts};
use xoff_sim::simulation::Plan;

use super::{Resolver, build};
use crate::files::Folder;
use crate::links;
use crate::sections::{NetworkConfig, RunConfig};

/// Upper limit of `run.batches`.
const MOST_BATCHES: u16 = 1000;

/// The latest end of a run, so that no sum of times overflows: 106 days.
pub(super) const LATEST: Ps = Ps(u64::MAX / 2);

/// Sections of networks.
pub(super) fn sections() -> Vec<SectionDoc> {
    let mut sections = vec![SectionDoc::of::<NetworkConfig>()];
    sections.extend(TopologyConfig::all_sections());
    sections
}

impl Resolver<'_> {
    /// Builds a network and its routes, if they fit into memory.
    pub(super) fn topology(&mut self, settings: &mut TopologyConfig) -> Option<(Topology, Routes)> {
        let section = settings.own_section();
        let folder = Folder::new(self.folder, self.needs.memory());
        match settings.load(&folder) {
            Ok(derived) => derived.into_iter().for_each(|(name, value)| {
                self.reader.effective.derive(&format!("{section}_{name}"), value);
            }),
            Err((key, message)) => {
                self.reader.problem(section, key, message);
                return None;
            }
        }
        if let Err((key, message)) = settings.check() {
            self.reader.problem(section, key, message);
            return None;
        }
        self.count(settings)?;
        let built = settings.build();
        let topology = built.map_err(|message| self.reader.problem(section, "", message)).ok()?;
        let mut complain = |message: &str| {
            self.reader.layers.problem(None, format!("[{section}] {message}"), None);
        };
        if topology.ports().iter().any(|port| port.rate.0 == 0) {
            complain("a link's rate must be more than zero");
            return None;
        }
        if topology.ports().iter().any(|port| port.delay.0 == 0) {
            complain("a link's delay must be more than zero");
            return None;
        }
        let routes = Routes::new(&topology).map_err(|message| complain(&message)).ok()?;
        let topology = match settings.has_uniform_core() {
            true => topology.with_uniform_core(&routes),
            false => topology,
        };
        Some((topology, routes))
    }

    pub(super) fn plan(&mut self, run: &RunConfig) -> Option<Plan> {
        let grid = run.grid.0;
        if grid == 0 || run.measure.0 == 0 || run.watchdog.0 == 0 {
            let message = "grid, measure and watchdog must be more than zero";
            self.reader.problem("run", "grid", message);
            return None;
        }
        for (key, time) in [("warmup", run.warmup), ("measure", run.measure)] {
            if !time.0.is_multiple_of(grid) {
                self.reader.problem(
                    "run",
                    key,
                    format!("{key} must be a multiple of grid = {}", run.grid),
                );
            }
        }
        if run.end() > LATEST {
            let message = format!("warmup, measure and drain together must be at most {LATEST}");
            self.reader.problem("run", "drain", message);
            return None;
        }
        for (key, interval) in
            [("flow_series", run.flow_series), ("port_samples", run.port_samples)]
        {
            self.check_interval(run, key, interval);
        }
        if run.batches > MOST_BATCHES {
            let message = format!("batches = {} must be at most {MOST_BATCHES}", run.batches);
            self.reader.problem("run", "batches", message);
        }
        Some(build::plan(run))
    }

    /// Checks that intervals end at steps of the grid, and limits their number.
    fn check_interval(&mut self, run: &RunConfig, key: &str, interval: Ps) {
        const MOST: u64 = 1_000_000;
        if !interval.0.is_multiple_of(run.grid.0) {
            let message = format!("{key} = {interval} must be a multiple of grid = {}", run.grid);
            self.reader.problem("run", key, message);
        } else if interval.0 > 0 && run.measure.0 / interval.0 > MOST {
            let message = format!(
                "{key} = {interval} divides measure = {} into more than {MOST} intervals",
                run.measure
            );
            self.reader.problem("run", key, message);
        } else if interval > run.measure {
            let message = format!("{key} = {interval} is longer than measure = {}", run.measure);
            self.reader.problem("run", key, message);
        }
    }

    pub(super) fn monitored(&mut self, run: &RunConfig, hosts: u32) -> Option<Vec<HostId>> {
        if run.monitor.is_empty() {
            return Some(Vec::new());
        }
        let parsed = xoff_workload::host_set::parse(&run.monitor, hosts);
        parsed.map_err(|message| self.reader.problem("run", "monitor", message)).ok()
    }

    pub(super) fn captured(&mut self, run: &RunConfig, topology: &Topology) -> Option<Vec<PortId>> {
        let ports = links::ports(&run.capture, topology);
        ports.map_err(|message| self.reader.problem("run", "capture", message)).ok()
    }

    pub(super) fn base_rtt(
        &mut self,
        transport: &TransportConfig,
        topology: &Topology,
        routes: &Routes,
        frame: &FrameConfig,
    ) -> Ps {
        if transport.base_rtt.0 > 0 {
            return transport.base_rtt;
        }
        base_rtt(topology, routes, frame.payload.0)
    }

    /// The base RTTs of all pairs of hosts, if flows use the RTT of their own path.
    pub(super) fn base_rtts(
        &mut self,
        transport: &TransportConfig,
        topology: &Topology,
        routes: &Routes,
        frame: &FrameConfig,
    ) -> Option<Arc<BaseRtts>> {
        if transport.base_rtt_of == BaseRttOf::Longest {
            return None;
        }
        let rtts = base_rtts(topology, routes, frame.payload.0);
        let src = HostId(0);
        let others = topology.server_ids().filter(|&host| host != src);
        if let Some(shortest) = others.map(|dst| rtts.of(src, dst)).min() {
            self.reader.effective.derive("base_rtt_shortest_of_host_0", Ps(shortest));
        }
        Some(Arc::new(rtts))
    }
}
