//! Names of the streams of control packets.

use xoff_core::HostId;

/// First id of streams between allocators. Lower ids are two per server.
const BETWEEN: u32 = 1 << 24;

/// Writer and reader of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From this server to its allocator.
    ToAllocator(HostId),
    /// From its allocator to this server.
    FromAllocator(HostId),
    /// From one allocator to another.
    Between(u32, u32),
}

/// Id of a stream. Its packets have flow numbers that count down from the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamId(u32);

impl StreamId {
    /// The stream from a server to its allocator.
    #[must_use]
    pub fn to_allocator(server: HostId) -> Self {
        Self(server.0 << 1)
    }

    /// The stream to a server from its allocator.
    #[must_use]
    pub fn from_allocator(server: HostId) -> Self {
        Self(server.0 << 1 | 1)
    }

    /// The stream from one allocator to another.
    #[must_use]
    pub fn between(from: u32, to: u32) -> Self {
        Self(BETWEEN | from << 8 | to)
    }

    /// The stream with this flow number in its packets.
    #[must_use]
    pub fn of_flow(flow: u32) -> Self {
        Self(u32::MAX - flow)
    }

    /// The flow number of its packets.
    #[must_use]
    pub fn flow(self) -> u32 {
        u32::MAX - self.0
    }

    /// Writer and reader of the stream.
    #[must_use]
    pub fn direction(self) -> Direction {
        match self.0 {
            number if number >= BETWEEN => Direction::Between(number >> 8 & 0xff, number & 0xff),
            number if number & 1 == 0 => Direction::ToAllocator(HostId(number >> 1)),
            number => Direction::FromAllocator(HostId(number >> 1)),
        }
    }

    /// 0 for the streams to allocators, 1 for those from allocators, 2 for those between them.
    pub(crate) fn kind(self) -> usize {
        match self.direction() {
            Direction::ToAllocator(_) => 0,
            Direction::FromAllocator(_) => 1,
            Direction::Between(..) => 2,
        }
    }
}

/// A stream written at a host of this partition.
#[derive(Clone, Copy, Debug)]
pub struct StreamSpec {
    /// Id of the stream.
    pub stream: StreamId,
    /// Writing host.
    pub src: HostId,
    /// Reading host.
    pub dst: HostId,
    /// Source and destination port.
    pub label: u32,
    /// The partition of the reader, unless it is this one.
    pub partition: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_ids_and_flow_numbers_correspond() {
        let of_server = |server| {
            [
                (StreamId::to_allocator(server), Direction::ToAllocator(server)),
                (StreamId::from_allocator(server), Direction::FromAllocator(server)),
            ]
        };
        let between = |(a, b)| (StreamId::between(a, b), Direction::Between(a, b));
        let streams = [0, 1, (1 << 20) - 1].map(HostId).into_iter().flat_map(of_server);
        for (stream, direction) in streams.chain([(0, 1), (1, 0), (127, 126)].map(between)) {
            assert_eq!(StreamId::of_flow(stream.flow()), stream);
            assert_eq!(stream.direction(), direction);
            assert!(stream.flow() > u32::MAX - (1 << 25));
        }
    }
}
