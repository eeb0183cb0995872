//! In-band network telemetry: what each switch writes into an INT header (HPCC, §4.1 of its paper),
//! kept beside the packets ([`record`](crate::record)).

/// Most switches a record can hold.
pub const HOPS_MAX: usize = 8;

/// One switch's entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntHop {
    /// When the packet left (ps).
    pub time_ps: u64,
    /// Bytes the port had sent before it.
    pub tx_bytes: u64,
    /// Bytes left in the egress queues.
    pub queue_bytes: u32,
    /// The port's rate in Mbit/s.
    pub rate_mbps: u32,
}

/// The entries of one packet, in the order of its hops.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntStack {
    hops: [IntHop; HOPS_MAX],
    count: u8,
}

impl IntStack {
    /// Appends an entry; a path longer than the record is refused when the network is built.
    #[inline]
    pub fn push(&mut self, hop: IntHop) {
        self.hops[self.count as usize] = hop;
        self.count += 1;
    }

    /// Forgets its entries.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The entries.
    #[inline]
    #[must_use]
    pub fn hops(&self) -> &[IntHop] {
        &self.hops[..self.count as usize]
    }

    /// Becomes a copy of another record: of its entries, not of the room for more.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        let count = other.count as usize;
        self.hops[..count].copy_from_slice(other.hops());
        self.count = other.count;
    }
}
