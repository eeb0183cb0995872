//! Incast: many hosts send to one at the same time, in repeated events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xoff_core::knobs::{Effect, because};
use xoff_core::rng::Purpose;
use xoff_core::{Bytes, HostId, Ps, Rng};

use crate::candidates::Candidates;
use crate::checks;
use crate::{
    Arrival, CLASSES, Context, Crowd, ENDLESS, Frequency, Mix, Offer, Priority, Source,
    TrafficSettings, host_set,
};

xoff_core::choices! {
    /// The distribution of the gaps between events.
    pub enum EventArrivals {
        /// Every gap is one `period`.
        Periodic = "periodic",
        /// Exponential gaps with the mean `period`: a Poisson process (CaPFC IV-B).
        Poisson = "poisson",
    }
}

xoff_core::knobs! {
    /// Incast: in every period, `degree` flows send `bytes` in total to one host (the victim),
    /// which is drawn uniformly from `victims`, or to each of several hosts. The flows start at the
    /// same instant or are spread over some time.
    ///
    /// The senders are drawn from `senders` without the victim. They are distinct if there are
    /// enough of them. Otherwise every one of them sends, and they take turns in a random order
    /// until all flows are assigned. The bytes are divided evenly; the first flows get one byte
    /// more if there is a remainder.
    pub struct IncastConfig in "incast" {
        /// The hosts from which the victim is drawn: all, or numbers and ranges such as 0-3,7,9-12.
        victims: String = "all".to_owned(),
        /// Victims of an event, all distinct, each with flows of its own; 0: all of `victims`
        /// (DeTail §6.3: all-to-all incast).
        victims_per_event: u32 = 1,
        /// The hosts that send: all, or numbers and ranges such as 0-3,7,9-12.
        senders: String = "all".to_owned(),
        /// Flows per victim (BFC: 100); with `flows_per_sender` above 1, senders per event.
        degree: u32 = 100,
        /// Flows of each sender to a victim (SFC 5.2: 25 queue pairs).
        flows_per_sender: u32 = 1,
        /// Total bytes of a victim's flows (BFC: 20 MB).
        bytes: Bytes = Bytes(20_000_000),
        /// Time from one event to the next (BFC: 500 us); with Poisson arrivals, its mean.
        period: Ps = Ps::from_us(500) => [Effect::Unless(|incast| because(
            incast.events == 1 && incast.arrivals == EventArrivals::Periodic,
            "events = 1: there is one event, at start",
        ))],
        /// The distribution of the gaps between events.
        arrivals: EventArrivals = EventArrivals::Periodic,
        /// Number of events; 0: events until `stop`.
        events: u64 = 0,
        /// Each flow starts at an instant drawn uniformly within this time after the event; 0: all
        /// at once (SFC 5.3: 100 us).
        spread: Ps = Ps(0),
        /// The first flow starts with the event, the others, and their `spread`, this much later.
        head_start: Ps = Ps(0),
        /// Time of the first event; with Poisson arrivals, the first event follows one gap later.
        start: Ps = Ps(0),
        /// End of the events; 0 is the end of the run.
        stop: Ps = Ps(0),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// Senders label the packets of these flows as part of an incast (BFC App. A.7).
        labelled: bool = false,
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
                "bytes is {bytes}, which leaves some of the {flows} flows empty: give at least 1 B \
                 each"
            ));
        }
        if self.bytes.0.div_ceil(self.flows()) > ENDLESS {
            return Err(format!("bytes is {}: a flow has at most {}", self.bytes, Bytes(ENDLESS)));
        }
        if self.period == Ps(0) {
            return Err("period is 0: give the time from one event to the next".into());
        }
        checks::window(self.start, self.stop)?;
        self.victims_of_event(hosts).map(drop)
    }

    /// The time of the event after the one at `event`; `None` past the end of time.
    fn after(&self, event: Ps, rng: &mut Rng) -> Option<Ps> {
        let gap = match self.arrivals {
            EventArrivals::Periodic => self.period.0,
            EventArrivals::Poisson => (self.period.0 as f64 * rng.exponential()).round() as u64,
        };
        event.0.checked_add(gap).map(Ps)
    }

    /// The number of victims of an event in a network with `hosts` hosts.
    ///
    /// # Errors
    /// As `check`.
    fn victims_of_event(&self, hosts: u32) -> Result<u32, String> {
        let most = self.ends(hosts)?.victims.len() as u32;
        match self.victims_per_event {
            0 => Ok(most),
            given if given <= most => Ok(given),
            given => Err(format!(
                "victims_per_event is {given}, but victims has {most}: give at most {most}, or 0 \
                 for all"
            )),
        }
    }

    /// The number of flows to a victim.
    #[must_use]
    pub fn flows(&self) -> u64 {
        u64::from(self.degree) * u64::from(self.flows_per_sender)
    }

    /// The number of flows of events with `victims` victims. The flows of an event are drawn when
    /// it comes. Events overlap if their flows are spread over more than a `period`.
    fn crowd(&self, victims: u32) -> Crowd {
        let flows = self.flows() as f64 * f64::from(victims);
        let period = self.period.0.max(1) as f64;
        let overlapping = 1.0 + (self.spread.0 as f64 + self.head_start.0 as f64) / period;
        let in_all = if self.events == 0 { f64::INFINITY } else { flows * self.events as f64 };
        let mean_bytes = self.bytes.0 as f64 / self.flows() as f64;
        let arriving = Crowd::arriving(flows / period * 1e12, mean_bytes);
        let crowd = Crowd { together: flows * overlapping, in_all, ..arriving };
        crowd.between(self.start, self.stop)
    }

    /// The number of senders left for an event, for any victim, if it is less than `degree`, so
    /// that some send more than `flows_per_sender` flows; otherwise `None`.
    ///
    /// # Errors
    /// As `check`.
    pub fn repeated_senders(&self, hosts: u32) -> Result<Option<usize>, String> {
        let Ends { victims, senders } = self.ends(hosts)?;
        let own = victims.iter().any(|victim| senders.binary_search(victim).is_ok());
        let least = senders.len() - usize::from(own);
        Ok((self.degree as usize > least).then_some(least))
    }

    /// The hosts from which the victim and the senders are drawn.
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

impl TrafficSettings for IncastConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let incast = Incast::new(self.clone(), context.hosts(), context.seed, context.source)?;
        let victims = self.victims_of_event(context.hosts())?;
        let (each, seconds) = (f64::from(victims), self.period.seconds());
        let flows = self.flows() as f64 * each;
        let bits = self.bytes.0 as f64 * each * 8.0;
        // A fixed number of events is not a continuous load.
        let (frequency, bits_per_second) = match self.events {
            0 => (Frequency::PerSecond(flows / seconds), bits / seconds),
            events => (Frequency::InAll(flows * events as f64), 0.0),
        };
        let mut mix = Mix::default();
        mix.add_flows(frequency, vec![self.bytes.0 / self.flows()]);
        let senders = self.repeated_senders(context.hosts())?;
        let turns = |senders| format!("{senders} (degree is {}: they take turns)", self.degree);
        let derived = senders.map(|senders: usize| ("senders", turns(senders)));
        Ok(Offer {
            sizes: Some(mix),
            bits_per_second,
            derived: derived.into_iter().collect(),
            ..Offer::new(incast, self.crowd(victims))
        })
    }

    fn is_labelled(&self) -> bool {
        self.labelled
    }
}

/// The hosts from which an event's hosts are drawn. For every victim there is a sender other than
/// it.
#[derive(Clone, Debug)]
struct Ends {
    victims: Vec<HostId>,
    senders: Vec<HostId>,
}

/// A drawn flow, compared by its start, then by the order of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Coming {
    start: Ps,
    event: u64,
    victim: u32,
    index: u64,
    src: HostId,
    dst: HostId,
}

/// Makes incast events.
#[derive(Clone, Debug)]
pub struct Incast {
    rng: Rng,
    config: IncastConfig,
    victims: Candidates,
    senders: Candidates,
    victims_per_event: u32,
    source: u16,
    end: Ps,
    /// Time of the next event; `None` when there are no more.
    next_event: Option<Ps>,
    /// Number of events before it.
    past: u64,
    /// Flows of those events that have not been taken. Events may overlap.
    coming: BinaryHeap<Reverse<Coming>>,
}

impl Incast {
    /// The incast events of `config` among `hosts` hosts, as the source with index `source`.
    ///
    /// # Errors
    /// Settings that are wrong or that do not fit the network.
    pub fn new(config: IncastConfig, hosts: u32, seed: u64, source: u16) -> Result<Self, String> {
        config.check(hosts)?;
        let end = checks::end_of(config.stop);
        let mut rng = Rng::stream(seed, Purpose::Traffic, u64::from(source));
        let first = match config.arrivals {
            EventArrivals::Periodic => Some(config.start),
            EventArrivals::Poisson => config.after(config.start, &mut rng),
        };
        let Ends { victims, senders } = config.ends(hosts)?;
        Ok(Self {
            rng,
            victims: Candidates::new(victims),
            senders: Candidates::new(senders),
            victims_per_event: config.victims_of_event(hosts)?,
            source,
            end,
            next_event: first.filter(|first| *first < end),
            past: 0,
            coming: BinaryHeap::new(),
            config,
        })
    }

    /// Draws the flows of the event at `event`.
    fn draw_event(&mut self, event: Ps) {
        // Elsewhere while they are drawn, which the draws of flows interrupt.
        let mut candidates = std::mem::take(&mut self.victims);
        let mut victims = candidates.all();
        for number in 0..self.victims_per_event {
            let victim = victims.take(&mut self.rng);
            self.draw_flows(event, number, victim);
        }
        drop(victims);
        self.victims = candidates;
    }

    /// Draws the flows of an event to one of its victims.
    fn draw_flows(&mut self, event: Ps, number: u32, victim: HostId) {
        let senders = self.draw_senders(victim);
        let IncastConfig { spread, head_start, .. } = self.config;
        for index in 0..self.config.flows() {
            let first = index == 0 && head_start > Ps(0);
            let drawn = if first || spread == Ps(0) { 0 } else { self.rng.below(spread.0) };
            let waits = if first { 0 } else { head_start.0 };
            self.coming.push(Reverse(Coming {
                start: Ps(event.0.saturating_add(waits).saturating_add(drawn)),
                event: self.past,
                victim: number,
                index,
                src: senders[(index % senders.len() as u64) as usize],
                dst: victim,
            }));
        }
    }

    /// Draws the senders to a victim, who take turns.
    fn draw_senders(&mut self, victim: HostId) -> Vec<HostId> {
        let mut others = self.senders.without(victim);
        // The beginning of a shuffle, for the senders needed.
        let needed = others.count().min(self.config.degree as usize);
        (0..needed).map(|place| others.shuffle_at(place, &mut self.rng)).collect()
    }

    /// Draws events until the next flow's start is known: later events start after it.
    fn draw_until_known(&mut self) {
        while let Some(event) = self.next_event
            && self.coming.peek().is_none_or(|Reverse(coming)| event <= coming.start)
        {
            self.draw_event(event);
            self.past += 1;
            let more = self.config.events == 0 || self.past < self.config.events;
            let later = self.config.after(event, &mut self.rng);
            self.next_event = later.filter(|later| more && *later < self.end);
        }
    }

    /// The size of a victim's flow with this index.
    fn share(&self, index: u64) -> u64 {
        let (bytes, flows) = (self.config.bytes.0, self.config.flows());
        bytes / flows + u64::from(index < bytes % flows)
    }
}

impl Source for Incast {
    fn next(&mut self) -> Option<Arrival> {
        self.draw_until_known();
        let Reverse(coming) = self.coming.pop()?;
        let Coming { start, src, dst, index, .. } = coming;
        let flow = Arrival::new(start, src, dst, self.share(index), self.source);
        Some(Arrival { priority: self.config.priority.number(), ..flow })
    }
}
