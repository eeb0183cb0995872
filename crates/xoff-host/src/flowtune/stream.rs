//! Byte streams for messages: one direction of a control connection.
//!
//! A stream is a [`Sender`](crate::flow::Sender) with an endless flow. When a packet may leave, it
//! takes all waiting messages that fit and does not wait for more (no Nagle). The recovery counts
//! packets. Each packet therefore takes the sequence space of a full one, whatever its length on
//! the wire, and is retransmitted with the same content. Windows count packets, as in ns-2 and
//! Linux.
//!
//! The reader gets a message once all packets with its bytes have arrived ("only applied when the
//! corresponding bytes arrive, as in ns2's TcpApp", §5.3). [`mail`](super::mail) has it until then.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use xoff_core::counts;

use super::Message;
use super::mail::{Letter, Mail};
use super::stream_id::StreamId;

/// A stream's writer.
#[derive(Debug)]
struct Writer {
    /// Slot of its sender in this partition.
    sender: u32,
    /// The partition of the reader, unless it is this one.
    partition: Option<u32>,
    /// Messages that wait for a packet; the first one with its remaining bytes.
    waiting: VecDeque<(u64, Message)>,
    waiting_bytes: u64,
    /// Payloads of the packets that may be retransmitted, and the number of the first.
    sent: VecDeque<u16>,
    first: u64,
}

impl Writer {
    /// Number of packets so far, with the packets that the waiting messages will take.
    fn packets(&self, full: u64) -> u64 {
        self.first + self.sent.len() as u64 + self.waiting_bytes.div_ceil(full)
    }

    /// Fills a new packet and returns its payload. Calls `complete` for each message that ends in
    /// it.
    fn fill(&mut self, full: u64, mut complete: impl FnMut(Message)) -> u16 {
        let bytes = self.waiting_bytes.min(full);
        self.waiting_bytes -= bytes;
        let mut room = bytes;
        while let Some((left, message)) = self.waiting.front_mut() {
            if *left > room {
                *left -= room;
                break;
            }
            room -= *left;
            complete(*message);
            self.waiting.pop_front();
        }
        self.sent.push_back(bytes as u16);
        bytes as u16
    }
}

counts! {
    /// Counters of one direction.
    pub struct StreamStats {
        /// Messages written.
        messages,
        /// Bytes of the messages.
        message_bytes,
        /// Packets sent.
        packets,
        /// Bytes of the packets on the wire.
        wire_bytes,
        /// Retransmitted packets.
        repeated,
        /// Retransmission timeouts.
        timeouts,
        /// Bytes on the wire of acknowledgements of the stream's packets.
        ack_wire_bytes,
        /// Packets and acknowledgements lost deliberately.
        lost,
    }
}

/// The ends of streams in one partition.
#[derive(Debug, Default)]
pub struct Streams {
    writers: FxHashMap<StreamId, Writer>,
    /// Messages sent and not yet read.
    mail: Mail<Message>,
    /// Counters of streams to allocators, from allocators, and between them.
    stats: [StreamStats; 3],
}

impl Streams {
    /// Registers a stream written in this partition by the sender in slot `sender`. `partition` is
    /// the reader's, or `None` if it is this one.
    pub fn write_here(&mut self, stream: StreamId, sender: u32, partition: Option<u32>) {
        if let Some(partition) = partition {
            self.mail.write_to(partition);
        }
        let (waiting, sent) = Default::default();
        let writer = Writer { sender, partition, waiting, waiting_bytes: 0, sent, first: 0 };
        self.writers.insert(stream, writer);
    }

    /// Registers a stream read in this partition.
    pub fn read_here(&mut self, stream: StreamId) {
        self.mail.read_here(stream);
    }

    /// The slot of a stream's sender in this partition.
    ///
    /// # Panics
    /// If the stream is not written here.
    #[must_use]
    pub fn sender(&self, stream: StreamId) -> u32 {
        self.writers[&stream].sender
    }

    /// Writes a message. Returns the stream's number of packets including those that the message
    /// will take; `full` is the payload of a full packet.
    pub fn write(&mut self, stream: StreamId, message: Message, full: u64) -> u64 {
        let stats = self.count(stream);
        stats.messages += 1;
        stats.message_bytes += message.bytes();
        let writer = self.writers.get_mut(&stream).expect("the stream is not written here");
        writer.waiting.push_back((message.bytes(), message));
        writer.waiting_bytes += message.bytes();
        writer.packets(full)
    }

    /// Sends a packet of a stream, or retransmits it; packets before `unacknowledged` are never
    /// retransmitted. Returns its payload.
    pub fn send(&mut self, stream: StreamId, number: u64, unacknowledged: u64, full: u64) -> u16 {
        let writer = self.writers.get_mut(&stream).expect("the stream is not written here");
        while writer.first < unacknowledged && writer.sent.pop_front().is_some() {
            writer.first += 1;
        }
        if let Some(&bytes) = writer.sent.get((number - writer.first) as usize) {
            self.count(stream).repeated += 1;
            return bytes;
        }
        let (mail, partition) = (&mut self.mail, writer.partition);
        writer.fill(full, |content| {
            mail.send(partition, Letter { stream, packets: number + 1, content });
        })
    }

    /// The next message that is complete after the first `packets` of the stream.
    pub fn read(&mut self, stream: StreamId, packets: u64) -> Option<Message> {
        self.mail.read(stream, packets).map(|letter| letter.content)
    }

    /// The messages on their way.
    pub(crate) fn mail(&mut self) -> &mut Mail<Message> {
        &mut self.mail
    }

    /// True if there are messages for readers in another partition.
    #[must_use]
    pub fn has_mail(&self, partition: usize) -> bool {
        self.mail.is_waiting(partition)
    }

    /// Counters of the streams to allocators, from allocators, and between them.
    #[must_use]
    pub fn stats(&self) -> &[StreamStats; 3] {
        &self.stats
    }

    /// Counters of a stream's direction.
    pub fn count(&mut self, stream: StreamId) -> &mut StreamStats {
        &mut self.stats[stream.kind()]
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::HostId;

    use super::*;

    const END: Message = Message::End { flowlet: 7 };

    /// A stream that is written and read here.
    fn local() -> (Streams, StreamId) {
        let (mut streams, stream) = (Streams::default(), StreamId::to_allocator(HostId(3)));
        streams.write_here(stream, 0, None);
        streams.read_here(stream);
        (streams, stream)
    }

    #[test]
    fn waiting_messages_share_a_packet_and_are_read_on_its_arrival() {
        let (mut streams, stream) = local();
        assert_eq!(streams.write(stream, END, 1460), 1);
        assert_eq!(streams.write(stream, Message::Renewal, 1460), 1);
        assert_eq!(streams.send(stream, 0, 0, 1460), 8);
        assert_eq!(streams.write(stream, END, 1460), 2);
        assert_eq!(streams.send(stream, 1, 0, 1460), 4);
        assert_eq!(streams.read(stream, 0), None);
        assert_eq!(streams.read(stream, 1), Some(END));
        assert_eq!(streams.read(stream, 1), Some(Message::Renewal));
        assert_eq!(streams.read(stream, 1), None);
        assert_eq!(streams.read(stream, 2), Some(END));
        let [to, from, between] = streams.stats();
        assert_eq!((to.messages, to.message_bytes), (3, 12));
        assert_eq!((from.messages, between.messages), (0, 0));
    }

    #[test]
    fn a_packet_is_retransmitted_with_the_same_content() {
        let (mut streams, stream) = local();
        let start = Message::Start { flowlet: 0, dst: HostId(0), label: 0 };
        for (number, message) in [(0, start), (1, END), (2, start)] {
            streams.write(stream, message, 1460);
            streams.send(stream, number, 0, 1460);
        }
        assert_eq!([0, 1, 2].map(|number| streams.send(stream, number, 0, 1460)), [16, 4, 16]);
        assert_eq!([1, 2].map(|number| streams.send(stream, number, 1, 1460)), [4, 16]);
        assert_eq!(
            [0, 1, 2, 3].map(|_| streams.read(stream, 3).is_some()),
            [true, true, true, false]
        );
    }

    #[test]
    fn a_message_across_two_packets_is_read_with_the_second() {
        let (mut streams, stream) = local();
        streams.write(stream, END, 6);
        assert_eq!(streams.write(stream, Message::Renewal, 6), 2);
        assert_eq!([0, 1].map(|number| streams.send(stream, number, 0, 6)), [6, 2]);
        assert_eq!(streams.read(stream, 1), Some(END));
        assert_eq!(streams.read(stream, 1), None);
        assert_eq!(streams.read(stream, 2), Some(Message::Renewal));
    }

    #[test]
    fn a_message_for_another_partition_waits_in_the_outbox() {
        let mut streams = [Streams::default(), Streams::default()];
        let stream = StreamId::from_allocator(HostId(0));
        streams[0].write_here(stream, 0, Some(1));
        streams[1].read_here(stream);
        streams[0].write(stream, END, 1460);
        assert!(!streams[0].has_mail(1));
        streams[0].send(stream, 0, 0, 1460);
        assert!(streams[0].has_mail(1) && !streams[0].has_mail(0));
        let mut letters = Vec::new();
        streams[0].mail().swap(1, &mut letters);
        assert_eq!(streams[1].read(stream, 1), None);
        letters.into_iter().for_each(|letter| streams[1].mail().deliver(letter));
        assert_eq!(streams[1].read(stream, 1), Some(END));
    }
}
