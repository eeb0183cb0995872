//! An endpoint: its connection to an allocator, and what it sends when.

mod flowlets;

use self::flowlets::Flowlets;
use crate::auth::{Keys, Tokens};
use crate::config::{EndpointConfig, nanos};
use crate::refused::{Refused, RefusedCounts};
use crate::window::{Ack, Sent, after};
use crate::wire::{self, Body, Header, Kind, ReportWriter, Writer};
use crate::{EndpointId, Key, NEVER, Nanos};

pub use self::flowlets::{Rate, RateChange};

xoff_core::counts! {
    /// Counters of an endpoint.
    pub struct EndpointStats {
        /// Flowlets that could not be reported when they started, for lack of room.
        unreported,
        /// Hellos sent.
        hellos,
        /// Reports sent.
        reports,
        /// Rates received.
        rates,
        /// Connections opened.
        connections,
        /// Resets received.
        resets,
        /// Expiries of rates.
        expiries,
    }
}

/// Silence of an allocator, in keepalives, that ends a connection.
const SILENCE: u64 = 4;

/// Datagrams with rates that are acknowledged at once. It is a quarter of what an allocator sends
/// without acknowledgement.
const ACKNOWLEDGED_AT_ONCE: u32 = 8;

/// An attempt to open a connection.
#[derive(Clone, Debug)]
struct Opening {
    allocator: usize,
    token: u64,
    /// Hellos to this allocator so far.
    hellos: u32,
    /// Hellos to any allocator since the last connection, without probes.
    all_hellos: u32,
    /// When the next one is sent.
    next: Nanos,
}

/// An open connection.
#[derive(Clone, Debug)]
struct Connection {
    allocator: usize,
    endpoint_token: u64,
    allocator_token: u64,
    /// Most time between two reports that must be answered.
    keepalive: Nanos,
    /// Slots below this may be reported.
    flowlets: u32,
    sent: Sent,
    received: Ack,
    heard: Nanos,
    /// When its rates expire.
    expires: Nanos,
    /// True if they have.
    is_expired: bool,
    /// When received rates must be acknowledged.
    ack_due: Nanos,
    /// Datagrams with rates to acknowledge.
    unacknowledged: u32,
    /// When the allocator must be asked for an answer.
    ask_due: Nanos,
    /// When news may be sent.
    news_due: Nanos,
}

/// One server's end of the protocol.
#[derive(Clone, Debug)]
pub struct Endpoint {
    config: EndpointConfig,
    keys: Keys,
    tokens: Tokens,
    next_token: u64,
    flowlets: Flowlets,
    opening: Option<Opening>,
    open: Option<Connection>,
    /// When rates of earlier connections expire.
    inherited_expires: Nanos,
    /// Counters.
    pub stats: EndpointStats,
    /// Refused datagrams.
    pub refused: RefusedCounts,
}

impl Endpoint {
    /// Creates an endpoint without flowlets. `secret` must be random and another one at each start:
    /// what was recorded of an earlier life is refused because its tokens cannot come again.
    ///
    /// # Panics
    /// If the settings have no allocator, or no room for a report with a flowlet.
    #[must_use]
    pub fn new(config: EndpointConfig, key: &Key, secret: [u8; 32]) -> Self {
        assert!(config.allocators > 0, "an endpoint needs an allocator");
        assert!(config.datagram >= wire::LEAST_DATAGRAM + 16, "datagrams must hold a flowlet");
        let mut endpoint = Self {
            config,
            keys: Keys::of(key),
            tokens: Tokens::new(secret),
            next_token: 0,
            flowlets: Flowlets::new(),
            opening: None,
            open: None,
            inherited_expires: NEVER,
            stats: EndpointStats::default(),
            refused: RefusedCounts::default(),
        };
        endpoint.open(0, 0);
        endpoint
    }

    /// A flowlet starts. Until it gets a rate it is under its own congestion control. `path`
    /// selects a path to the destination, as agreed with the allocator, or is
    /// [`UNKNOWN_PATH`](crate::UNKNOWN_PATH). False if there is no room
    /// for it: then it never gets a rate. One above the allocator's limit waits for another's end.
    pub fn start(&mut self, flowlet: u64, to: EndpointId, path: u32, now: Nanos) -> bool {
        self.advance(now);
        let (most, unreported) = (self.config.flowlets, &mut self.stats.unreported);
        let has_room = self.flowlets.start(flowlet, (to, path), most, unreported);
        self.stats.unreported += u64::from(!has_room);
        has_room
    }

    /// A flowlet has ended. It gets no more rates. False if there is none of this number.
    pub fn end(&mut self, flowlet: u64, now: Nanos) -> bool {
        self.advance(now);
        self.flowlets.end(flowlet)
    }

    /// The next rate that has changed.
    pub fn next_rate(&mut self) -> Option<RateChange> {
        self.flowlets.next_rate()
    }

    /// Number of flowlets.
    #[must_use]
    pub fn flowlets(&self) -> usize {
        self.flowlets.live()
    }

    /// The allocator that it has a connection to.
    #[must_use]
    pub fn allocator(&self) -> Option<usize> {
        self.open.as_ref().map(|open| open.allocator)
    }

    /// When that allocator's newest datagram has arrived.
    #[must_use]
    pub fn heard(&self) -> Option<Nanos> {
        self.open.as_ref().map(|open| open.heard)
    }

    /// A datagram has arrived from the address of an allocator. All of them have this endpoint's
    /// key, so only that address tells them apart.
    ///
    /// # Errors
    /// The reason if it is refused, which is counted.
    pub fn receive(
        &mut self,
        allocator: usize,
        datagram: &[u8],
        now: Nanos,
    ) -> Result<(), Refused> {
        self.advance(now);
        let accepted = self.accept(allocator, datagram, now);
        accepted.inspect_err(|&reason| self.refused.count(reason))
    }

    fn accept(&mut self, allocator: usize, datagram: &[u8], now: Nanos) -> Result<(), Refused> {
        let header = Header::parse(datagram)?;
        if !matches!(header.kind, Kind::Welcome | Kind::Reset | Kind::Rates) {
            return Err(Refused::Kind);
        }
        if header.endpoint != self.config.id {
            return Err(Refused::Endpoint);
        }
        if !self.keys.down.is_authentic(datagram) {
            return Err(Refused::Tag);
        }
        match Body::parse(header.kind, datagram)? {
            Body::Welcome { keepalive_us, flowlets } => {
                self.on_welcome(allocator, &header, (keepalive_us, flowlets), now)
            }
            Body::Reset => self.on_reset(allocator, &header, now),
            Body::Rates { ack, lifetime_us, rates } => {
                let open = Self::connection(&mut self.open, allocator, &header)?;
                if !open.received.is_new(header.sequence) {
                    return Err(Refused::Sequence);
                }
                if ack.newest == 0 || !open.sent.is_possible(&ack) {
                    return Err(Refused::Content);
                }
                if open.sent.is_stale(&ack, SILENCE * open.keepalive, now) {
                    return Err(Refused::Stale);
                }
                open.received.accept(header.sequence);
                open.heard = now;
                open.sent.acknowledge(&ack, now);
                open.expires = after(now, nanos(lifetime_us));
                if !rates.is_empty() {
                    open.unacknowledged += 1;
                    let is_late = open.unacknowledged >= ACKNOWLEDGED_AT_ONCE;
                    let delay = if is_late { 0 } else { self.config.ack_delay };
                    open.ack_due = open.ack_due.min(after(now, delay));
                }
                if std::mem::take(&mut open.is_expired) {
                    // It was late, and not silent.
                    self.opening = None;
                    if open.allocator > 0 {
                        self.open(0, after(now, self.config.probe));
                    }
                    self.flowlets.suspend(false);
                }
                self.stats.rates += rates.len() as u64;
                self.flowlets.settle(&ack);
                rates.rates().for_each(|(slot, rate)| self.flowlets.on_rate(slot, rate));
                Ok(())
            }
            Body::Hello | Body::Report { .. } => Err(Refused::Kind),
        }
    }

    fn connection<'a>(
        open: &'a mut Option<Connection>,
        allocator: usize,
        header: &Header,
    ) -> Result<&'a mut Connection, Refused> {
        open.as_mut()
            .filter(|open| {
                (open.allocator, open.endpoint_token, open.allocator_token)
                    == (allocator, header.endpoint_token, header.allocator_token)
            })
            .ok_or(Refused::Connection)
    }

    fn on_welcome(
        &mut self,
        allocator: usize,
        header: &Header,
        (keepalive_us, flowlets): (u32, u32),
        now: Nanos,
    ) -> Result<(), Refused> {
        let opening = self
            .opening
            .take_if(|opening| {
                (opening.allocator, opening.token) == (allocator, header.endpoint_token)
            })
            .ok_or(Refused::Connection)?;
        self.stats.connections += 1;
        self.close();
        self.open = Some(Connection {
            allocator: opening.allocator,
            endpoint_token: opening.token,
            allocator_token: header.allocator_token,
            keepalive: nanos(keepalive_us.max(1)).min(self.config.keepalive),
            flowlets,
            sent: Sent::new(now),
            received: Ack::default(),
            heard: now,
            expires: NEVER,
            is_expired: false,
            ack_due: NEVER,
            unacknowledged: 0,
            ask_due: now,
            news_due: now,
        });
        if opening.allocator > 0 {
            self.open(0, after(now, self.config.probe));
        }
        Ok(())
    }

    fn on_reset(&mut self, allocator: usize, header: &Header, now: Nanos) -> Result<(), Refused> {
        Self::connection(&mut self.open, allocator, header)?;
        self.stats.resets += 1;
        self.close();
        self.open(0, now);
        Ok(())
    }

    /// Begins to open a connection to an allocator, with the first hello at a time.
    fn open(&mut self, allocator: usize, next: Nanos) {
        let token = self.tokens.token(self.config.id, self.next_token);
        self.next_token += 1;
        let all_hellos = self.opening.as_ref().map_or(0, |opening| opening.all_hellos);
        self.opening = Some(Opening { allocator, token, hellos: 0, all_hellos, next });
    }

    /// Ends the connection. Its rates stay in force until they expire: "the network continues to
    /// operate with close-to-optimal rates during allocator fail-over" (§6).
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            if self.flowlets.is_rated(true) {
                let inherited = self.flowlets.is_rated(false);
                let earlier = if inherited { self.inherited_expires } else { NEVER };
                self.inherited_expires = open.expires.min(earlier);
            }
            self.flowlets.reconnect();
            self.flowlets.suspend(false);
            if open.is_expired {
                self.flowlets.expire_earlier();
            }
        }
    }

    /// Does what is due.
    fn advance(&mut self, now: Nanos) {
        if self.flowlets.is_rated(false) && self.inherited_expires <= now {
            self.stats.expiries += 1;
            self.flowlets.expire_earlier();
        }
        let Some(open) = &mut self.open else { return };
        // "If the allocator fails, the rates expire and endpoint congestion control (e.g., TCP)
        // takes over, using the previously allocated rates as a starting point" (§6). The
        // connection stays: an allocator that is late for all endpoints must not get all flowlets
        // of all of them again.
        if self.flowlets.is_rated(true) && open.expires <= now && !open.is_expired {
            open.is_expired = true;
            self.stats.expiries += 1;
            self.flowlets.suspend(true);
            let first = after(now, self.config.hello);
            self.open(0, first);
        }
        let Some(open) = &mut self.open else { return };
        if open.silent_at() <= now {
            let is_opening = open.is_expired;
            self.close();
            if !is_opening {
                self.open(0, now);
            }
            return;
        }
        let (resend, in_flight) = (self.config.resend, self.flowlets.oldest_in_flight());
        let next_loss = open.sent.next_loss(in_flight, self.flowlets.has_news(), resend);
        if next_loss.is_some_and(|time| time <= now) {
            while let Some(sequence) = self.flowlets.oldest_in_flight()
                && open.sent.lost_at(sequence, resend) <= now
            {
                self.flowlets.lose_oldest();
            }
            open.sent.give_up();
        }
    }

    /// Writes the next datagram, if one is due; returns its allocator and its length. Call it until
    /// it returns `None`: after every other call, and at the [`deadline`](Self::deadline).
    ///
    /// # Panics
    /// If the buffer is shorter than the longest datagram.
    pub fn transmit(&mut self, now: Nanos, buffer: &mut [u8]) -> Option<(usize, usize)> {
        self.advance(now);
        let buffer = &mut buffer[..self.config.datagram];
        if self.opening.as_ref().is_some_and(|opening| opening.next <= now) {
            return self.hello(now, buffer);
        }
        let config = &self.config;
        let open = self.open.as_mut()?;
        if open.report_due(self.flowlets.has_news()) > now {
            return None;
        }
        let sequence = open.sent.next();
        let asks = open.ask_due <= now;
        let header = Header {
            kind: Kind::Report,
            endpoint: config.id,
            endpoint_token: open.endpoint_token,
            allocator_token: open.allocator_token,
            sequence,
        };
        let mut report = ReportWriter::new(buffer, &header, &open.received, asks);
        if open.sent.is_open() {
            while report.has_room_for_end()
                && let Some(slot) = self.flowlets.next_end(sequence)
            {
                report.end(slot);
            }
            while report.has_room_for_start()
                && let Some(start) =
                    self.flowlets.next_start(sequence, open.flowlets, &mut self.stats.unreported)
            {
                report.start(start);
            }
        }
        let has_news = report.has_items();
        let length = report.finish(&self.keys.up);
        open.sent.send(now, has_news);
        open.ack_due = NEVER;
        open.unacknowledged = 0;
        if has_news || asks {
            open.ask_due = after(now, open.keepalive);
        }
        // What did not fit follows at once.
        open.news_due = if self.flowlets.has_news() { now } else { after(now, config.spacing) };
        self.stats.reports += 1;
        Some((open.allocator, length))
    }

    fn hello(&mut self, now: Nanos, buffer: &mut [u8]) -> Option<(usize, usize)> {
        let EndpointConfig { id, allocators, hello, hellos, probe, .. } = self.config;
        let is_probe = self.open.as_ref().is_some_and(|open| !open.is_expired);
        let opening = self.opening.as_mut()?;
        if !is_probe && opening.hellos == hellos {
            let next = (opening.allocator + 1) % allocators;
            self.open(next, now);
        }
        let opening = self.opening.as_mut()?;
        // Thousands of endpoints that say hello at once must not keep an allocator from answering:
        // they wait longer each time, and not all for the same time.
        let longer = (hello << opening.all_hellos.min(16)).min(probe);
        let wait = if is_probe { probe } else { longer + opening.token % (longer / 2).max(1) };
        opening.hellos += 1;
        // Probes find no silent allocator that must be spared when the connection ends.
        opening.all_hellos += u32::from(!is_probe);
        opening.next = after(now, wait);
        self.stats.hellos += 1;
        let header = Header {
            kind: Kind::Hello,
            endpoint: id,
            endpoint_token: opening.token,
            allocator_token: 0,
            sequence: 0,
        };
        Some((opening.allocator, Writer::new(buffer, &header).hello(&self.keys.up)))
    }

    /// When [`transmit`](Self::transmit) must be called, at the latest; a call may change it.
    #[must_use]
    pub fn deadline(&self) -> Nanos {
        let opening = self.opening.as_ref().map(|opening| opening.next);
        let inherited = self.flowlets.is_rated(false).then_some(self.inherited_expires);
        let open = self.open.as_ref().map(|open| {
            let in_flight = self.flowlets.oldest_in_flight();
            let has_news = self.flowlets.has_news();
            let lost = open.sent.next_loss(in_flight, has_news, self.config.resend);
            let is_rated = self.flowlets.is_rated(true) && !open.is_expired;
            let expires = is_rated.then_some(open.expires);
            let times = [lost, expires].into_iter().flatten();
            times.fold(open.silent_at().min(open.report_due(has_news)), Nanos::min)
        });
        [opening, inherited, open].into_iter().flatten().min().unwrap_or(NEVER)
    }
}

impl Connection {
    /// When the allocator counts as silent.
    fn silent_at(&self) -> Nanos {
        after(self.heard, SILENCE * self.keepalive)
    }

    /// When the next report is due.
    fn report_due(&self, has_news: bool) -> Nanos {
        let news = if has_news && self.sent.is_open() { self.news_due } else { NEVER };
        news.min(self.ack_due).min(self.ask_due)
    }
}
