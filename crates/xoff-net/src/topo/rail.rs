//! The fabric of a training cluster: a switch inside each server, and a rail for each place in a
//! server (NVIDIA DGX SuperPOD reference architecture; Wang et al., "Rail-only: A Low-Cost
//! High-Performance Network for Training LLMs with Trillion Parameters", HotI 2024, §2).

use xoff_core::knobs::{Effect, because};
use xoff_core::{BitRate, NodeId, Ps, knobs};

use super::census::product;
use super::{Census, Count, Link, Topology, TopologySettings};

knobs! {
    /// A rail-optimised fabric. A host is a GPU with its NIC. The NICs at the same place of all
    /// servers of a pod share a leaf, their rail; spines join all leaves. The GPUs of a server also
    /// have a link each to a switch inside the server.
    ///
    /// Hosts are numbered server by server. Those of one server reach each other through its
    /// switch, those of one rail and pod through their leaf, all others through a spine. A GPU
    /// forwards nothing for others. So without spines, in a rail-only fabric, it reaches the GPUs
    /// of its server and of its rail only. Such a fabric carries jobs whose messages need no more,
    /// such as `kind = "collective"` with `algorithm = "hierarchical"`.
    pub struct RailConfig in "rail" {
        /// Pods of servers.
        pods: u32 = 1,
        /// Servers of a pod.
        servers_per_pod: u32 = 16,
        /// GPUs of a server, and rails of a pod.
        gpus_per_server: u32 = 8,
        /// Spines, each with links to all leaves; 0: a rail-only fabric.
        spines: u32 = 16,
        /// Links from each leaf to each spine.
        links_per_spine: u32 = 1 => [HAS_SPINES],
        /// Rate of a NIC's link.
        nic_rate: BitRate = BitRate::from_gbps(400),
        /// Rate of a link between leaf and spine.
        spine_rate: BitRate = BitRate::from_gbps(400) => [HAS_SPINES],
        /// Rate of a GPU's link inside its server; 0bps: there is none. The default is NVLink's
        /// 450 GB/s each way (NVIDIA H100 data sheet).
        server_rate: BitRate = BitRate::from_gbps(3600),
        /// Propagation delay of a NIC's link.
        nic_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between leaf and spine.
        spine_delay: Ps = Ps::from_us(1) => [HAS_SPINES],
        /// Propagation delay of a link inside a server.
        server_delay: Ps = Ps::from_ns(100),
    }
}

/// Without spines there are no links to them.
const HAS_SPINES: Effect<RailConfig> =
    Effect::Unless(|rail| because(rail.spines == 0, "rail.spines = 0"));

impl RailConfig {
    /// Whether servers have a switch inside.
    fn has_server_switches(&self) -> bool {
        self.server_rate > BitRate(0) && self.gpus_per_server > 1
    }
}

impl TopologySettings for RailConfig {
    fn counts(&self) -> Vec<Count> {
        vec![
            ("pods", self.pods),
            ("servers_per_pod", self.servers_per_pod),
            ("gpus_per_server", self.gpus_per_server),
            ("spines", self.spines),
            ("links_per_spine", self.links_per_spine),
        ]
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let counts = self.counts().into_iter();
        match counts.clone().find(|&(key, count)| count == 0 && key != "spines") {
            Some((key, _)) => Err((key, format!("{key} is 0: give at least 1"))),
            None if self.spines == 0 && self.pods > 1 => {
                Err(("spines", "spines is 0: without spines, pods cannot reach each other".into()))
            }
            None if self.spines == 0 && !self.has_server_switches() => {
                let message = "spines is 0: without spines and links inside servers \
                               (server_rate), rails cannot reach each other";
                Err(("spines", message.into()))
            }
            None if product(&[self.pods, self.servers_per_pod, self.gpus_per_server]) < 2 => {
                Err(("servers_per_pod", "there is one host: a network needs at least two".into()))
            }
            None => Ok(()),
        }
    }

    fn census(&self) -> Census {
        let servers = product(&[self.pods, self.servers_per_pod]);
        let hosts = servers.saturating_mul(self.gpus_per_server.into());
        let leaves = product(&[self.pods, self.gpus_per_server]);
        let trunks = leaves.saturating_mul(product(&[self.spines, self.links_per_spine]));
        let inside = self.has_server_switches();
        let up = product(&[self.spines, self.links_per_spine]);
        let down = leaves.saturating_mul(self.links_per_spine.into());
        let in_server = if inside { self.gpus_per_server } else { 0 };
        Census {
            hosts,
            switches: leaves.saturating_add(self.spines.into()).saturating_add(if inside {
                servers
            } else {
                0
            }),
            // Hosts with two links have routes of their own.
            racks: if inside { hosts } else { leaves },
            links: trunks.saturating_add(hosts.saturating_mul(if inside { 2 } else { 1 })),
            most_links: up
                .saturating_add(self.servers_per_pod.into())
                .max(down)
                .max(in_server.into()),
        }
    }

    fn build(&self) -> Result<Topology, String> {
        rail(self)
    }
}

/// Builds it: hosts server by server, then leaves pod by pod, spines, and the switches inside
/// servers. A host's first link is that of its NIC.
///
/// # Errors
/// The problems that [`TopologySettings::check`] finds.
pub fn rail(config: &RailConfig) -> Result<Topology, String> {
    config.check().map_err(|(_, message)| message)?;
    let RailConfig { pods, servers_per_pod, gpus_per_server, spines, .. } = *config;
    let servers = pods * servers_per_pod;
    let hosts = servers * gpus_per_server;
    let leaves = pods * gpus_per_server;
    let (first_spine, first_inside) = (hosts + leaves, hosts + leaves + spines);
    let mut links = Vec::new();
    let mut join = |a, b, rate, delay| links.push(Link { a: NodeId(a), b: NodeId(b), rate, delay });
    for host in 0..hosts {
        let (server, gpu) = (host / gpus_per_server, host % gpus_per_server);
        let leaf = server / servers_per_pod * gpus_per_server + gpu;
        join(host, hosts + leaf, config.nic_rate, config.nic_delay);
    }
    for leaf in 0..leaves {
        for spine in (0..spines).flat_map(|spine| (0..config.links_per_spine).map(move |_| spine)) {
            join(hosts + leaf, first_spine + spine, config.spine_rate, config.spine_delay);
        }
    }
    let mut tiers = vec![0; hosts as usize];
    tiers.extend(vec![1; leaves as usize]);
    tiers.extend(vec![2; spines as usize]);
    let mut labels = Vec::new();
    if config.has_server_switches() {
        for host in 0..hosts {
            let inside = first_inside + host / gpus_per_server;
            join(host, inside, config.server_rate, config.server_delay);
        }
        tiers.extend(vec![1; servers as usize]);
        labels = vec![String::new(); first_inside as usize];
        labels.extend((0..servers).map(|server| format!("server{server}")));
    }
    let mut topology = Topology::new(hosts, tiers, &links)?.with_labels(labels);
    topology.in_server = Some(gpus_per_server);
    topology.is_partial = spines == 0;
    Ok(topology)
}

#[cfg(test)]
mod tests {
    use xoff_core::HostId;

    use super::super::Routes;
    use super::*;

    fn small() -> RailConfig {
        RailConfig {
            pods: 2,
            servers_per_pod: 3,
            gpus_per_server: 4,
            spines: 2,
            ..Default::default()
        }
    }

    fn path(topology: &Topology, routes: &Routes, from: u32, to: u32) -> Vec<String> {
        let path = routes.first_path(topology, HostId(from), HostId(to));
        path.map(|port| topology.name(topology.far_end(port))).collect()
    }

    /// Host 4 s + g is GPU g of server s; leaf 4 p + g is rail g of pod p.
    #[test]
    fn hosts_meet_in_their_server_on_their_rail_or_at_a_spine() {
        let topology = rail(&small()).unwrap();
        let routes = Routes::new(&topology).unwrap();
        let path = |from, to| path(&topology, &routes, from, to);
        assert_eq!(path(0, 3), ["server0", "3"]);
        assert_eq!(path(1, 5), ["leaf:1", "5"]);
        assert_eq!(path(0, 5), ["leaf:0", "spine:0", "leaf:1", "5"]);
        assert_eq!(path(2, 14), ["leaf:2", "spine:0", "leaf:6", "14"]);
        assert_eq!(routes.longest(), 4);
        // Of 8 leaves, each has 2 links of 400 Gb/s up.
        assert_eq!(
            topology.capacities(),
            (BitRate::from_gbps(6400), BitRate::from_gbps(24 * 4000))
        );
    }

    #[test]
    fn without_spines_hosts_meet_in_their_server_and_on_their_rail_only() {
        let topology = rail(&RailConfig { pods: 1, spines: 0, ..small() }).unwrap();
        let routes = Routes::new(&topology).unwrap();
        let path = |from, to| path(&topology, &routes, from, to);
        assert_eq!(path(0, 3), ["server0", "3"]);
        assert_eq!(path(1, 9), ["leaf:1", "9"]);
        let joins = |from, to| routes.joins(HostId(from), HostId(to));
        assert!(joins(0, 3) && joins(3, 0) && joins(1, 9));
        assert!(!joins(0, 5) && !joins(5, 0));
        assert_eq!(routes.longest(), 2);
    }

    #[test]
    fn without_a_switch_inside_a_server_rails_meet_at_spines() {
        let topology = rail(&RailConfig { server_rate: BitRate(0), ..small() }).unwrap();
        let routes = Routes::new(&topology).unwrap();
        assert_eq!(path(&topology, &routes, 0, 3), ["leaf:0", "spine:0", "leaf:3", "3"]);
        assert!(!routes.has_several_links());
    }

    #[test]
    fn wrong_settings_name_their_key() {
        let key = |config: RailConfig| config.check().unwrap_err().0;
        assert_eq!(key(RailConfig { spines: 0, ..small() }), "spines");
        let inside = RailConfig { spines: 0, pods: 1, server_rate: BitRate(0), ..small() };
        assert_eq!(key(inside), "spines");
        assert_eq!(key(RailConfig { gpus_per_server: 0, ..small() }), "gpus_per_server");
        let one = RailConfig { pods: 1, servers_per_pod: 1, gpus_per_server: 1, ..small() };
        assert_eq!(key(one), "servers_per_pod");
    }
}
