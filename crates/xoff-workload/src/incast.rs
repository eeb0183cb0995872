//! Incast: many hosts send to one at the same time, again and again.

use xoff_core::rng::Purpose;
use xoff_core::{Bytes, Ps, Rng};

use crate::checks;
use crate::{Arrival, Source, host_set};

xoff_core::knobs! {
    /// Incast: at every period, a host drawn uniformly among `victims` (the victim) is sent `bytes`
    /// by `degree` flows, all starting at the same instant or spread over some time.
    ///
    /// The senders are drawn from `senders` without the victim. They are distinct while there are
    /// enough of them. With more flows than such hosts, every one of them sends, and they take turns
    /// in a random order until all flows are given out. The bytes are divided evenly; the first
    /// flows get one byte more where that does not work out.
    pub struct IncastConfig in "incast" {
        /// The hosts the victim is drawn from: all, or numbers and ranges such as 0-3,7,9-12.
        victims: String = "all".to_owned(),
        /// The hosts that send: all, or numbers and ranges such as 0-3,7,9-12.
        senders: String = "all".to_owned(),
        /// How many flows an event has (BFC: 100); with `flows_per_sender` above 1, how many senders.
        degree: u32 = 100,
        /// How many flows each sender of an event has (SFC 5.2: 25 queue pairs).
        flows_per_sender: u32 = 1,
        /// What the flows of an event add up to (BFC: 20 MB).
        bytes: Bytes = Bytes(20_000_000),
        /// The time from one event to the next (BFC: 500 us).
        period: Ps = Ps::from_us(500),
        /// How many events there are; 0: as many as `period` gives until `stop`.
        events: u64 = 0,
        /// Each flow starts at an instant drawn uniformly within this time after the event; 0: all
        /// at once (SFC 5.3: 100 us).
        spread: Ps = Ps(0),
        /// The first flow starts with the event, the others, and their `spread`, this much later.
        head_start: Ps = Ps(0),
        /// When the first event is.
        start: Ps = Ps(0),
        /// When the events stop; 0 is the end of the run.
        stop: Ps = Ps(0),
        /// The priority of the packets.
        priority: u8 = 0,
        /// The name of these flows in the results.
        class: String = "incast".to_owned(),
    }
}

impl IncastConfig {
    /// Checks the settings for a network with `hosts` hosts.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    pub fn check(&self, hosts: u32) -> Result<(), String> {
        if self.degree == 0 {
            return Err("degree is 0: an incast needs at least 1 sender".into());
        }
        if self.flows_per_sender == 0 {
            return Err("flows_per_sender is 0: a sender needs at least 1 flow".into());
        }
        if self.bytes.0 < self.flows() {
            let (bytes, flows) = (self.bytes, self.flows());
            return Err(format!(
                "bytes is {bytes}, which leaves some of the {flows} flows empty: give at least 1 B each"
            ));
        }
        if self.period == Ps(0) {
            return Err("period is 0: give the time from one event to the next".into());
        }
        self.check_spread()?;
        checks::window(self.start, self.stop)?;
        self.ends(hosts).map(drop)
    }

    /// Flows come out in the order of their starts, so those of one event start before the next.
    fn check_spread(&self) -> Result<(), String> {
        let (spread, head_start, period) = (self.spread, self.head_start, self.period);
        let fits = spread.0.checked_add(head_start.0).is_some_and(|sum| sum <= period.0);
        if fits || self.events == 1 {
            return Ok(());
        }
        Err(format!(
            "spread is {spread} and head_start {head_start}, together longer than the period, \
             {period}: events must not overlap"
        ))
    }

    /// How many flows an event has.
    fn flows(&self) -> u64 {
        u64::from(self.degree) * u64::from(self.flows_per_sender)
    }

    /// The hosts the victim and the senders are drawn from.
    fn ends(&self, hosts: u32) -> Result<Ends, String> {
        let parse = |name: &str, text: &str| {
            host_set::parse(text, hosts).map_err(|problem| format!("{name}: {problem}"))
        };
        checks::hosts(hosts)?;
        let victims = parse("victims", &self.victims)?;
        let senders = parse("senders", &self.senders)?;
        // A victim does not send to itself.
        let own = victims.iter().any(|victim| senders.binary_search(victim).is_ok());
        let least = senders.len() - usize::from(own);
        if least == 0 {
            let host = senders[0];
            return Err(format!(
                "host {host} is the only sender and may be the victim: add a host"
            ));
        }
        if self.flows_per_sender > 1 && self.degree as usize > least {
            let degree = self.degree;
            return Err(format!("degree is {degree}, but only {least} hosts are left to send"));
        }
        Ok(Ends { victims, senders })
    }
}

/// The hosts an event's are drawn from. Whichever victim is drawn, there is a sender other than it.
#[derive(Clone, Debug)]
struct Ends {
    victims: Vec<u32>,
    senders: Vec<u32>,
}

/// Makes incast events.
#[derive(Clone, Debug)]
pub struct Incast {
    rng: Rng,
    config: IncastConfig,
    ends: Ends,
    source: u16,
    end: Ps,
    /// When the current event is; `None` when there are no more.
    now: Option<Ps>,
    /// How many events there were before it.
    past: u64,
    victim: u32,
    /// The hosts that take turns in the current event.
    senders: Vec<u32>,
    /// How long after the current event its flows start, and their indices, in the order of both.
    starts: Vec<(Ps, u64)>,
    /// How many flows of the current event were made.
    made: usize,
}

impl Incast {
    /// The incast events of `config` among `hosts` hosts, as the source with index `source`.
    ///
    /// # Errors
    /// Settings that are wrong or that do not fit the network.
    pub fn new(config: IncastConfig, hosts: u32, seed: u64, source: u16) -> Result<Self, String> {
        config.check(hosts)?;
        let mut incast = Self {
            rng: Rng::stream(seed, Purpose::Traffic, u64::from(source)),
            ends: config.ends(hosts)?,
            source,
            end: checks::end_of(config.stop),
            now: Some(config.start),
            past: 0,
            victim: 0,
            senders: Vec::new(),
            starts: Vec::new(),
            made: 0,
            config,
        };
        incast.draw_event();
        Ok(incast)
    }

    /// Draws an event: its hosts, and when its flows start.
    fn draw_event(&mut self) {
        self.draw_hosts();
        self.draw_starts();
    }

    /// Draws the victim and the senders of an event.
    fn draw_hosts(&mut self) {
        let Ends { victims, senders } = &self.ends;
        self.victim = victims[self.rng.below(victims.len() as u64) as usize];
        self.senders.clear();
        self.senders.extend(senders.iter().filter(|host| **host != self.victim));
        // The beginning of a Fisher-Yates shuffle, as far as senders are needed.
        let needed = self.senders.len().min(self.config.degree as usize);
        for place in 0..needed {
            let left = self.senders.len() - place;
            self.senders.swap(place, place + self.rng.below(left as u64) as usize);
        }
        self.senders.truncate(needed);
    }

    /// Draws how long after an event each of its flows starts.
    fn draw_starts(&mut self) {
        let IncastConfig { spread, head_start, .. } = self.config;
        self.starts.clear();
        for index in 0..self.config.flows() {
            let first = index == 0 && head_start > Ps(0);
            let drawn = if first || spread == Ps(0) { 0 } else { self.rng.below(spread.0) };
            let waits = if first { Ps(0) } else { head_start };
            self.starts.push((Ps(waits.0.saturating_add(drawn)), index));
        }
        self.starts.sort_unstable();
    }

    fn next_event(&mut self) {
        self.past += 1;
        let more = self.config.events == 0 || self.past < self.config.events;
        let later = |now: Ps| now.0.checked_add(self.config.period.0).map(Ps);
        self.now = self.now.filter(|_| more).and_then(later);
        self.made = 0;
        self.draw_event();
    }

    /// The size of the current event's flow with this index.
    fn share(&self, index: u64) -> u64 {
        let (bytes, flows) = (self.config.bytes.0, self.config.flows());
        bytes / flows + u64::from(index < bytes % flows)
    }
}

impl Source for Incast {
    fn next(&mut self) -> Option<Arrival> {
        if self.made == self.starts.len() {
            self.next_event();
        }
        let event = self.now.filter(|now| *now < self.end)?;
        let (after, index) = self.starts[self.made];
        self.made += 1;
        Some(Arrival {
            start: Ps(event.0.saturating_add(after.0)),
            src: self.senders[(index % self.senders.len() as u64) as usize],
            dst: self.victim,
            bytes: self.share(index),
            source: self.source,
            priority: self.config.priority,
        })
    }
}
