//! The order in which a NIC serves its flows.

use xoff_core::choices;

choices! {
    /// Order in which a NIC serves its flows.
    pub enum RoundRobin {
        /// The flow that has been ready for longest: O(1) a packet.
        Ready = "ready",
        /// The next ready flow in order of arrival, as NICs of the HPCC simulator search for it:
        /// O(flows) a packet.
        Index = "index",
        /// Flows post packets to the NIC, up to `posted_packets` each, which are sent even if the
        /// window falls. Flows and the acknowledgements of flows take turns, in order of arrival
        /// (htsim's scheduler for Swift).
        Posted = "posted",
        /// The ready flow with the fewest bytes left to send, over all queues that are not paused;
        /// strictly by class where queues are classes (pFabric §4.2; BFC App. A.2: "NICs also
        /// follow SRF scheduling").
        Shortest = "shortest",
        /// First in, first out, in one queue without limit. A flow hands over packets as soon as
        /// its window allows, so that retransmissions wait behind them and round trips include the
        /// wait, as at hosts of ns-2 and ns-3.
        Fifo = "fifo",
    }
}
