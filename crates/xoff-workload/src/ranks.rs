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
