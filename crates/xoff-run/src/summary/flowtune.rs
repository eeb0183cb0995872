//! Flowtune's allocators and servers in the measured time.

use xoff_host::flowtune::stream::StreamStats;
use xoff_sim::Simulation;
use xoff_sim::flowtune::FlowtuneCounts;

use super::keys::keys;
use super::share;

keys! {
    /// Messages in one direction between servers and allocators. Shares are of the capacity of all
    /// hosts' links, one way.
    pub struct Stream {
        /// Messages, or datagrams with any number of them.
        messages: u64,
        /// Bytes of the messages, or of the datagrams.
        message_bytes: u64,
        /// Packets.
        packets: u64,
        /// Bytes of the packets on the wire.
        wire_bytes: u64,
        /// Share of these bytes.
        capacity_share: f64,
        /// Bytes on the wire of the acknowledgements of these packets, sent the other way.
        ack_wire_bytes: u64,
        /// Share of the acknowledgements.
        ack_capacity_share: f64,
        /// Packets sent again.
        repeated_packets: u64,
        /// Retransmission timeouts.
        timeouts: u64,
        /// Packets and acknowledgements lost by impairment.
        lost_on_purpose: u64,
    }
}

impl Stream {
    fn of(simulation: &Simulation, sent: &StreamStats) -> Self {
        let (_, capacity) = simulation.setup().topology.capacities();
        let possible = capacity.0 as f64 * simulation.measured().seconds() / 8.0;
        Self {
            messages: sent.messages,
            message_bytes: sent.message_bytes,
            packets: sent.packets,
            wire_bytes: sent.wire_bytes,
            capacity_share: sent.wire_bytes as f64 / possible,
            ack_wire_bytes: sent.ack_wire_bytes,
            ack_capacity_share: sent.ack_wire_bytes as f64 / possible,
            repeated_packets: sent.repeated,
            timeouts: sent.timeouts,
            lost_on_purpose: sent.lost,
        }
    }
}

keys! {
    /// Flowtune's allocators and servers in the measured time.
    pub struct Flowtune {
        /// Iterations of all allocators.
        iterations: u64,
        /// Flowlets that an allocator knew, mean over its iterations.
        active_flowlets_mean: f64,
        /// Flowlets that servers announced.
        flowlets: u64,
        /// Flows that joined a flowlet.
        joined_flows: u64,
        /// Rates that allocators sent.
        rates_sent: u64,
        /// `rates_sent` over the flowlets announced to allocators.
        rates_per_flowlet: f64,
        /// Rates that servers received.
        rates_received: u64,
        /// Messages that extend the validity of a server's rates. Each datagram does.
        renewals: u64,
        /// Expiries of a server's rates.
        expiries: u64,
        /// Flows handed to their own congestion control at an expiry.
        fallbacks: u64,
        /// Datagrams that servers and allocators refused, for instance because a later one came
        /// first.
        refused_datagrams: u64,
        /// Messages from servers to allocators.
        to_allocator: Stream,
        /// Messages from allocators to servers.
        from_allocator: Stream,
        /// Messages between allocators.
        between_allocators: Stream,
    }
}

impl Flowtune {
    pub(super) fn of(simulation: &Simulation) -> Option<Self> {
        let FlowtuneCounts { allocators, agents, streams: [to, from, between] } =
            simulation.flowtune()?;
        Some(Self {
            iterations: allocators.iterations,
            active_flowlets_mean: share(allocators.active_flowlets, allocators.iterations),
            flowlets: agents.flowlets,
            joined_flows: agents.joined,
            rates_sent: allocators.rates,
            rates_per_flowlet: share(allocators.rates, allocators.flowlets),
            rates_received: agents.rates,
            renewals: allocators.renewals,
            expiries: agents.expiries,
            fallbacks: agents.fallbacks,
            refused_datagrams: allocators.refused + agents.refused,
            to_allocator: Stream::of(simulation, &to),
            from_allocator: Stream::of(simulation, &from),
            between_allocators: Stream::of(simulation, &between),
        })
    }
}
