//! A network of htsim (`.topo`; `sim/datacenter/fat_tree_topology.cpp`, `FatTreeTopology::load` and
//! `set_custom_params`).

use std::fmt::Write as _;

use crate::nearest::suggestion;

/// Keys of the first lines, in lower case as they are compared.
const HEADER: [&str; 3] = ["nodes", "tiers", "podsize"];

/// Keys of a tier.
const KEYS: [&str; 9] = [
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "queue_up",
    "queue_down",
    "oversubscribed",
    "bundle",
    "switch_latency_ns",
    "downlink_latency_ns",
];

/// A value, with its line.
#[derive(Clone, Copy, Debug)]
struct Value {
    number: u32,
    line: usize,
}

/// The values of a tier in the order of [`KEYS`].
#[derive(Clone, Copy, Debug, Default)]
struct Tier {
    line: usize,
    values: [Option<Value>; KEYS.len()],
}

impl Tier {
    fn get(&self, key: &str) -> Option<Value> {
        KEYS.iter().position(|known| *known == key).and_then(|place| self.values[place])
    }
}

/// A network.
#[derive(Debug)]
pub(super) struct Network {
    pods: u32,
    leaves_per_pod: u32,
    spines_per_pod: u32,
    /// 0: there are two layers.
    cores_per_spine: u32,
    /// Of each tier from below: ports down that go to one node, rate (Gb/s) and delay (ns) of the
    /// links down, and latency of its switches (ns).
    bundles: [u32; 3],
    gbps: [u32; 3],
    delays: [u32; 3],
    latencies: [u32; 3],
    hosts_per_leaf: u32,
    /// Bytes of each queue, if the file has them.
    queue: Option<u32>,
}

/// A file while it is read.
struct File<'a> {
    name: &'a str,
    header: [Option<Value>; HEADER.len()],
    tiers: [Option<Tier>; 3],
    last: usize,
}

impl Network {
    /// Reads `text`, the content of the file `name`.
    ///
    /// # Errors
    /// The line that cannot be read, obeyed, or reconciled with the others.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, String> {
        let last = text.lines().count().max(1);
        let mut file = File { name, header: [None; HEADER.len()], tiers: [None; 3], last };
        let mut current = None;
        for (line, content) in (1..).zip(text.lines()) {
            let mut words = content.split_whitespace();
            let Some(key) = words.next().filter(|word| !word.starts_with('#')) else { continue };
            let number = file.number(line, key, words.next(), words.next())?;
            file.take(&key.to_lowercase(), Value { number, line }, &mut current)?;
        }
        file.network()
    }

    /// htsim's network without a file: a fat-tree of k^3/4 hosts, 100 Gb/s, 1 us per link. `None`
    /// if no k gives that number of hosts.
    pub(super) fn fat_tree(hosts: u32) -> Option<Self> {
        let k = (2..=2000u64).step_by(2).find(|k| k * k * k / 4 == u64::from(hosts))? as u32;
        let half = k / 2;
        Some(Self {
            pods: k,
            leaves_per_pod: half,
            spines_per_pod: half,
            cores_per_spine: half,
            bundles: [1; 3],
            gbps: [100; 3],
            delays: [1000; 3],
            latencies: [0; 3],
            hosts_per_leaf: half,
            queue: None,
        })
    }

    pub(super) fn hosts(&self) -> u32 {
        self.pods * self.leaves_per_pod * self.hosts_per_leaf
    }

    /// The sections of a scenario with this network.
    pub(super) fn sections(&self) -> String {
        let mut text = String::from("[network]\ntopology = \"clos\"\n[clos]\n");
        let mut line = |key: &str, value: String| writeln!(text, "{key} = {value}").ok();
        line("pods", self.pods.to_string());
        line("leaves_per_pod", self.leaves_per_pod.to_string());
        line("hosts_per_leaf", self.hosts_per_leaf.to_string());
        line("spines_per_pod", self.spines_per_pod.to_string());
        line("cores_per_spine", self.cores_per_spine.to_string());
        line("spine_links", self.bundles[1].to_string());
        line("core_links", self.bundles[2].to_string());
        let layers = if self.cores_per_spine > 0 { 3 } else { 2 };
        let links = ["host", "spine", "core"];
        let switches = ["leaf", "spine", "core"];
        for tier in 0..layers {
            line(&format!("{}_rate", links[tier]), format!("\"{}Gbps\"", self.gbps[tier]));
            line(&format!("{}_delay", links[tier]), format!("\"{}ns\"", self.delays[tier]));
            line(&format!("{}_latency", switches[tier]), format!("\"{}ns\"", self.latencies[tier]));
        }
        if let Some(bytes) = self.queue {
            write!(text, "[buffer]\nsize = \"{bytes}B\"\n").ok();
        }
        text
    }
}

impl File<'_> {
    fn error(&self, line: usize, what: impl std::fmt::Display) -> String {
        format!("{}, line {line}: {what}", self.name)
    }

    fn number(
        &self,
        line: usize,
        key: &str,
        word: Option<&str>,
        more: Option<&str>,
    ) -> Result<u32, String> {
        let Some(word) = word else {
            return Err(self.error(line, format!("{key} has no number behind it")));
        };
        if let Some(more) = more {
            return Err(self.error(line, format!("\"{more}\" after the number of {key}")));
        }
        word.parse().map_err(|_| {
            self.error(line, format!("{key} \"{word}\" is not a whole number that fits here"))
        })
    }

    fn take(&mut self, key: &str, value: Value, current: &mut Option<usize>) -> Result<(), String> {
        let twice = |file: &Self| file.error(value.line, format!("{key} is set twice"));
        if key == "tier" {
            let index = value.number as usize;
            if index >= self.tiers.len() {
                let problem = format!("tier {index} does not exist: tiers are 0, 1 and 2");
                return Err(self.error(value.line, problem));
            }
            let tier = Tier { line: value.line, ..Tier::default() };
            if self.tiers[index].replace(tier).is_some() {
                return Err(twice(self));
            }
            *current = Some(index);
            return Ok(());
        }
        let before = match *current {
            None => HEADER
                .iter()
                .position(|known| *known == key)
                .map(|place| self.header[place].replace(value)),
            Some(index) => KEYS
                .iter()
                .position(|known| *known == key)
                .and_then(|place| Some(self.tiers[index].as_mut()?.values[place].replace(value))),
        };
        match before {
            Some(None) => Ok(()),
            Some(Some(_)) => Err(twice(self)),
            None => {
                let (known, place) = match current {
                    None => ([&HEADER[..], &["tier"]].concat(), "before the first tier"),
                    Some(_) => (KEYS.to_vec(), "in a tier"),
                };
                let help = suggestion(key, &known)
                    .unwrap_or_else(|| format!("known are {}", known.join(", ")));
                Err(self.error(value.line, format!("unknown \"{key}\" {place}: {help}")))
            }
        }
    }

    /// A value that must be there and more than zero.
    fn need(&self, tier: usize, key: &str) -> Result<Value, String> {
        let Some(found) = &self.tiers[tier] else {
            return Err(self.error(self.last, format!("tier {tier} is missing")));
        };
        match found.get(key) {
            Some(value) if value.number > 0 => Ok(value),
            Some(value) => Err(self.error(value.line, format!("{key} must be more than zero"))),
            None => Err(self.error(found.line, format!("tier {tier} has no {key}"))),
        }
    }

    fn or(&self, tier: usize, key: &str, default: u32) -> u32 {
        let value = self.tiers[tier].as_ref().and_then(|tier| tier.get(key));
        value.map_or(default, |value| value.number)
    }

    fn header(&self, place: usize) -> Result<Value, String> {
        match self.header[place] {
            Some(value) if value.number > 0 => Ok(value),
            Some(value) => {
                Err(self.error(value.line, format!("{} must be more than zero", HEADER[place])))
            }
            None => Err(self.error(self.last, format!("{} is missing", HEADER[place]))),
        }
    }

    fn network(&self) -> Result<Network, String> {
        let [nodes, tiers, pod] = [0, 1, 2].map(|place| self.header(place));
        let (nodes, tiers, pod) = (nodes?, tiers?, pod?);
        let layers = tiers.number as usize;
        if !(2..=3).contains(&layers) {
            return Err(self.error(tiers.line, format!("tiers is {layers}: it must be 2 or 3")));
        }
        self.refuse_idle(layers)?;
        let (hosts_per_leaf, up) = (self.need(0, "radix_down")?, self.need(0, "radix_up")?);
        let down = self.need(1, "radix_down")?;
        let bundles = [0, 1, 2].map(|tier| self.or(tier, "bundle", 1));
        let pods = self.ratio(nodes, "nodes", pod.number, "podsize")?;
        let leaves_per_pod = self.ratio(pod, "podsize", hosts_per_leaf.number, "radix_down")?;
        let spines_per_pod = self.ratio(up, "radix_up", bundles[1], "the bundle of tier 1")?;
        if layers == 2 && pods > 1 {
            return Err(self.error(pod.line, "with 2 tiers podsize must be nodes"));
        }
        self.same(down, "radix_down of tier 1", u64::from(leaves_per_pod) * u64::from(bundles[1]))?;
        let mut cores_per_spine = 0;
        if layers == 3 {
            let (up, down) = (self.need(1, "radix_up")?, self.need(2, "radix_down")?);
            cores_per_spine = self.ratio(up, "radix_up", bundles[2], "the bundle of tier 2")?;
            let ports = u64::from(pods) * u64::from(bundles[2]);
            self.same(down, "radix_down of tier 2", ports)?;
        }
        let mut found = Network {
            pods,
            leaves_per_pod,
            spines_per_pod,
            cores_per_spine,
            bundles,
            gbps: [0; 3],
            delays: [0; 3],
            latencies: [0, 1, 2].map(|tier| self.or(tier, "switch_latency_ns", 0)),
            hosts_per_leaf: hosts_per_leaf.number,
            queue: self.queue(layers)?,
        };
        for tier in 0..layers {
            found.gbps[tier] = self.need(tier, "downlink_speed_gbps")?.number;
            found.delays[tier] = self.need(tier, "downlink_latency_ns")?.number;
        }
        for tier in 0..layers - 1 {
            self.check_oversubscription(tier, &found)?;
        }
        Ok(found)
    }

    /// Refuses what has no effect in htsim or here.
    fn refuse_idle(&self, layers: usize) -> Result<(), String> {
        for (index, tier) in self.tiers.iter().enumerate() {
            let Some(tier) = tier else { continue };
            if index >= layers {
                let problem = format!("tier {index}, but tiers is {layers}: remove it");
                return Err(self.error(tier.line, problem));
            }
            let top = index == layers - 1;
            for key in ["radix_up", "queue_up", "oversubscribed"] {
                let value = tier.get(key).filter(|_| top);
                if let Some(value) =
                    value.filter(|value| (key, value.number) != ("oversubscribed", 1))
                {
                    let problem = format!("{key} of the top tier, which has no uplinks: remove it");
                    return Err(self.error(value.line, problem));
                }
            }
            if let Some(value) = tier.get("bundle") {
                let problem = match (index, value.number) {
                    (_, 0) => "bundle must be more than zero",
                    (0, 2..) => "a host has one link: bundle of tier 0 must be 1",
                    _ => continue,
                };
                return Err(self.error(value.line, problem));
            }
        }
        Ok(())
    }

    /// The quotient of two numbers, if it is whole.
    fn ratio(&self, of: Value, what: &str, by: u32, named: &str) -> Result<u32, String> {
        if by == 0 || !of.number.is_multiple_of(by) {
            let problem = format!("{what} {} is no multiple of {named} {by}", of.number);
            return Err(self.error(of.line, problem));
        }
        Ok(of.number / by)
    }

    fn same(&self, found: Value, what: &str, expected: u64) -> Result<(), String> {
        if u64::from(found.number) == expected {
            return Ok(());
        }
        let problem =
            format!("{what} is {}, but the other values make it {expected}", found.number);
        Err(self.error(found.line, problem))
    }

    /// The rates down and up of a tier's switches differ by its over-subscription.
    fn check_oversubscription(&self, tier: usize, network: &Network) -> Result<(), String> {
        let (down, up) = (self.need(tier, "radix_down")?, self.need(tier, "radix_up")?);
        let rate = |radix: Value, gbps: u32| u128::from(radix.number) * u128::from(gbps);
        let (down, up_rate) = (rate(down, network.gbps[tier]), rate(up, network.gbps[tier + 1]));
        let ratio = self.or(tier, "oversubscribed", 1);
        if down == up_rate * u128::from(ratio) {
            return Ok(());
        }
        let problem = format!(
            "switches of tier {tier} have {down} Gb/s down and {up_rate} Gb/s up, but \
             oversubscribed is {ratio}"
        );
        Err(self.error(up.line, problem))
    }

    /// The one size of all queues. htsim takes that of an option where the file has none, so it has
    /// to have all of them or none.
    fn queue(&self, layers: usize) -> Result<Option<u32>, String> {
        let sizes = |tier: usize| {
            let keys = ["queue_up", "queue_down"].into_iter().skip(usize::from(tier == layers - 1));
            keys.map(move |key| (tier, key, self.tiers[tier].and_then(|found| found.get(key))))
        };
        let all = || (0..layers).flat_map(sizes);
        let Some(first) = all().find_map(|(.., size)| size) else { return Ok(None) };
        for (tier, key, size) in all() {
            let Some(size) = size else {
                let line = self.tiers[tier].map_or(self.last, |tier| tier.line);
                let problem =
                    format!("tier {tier} has no {key}: give all sizes of queues, or none");
                return Err(self.error(line, problem));
            };
            let (number, other) = (first.number, size.number);
            if other == 0 {
                return Err(self.error(size.line, format!("{key} must be more than zero")));
            }
            if other != number {
                let problem = format!(
                    "queues of {number} and of {other} bytes: all queues have one size here \
                     (buffer.size)"
                );
                return Err(self.error(size.line, problem));
            }
        }
        Ok(Some(first.number))
    }
}
