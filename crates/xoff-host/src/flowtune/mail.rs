//! The content of control packets, on its way from writer to reader.
//!
//! Content travels outside the simulated packets. It is here from the time when its packet leaves
//! until the reader takes it, when the packet has arrived. To a reader in another partition, it is
//! transferred at the end of the window in which the packet left; no packet can arrive earlier.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::Message;
use super::stream_id::StreamId;

/// Content that a stream's packet brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter<T> {
    /// The stream.
    pub stream: StreamId,
    /// Number of the stream's packets up to its own.
    pub packets: u64,
    /// The content.
    pub content: T,
}

/// Content for the readers of another partition.
#[derive(Debug, Default)]
pub struct ControlMail {
    /// Messages of connections.
    pub(crate) messages: Vec<Letter<Message>>,
    /// Datagrams.
    pub(crate) datagrams: Vec<Letter<Box<[u8]>>>,
}

/// Content of the streams that are written or read in a partition.
#[derive(Debug)]
pub(crate) struct Mail<T> {
    /// Sent and not yet read, of streams that are read here.
    unread: FxHashMap<StreamId, VecDeque<Letter<T>>>,
    /// For readers in other partitions, by partition.
    outbox: Vec<Vec<Letter<T>>>,
}

impl<T> Default for Mail<T> {
    fn default() -> Self {
        Self { unread: FxHashMap::default(), outbox: Vec::new() }
    }
}

impl<T> Mail<T> {
    /// Makes room for content to a partition.
    pub(crate) fn write_to(&mut self, partition: u32) {
        let partitions = partition as usize + 1;
        if self.outbox.len() < partitions {
            self.outbox.resize_with(partitions, Vec::new);
        }
    }

    /// A stream is read here.
    pub(crate) fn read_here(&mut self, stream: StreamId) {
        self.unread.insert(stream, VecDeque::new());
    }

    /// Sends content to a reader in another partition, or in this one.
    pub(crate) fn send(&mut self, partition: Option<u32>, letter: Letter<T>) {
        match partition {
            Some(partition) => self.outbox[partition as usize].push(letter),
            None => self.deliver(letter),
        }
    }

    /// Accepts content for a reader in this partition.
    pub(crate) fn deliver(&mut self, letter: Letter<T>) {
        let unread = self.unread.get_mut(&letter.stream).expect("the stream is not read here");
        unread.push_back(letter);
    }

    /// The next content of the stream's first `packets`.
    pub(crate) fn read(&mut self, stream: StreamId, packets: u64) -> Option<Letter<T>> {
        let unread = self.unread.get_mut(&stream)?;
        if unread.front()?.packets > packets {
            return None;
        }
        unread.pop_front()
    }

    /// Swaps the content for readers in another partition with an empty list.
    pub(crate) fn swap(&mut self, partition: usize, letters: &mut Vec<Letter<T>>) {
        if let Some(outbox) = self.outbox.get_mut(partition) {
            std::mem::swap(outbox, letters);
        }
    }

    /// True if there is content for readers in another partition.
    pub(crate) fn is_waiting(&self, partition: usize) -> bool {
        self.outbox.get(partition).is_some_and(|letters| !letters.is_empty())
    }
}
