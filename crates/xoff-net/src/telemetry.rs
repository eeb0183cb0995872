//! In-band network telemetry: the entry of each switch in an INT header (HPCC, §4.1 of its paper),
//! stored in the packets' side records ([`record`](crate::record)).

/// Most switches in a record.
pub const HOPS_MAX: usize = 8;

/// The unit of rates in entries (bit/s).
pub const RATE_UNIT: u64 = 1_000_000;

/// One switch's entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntHop {
    /// Departure of the packet (ps).
    pub time_ps: u64,
    /// Bytes that the port had sent before it.
    pub tx_bytes: u64,
    /// Bytes left in the egress queues.
    pub queue_bytes: u32,
    /// The port's rate in Mbit/s ([`RATE_UNIT`]).
    pub rate_mbps: u32,
}

/// The entries of one packet, in the order of its hops.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntStack {
    hops: [IntHop; HOPS_MAX],
    count: u8,
}

impl IntStack {
    /// Appends an entry, if there is room for it.
    #[inline]
    pub fn push(&mut self, hop: IntHop) {
        if let Some(place) = self.hops.get_mut(self.count as usize) {
            *place = hop;
            self.count += 1;
        }
    }

    /// Removes all entries.
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

    /// Writes one entry. Entries before it that are missing stay as they are.
    pub fn set(&mut self, place: usize, hop: IntHop) {
        if let Some(here) = self.hops.get_mut(place) {
            *here = hop;
            self.count = self.count.max(place as u8 + 1);
        }
    }

    /// Writes the entries of another record over those here, into this number of places. After the
    /// last place comes the first one.
    pub fn overlay(&mut self, other: &Self, places: usize) {
        for (number, hop) in other.hops().iter().enumerate() {
            self.hops[number % places] = *hop;
        }
        self.count = self.count.max(other.count.min(places as u8));
    }

    /// Copies the entries of another record, but not its unused space.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        let count = other.count as usize;
        self.hops[..count].copy_from_slice(other.hops());
        self.count = other.count;
    }
}
