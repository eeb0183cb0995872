//! Packets queued for retransmission.

/// First byte and payload of each packet, in descending order.
#[derive(Debug, Default)]
pub struct Waiting {
    packets: Vec<(u64, u64)>,
}

impl Waiting {
    /// Adds a packet; returns false if it is already queued.
    pub(crate) fn add(&mut self, seq: u64, bytes: u64) -> bool {
        let Err(place) = self.place(seq) else { return false };
        self.packets.insert(place, (seq, bytes));
        true
    }

    /// Removes a packet; returns its payload if it was queued.
    pub(crate) fn remove(&mut self, seq: u64) -> Option<u64> {
        let place = self.place(seq).ok()?;
        Some(self.packets.remove(place).1)
    }

    /// Takes the first queued packet of the flow: first byte and payload.
    pub(crate) fn take(&mut self) -> Option<(u64, u64)> {
        self.packets.pop()
    }

    /// Index of a packet, or its insertion index.
    fn place(&self, seq: u64) -> Result<usize, usize> {
        self.packets.binary_search_by(|&(other, _)| seq.cmp(&other))
    }
}
