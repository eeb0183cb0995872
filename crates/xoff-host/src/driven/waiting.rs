//! The packets that wait to be sent again.

/// First byte and payload of each packet, in the opposite of their order in the flow.
#[derive(Debug, Default)]
pub struct Waiting {
    packets: Vec<(u64, u64)>,
}

impl Waiting {
    /// Adds a packet. Returns whether it did not wait already.
    pub(crate) fn add(&mut self, seq: u64, bytes: u64) -> bool {
        let Err(place) = self.place(seq) else { return false };
        self.packets.insert(place, (seq, bytes));
        true
    }

    /// Removes a packet. Returns its payload if it waited.
    pub(crate) fn remove(&mut self, seq: u64) -> Option<u64> {
        let place = self.place(seq).ok()?;
        Some(self.packets.remove(place).1)
    }

    /// Takes the first packet of the flow that waits: first byte and payload.
    pub(crate) fn take(&mut self) -> Option<(u64, u64)> {
        self.packets.pop()
    }

    /// Where a packet is, or would be.
    fn place(&self, seq: u64) -> Result<usize, usize> {
        self.packets.binary_search_by(|&(other, _)| seq.cmp(&other))
    }
}
