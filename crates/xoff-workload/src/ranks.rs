//! The order of a job's ranks on its hosts.

use xoff_core::rng::Purpose;
use xoff_core::{HostId, Rng, choices};

use crate::{Context, host_set};

choices! {
    /// The order of a job's ranks on its hosts.
    pub enum Placement {
        /// By number, so that neighbours share a rack.
        Packed = "packed",
        /// Neighbours are in different racks, as far as there are any.
        Spread = "spread",
        /// At random.
        Random = "random",
    }
}

/// The hosts that a setting `hosts` names, in the order of ranks.
///
/// # Errors
/// What is wrong with the text, or that the fabric has no racks.
pub(crate) fn placed(
    hosts: &str,
    placement: Placement,
    context: &Context<'_>,
) -> Result<Vec<HostId>, String> {
    let named = host_set::parse(hosts, context.hosts());
    let mut hosts = named.map_err(|problem| format!("hosts: {problem}"))?;
    match placement {
        Placement::Packed => {}
        Placement::Spread => {
            let Some(racks) = context.capacity.racks else {
                return Err(
                    "placement = \"spread\" needs a fabric of equal racks with two layers: \
                            network.topology = \"leaf-spine\""
                        .into(),
                );
            };
            hosts.sort_by_key(|host| (host.0 % racks.hosts, host.0));
        }
        Placement::Random => {
            let stream = u64::from(context.source);
            Rng::stream(context.seed, Purpose::Traffic, stream).shuffle(&mut hosts);
        }
    }
    Ok(hosts)
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
