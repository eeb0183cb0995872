//! The order of a job's ranks on its hosts.

use std::collections::BTreeMap;

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
            spread(&mut hosts, |host| host.0 / in_server, "a server")?;
        }
        (Placement::Spread, None) => {
            // Without leaves each host is on its own.
            let leaf = |host: HostId| leaves.get(host.index()).copied().unwrap_or(host.0);
            spread(&mut hosts, leaf, "a rack")?;
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

/// Orders hosts by their places among those of their rack or server, so that neighbours are apart.
fn spread(
    hosts: &mut Vec<HostId>,
    unit: impl Fn(HostId) -> u32,
    shared: &str,
) -> Result<(), String> {
    let mut count = BTreeMap::new();
    let place = |&host: &HostId| {
        let others: &mut u32 = count.entry(unit(host)).or_insert(0);
        *others += 1;
        (*others - 1, host)
    };
    let mut places: Vec<(u32, HostId)> = hosts.iter().map(place).collect();
    if places.iter().all(|&(place, _)| place == 0) {
        return Err(format!("placement = \"spread\" has no effect: no two hosts share {shared}"));
    }
    places.sort_unstable();
    *hosts = places.into_iter().map(|(_, host)| host).collect();
    Ok(())
}

/// Checks that each `in_server` successive hosts are the GPUs of one server.
///
/// # Errors
/// Two that are not.
pub(crate) fn check_servers(hosts: &[HostId], in_server: u32) -> Result<(), String> {
    let server = |host: HostId| host.0 / in_server;
    let of_ranks = hosts.chunks(in_server as usize);
    let apart = |ranks: &[HostId]| {
        let other = ranks.iter().find(|&&host| server(host) != server(ranks[0]));
        other.map(|&other| (ranks[0], other))
    };
    match of_ranks.filter_map(apart).next() {
        None => Ok(()),
        Some((one, other)) => Err(format!(
            "algorithm = \"hierarchical\" takes {in_server} successive ranks for the GPUs of a \
             server, but hosts {one} and {other} are in different servers: name whole servers, in \
             the order of placement = \"packed\""
        )),
    }
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
        let capacity = Capacity { grouping, ..Capacity::new(BitRate(0), host_rates) };
        let context = Context {
            capacity: &capacity,
            seed: 1,
            source: 0,
            files: &Path::new(""),
            one_class: None,
        };
        placed(hosts, placement, &context).map(|hosts| hosts.iter().map(|host| host.0).collect())
    }

    /// Two pods of two servers of three GPUs: a leaf for each place and pod.
    fn rails() -> Grouping {
        let leaf = |host: u32| host / 6 * 3 + host % 3;
        let leaves = (0..12).map(leaf).collect();
        Grouping { leaves, in_server: Some(3) }
    }

    #[test]
    fn neighbours_share_a_rack_a_rail_or_neither() {
        // Racks of 2, 3 and 1.
        let of = |leaves: &[u32]| Grouping { leaves: leaves.to_vec(), ..Grouping::default() };
        let racks = || of(&[0, 0, 1, 1, 1, 2]);
        let of_racks = |placement| order("all", placement, racks()).unwrap();
        assert_eq!(of_racks(Placement::Packed), [0, 1, 2, 3, 4, 5]);
        assert_eq!(of_racks(Placement::Spread), [0, 2, 5, 1, 3, 4]);
        let of_rails = |placement| order("all", placement, rails()).unwrap();
        assert_eq!(of_rails(Placement::Spread), [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
        assert_eq!(of_rails(Placement::Rail), [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11]);
        // A part of the hosts, whose places in their racks and servers do not matter.
        let of_three = || of(&[0, 0, 0, 1, 1, 1]);
        assert_eq!(order("0-1,4-5", Placement::Spread, of_three()).unwrap(), [0, 4, 1, 5]);
        assert_eq!(order("0-1,4-5", Placement::Spread, rails()).unwrap(), [0, 4, 1, 5]);
        let error = order("0,3", Placement::Spread, of_three()).unwrap_err();
        assert!(error.contains("no two hosts share a rack"), "{error}");
        let error = order("all", Placement::Rail, racks()).unwrap_err();
        assert!(error.contains("network.topology = \"rail\""), "{error}");
        let alone = of(&[0, 1, 2]);
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
