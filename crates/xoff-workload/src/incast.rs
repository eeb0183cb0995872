//! Incast: many hosts send to one at the same instant, again and again.

use xoff_core::rng::Purpose;
use xoff_core::{Bytes, Ps, Rng};

use crate::checks;
use crate::{Arrival, Source, host_set};

xoff_core::knobs! {
    /// Incast: at every period, a host drawn uniformly among `victims` (the victim) is sent `bytes`
    /// by `degree` flows, all starting at the same instant.
    ///
    /// The senders are drawn from all other hosts. They are distinct while there are enough of them. With more flows than other
    /// hosts, every other host sends, and they take turns in a random order until all flows are
    /// given out. The bytes are divided evenly; the first flows get one byte more where that does
    /// not work out.
    pub struct IncastConfig in "incast" {
        /// The hosts the victim is drawn from: all, or numbers and ranges such as 0-3,7,9-12.
        victims: String = "all".to_owned(),
        /// How many flows an event has (BFC: 100).
        degree: u32 = 100,
        /// What the flows of an event add up to (BFC: 20 MB).
        bytes: Bytes = Bytes(20_000_000),
        /// The time from one event to the next (BFC: 500 us).
        period: Ps = Ps::from_us(500),
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
        if self.bytes.0 < u64::from(self.degree) {
            let (bytes, degree) = (self.bytes, self.degree);
            return Err(format!(
                "bytes is {bytes}, which leaves some of the {degree} flows empty: give at least 1 B each"
            ));
        }
        if self.period == Ps(0) {
            return Err("period is 0: give the time from one event to the next".into());
        }
        checks::window(self.start, self.stop)?;
        self.victims(hosts).map(drop)
    }

    /// The hosts the victim is drawn from.
    fn victims(&self, hosts: u32) -> Result<Vec<u32>, String> {
        checks::hosts(hosts)?;
        host_set::parse(&self.victims, hosts).map_err(|problem| format!("victims: {problem}"))
    }
}

/// Makes incast events.
#[derive(Clone, Debug)]
pub struct Incast {
    rng: Rng,
    config: IncastConfig,
    hosts: u32,
    /// The hosts the victim is drawn from.
    victims: Vec<u32>,
    source: u16,
    end: Ps,
    /// When the current event is; `None` when there are no more.
    now: Option<Ps>,
    victim: u32,
    /// The hosts that take turns in the current event.
    senders: Vec<u32>,
    /// How many flows of the current event were made.
    made: u32,
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
            hosts,
            victims: config.victims(hosts)?,
            source,
            end: checks::end_of(config.stop),
            now: Some(config.start),
            victim: 0,
            senders: Vec::new(),
            made: 0,
            config,
        };
        incast.draw_hosts();
        Ok(incast)
    }

    /// Draws the victim and the senders of an event.
    fn draw_hosts(&mut self) {
        self.victim = self.victims[self.rng.below(self.victims.len() as u64) as usize];
        self.senders.clear();
        self.senders.extend((0..self.hosts).filter(|host| *host != self.victim));
        // The beginning of a Fisher-Yates shuffle, as far as senders are needed.
        let needed = self.senders.len().min(self.config.degree as usize);
        for place in 0..needed {
            let left = self.senders.len() - place;
            self.senders.swap(place, place + self.rng.below(left as u64) as usize);
        }
        self.senders.truncate(needed);
    }

    fn next_event(&mut self) {
        let later = |now: Ps| now.0.checked_add(self.config.period.0).map(Ps);
        self.now = self.now.and_then(later);
        self.made = 0;
        self.draw_hosts();
    }

    /// The size of the current event's flow with this index.
    fn share(&self, index: u32) -> u64 {
        let (bytes, degree) = (self.config.bytes.0, u64::from(self.config.degree));
        bytes / degree + u64::from(u64::from(index) < bytes % degree)
    }
}

impl Source for Incast {
    fn next(&mut self) -> Option<Arrival> {
        if self.made == self.config.degree {
            self.next_event();
        }
        let start = self.now.filter(|now| *now < self.end)?;
        let index = self.made;
        self.made += 1;
        Some(Arrival {
            start,
            src: self.senders[index as usize % self.senders.len()],
            dst: self.victim,
            bytes: self.share(index),
            source: self.source,
            priority: self.config.priority,
        })
    }
}
