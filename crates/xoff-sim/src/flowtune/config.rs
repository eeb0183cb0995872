//! Settings of a network run by an allocator.

use xoff_alloc::{Normalizer, OptimizerKind};
use xoff_core::knobs::{Effect, because};
use xoff_core::seam::{Need, need};
use xoff_core::{BitRate, Ps, choices, knobs};
use xoff_host::flowtune::{AgentConfig, Detection};
use xoff_host::transport::TcpConfig;

choices! {
    /// How many allocators there are.
    pub enum Allocators {
        /// One for the whole network, with a NIC at each switch of the top layer.
        One = "one",
        /// One for each pod of a fat-tree, with a NIC at each of its aggregation switches: "running a
        /// seperate Flowtune allocator per pod, each controller treating incoming inter-pod traffic as
        /// external traffic" (§6). Each allocates the flowlets that begin in its pod, on the pod's own
        /// links, and tells the pod they go to how much of them comes, which is taken off the capacities
        /// there. For such flowlets rates are upper limits under `transport.congestion`.
        PerPod = "per-pod",
    }
}

choices! {
    /// What flowlets' rates are worth.
    pub enum UtilityKind {
        /// log x: proportional fairness (§2).
        Log = "log",
        /// x^(1 - alpha) / (1 - alpha), with `alpha`.
        AlphaFair = "alpha-fair",
    }
}

choices! {
    /// What an allocator knows of paths (§6).
    pub enum PathsKind {
        /// Each flowlet's path, by the hash that switches choose ports with.
        Known = "known",
        /// Nothing: the network is one big switch, of which only the servers' links are allocated. Rates
        /// are upper limits then, under which `transport.congestion` sees to the core.
        BigSwitch = "big-switch",
    }
}

choices! {
    /// Whether allocators hear of links that fail (§6, "Handling network failure").
    pub enum FailuresKind {
        /// When switches route around them, and of the new routes `path_discovery` later.
        Known = "known",
        /// Never: flowlets that were re-routed are allocated on their old paths.
        Unknown = "unknown",
    }
}

knobs! {
    /// Flowtune: rates from an allocator (NSDI 2017; its simulations, §5.3, where not said otherwise).
    pub struct FlowtuneConfig in "flowtune" {
        /// Rate of an allocator's link to each switch of the top layer. Larger networks need more
        /// (Fig. 11: 1.13 % of 2048 links of 10 Gb/s are 231 Gb/s).
        link_rate: BitRate = BitRate::from_gbps(40),
        /// How many allocators there are.
        allocators: Allocators = Allocators::One,
        /// Time from one iteration to the next.
        iteration: Ps = Ps::from_us(10),
        /// Time from the beginning of an iteration until its rates are sent. 0: at once, as in the
        /// paper's simulations. Its implementation takes 8.29 us for 384 servers and 30.71 us for 4608
        /// (§8); one that takes longer than `iteration` cannot keep up.
        compute_time: Ps = Ps(0),
        /// How prices are adjusted.
        optimizer: OptimizerKind = OptimizerKind::Ned,
        /// Step of the optimizer ("γ in the range [0.2, 1.5]" performs similarly).
        gamma: f64 = 0.4,
        /// With `optimizer = "newton-like"`: iterations over which reactions are averaged.
        newton_interval: u32 = 10 => [Effect::Unless(|flowtune| because(
            flowtune.optimizer != OptimizerKind::NewtonLike,
            "flowtune.optimizer measures nothing",
        ))],
        /// What rates are worth.
        utility: UtilityKind = UtilityKind::Log,
        /// The exponent of `utility = "alpha-fair"`; 1 is "log".
        alpha: f64 = 2.0 => [Effect::Unless(|flowtune| because(
            flowtune.utility == UtilityKind::Log,
            "flowtune.utility = \"log\"",
        ))],
        /// How rates are scaled to capacities.
        normalizer: Normalizer = Normalizer::Flow,
        /// Servers are told of a rate that has changed by more than this share of the one told last,
        /// and links are allocated up to 1 - threshold of their capacity (§5.3.2).
        threshold: f64 = 0.01,
        /// What allocators know of paths.
        paths: PathsKind = PathsKind::Known,
        /// With `allocators = "per-pod"`: at most this share of a link is taken off for flowlets from
        /// other pods.
        transit_share: f64 = 0.5 => [Effect::Unless(|flowtune| because(
            flowtune.allocators == Allocators::One,
            "flowtune.allocators = \"one\"",
        ))],
        /// Whether allocators hear of links that fail.
        failures: FailuresKind = FailuresKind::Known => [Effect::Unless(|flowtune| because(
            flowtune.paths == PathsKind::BigSwitch,
            "flowtune.paths = \"big-switch\"",
        ))],
        /// How long after switches route around a link allocators know the new paths. Until then the
        /// link has no capacity, so that flowlets over it wait.
        path_discovery: Ps = Ps(0) => [
            Effect::Unless(|flowtune| because(
                flowtune.paths == PathsKind::BigSwitch,
                "flowtune.paths = \"big-switch\"",
            )),
            Effect::Unless(|flowtune| because(
                flowtune.failures == FailuresKind::Unknown,
                "flowtune.failures = \"unknown\"",
            )),
        ],
        /// Share of each link's capacity that is kept free for flows that have no rate yet ("a small
        /// fraction of link capacity", §6). The paper's simulations keep only the threshold.
        reserve: f64 = 0.0,
        /// Whether the acknowledgements that allocated flowlets cause are taken off the capacities of
        /// the links they return on, as external traffic (§6). Rates are of bits on the wire, so
        /// headers are counted in any case; acknowledgements would otherwise have to find room in
        /// `threshold`, and take 5 % of a link that is full in both directions.
        reserve_acks: bool = true,
        /// Whether flows start under their own congestion control before they have a rate.
        start_before_allocation: bool = true,
        /// How far a rate opens a flow's window: to what it sends in so many base RTTs. Under the rate
        /// the flow's congestion control goes on, so that losses and marks close the window again until
        /// the next rate ("our implementation keeps those unchanged", §5.1).
        window_rtts: f64 = 2.0 => [Effect::Unless(|flowtune| because(
            flowtune.paths == PathsKind::BigSwitch,
            "flowtune.paths = \"big-switch\"",
        ))],
        /// How long a server's rates hold after the last message from the allocator ("every few tens
        /// of microseconds", §6); servers that have heard nothing for half of it are told that they
        /// still hold. Then `transport.congestion` takes over from the last rate.
        lifetime: Ps = Ps::from_us(100),
        /// How servers tell where flowlets begin and end.
        detection: Detection = Detection::Send,
        /// With `detection = "send"`: whether a flow between two servers that have a flowlet joins it.
        /// Flows of one flowlet are served one after the other.
        coalesce: bool = false => [Effect::Unless(|flowtune| because(
            flowtune.detection == Detection::Idle,
            "flowtune.detection = \"idle\"",
        ))],
        /// With `detection = "idle"`: for how long nothing is backlogged when a flowlet ends. The
        /// paper names no value.
        idle_threshold: Ps = Ps::from_us(50) => [Effect::Unless(|flowtune| because(
            flowtune.detection == Detection::Send,
            "flowtune.detection = \"send\"",
        ))],
        /// How long before its last byte leaves a flowlet is reported as ended (§6: sizes are known).
        advance_notice: Ps = Ps(0) => [Effect::Unless(|flowtune| because(
            flowtune.detection == Detection::Idle,
            "flowtune.detection = \"idle\"",
        ))],
        /// Shortest timeout of the control connections.
        min_rto: Ps = Ps::from_us(20),
        /// Their longest.
        max_rto: Ps = Ps::from_us(30),
        /// Share of packets of the control connections, acknowledgements among them, that are lost on
        /// purpose.
        message_loss: f64 = 0.0,
        /// When the allocators stop; 0: never. Their NICs go on acknowledging, but what they are told is
        /// lost.
        stop_at: Ps = Ps(0),
        /// When they begin anew; 0: never. They know no flowlets then and ask to be told of all there
        /// are.
        resume_at: Ps = Ps(0),
    }
}

impl FlowtuneConfig {
    /// Values that an allocator needs other settings to have.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        let mut needs = vec![
            need(("transport", "kind"), &["sender"], "it sets the rates of senders"),
            need(("transport", "flow_control"), &["none"], "it would hold flows that have a rate"),
            need(("transport", "round_robin"), &["ready"], "no other order is modelled with rates"),
            need(
                ("transport", "recovery"),
                &["sack"],
                "its control connections and the flows without a rate are TCP's",
            ),
            need(("transport", "pacing"), &["true"], "nothing else obeys a rate"),
            need(
                ("transport", "ack_class"),
                &["data"],
                "its messages share the queues of the data",
            ),
            need(("switch", "hop"), &["none"], "pauses would hold back allocated traffic"),
            need(("switch", "scheduler"), &["fifo"], "any other allocates rates of its own"),
        ];
        if self.paths == PathsKind::Known {
            let reason = "a window would bound those that rates open (flowtune.window_rtts)";
            needs.push(need(("transport", "window"), &["unlimited"], reason));
        }
        needs
    }

    /// What the servers' agents need, where a domain has so many servers.
    #[must_use]
    pub fn agent(&self, domain_servers: u32) -> AgentConfig {
        AgentConfig {
            domain_servers,
            start_before_allocation: self.start_before_allocation,
            window_rtts: if self.paths == PathsKind::Known { self.window_rtts } else { 0.0 },
            lifetime: self.lifetime.0,
            joins: self.joins(),
            linger: if self.detection == Detection::Idle { self.idle_threshold.0 } else { 0 },
            advance_notice: self.advance_notice.0,
            message_loss: self.message_loss,
        }
    }

    /// Whether a flow joins the flowlet that its server has to the same destination.
    #[must_use]
    pub fn joins(&self) -> bool {
        self.coalesce || self.detection == Detection::Idle
    }

    /// TCP of the control connections: "a 20 µs minRTO and 30 µs maxRTO" (§5.3). Before a round trip has
    /// been measured the longest timeout holds.
    #[must_use]
    pub fn stream(&self) -> TcpConfig {
        TcpConfig {
            min_rto: self.min_rto,
            max_rto: self.max_rto,
            initial_rto: self.max_rto,
            ..TcpConfig::default()
        }
    }

    /// Whether the allocators are at work at this time (ps).
    #[must_use]
    pub fn is_running(&self, now: u64) -> bool {
        let stopped = self.stop_at.0 > 0 && now >= self.stop_at.0;
        !stopped || self.resume_at.0 > 0 && now >= self.resume_at.0
    }

    /// Checks the settings against the network's longest base RTT.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn check_times(&self, base_rtt: Ps) -> Result<(), (&'static str, String)> {
        if self.max_rto <= base_rtt {
            let message = format!(
                "max_rto: the base RTT is {base_rtt}, so every message would be sent again after {}",
                self.max_rto
            );
            return Err(("max_rto", message));
        }
        // A renewal is written at an iteration after half of it, and half a round trip away.
        if self.lifetime.0 / 2 <= self.iteration.0 + base_rtt.0 / 2 {
            let message = format!(
                "lifetime: rates that hold for {} expire before the allocator can renew them: iterations \
                 are {} apart, and the base RTT is {base_rtt}",
                self.lifetime, self.iteration
            );
            return Err(("lifetime", message));
        }
        Ok(())
    }

    /// Checks that links keep some capacity for the flowlets of their own domain, where the
    /// acknowledgements for what fills one link take this share of another.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn check_shares(&self, ack_share: f64) -> Result<(), (&'static str, String)> {
        let acks = if self.reserve_acks { ack_share } else { 0.0 };
        let pods = self.allocators == Allocators::PerPod;
        let transit = if pods { self.transit_share } else { 0.0 };
        if (1.0 - self.reserve) * (1.0 - transit) > acks {
            return Ok(());
        }
        let key = if pods { "transit_share" } else { "reserve" };
        let transit = if pods { format!(", transit_share = {transit}") } else { String::new() };
        Err((
            key,
            format!(
                "{key}: reserve = {}{transit} and acknowledgements (reserve_acks), which take up to \
                 {acks:.3} of a link, leave nothing of it for the flowlets of its own servers",
                self.reserve
            ),
        ))
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let problem = |key, message: String| Err((key, format!("{key}: {message}")));
        if self.link_rate.0 == 0 {
            return problem("link_rate", "the allocator's links need a rate".into());
        }
        if self.iteration.0 == 0 {
            return problem("iteration", "it must be more than zero".into());
        }
        if self.compute_time > self.iteration {
            let message = format!(
                "an iteration begins every {}, so it must not take {}",
                self.iteration, self.compute_time
            );
            return problem("compute_time", message);
        }
        for (key, share) in [
            ("threshold", self.threshold),
            ("reserve", self.reserve),
            ("transit_share", self.transit_share),
        ] {
            if share >= 1.0 {
                return problem(key, "it is a share of the capacity: 0 to less than 1".into());
            }
        }
        if self.message_loss >= 1.0 {
            return problem(
                "message_loss",
                "it is a share of the packets, and some must pass".into(),
            );
        }
        if self.gamma == 0.0 {
            return problem("gamma", "a step of zero never changes a price".into());
        }
        if self.alpha == 0.0 {
            return problem(
                "alpha",
                "it must be more than zero: 0 maximises throughput alone".into(),
            );
        }
        if self.window_rtts < 1.0 {
            return problem(
                "window_rtts",
                "a window of less than a round trip holds rates back".into(),
            );
        }
        if self.newton_interval == 0 {
            return problem("newton_interval", "it is a number of iterations, at least 1".into());
        }
        if self.min_rto.0 == 0 || self.max_rto < self.min_rto {
            return problem(
                "max_rto",
                "it must not be shorter than min_rto, which is not 0".into(),
            );
        }
        if self.detection == Detection::Idle && self.idle_threshold.0 == 0 {
            return problem("idle_threshold", "it must be more than zero".into());
        }
        if self.resume_at.0 > 0 && (self.stop_at.0 == 0 || self.resume_at <= self.stop_at) {
            return problem("resume_at", "it must come after stop_at".into());
        }
        Ok(())
    }
}
