//! The order of a job's ranks on its hosts.

use xoff_core::rng::Purpose;
use xoff_core::{HostId, Rng, choices};

use crate::{Context, Grouping, host_set};

choices! {
    /// The order of a job's ranks on its hosts.
    pub enum Placement {
        /// By number, so that neighbours share a rack or a server.
        Packed = "packed",
        /// Neighbours are in different racks, or in different servers if hosts are GPUs, as far as
        /// there are any.
        Spread = "spread",
        /// Neighbours share a rail: they have the same place in different servers.
        Rail = "rail",
        /// At random.
        Random = "random",
        /// As `hosts` lists them.
        Listed = "listed",
    }
}

/// The hosts that a setting `hosts` names, in the order of ranks.
///
/// # Errors
/// What is wrong with the text, or that the fabric has no racks or rails.
pub(crate) fn placed(
    hosts: &str,
    placement: Placement,
    context: &Context<'_>,
) -> Result<Vec<HostId>, String> {
    if placement == Placement::Listed {
        if hosts.trim() == "all" {
            return Err(
                "hosts = \"all\" has no order of its own: list the hosts, or use placement \
                        = \"packed\""
                    .into(),
            );
        }
        let listed = host_set::parse_in_order(hosts, context.hosts());
        return listed.map_err(|problem| format!("hosts: {problem}"));
    }
    let named = host_set::parse(hosts, context.hosts());
    let mut hosts = named.map_err(|problem| format!("hosts: {problem}"))?;
    let Grouping { leaves, in_server } = &context.capacity.grouping;
    match (placement, in_server) {
        (Placement::Packed | Placement::Listed, _) => {}
        (Placement::Spread, Some(in_server)) => {
            hosts.sort_by_key(|host| (host.0 % in_server, host.0));
        }
        (Placement::Spread, None) => {
            let place = places(leaves);
            if place.iter().all(|&place| place == 0) {
                return Err(
                    "placement = \"spread\" has no effect: no two hosts share a rack".into()
                );
            }
            hosts.sort_by_key(|host| (place[host.index()], host.0));
        }
        (Placement::Rail, Some(_)) => hosts.sort_by_key(|host| (leaves[host.index()], host.0)),
        (Placement::Rail, None) => {
            return Err("placement = \"rail\" needs rails: set network.topology = \"rail\"".into());
        }
        (Placement::Random, _) => {
            let stream = u64::from(context.source);
            Rng::stream(context.seed, Purpose::Traffic, stream).shuffle(&mut hosts);
        }
    }
    Ok(hosts)
}

/// The place of each host among those of its leaf.
fn places(leaves: &[u32]) -> Vec<u32> {
    let most = leaves.iter().max().map_or(0, |&leaf| leaf as usize + 1);
    let mut count = vec![0; most];
    let place = |&leaf: &u32| {
        count[leaf as usize] += 1;
        count[leaf as usize] - 1
    };
    leaves.iter().map(place).collect()
}

/// A host for each of the `ranks` of `file`. Of all hosts the first ones are used; a list must name
/// one for each.
///
/// # Errors
/// As [`placed`], or that the numbers differ.
pub(crate) fn placed_ranks(
    hosts: &str,
    placement: Placement,
    ranks: usize,
    file: &str,
    context: &Context<'_>,
) -> Result<Vec<HostId>, String> {
    let mut found = placed(hosts, placement, context)?;
    let is_all = hosts.trim() == "all";
    if found.len() < ranks || (!is_all && found.len() > ranks) {
        let count = found.len();
        return Err(format!("hosts names {count} hosts, but file = {file:?} has {ranks} ranks"));
    }
    found.truncate(ranks);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use xoff_core::BitRate;

    use super::*;
    use crate::Capacity;

    fn order(hosts: &str, placement: Placement, grouping: Grouping) -> Result<Vec<u32>, String> {
        let host_rates = vec![BitRate::from_gbps(100); grouping.leaves.len()];
        let capacity = Capacity { core: BitRate(0), host_rates, racks: None, grouping };
        let context = Context { capacity: &capacity, seed: 1, source: 0, files: &Path::new("") };
        placed(hosts, placement, &context).map(|hosts| hosts.iter().map(|host| host.0).collect())
    }

    /// Two pods of two servers of three GPUs: a leaf for each place and pod.
    fn rails() -> Grouping {
        let leaf = |host: u32| host / 6 * 3 + host % 3;
        Grouping { leaves: (0..12).map(leaf).collect(), in_server: Some(3) }
    }

    #[test]
    fn neighbours_share_a_rack_a_rail_or_neither() {
        // Racks of 2, 3 and 1.
        let racks = || Grouping { leaves: vec![0, 0, 1, 1, 1, 2], in_server: None };
        let of_racks = |placement| order("all", placement, racks()).unwrap();
        assert_eq!(of_racks(Placement::Packed), [0, 1, 2, 3, 4, 5]);
        assert_eq!(of_racks(Placement::Spread), [0, 2, 5, 1, 3, 4]);
        let of_rails = |placement| order("all", placement, rails()).unwrap();
        assert_eq!(of_rails(Placement::Spread), [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
        assert_eq!(of_rails(Placement::Rail), [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]);
        let error = order("all", Placement::Rail, racks()).unwrap_err();
        assert!(error.contains("network.topology = \"rail\""), "{error}");
        let alone = Grouping { leaves: vec![0, 1, 2], in_server: None };
        let error = order("all", Placement::Spread, alone).unwrap_err();
        assert!(error.contains("no two hosts share a rack"), "{error}");
    }

    #[test]
    fn a_list_may_decide() {
        assert_eq!(order("7,0-2,5", Placement::Listed, rails()).unwrap(), [7, 0, 1, 2, 5]);
        assert_eq!(order("7,0-2,5", Placement::Packed, rails()).unwrap(), [0, 1, 2, 5, 7]);
        let error = order("all", Placement::Listed, rails()).unwrap_err();
        assert!(error.contains("list the hosts"), "{error}");
        let error = order("3,1,3", Placement::Listed, rails()).unwrap_err();
        assert_eq!(error, "hosts: host 3 is named twice: name each host once");
    }
}
