//! Tags as the protocol's document defines them, written a second time.

const TAG: usize = 16;

/// The keys of both directions.
pub(crate) struct TagKeys {
    up: [u8; 32],
    down: [u8; 32],
}

impl TagKeys {
    pub(crate) fn of(key: [u8; 32]) -> Self {
        Self {
            up: blake3::derive_key("xoff flowtune control protocol 1, endpoint to allocator", &key),
            down: blake3::derive_key(
                "xoff flowtune control protocol 1, allocator to endpoint",
                &key,
            ),
        }
    }

    /// Replaces the last 16 bytes of a datagram by the tag of the others. Hellos and reports go up.
    pub(crate) fn tag(&self, datagram: &mut [u8]) {
        let (text, tag) = datagram.split_at_mut(datagram.len() - TAG);
        let key = if matches!(text[3], 1 | 4) { &self.up } else { &self.down };
        tag.copy_from_slice(&blake3::keyed_hash(key, text).as_bytes()[..TAG]);
    }
}
