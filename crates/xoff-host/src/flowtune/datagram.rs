//! Datagrams between servers and their allocator, in the protocol of real hosts.
//!
//! A server has an [`Endpoint`] of `xoff-control`, the state machine that `xoff agent` runs. Each
//! direction between a server and its allocator is a stream of numbered packets. A reader takes a
//! datagram when its packet arrives. If a later packet has overtaken it, the datagram is gone: the
//! protocol accepts only rising sequence numbers and would refuse it.

use rustc_hash::FxHashMap;
use xoff_control::{Endpoint, EndpointConfig, EndpointId, Key, Nanos};
use xoff_core::rng::Purpose;
use xoff_core::{HostId, Rng};

use super::mail::{Letter, Mail};
use super::stream_id::{StreamId, StreamSpec};

/// Picoseconds in a nanosecond, the unit of the protocol.
const PS: u64 = 1000;

/// The protocol's time at a time of the simulation (ps).
#[must_use]
pub fn nanos(ps: u64) -> Nanos {
    ps / PS
}

/// The first time (ps) at which the protocol's time is `time`.
pub(crate) fn picos(time: Nanos) -> u64 {
    time.saturating_mul(PS)
}

/// A server's number in the protocol.
#[must_use]
pub fn endpoint_id(server: HostId) -> EndpointId {
    EndpointId(server.0)
}

/// The key that a server shares with its allocator.
#[must_use]
pub fn key(seed: u64, server: HostId) -> Key {
    Key::new(random_bytes(seed, u64::from(server.0) << 32))
}

/// What makes the tokens of a server, or of an allocator's life, unlike all others.
#[must_use]
pub fn secret(seed: u64, owner: HostId, life: u32) -> [u8; 32] {
    random_bytes(seed, u64::from(owner.0) << 32 | (u64::from(life) + 1))
}

fn random_bytes(seed: u64, stream: u64) -> [u8; 32] {
    let mut random = Rng::stream(seed, Purpose::ControlKeys, stream);
    let mut bytes = [0; 32];
    bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.u64().to_le_bytes()));
    bytes
}

/// The writer's end of a stream of datagrams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    /// Where it goes.
    pub(crate) spec: StreamSpec,
    /// The NIC in this partition that sends it.
    pub(crate) nic: u32,
    /// Packets so far.
    pub(crate) packets: u64,
}

/// The ends of all streams of datagrams in one partition.
#[derive(Debug)]
pub(crate) struct Datagrams {
    /// Settings of all endpoints but their number.
    config: EndpointConfig,
    seed: u64,
    /// By NIC; an allocator's NIC has none.
    endpoints: Vec<Option<Endpoint>>,
    writers: FxHashMap<StreamId, Writer>,
    pub(crate) mail: Mail<Box<[u8]>>,
    /// Datagrams that have arrived at allocators of this partition.
    pub(crate) inbox: Vec<(StreamId, Box<[u8]>)>,
}

impl Datagrams {
    pub(crate) fn new(config: EndpointConfig, seed: u64) -> Self {
        Self {
            config,
            seed,
            endpoints: Vec::new(),
            writers: FxHashMap::default(),
            mail: Mail::default(),
            inbox: Vec::new(),
        }
    }

    /// A NIC is added.
    pub(crate) fn add_nic(&mut self) {
        self.endpoints.push(None);
    }

    /// The server of a NIC takes part.
    pub(crate) fn join(&mut self, nic: u32, server: HostId) {
        let config = EndpointConfig { id: endpoint_id(server), ..self.config };
        let secret = secret(self.seed, server, 0);
        let endpoint = Endpoint::new(config, &key(self.seed, server), secret);
        self.endpoints[nic as usize] = Some(endpoint);
    }

    /// A stream is written here.
    pub(crate) fn write_here(&mut self, nic: u32, spec: StreamSpec) {
        if let Some(partition) = spec.partition {
            self.mail.write_to(partition);
        }
        self.writers.insert(spec.stream, Writer { spec, nic, packets: 0 });
    }

    /// The endpoint of a NIC's server.
    pub(crate) fn endpoint(&mut self, nic: u32) -> Option<&mut Endpoint> {
        self.endpoints[nic as usize].as_mut()
    }

    /// All endpoints.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.endpoints.iter().flatten()
    }

    /// Sends a datagram. Returns the writer's end, with this packet counted.
    pub(crate) fn send(&mut self, stream: StreamId, bytes: &[u8]) -> Writer {
        let writer = self.writers.get_mut(&stream).expect("the stream is not written here");
        writer.packets += 1;
        let letter = Letter { stream, packets: writer.packets, content: bytes.into() };
        self.mail.send(writer.spec.partition, letter);
        *writer
    }

    /// The content of an arriving packet, unless a later one has come before it.
    pub(crate) fn take(&mut self, stream: StreamId, packet: u64) -> Option<Box<[u8]>> {
        let mut found = None;
        while let Some(letter) = self.mail.read(stream, packet) {
            found = (letter.packets == packet).then_some(letter.content);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: fn() -> StreamId = || StreamId::to_allocator(HostId(3));

    fn datagrams() -> Datagrams {
        let config = EndpointConfig::with_iteration(EndpointId(0), 10_000);
        let mut datagrams = Datagrams::new(config, 1);
        let (src, dst) = (HostId(3), HostId(9));
        let spec = StreamSpec { stream: STREAM(), src, dst, label: 0, partition: None };
        datagrams.write_here(0, spec);
        datagrams.mail.read_here(STREAM());
        datagrams
    }

    #[test]
    fn packets_bring_their_own_datagrams() {
        let mut datagrams = datagrams();
        let numbers = [b"one", b"two"].map(|bytes| datagrams.send(STREAM(), bytes).packets);
        assert_eq!(numbers, [1, 2]);
        assert_eq!(datagrams.take(STREAM(), 1).as_deref(), Some(&b"one"[..]));
        assert_eq!(datagrams.take(STREAM(), 2).as_deref(), Some(&b"two"[..]));
        assert_eq!(datagrams.take(STREAM(), 2), None);
    }

    #[test]
    fn what_is_lost_or_overtaken_takes_no_memory() {
        let mut datagrams = datagrams();
        for _ in 0..3 {
            datagrams.send(STREAM(), b"any");
        }
        assert!(datagrams.take(STREAM(), 3).is_some());
        assert_eq!(datagrams.take(STREAM(), 2), None);
        assert_eq!(datagrams.mail.read(STREAM(), u64::MAX), None);
    }

    #[test]
    fn keys_and_secrets_differ() {
        let servers = [0, 1, 1 << 20].map(HostId);
        let mut all: Vec<[u8; 32]> = Vec::new();
        for server in servers {
            all.push(random_bytes(7, u64::from(server.0) << 32));
            all.extend([0, 1, u32::MAX - 1].map(|life| secret(7, server, life)));
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
