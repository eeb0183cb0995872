//! The layouts of datagrams.
//!
//! A datagram is a header of 32 bytes, a body, and a tag of 16 bytes over both. All numbers are
//! big-endian. `docs/flowtune-protocol.md` has the tables, with the bytes of an example of each
//! kind.

use crate::EndpointId;
use crate::auth::{TAG, TagKey};
use crate::rate::RateCode;
use crate::refused::Refused;
use crate::window::Ack;

/// The first three bytes of every datagram: two letters and the version.
const MAGIC: [u8; 3] = [b'F', b'T', 1];
/// Bytes of the header.
pub(crate) const HEADER: usize = 32;
/// Body before the items, of a report and of rates alike.
const LISTS: usize = 22;
/// Bytes of a report or of rates without items, with header and tag.
pub const LEAST_DATAGRAM: usize = HEADER + LISTS + TAG;
/// The payload of a UDP datagram in an IPv6 packet of 1,500 bytes.
pub const DATAGRAM: usize = 1452;

const END: usize = 2;
const START: usize = 10;
const RATE: usize = 6;
/// What the fullest report takes of an endpoint's budget: itself, and each of its items.
pub const REPORT_EVENTS: u64 = 1 + ((DATAGRAM - LEAST_DATAGRAM) / END) as u64;
/// A hello is padded to the length of a welcome, so that no answer is longer than its question.
const WELCOME: usize = 8;
/// Flag of a report: the allocator should answer.
const ASKS: u16 = 1;

/// What a datagram is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From an endpoint that opens a connection.
    Hello = 1,
    /// The answer to a hello: the allocator's token.
    Welcome = 2,
    /// The answer to a report of no connection.
    Reset = 3,
    /// From an endpoint: starts and ends of flowlets.
    Report = 4,
    /// From the allocator: rates of flowlets.
    Rates = 5,
}

/// The header of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is for.
    pub kind: Kind,
    /// The endpoint that it is from or to: the owner of the key.
    pub endpoint: EndpointId,
    /// The connection: the endpoint's token.
    pub endpoint_token: u64,
    /// The connection: the allocator's token; 0 if there is none yet.
    pub allocator_token: u64,
    /// Number of the datagram in its direction of the connection, from 1; 0 outside a connection.
    pub sequence: u64,
}

impl Header {
    /// Reads the header of a datagram that may be anything.
    ///
    /// # Errors
    /// If it is not a datagram of this protocol.
    pub fn parse(datagram: &[u8]) -> Result<Self, Refused> {
        if !(HEADER + TAG..=usize::from(u16::MAX)).contains(&datagram.len()) {
            return Err(Refused::Length);
        }
        let mut fields = Fields(datagram);
        if fields.take::<3>()? != MAGIC {
            return Err(Refused::Version);
        }
        let kind = match fields.take::<1>()?[0] {
            1 => Kind::Hello,
            2 => Kind::Welcome,
            3 => Kind::Reset,
            4 => Kind::Report,
            5 => Kind::Rates,
            _ => return Err(Refused::Kind),
        };
        Ok(Self {
            kind,
            endpoint: EndpointId(fields.u32()?),
            endpoint_token: fields.u64()?,
            allocator_token: fields.u64()?,
            sequence: fields.u64()?,
        })
    }
}

/// The body of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// See [`Kind::Hello`].
    Hello,
    /// See [`Kind::Welcome`].
    Welcome {
        /// The endpoint asks for an answer at least this often (microseconds).
        keepalive_us: u32,
        /// Flowlets that the endpoint may have.
        flowlets: u32,
    },
    /// See [`Kind::Reset`].
    Reset,
    /// See [`Kind::Report`].
    Report {
        /// The accepted rates.
        ack: Ack,
        /// True if the allocator should answer.
        asks: bool,
        /// Slots of flowlets that have ended.
        ends: Items<'a, END>,
        /// Flowlets that have started.
        starts: Items<'a, START>,
    },
    /// See [`Kind::Rates`].
    Rates {
        /// The accepted reports.
        ack: Ack,
        /// All rates of this connection are valid for this time (microseconds).
        lifetime_us: u32,
        /// Rates that have changed.
        rates: Items<'a, RATE>,
    },
}

/// A flowlet that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its number at its endpoint, for as long as the allocator may know it.
    pub slot: u16,
    /// Where it sends to.
    pub destination: EndpointId,
    /// Which of the paths to the destination it takes; [`UNKNOWN_PATH`](crate::UNKNOWN_PATH) if its
    /// endpoint does not know.
    pub path: u32,
}

/// Items of one size, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items<'a, const SIZE: usize>(&'a [u8]);

impl<'a, const SIZE: usize> Items<'a, SIZE> {
    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len() / SIZE
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn chunks(self) -> impl Iterator<Item = &'a [u8; SIZE]> {
        self.0.chunks_exact(SIZE).filter_map(|chunk| chunk.first_chunk())
    }
}

impl<'a> Items<'a, END> {
    /// The slots.
    pub fn slots(self) -> impl Iterator<Item = u16> + 'a {
        self.chunks().map(|&slot| u16::from_be_bytes(slot))
    }
}

impl<'a> Items<'a, START> {
    /// The flowlets.
    pub fn starts(self) -> impl Iterator<Item = Start> + 'a {
        self.chunks().map(|&[a, b, c, d, e, f, g, h, i, j]| Start {
            slot: u16::from_be_bytes([a, b]),
            destination: EndpointId(u32::from_be_bytes([c, d, e, f])),
            path: u32::from_be_bytes([g, h, i, j]),
        })
    }
}

impl<'a> Items<'a, RATE> {
    /// Slots with their rates.
    pub fn rates(self) -> impl Iterator<Item = (u16, RateCode)> + 'a {
        self.chunks().map(|&[a, b, c, d, e, f]| {
            (u16::from_be_bytes([a, b]), RateCode(u32::from_be_bytes([c, d, e, f])))
        })
    }
}

impl<'a> Body<'a> {
    /// Reads the body of a datagram with this kind in its header.
    ///
    /// # Errors
    /// If it is not well-formed, to the last byte.
    pub fn parse(kind: Kind, datagram: &'a [u8]) -> Result<Self, Refused> {
        let end = datagram.len().checked_sub(TAG).ok_or(Refused::Length)?;
        let mut fields = Fields(datagram.get(HEADER..end).ok_or(Refused::Length)?);
        let body = match kind {
            Kind::Hello if fields.take::<WELCOME>()? == [0; WELCOME] => Self::Hello,
            Kind::Hello => return Err(Refused::Content),
            Kind::Welcome => Self::Welcome { keepalive_us: fields.u32()?, flowlets: fields.u32()? },
            Kind::Reset => Self::Reset,
            Kind::Report => {
                let ack = fields.ack()?;
                let (flags, ends, starts) = (fields.u16()?, fields.u16()?, fields.u16()?);
                if flags & !ASKS != 0 {
                    return Err(Refused::Content);
                }
                let (ends, starts) = (fields.items(ends)?, fields.items(starts)?);
                Self::Report { ack, asks: flags == ASKS, ends, starts }
            }
            Kind::Rates => {
                let (ack, lifetime_us, rates) = (fields.ack()?, fields.u32()?, fields.u16()?);
                Self::Rates { ack, lifetime_us, rates: fields.items(rates)? }
            }
        };
        if fields.0.is_empty() { Ok(body) } else { Err(Refused::Content) }
    }
}

/// Bytes that are read field by field.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], Refused> {
        let (field, rest) = self.0.split_first_chunk().ok_or(Refused::Content)?;
        self.0 = rest;
        Ok(*field)
    }

    fn u16(&mut self) -> Result<u16, Refused> {
        self.take().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, Refused> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, Refused> {
        self.take().map(u64::from_be_bytes)
    }

    fn ack(&mut self) -> Result<Ack, Refused> {
        Ok(Ack { newest: self.u64()?, before: self.u64()? })
    }

    fn items<const SIZE: usize>(&mut self, number: u16) -> Result<Items<'a, SIZE>, Refused> {
        let (items, rest) =
            self.0.split_at_checked(usize::from(number) * SIZE).ok_or(Refused::Content)?;
        self.0 = rest;
        Ok(Items(items))
    }
}

/// A datagram that is being written.
pub(crate) struct Writer<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl<'a> Writer<'a> {
    /// Starts a datagram of at most the length of the buffer, which has room for one without items.
    pub(crate) fn new(bytes: &'a mut [u8], header: &Header) -> Self {
        let mut writer = Self { bytes, length: 0 };
        writer.put(&MAGIC);
        writer.put(&[header.kind as u8]);
        writer.put(&header.endpoint.0.to_be_bytes());
        writer.put(&header.endpoint_token.to_be_bytes());
        writer.put(&header.allocator_token.to_be_bytes());
        writer.put(&header.sequence.to_be_bytes());
        writer
    }

    fn put(&mut self, field: &[u8]) {
        self.bytes[self.length..][..field.len()].copy_from_slice(field);
        self.length += field.len();
    }

    fn has_room(&self, more: usize) -> bool {
        self.length + more + TAG <= self.bytes.len()
    }

    fn ack(&mut self, ack: &Ack) {
        self.put(&ack.newest.to_be_bytes());
        self.put(&ack.before.to_be_bytes());
    }

    pub(crate) fn hello(mut self, key: &TagKey) -> usize {
        self.put(&[0; WELCOME]);
        self.finish(key)
    }

    pub(crate) fn welcome(mut self, keepalive_us: u32, flowlets: u32, key: &TagKey) -> usize {
        self.put(&keepalive_us.to_be_bytes());
        self.put(&flowlets.to_be_bytes());
        self.finish(key)
    }

    pub(crate) fn reset(self, key: &TagKey) -> usize {
        self.finish(key)
    }

    /// Appends the tag; returns the length.
    fn finish(mut self, key: &TagKey) -> usize {
        let tag = key.tag(&self.bytes[..self.length]);
        self.put(&tag);
        self.length
    }
}

/// A report that is being written: ends, then starts.
pub(crate) struct ReportWriter<'a> {
    writer: Writer<'a>,
    ends: u16,
    starts: u16,
}

impl<'a> ReportWriter<'a> {
    pub(crate) fn new(bytes: &'a mut [u8], header: &Header, ack: &Ack, asks: bool) -> Self {
        let mut writer = Writer::new(bytes, header);
        writer.ack(ack);
        writer.put(&(if asks { ASKS } else { 0 }).to_be_bytes());
        writer.put(&[0; 4]);
        Self { writer, ends: 0, starts: 0 }
    }

    pub(crate) fn has_room_for_end(&self) -> bool {
        self.writer.has_room(END)
    }

    pub(crate) fn has_room_for_start(&self) -> bool {
        self.writer.has_room(START)
    }

    /// Appends an end; starts come after all ends.
    pub(crate) fn end(&mut self, slot: u16) {
        self.writer.put(&slot.to_be_bytes());
        self.ends += 1;
    }

    pub(crate) fn start(&mut self, Start { slot, destination, path }: Start) {
        self.writer.put(&slot.to_be_bytes());
        self.writer.put(&destination.0.to_be_bytes());
        self.writer.put(&path.to_be_bytes());
        self.starts += 1;
    }

    pub(crate) fn has_items(&self) -> bool {
        self.ends > 0 || self.starts > 0
    }

    pub(crate) fn finish(self, key: &TagKey) -> usize {
        let counts = &mut self.writer.bytes[HEADER + LISTS - 4..HEADER + LISTS];
        counts[..2].copy_from_slice(&self.ends.to_be_bytes());
        counts[2..].copy_from_slice(&self.starts.to_be_bytes());
        self.writer.finish(key)
    }
}

/// Rates that are being written.
pub(crate) struct RatesWriter<'a> {
    writer: Writer<'a>,
    rates: u16,
}

impl<'a> RatesWriter<'a> {
    pub(crate) fn new(bytes: &'a mut [u8], header: &Header, ack: &Ack, lifetime_us: u32) -> Self {
        let mut writer = Writer::new(bytes, header);
        writer.ack(ack);
        writer.put(&lifetime_us.to_be_bytes());
        writer.put(&[0; 2]);
        Self { writer, rates: 0 }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.writer.has_room(RATE)
    }

    pub(crate) fn rate(&mut self, slot: u16, code: RateCode) {
        self.writer.put(&slot.to_be_bytes());
        self.writer.put(&code.0.to_be_bytes());
        self.rates += 1;
    }

    pub(crate) fn has_items(&self) -> bool {
        self.rates > 0
    }

    pub(crate) fn finish(self, key: &TagKey) -> usize {
        let count = &mut self.writer.bytes[HEADER + LISTS - 2..HEADER + LISTS];
        count.copy_from_slice(&self.rates.to_be_bytes());
        self.writer.finish(key)
    }
}
