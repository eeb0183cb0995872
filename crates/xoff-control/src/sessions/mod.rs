//! The allocator's side: its sessions with all endpoints.

mod flows;

use rustc_hash::FxHashMap;
use xoff_core::tournament::Tournament;

use self::flows::Flows;
use crate::auth::{Keys, Tokens};
use crate::config::SessionsConfig;
use crate::queues::Queues;
use crate::rate::RateCode;
use crate::refused::{Refused, RefusedCounts};
use crate::window::{Ack, Budget, Sent, after};
use crate::wire::{self, Body, Header, Kind, RatesWriter, Start, Writer};
use crate::{EndpointId, Key, NEVER, Nanos};

pub use self::flows::FlowIndex;

xoff_core::counts! {
    /// Counters of the allocator's side.
    pub struct SessionsStats {
        /// Reports accepted.
        reports,
        /// Flowlets started.
        starts,
        /// Flowlets that their endpoints have ended.
        ends,
        /// Datagrams with rates, acknowledgements or renewals sent.
        datagrams,
        /// Rates sent.
        rates,
        /// Times that rates of an endpoint were not acknowledged in time.
        resends,
        /// Connections opened.
        connections,
        /// Connections that ended because their endpoint was silent.
        silent,
    }
}

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A flowlet has started. It is without rate until [`Sessions::set_rate`].
    Started {
        /// Its index.
        flow: FlowIndex,
        /// Its endpoint.
        source: EndpointId,
        /// Where it sends to: any number, perhaps of no endpoint.
        destination: EndpointId,
        /// Which of the paths it takes: any number.
        path: u32,
    },
    /// A flowlet has ended, or is forgotten. Its index may be reused from the next event on.
    Ended {
        /// Its index.
        flow: FlowIndex,
    },
    /// An endpoint has opened a connection.
    Opened {
        /// The endpoint.
        endpoint: EndpointId,
    },
    /// A connection has ended: its endpoint was silent, or opens another one.
    Closed {
        /// The endpoint.
        endpoint: EndpointId,
    },
}

/// The state of an endpoint's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// True if there is a connection.
    pub is_open: bool,
    /// Number of its flowlets.
    pub flowlets: u32,
}

#[derive(Clone, Debug)]
struct Open {
    endpoint_token: u64,
    allocator_token: u64,
    sent: Sent,
    received: Ack,
    heard: Nanos,
    /// When rates were sent or renewed.
    renewed: Nanos,
    /// True if a datagram must be sent, with rates or without.
    owes: bool,
}

#[derive(Debug)]
struct Session {
    id: EndpointId,
    keys: Keys,
    /// Connections so far.
    connections: u64,
    /// The allocator's token of the next connection.
    offered: u64,
    /// The token of a hello to answer.
    welcome: Option<u64>,
    /// The tokens of a connection that does not exist.
    reset: Option<(u64, u64)>,
    open: Option<Open>,
    /// The flowlet of each slot; `NONE`: no flowlet.
    slots: Vec<FlowIndex>,
    live: u32,
    budget: Budget,
}

const NONE: FlowIndex = FlowIndex::MAX;

/// An allocator's sessions with its endpoints.
#[derive(Debug)]
pub struct Sessions {
    config: SessionsConfig,
    tokens: Tokens,
    sessions: Vec<Session>,
    of_endpoint: FxHashMap<EndpointId, u32>,
    flows: Flows,
    /// Sessions with a datagram to send.
    ready: Queues,
    /// Sessions with the times at which something is due.
    deadlines: Tournament<(Nanos, u32)>,
    open: usize,
    stands_by: bool,
    /// Counters.
    pub stats: SessionsStats,
    /// Refused datagrams.
    pub refused: RefusedCounts,
}

impl Sessions {
    /// Creates sessions for these endpoints. `secret` must be random and another one at each start.
    ///
    /// # Errors
    /// If two endpoints have one number, or a setting is out of range.
    pub fn new(
        config: SessionsConfig,
        endpoints: &[(EndpointId, Key)],
        secret: [u8; 32],
    ) -> Result<Self, String> {
        if config.datagram < wire::LEAST_DATAGRAM + 16 {
            return Err("datagrams must hold a rate".into());
        }
        if config.flowlets > u32::from(u16::MAX) {
            return Err(format!("an endpoint has at most {} flowlets", u16::MAX));
        }
        let tokens = Tokens::new(secret);
        let session = |(id, key): &(EndpointId, Key)| Session {
            id: *id,
            keys: Keys::of(key),
            connections: 0,
            offered: tokens.token(*id, 0),
            welcome: None,
            reset: None,
            open: None,
            slots: Vec::new(),
            live: 0,
            budget: Budget::new(config.events_at_once),
        };
        let sessions: Vec<Session> = endpoints.iter().map(session).collect();
        let mut of_endpoint = FxHashMap::default();
        for (index, session) in sessions.iter().enumerate() {
            if of_endpoint.insert(session.id, index as u32).is_some() {
                return Err(format!("two endpoints have the number {}", session.id.0));
            }
        }
        let mut ready = Queues::new(1);
        ready.grow(sessions.len());
        Ok(Self {
            config,
            tokens,
            of_endpoint,
            flows: Flows::new(sessions.len()),
            ready,
            deadlines: Tournament::new(sessions.len(), (NEVER, u32::MAX)),
            sessions,
            open: 0,
            stands_by: false,
            stats: SessionsStats::default(),
            refused: RefusedCounts::default(),
        })
    }

    /// A datagram has arrived; appends what it changes. Returns its endpoint.
    ///
    /// # Errors
    /// The reason if it is refused, which is counted.
    pub fn receive(
        &mut self,
        datagram: &[u8],
        now: Nanos,
        events: &mut Vec<Event>,
    ) -> Result<EndpointId, Refused> {
        let endpoint = self.accept(datagram, now, events);
        endpoint.inspect_err(|&reason| self.refused.count(reason))
    }

    fn accept(
        &mut self,
        datagram: &[u8],
        now: Nanos,
        events: &mut Vec<Event>,
    ) -> Result<EndpointId, Refused> {
        let header = Header::parse(datagram)?;
        if !matches!(header.kind, Kind::Hello | Kind::Report) {
            return Err(Refused::Kind);
        }
        let &index = self.of_endpoint.get(&header.endpoint).ok_or(Refused::Endpoint)?;
        let session = &mut self.sessions[index as usize];
        if !session.keys.up.is_authentic(datagram) {
            return Err(Refused::Tag);
        }
        match Body::parse(header.kind, datagram)? {
            Body::Hello if self.stands_by => return Err(Refused::Standby),
            // It may be a recorded one, so it changes nothing but the next answer.
            Body::Hello => {
                session.welcome = Some(header.endpoint_token);
                self.ready.push(0, index);
            }
            Body::Report { ack, asks, ends, starts } => {
                let is_new = self.check_connection(index, &header, &ack, now)?;
                let limit = self.config.flowlets;
                if starts.starts().any(|start| u32::from(start.slot) >= limit) {
                    return Err(Refused::Limit);
                }
                let SessionsConfig { events_per_second, events_at_once, .. } = self.config;
                let items = ends.len() + starts.len();
                let budget = &mut self.sessions[index as usize].budget;
                if !budget.take(now, events_per_second, events_at_once, 1 + items as u64) {
                    return Err(Refused::Budget);
                }
                if is_new {
                    self.open(index, &header, now, events);
                }
                self.on_report(index, (header.sequence, &ack), now, asks || items > 0);
                ends.slots().for_each(|slot| self.on_end(index, slot, events));
                starts.starts().for_each(|start| self.on_start(index, start, events));
            }
            _ => return Err(Refused::Kind),
        }
        self.set_deadline(index);
        Ok(header.endpoint)
    }

    /// True if a report opens the connection that was offered; false if it is the next one of the
    /// open connection.
    fn check_connection(
        &mut self,
        index: u32,
        header: &Header,
        ack: &Ack,
        now: Nanos,
    ) -> Result<bool, Refused> {
        let session = &mut self.sessions[index as usize];
        let tokens = (header.endpoint_token, header.allocator_token);
        if let Some(open) = &session.open
            && tokens == (open.endpoint_token, open.allocator_token)
        {
            return if !open.received.is_new(header.sequence) {
                Err(Refused::Sequence)
            } else if !open.sent.is_possible(ack) {
                Err(Refused::Content)
            } else if open.sent.is_stale(ack, self.config.silence, now) {
                Err(Refused::Stale)
            } else {
                Ok(false)
            };
        }
        if self.stands_by || header.allocator_token != session.offered {
            session.reset = Some(tokens);
            self.ready.push(0, index);
            return Err(Refused::Connection);
        }
        if header.sequence == 0 || *ack != Ack::default() {
            return Err(Refused::Content);
        }
        Ok(true)
    }

    /// A connection opens. The allocator has none of the endpoint's flowlets at first.
    fn open(&mut self, index: u32, header: &Header, now: Nanos, events: &mut Vec<Event>) {
        self.close(index, events);
        self.open += 1;
        self.stats.connections += 1;
        let session = &mut self.sessions[index as usize];
        session.connections += 1;
        session.offered = self.tokens.token(session.id, session.connections);
        session.open = Some(Open {
            endpoint_token: header.endpoint_token,
            allocator_token: header.allocator_token,
            sent: Sent::new(now),
            received: Ack::default(),
            heard: now,
            renewed: now,
            owes: false,
        });
        events.push(Event::Opened { endpoint: session.id });
    }

    /// Ends a connection and forgets its flowlets.
    fn close(&mut self, index: u32, events: &mut Vec<Event>) {
        let session = &mut self.sessions[index as usize];
        if session.open.take().is_none() {
            return;
        }
        self.open -= 1;
        session.live = 0;
        for flow in session.slots.drain(..).filter(|&flow| flow != NONE) {
            self.flows.remove(flow);
            events.push(Event::Ended { flow });
        }
        events.push(Event::Closed { endpoint: session.id });
        self.set_deadline(index);
    }

    /// Stands by for another allocator, or takes over from it. While it stands by it opens no
    /// connection, and answers the reports of connections that it has ended with resets.
    pub fn stand_by(&mut self, stands_by: bool, events: &mut Vec<Event>) {
        self.stands_by = stands_by;
        if stands_by {
            (0..self.sessions.len() as u32).for_each(|index| self.close(index, events));
        }
    }

    fn on_report(
        &mut self,
        index: u32,
        (sequence, ack): (u64, &Ack),
        now: Nanos,
        is_answered: bool,
    ) {
        let Some(open) = &mut self.sessions[index as usize].open else { return };
        self.stats.reports += 1;
        open.received.accept(sequence);
        open.heard = now;
        open.owes |= is_answered;
        open.sent.acknowledge(ack, now);
        self.flows.settle(index, ack);
        if open.owes || self.flows.has_pending(index) {
            self.ready.push(0, index);
        }
    }

    fn on_end(&mut self, index: u32, slot: u16, events: &mut Vec<Event>) {
        let session = &mut self.sessions[index as usize];
        let Some(known) = session.slots.get_mut(usize::from(slot)) else { return };
        let flow = std::mem::replace(known, NONE);
        if flow != NONE {
            session.live -= 1;
            self.stats.ends += 1;
            self.flows.remove(flow);
            events.push(Event::Ended { flow });
        }
    }

    fn on_start(&mut self, index: u32, start: Start, events: &mut Vec<Event>) {
        let session = &mut self.sessions[index as usize];
        let slot = usize::from(start.slot);
        if slot >= session.slots.len() {
            session.slots.resize(slot + 1, NONE);
        }
        if session.slots[slot] != NONE {
            let known = self.flows.get(session.slots[slot]);
            if (known.destination, known.path) == (start.destination, start.path) {
                return;
            }
            self.on_end(index, start.slot, events);
        }
        let session = &mut self.sessions[index as usize];
        session.live += 1;
        self.stats.starts += 1;
        let flow = self.flows.add(index, start.slot, (start.destination, start.path));
        session.slots[slot] = flow;
        let (source, destination, path) = (session.id, start.destination, start.path);
        events.push(Event::Started { flow, source, destination, path });
    }

    /// Sets a flowlet's rate (bytes per second); 0: its path is down. It is sent if its endpoint
    /// has another one.
    ///
    /// # Panics
    /// If there never was a flowlet of this index.
    pub fn set_rate(&mut self, flow: FlowIndex, bytes_per_second: u64) {
        if self.flows.set_rate(flow, RateCode::of(bytes_per_second)) {
            self.ready.push(0, self.flows.get(flow).session);
        }
    }

    /// Does what is due: ends connections of silent endpoints, renews rates, and repeats what was
    /// lost.
    pub fn advance(&mut self, now: Nanos, events: &mut Vec<Event>) {
        loop {
            let (time, index) = self.deadlines.least();
            if time > now || time == NEVER {
                return;
            }
            let session = &mut self.sessions[index as usize];
            let Some(open) = &mut session.open else { return };
            if after(open.heard, self.config.silence) <= now {
                self.stats.silent += 1;
                self.close(index, events);
                continue;
            }
            let (resend, in_flight) = (self.config.resend, self.flows.oldest_in_flight(index));
            let next_loss = open.sent.next_loss(in_flight, self.flows.has_pending(index), resend);
            if next_loss.is_some_and(|time| time <= now) {
                while let Some(sequence) = self.flows.oldest_in_flight(index)
                    && open.sent.lost_at(sequence, resend) <= now
                {
                    self.flows.lose_oldest(index);
                }
                self.stats.resends += 1;
                open.sent.give_up();
            }
            if session.live > 0 && after(open.renewed, self.config.renewal()) <= now {
                open.owes = true;
                open.renewed = now;
            }
            self.ready.push(0, index);
            self.set_deadline(index);
        }
    }

    /// When [`advance`](Self::advance) must be called, at the latest.
    #[must_use]
    pub fn deadline(&self) -> Nanos {
        self.deadlines.least().0
    }

    fn set_deadline(&mut self, index: u32) {
        let session = &self.sessions[index as usize];
        let time = session.open.as_ref().map_or(NEVER, |open| {
            let silent = after(open.heard, self.config.silence);
            let is_rated = session.live > 0;
            let renew = is_rated.then(|| after(open.renewed, self.config.renewal()));
            let in_flight = self.flows.oldest_in_flight(index);
            let waits = self.flows.has_pending(index);
            let lost = open.sent.next_loss(in_flight, waits, self.config.resend);
            [renew, lost].into_iter().flatten().fold(silent, Nanos::min)
        });
        self.deadlines.set(index as usize, (time, if time == NEVER { u32::MAX } else { index }));
    }

    /// Writes the next datagram; returns its endpoint and its length. An endpoint gets one datagram
    /// after the other only if its rates do not fit into one.
    ///
    /// # Panics
    /// If the buffer is shorter than the longest datagram.
    pub fn transmit(&mut self, now: Nanos, buffer: &mut [u8]) -> Option<(EndpointId, usize)> {
        let buffer = &mut buffer[..self.config.datagram];
        loop {
            let index = self.ready.pop(0)?;
            let Some(length) = self.write(index, now, buffer) else {
                // Its rates may wait for a full window.
                self.set_deadline(index);
                continue;
            };
            if self.has_more(index) {
                self.ready.push(0, index);
            }
            self.set_deadline(index);
            return Some((self.sessions[index as usize].id, length));
        }
    }

    fn has_more(&self, index: u32) -> bool {
        let Session { welcome, reset, .. } = &self.sessions[index as usize];
        welcome.is_some() || reset.is_some() || self.has_rates(index)
    }

    /// True if the open connection gets a datagram with rates, or a datagram that renews them.
    fn has_rates(&self, index: u32) -> bool {
        let has_rates =
            |open: &Open| open.owes || self.flows.has_pending(index) && open.sent.is_open();
        self.sessions[index as usize].open.as_ref().is_some_and(has_rates)
    }

    fn write(&mut self, index: u32, now: Nanos, buffer: &mut [u8]) -> Option<usize> {
        if !self.has_more(index) {
            return None;
        }
        // Rates come before the answer to a hello. If the hello is that of an endpoint whose rates
        // have expired, because this side was late, they end its search for an allocator. After a
        // welcome it would give up the connection and report all its flowlets again.
        let has_rates = self.has_rates(index);
        let session = &mut self.sessions[index as usize];
        let header = |kind, (endpoint_token, allocator_token), sequence| Header {
            kind,
            endpoint: session.id,
            endpoint_token,
            allocator_token,
            sequence,
        };
        let key = &session.keys.down;
        if let Some(token) = session.welcome.take_if(|_| !has_rates) {
            let header = header(Kind::Welcome, (token, session.offered), 0);
            let writer = Writer::new(buffer, &header);
            return Some(writer.welcome(self.config.keepalive_us(), self.config.flowlets, key));
        }
        if let Some(tokens) = session.reset.take() {
            return Some(Writer::new(buffer, &header(Kind::Reset, tokens, 0)).reset(key));
        }
        let open = session.open.as_mut()?;
        let sequence = open.sent.next();
        let tokens = (open.endpoint_token, open.allocator_token);
        let header = header(Kind::Rates, tokens, sequence);
        let mut rates =
            RatesWriter::new(buffer, &header, &open.received, self.config.lifetime_us());
        while open.sent.is_open()
            && rates.has_room()
            && let Some((slot, rate)) = self.flows.next_rate(index, sequence)
        {
            rates.rate(slot, rate);
            self.stats.rates += 1;
        }
        open.sent.send(now, rates.has_items());
        open.owes = false;
        open.renewed = now;
        self.stats.datagrams += 1;
        Some(rates.finish(key))
    }

    /// Number of flowlets.
    #[must_use]
    pub fn flowlets(&self) -> usize {
        self.flows.len()
    }

    /// Number of open connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.open
    }

    /// The sessions of all endpoints.
    pub fn sessions(&self) -> impl ExactSizeIterator<Item = SessionInfo> {
        self.sessions.iter().map(|session| SessionInfo {
            endpoint: session.id,
            is_open: session.open.is_some(),
            flowlets: session.live,
        })
    }
}
