//! Packets that links lose at random: `ERROR_RATE_PER_LINK`, and the error rates of the topology.

use std::collections::BTreeSet;

use xoff_core::PortId;
use xoff_net::topo::Topology;
use xoff_sim::setup::ReceiveErrors;

use super::files::LossyLink;

/// The stream from which that simulator draws: it sets stream 50, and ns-3 adds 2^63 to the numbers
/// that a program sets (`RandomVariableStream::SetStream`).
const STREAM: u64 = (1 << 63) + 50;

/// The links that lose packets. A link with an error rate of its own draws by itself, but from the
/// same stream. All others share one sequence.
pub(super) fn receive_errors(
    topology: &Topology,
    lossy: &[LossyLink],
    per_link: f64,
) -> Vec<ReceiveErrors> {
    let of = |share, ports| ReceiveErrors { share, ports, stream: STREAM };
    let own = lossy.iter().map(|&([from, to], share)| {
        let mut leaving = topology.port_ids_of(from);
        let port = leaving.find(|&port| topology.far_end(port) == to);
        let both_ends = |port: PortId| [port, topology.port(port).peer];
        of(share, port.into_iter().flat_map(both_ends).collect())
    });
    let mut groups: Vec<ReceiveErrors> = own.collect();
    if per_link > 0.0 {
        let own: BTreeSet<PortId> = groups.iter().flat_map(|group| group.ports.clone()).collect();
        let others = topology.port_ids().filter(|port| !own.contains(port)).collect();
        groups.push(of(per_link, others));
    }
    groups
}
