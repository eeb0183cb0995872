//! Background traffic: flows that arrive at random, independent of earlier ones.

use xoff_core::knobs::{Effect, because};
use xoff_core::rng::Purpose;
use xoff_core::{BitRate, HostId, Ps, Rng, math};

use crate::candidates::draw_other;
use crate::checks;
use crate::locality::{Balanced, Locality};
use crate::sizes::{Reading, SizeTable};
use crate::{
    Arrival, CLASSES, Capacity, Context, Crowd, Frequency, Mix, Offer, Priority, Source,
    TrafficSettings, host_set, tables,
};

xoff_core::choices! {
    /// The distribution of the gaps between flows.
    pub enum Arrivals {
        /// Exponential gaps: a Poisson process.
        Poisson = "poisson",
        /// Log-normal gaps: bursts, which grow with sigma.
        LogNormal = "lognormal",
    }
}

xoff_core::choices! {
    /// The links with the capacity of a load of 1.
    pub enum LoadOn {
        /// The core links.
        Core = "core",
        /// The host links.
        Hosts = "hosts",
        /// The links of the hosts in `receivers`.
        Receivers = "receivers",
    }
}

xoff_core::knobs! {
    /// Background traffic: one arrival process for the whole network, between distinct hosts. The
    /// source is drawn uniformly among the senders, then the destination uniformly among the
    /// receivers other than the source. A host that is the only receiver does not send, even if it
    /// is among the senders.
    ///
    /// The load counts the payload of all flows, as if every flow crossed the links of `load_on`.
    /// With `load_on = "core"` this includes flows that stay within a rack, so the core carries
    /// less payload than the load, and headers in addition. BFC counts this way. With `locality =
    /// "balanced"` every link carries the load in payload.
    pub struct OpenLoopConfig in "traffic" {
        /// The distribution of the gaps between flows.
        arrivals: Arrivals = Arrivals::Poisson,
        /// The standard deviation of a log-normal gap's logarithm, up to 5 (BFC: 2).
        sigma: f64 = 2.0 => [Effect::Unless(|config| because(
            config.arrivals == Arrivals::Poisson,
            "arrivals = \"poisson\" has gaps of one parameter, the load",
        ))],
        /// The distribution of flow sizes: the name of a table, or the path of a CSV file with the
        /// columns size_bytes,cdf.
        sizes: String = "google".to_owned(),
        /// The reading of sizes between the points of the table.
        reading: Reading = Reading::Linear,
        /// The offered load as a share of the capacity, above 0 and up to 2.
        load: f64 = 0.6,
        /// The links with the capacity of a load of 1.
        load_on: LoadOn = LoadOn::Core => [Effect::Unless(|config| because(
            config.balances(),
            "locality = \"balanced\" puts the load on all links",
        ))],
        /// The hosts that send: all, or numbers and ranges such as 0-3,7,9-12.
        senders: String = "all".to_owned(),
        /// The hosts that receive: all, or numbers and ranges such as 0-3,7,9-12.
        receivers: String = "all".to_owned(),
        /// Distance between source and destination (BFC App. A.5: "such that average load on all
        /// links across the network is same").
        locality: Locality = Locality::Uniform,
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// Start of the arrivals.
        start: Ps = Ps(0),
        /// End of the arrivals; 0 is the end of the run.
        stop: Ps = Ps(0),
        /// The name of these flows in the results.
        class: String = "background".to_owned(),
    }
}

impl OpenLoopConfig {
    /// Checks the settings for a network with `hosts` hosts.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    pub fn check(&self, hosts: u32) -> Result<(), String> {
        let sane = self.load > 0.0 && self.load <= 2.0;
        if !sane {
            return Err(format!("load is {}: it must be above 0 and at most 2", self.load));
        }
        // Far above 5, almost all gaps are 0 ps, and one in millions makes up for them.
        if !(0.0..=5.0).contains(&self.sigma) {
            return Err(format!("sigma is {}: it must be from 0 to 5", self.sigma));
        }
        checks::window(self.start, self.stop)?;
        let apart = self.senders.trim() != "all" || self.receivers.trim() != "all";
        if self.balances() && (apart || self.load_on == LoadOn::Receivers) {
            return Err(
                "locality = \"balanced\" needs all hosts to send and to receive: leave out \
                        senders and receivers, and load_on = \"receivers\""
                    .into(),
            );
        }
        self.ends(hosts).map(drop)
    }

    /// The share of flows that leave their rack, if `locality` determines it.
    ///
    /// # Errors
    /// If this network cannot have it.
    pub fn leaving(&self, capacity: &Capacity) -> Result<Option<f64>, String> {
        self.balances().then(|| Balanced::new(capacity).map(|pairs| pairs.leaving())).transpose()
    }

    /// The hosts that send and the hosts that receive.
    fn ends(&self, hosts: u32) -> Result<Ends, String> {
        Ends::parse(&self.senders, &self.receivers, hosts)
    }

    /// The links at a load of 1, the other value of `load_on` to set if there are none, and the sum
    /// of their rates.
    fn links(
        &self,
        capacity: &Capacity,
        receivers: &[HostId],
    ) -> (&'static str, &'static str, BitRate) {
        match self.load_on {
            // The core links carry their full load, and further flows stay in their rack.
            LoadOn::Core if self.balances() => ("core", "hosts", capacity.hosts()),
            LoadOn::Core => ("core", "hosts", capacity.core),
            LoadOn::Hosts => ("host", "core", capacity.hosts()),
            LoadOn::Receivers => ("host", "core", capacity.hosts_in(receivers)),
        }
    }

    /// The mean gap between flows in picoseconds.
    fn mean_gap(
        &self,
        sizes: &SizeTable,
        capacity: &Capacity,
        receivers: &[HostId],
    ) -> Result<f64, String> {
        let (links, other, BitRate(rate)) = self.links(capacity, receivers);
        if rate == 0 {
            return Err(format!("the network has no {links} links: set load_on = \"{other}\""));
        }
        let bits = sizes.mean(self.reading) * 8.0;
        let gap = bits * 1e12 / (self.load * rate as f64);
        if gap < 1.0 {
            return Err("more than one flow per picosecond: lower load or use larger sizes".into());
        }
        Ok(gap)
    }
}

impl TrafficSettings for OpenLoopConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let Context { capacity, seed, source, files, .. } = *context;
        self.check(context.hosts())?;
        let sizes = tables::find(&self.sizes, files)?;
        let mean = sizes.mean(self.reading);
        let described = format!("{mean:.1}B ({}, digest {:016x})", self.sizes, sizes.digest());
        let mut derived = vec![("mean_size", described)];
        if let Some(share) = self.leaving(capacity)? {
            derived.push(("share_leaving_racks", share.to_string()));
        }
        let receivers = self.ends(context.hosts())?.receivers;
        let (.., BitRate(reference)) = self.links(capacity, &receivers);
        let bits_per_second = self.load * reference as f64;
        let flows = bits_per_second / 8.0 / mean;
        let crowd = Crowd::arriving(flows, mean).between(self.start, self.stop);
        let open_loop = OpenLoop::new(self, sizes.clone(), capacity, seed, source)?;
        let mut mix = Mix::default();
        mix.add(Frequency::PerSecond(flows), sizes, self.reading);
        let sizes = Some(mix);
        Ok(Offer { sizes, bits_per_second, derived, ..Offer::new(open_loop, crowd) })
    }

    fn balances(&self) -> bool {
        self.locality == Locality::Balanced
    }
}

/// The distribution of gaps, in picoseconds.
#[derive(Clone, Copy, Debug)]
enum Gaps {
    Poisson { mean: f64 },
    LogNormal { mu: f64, sigma: f64 },
}

impl Gaps {
    fn new(config: &OpenLoopConfig, mean: f64) -> Self {
        let sigma = config.sigma;
        match config.arrivals {
            Arrivals::Poisson => Gaps::Poisson { mean },
            // The mean of a log-normal number is exp(mu + sigma^2 / 2).
            Arrivals::LogNormal => {
                Gaps::LogNormal { mu: math::ln(mean) - sigma * sigma / 2.0, sigma }
            }
        }
    }

    /// A gap, rounded to the nearest picosecond: rounding down would add half a picosecond of
    /// load per flow.
    fn draw(self, rng: &mut Rng) -> Ps {
        let gap = match self {
            Gaps::Poisson { mean } => mean * rng.exponential(),
            Gaps::LogNormal { mu, sigma } => math::exp(mu + sigma * rng.normal()),
        };
        Ps(gap.round() as u64)
    }
}

/// The hosts of flows, sorted. For every sender there is a receiver other than it.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    pub(crate) senders: Vec<HostId>,
    receivers: Vec<HostId>,
}

impl Ends {
    /// Reads the two sets.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn parse(senders: &str, receivers: &str, hosts: u32) -> Result<Self, String> {
        let parse = |name: &str, text: &str| {
            host_set::parse(text, hosts).map_err(|problem| format!("{name}: {problem}"))
        };
        checks::hosts(hosts)?;
        let mut senders = parse("senders", senders)?;
        let receivers = parse("receivers", receivers)?;
        if let ([host], true) = (&senders[..], senders == receivers) {
            return Err(format!(
                "host {host} is the only sender and the only receiver: add a host"
            ));
        }
        if let [only] = receivers[..] {
            senders.retain(|host| *host != only);
        }
        Ok(Ends { senders, receivers })
    }

    /// A source and a destination.
    fn draw(&self, rng: &mut Rng) -> (HostId, HostId) {
        let src = self.senders[rng.below(self.senders.len() as u64) as usize];
        (src, self.draw_receiver(src, rng))
    }

    /// A destination for a source.
    pub(crate) fn draw_receiver(&self, src: HostId, rng: &mut Rng) -> HostId {
        draw_other(&self.receivers, src, rng)
    }
}

/// The rule that draws the two hosts of a flow.
#[derive(Clone, Debug)]
enum Pairs {
    Uniform(Ends),
    Balanced(Balanced),
}

/// Makes background traffic.
#[derive(Clone, Debug)]
pub struct OpenLoop {
    rng: Rng,
    gaps: Gaps,
    sizes: SizeTable,
    reading: Reading,
    pairs: Pairs,
    source: u16,
    priority: u8,
    now: Ps,
    end: Ps,
}

impl OpenLoop {
    /// The traffic of `config` in a network of `capacity`, with sizes from the table that
    /// `config.sizes` names (see [`find`](crate::tables::find)), as the source with index
    /// `source`.
    ///
    /// # Errors
    /// Settings that are wrong or that do not fit the network.
    pub fn new(
        config: &OpenLoopConfig,
        sizes: SizeTable,
        capacity: &Capacity,
        seed: u64,
        source: u16,
    ) -> Result<Self, String> {
        let hosts = capacity.host_count();
        config.check(hosts)?;
        let ends = config.ends(hosts)?;
        let gaps = Gaps::new(config, config.mean_gap(&sizes, capacity, &ends.receivers)?);
        let pairs = match config.locality {
            Locality::Uniform => Pairs::Uniform(ends),
            Locality::Balanced => Pairs::Balanced(Balanced::new(capacity)?),
        };
        Ok(Self {
            rng: Rng::stream(seed, Purpose::Traffic, u64::from(source)),
            gaps,
            sizes,
            reading: config.reading,
            pairs,
            source,
            priority: config.priority.number(),
            now: config.start,
            end: checks::end_of(config.stop),
        })
    }
}

impl Source for OpenLoop {
    fn next(&mut self) -> Option<Arrival> {
        // Saturates at the end of time, which is never before `end`: past it, always past it.
        self.now = Ps(self.now.0.saturating_add(self.gaps.draw(&mut self.rng).0));
        if self.now >= self.end {
            return None;
        }
        let bytes = self.sizes.sample(&mut self.rng, self.reading);
        let (src, dst) = match &self.pairs {
            Pairs::Uniform(ends) => ends.draw(&mut self.rng),
            Pairs::Balanced(pairs) => pairs.draw(&mut self.rng),
        };
        let (source, priority) = (self.source, self.priority);
        Some(Arrival { priority, ..Arrival::new(self.now, src, dst, bytes, source) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(arrivals: Arrivals, sigma: f64, mean: f64) -> impl Iterator<Item = f64> {
        let gaps = Gaps::new(&OpenLoopConfig { arrivals, sigma, ..Default::default() }, mean);
        let mut rng = Rng::stream(3, Purpose::Traffic, 0);
        std::iter::repeat_with(move || gaps.draw(&mut rng).0 as f64)
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        let (count, sum) =
            values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
        sum / count
    }

    #[test]
    fn gaps_have_the_mean_asked_for() {
        let poisson = mean(gaps(Arrivals::Poisson, 2.0, 6_000.0).take(400_000));
        assert!((poisson / 6_000.0 - 1.0).abs() < 0.005, "{poisson}");
        // At sigma 1 the mean settles; at 2 its standard error would be 1 % here.
        let bursty = mean(gaps(Arrivals::LogNormal, 1.0, 6_000.0).take(400_000));
        assert!((bursty / 6_000.0 - 1.0).abs() < 0.01, "{bursty}");
        assert!(gaps(Arrivals::LogNormal, 0.0, 6_000.0).take(9).all(|gap| gap == 6_000.0));
    }

    #[test]
    fn log_normal_gaps_have_the_logarithm_asked_for() {
        let logs = || gaps(Arrivals::LogNormal, 2.0, 1e9).take(200_000).map(math::ln);
        let centre = mean(logs());
        let spread = math::sqrt(mean(logs().map(|log| (log - centre) * (log - centre))));
        assert!((centre - (math::ln(1e9) - 2.0)).abs() < 0.02, "{centre}");
        assert!((spread - 2.0).abs() < 0.02, "{spread}");
    }
}
