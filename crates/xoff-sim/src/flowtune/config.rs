//! Settings of a network with a rate allocator.

use xoff_alloc::{Normalizer, OptimizerKind};
use xoff_control::{EndpointConfig, EndpointId, SessionsConfig, wire};
use xoff_core::knobs::{Effect, because};
use xoff_core::seam::{Need, need};
use xoff_core::{BitRate, Bytes, Ps, choices, knobs};
use xoff_host::flowtune::datagram::nanos;
use xoff_host::flowtune::{AgentConfig, ControlKind, Detection};
use xoff_host::hosts::SHORTER_HEADER;
use xoff_host::transport::TcpConfig;

choices! {
    /// Number of allocators.
    pub enum Allocators {
        /// One for the whole network, with a NIC at each switch of the top layer.
        One = "one",
        /// One per pod of a fat-tree, with a NIC at each of its aggregation switches: "running a
        /// seperate Flowtune allocator per pod, each controller treating incoming inter-pod traffic
        /// as external traffic" (§6). Each allocates the flowlets that begin in its pod, on the
        /// pod's own links. It reports their rates to their destination pod, which subtracts them
        /// from its capacities. For these flowlets rates are upper limits under
        /// `transport.congestion`.
        PerPod = "per-pod",
    }
}

choices! {
    /// Utility of a flowlet's rate.
    pub enum UtilityKind {
        /// log x: proportional fairness (§2).
        Log = "log",
        /// x^(1 - alpha) / (1 - alpha), with `alpha`.
        AlphaFair = "alpha-fair",
    }
}

choices! {
    /// An allocator's knowledge of paths (§6).
    pub enum PathsKind {
        /// Each flowlet's path, from the switches' ECMP hash.
        Known = "known",
        /// No knowledge: the network is one big switch, and only the servers' links are allocated.
        /// Rates are then upper limits; `transport.congestion` handles the core.
        BigSwitch = "big-switch",
    }
}

choices! {
    /// An allocator's knowledge of failed links (§6, "Handling network failure").
    pub enum FailuresKind {
        /// Links are known to have failed when switches route around them, and the new routes are
        /// known `path_discovery` later.
        Known = "known",
        /// No knowledge: re-routed flowlets are allocated on their old paths.
        Unknown = "unknown",
    }
}

knobs! {
    /// Flowtune: rates from an allocator (NSDI 2017; defaults from its simulations, §5.3, unless
    /// noted).
    pub struct FlowtuneConfig in "flowtune" {
        /// Rate of an allocator's link to each switch of the top layer. Larger networks need more
        /// (Fig. 11: 1.13 % of 2048 links of 10 Gb/s are 231 Gb/s).
        link_rate: BitRate = BitRate::from_gbps(40),
        /// The transport of messages between servers and allocators.
        control: ControlKind = ControlKind::Tcp,
        /// Number of allocators.
        allocators: Allocators = Allocators::One,
        /// Time between iterations.
        iteration: Ps = Ps::from_us(10),
        /// Time from the start of an iteration until its rates are sent. 0: at once, as in the
        /// paper's simulations. Its implementation takes 8.29 us for 384 servers and 30.71 us for
        /// 4608 (§8). The value must be at most `iteration`.
        compute_time: Ps = Ps(0),
        /// The rule that updates prices.
        optimizer: OptimizerKind = OptimizerKind::Ned,
        /// Step size of the optimizer ("γ in the range [0.2, 1.5]" performs similarly).
        gamma: f64 = 0.4,
        /// Iterations per measurement interval, with `optimizer = "newton-like"`.
        newton_interval: u32 = 10 => [Effect::Unless(|flowtune| because(
            flowtune.optimizer != OptimizerKind::NewtonLike,
            "flowtune.optimizer measures nothing",
        ))],
        /// Utility of a flowlet's rate.
        utility: UtilityKind = UtilityKind::Log,
        /// Exponent of `utility = "alpha-fair"`; 1 is "log".
        alpha: f64 = 2.0 => [Effect::Unless(|flowtune| because(
            flowtune.utility == UtilityKind::Log,
            "flowtune.utility = \"log\"",
        ))],
        /// Normalisation of rates that exceed link capacities.
        normalizer: Normalizer = Normalizer::Flow,
        /// Relative change at which a rate is reported again; links are allocated up to 1 -
        /// threshold of their capacity (§5.3.2).
        threshold: f64 = 0.01,
        /// The allocators' knowledge of paths.
        paths: PathsKind = PathsKind::Known,
        /// Maximum fraction of a link subtracted for flowlets from other pods, with `allocators =
        /// "per-pod"`.
        transit_share: f64 = 0.5 => [Effect::Unless(|flowtune| because(
            flowtune.allocators == Allocators::One,
            "flowtune.allocators = \"one\"",
        ))],
        /// The allocators' knowledge of failed links.
        failures: FailuresKind = FailuresKind::Known => [Effect::Unless(|flowtune| because(
            flowtune.paths == PathsKind::BigSwitch,
            "flowtune.paths = \"big-switch\"",
        ))],
        /// Time from the switches' re-routing until the allocators know the new paths. Until then
        /// the failed link has no capacity, so that flowlets over it wait.
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
        /// Fraction of each link's capacity reserved for flows without a rate ("a small fraction of
        /// link capacity", §6). The paper's simulations reserve only the threshold.
        reserve: f64 = 0.0,
        /// Subtract the acknowledgements of allocated flowlets from the capacities of the links on
        /// which they return, as external traffic (§6). Rates count bits on the wire, so headers
        /// are included in any case. Without this, acknowledgements would have to fit into
        /// `threshold`, although they take 5 % of a link that is full in both directions.
        reserve_acks: bool = true,
        /// Flows start under their own congestion control before they have a rate.
        start_before_allocation: bool = true,
        /// Window opened by a rate: the bytes sent at the rate in this many base RTTs. The flow's
        /// congestion control stays active below the rate, so that losses and marks close the
        /// window again until the next rate ("our implementation keeps those unchanged", §5.1).
        window_rtts: f64 = 2.0 => [Effect::Unless(|flowtune| because(
            flowtune.paths == PathsKind::BigSwitch,
            "flowtune.paths = \"big-switch\"",
        ))],
        /// Validity of a server's rates after the last message from the allocator ("every few tens
        /// of microseconds", §6). A server without a message for half of this time gets a renewal.
        /// When rates expire, `transport.congestion` takes over from the last rate.
        lifetime: Ps = Ps::from_us(100),
        /// Detection of the start and end of flowlets.
        detection: Detection = Detection::Send,
        /// Let a flow join an existing flowlet between the same two servers, with `detection =
        /// "send"`. Flows of one flowlet are served in sequence.
        coalesce: bool = false => [Effect::Unless(|flowtune| because(
            flowtune.detection == Detection::Idle,
            "flowtune.detection = \"idle\"",
        ))],
        /// Time without a backlog that ends a flowlet, with `detection = "idle"`. The paper gives
        /// no value.
        idle_threshold: Ps = Ps::from_us(50) => [Effect::Unless(|flowtune| because(
            flowtune.detection == Detection::Send,
            "flowtune.detection = \"send\"",
        ))],
        /// Time before its last byte leaves at which a flowlet is reported as ended (§6: sizes are
        /// known).
        advance_notice: Ps = Ps(0) => [Effect::Unless(|flowtune| because(
            flowtune.detection == Detection::Idle,
            "flowtune.detection = \"idle\"",
        ))],
        /// Minimum retransmission timeout of the control connections.
        min_rto: Ps = Ps::from_us(20) => [Effect::Unless(without_connections)],
        /// Maximum retransmission timeout of the control connections.
        max_rto: Ps = Ps::from_us(30) => [Effect::Unless(without_connections)],
        /// Fraction of control packets, including acknowledgements, that are lost deliberately.
        message_loss: f64 = 0.0,
        /// Time at which the allocators stop; 0: never. Their NICs keep acknowledging, but messages
        /// to them are lost.
        stop_at: Ps = Ps(0),
        /// Time at which the allocators restart; 0: never. They then have no flowlets and request a
        /// report of all.
        resume_at: Ps = Ps(0),
    }
}

fn without_connections(flowtune: &FlowtuneConfig) -> Option<String> {
    because(!flowtune.has_connections(), "flowtune.control = \"udp\"")
}

impl FlowtuneConfig {
    /// True if some messages are sent in TCP connections. Allocators of pods keep theirs.
    fn has_connections(&self) -> bool {
        self.control == ControlKind::Tcp || self.allocators == Allocators::PerPod
    }

    /// Settings of the servers' endpoints but their number, with datagrams. `payload`: of
    /// a full frame with a header of TCP.
    #[must_use]
    pub fn endpoint(&self, payload: Bytes) -> Option<EndpointConfig> {
        (self.control == ControlKind::Udp).then(|| EndpointConfig {
            flowlets: u16::MAX,
            datagram: longest_datagram(payload),
            ..EndpointConfig::with_iteration(EndpointId(0), nanos(self.iteration.0))
        })
    }

    /// Settings of an allocator's side of the datagrams.
    #[must_use]
    pub fn sessions(&self, payload: Bytes) -> SessionsConfig {
        SessionsConfig {
            lifetime: nanos(self.lifetime.0),
            flowlets: u16::MAX.into(),
            datagram: longest_datagram(payload),
            ..SessionsConfig::with_iteration(nanos(self.iteration.0))
        }
    }

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

    /// Settings of the servers' agents, for a domain of `domain_servers` servers.
    #[must_use]
    pub fn agent(&self, domain_servers: u32) -> AgentConfig {
        AgentConfig {
            domain_servers,
            start_before_allocation: self.start_before_allocation,
            window_rtts: if self.paths == PathsKind::Known { self.window_rtts } else { 0.0 },
            lifetime: match self.control {
                ControlKind::Tcp => self.lifetime.0,
                ControlKind::Udp => u64::MAX,
            },
            joins: self.joins(),
            linger: if self.detection == Detection::Idle { self.idle_threshold.0 } else { 0 },
            advance_notice: self.advance_notice.0,
            message_loss: self.message_loss,
        }
    }

    /// True if a flow joins its server's existing flowlet to the same destination.
    #[must_use]
    pub fn joins(&self) -> bool {
        self.coalesce || self.detection == Detection::Idle
    }

    /// TCP settings of the control connections: "a 20 µs minRTO and 30 µs maxRTO" (§5.3). The
    /// maximum timeout applies until the first measured round trip.
    #[must_use]
    pub fn stream(&self) -> TcpConfig {
        TcpConfig {
            min_rto: self.min_rto,
            max_rto: self.max_rto,
            initial_rto: self.max_rto,
            ..TcpConfig::default()
        }
    }

    /// True if the allocators are running at this time (ps).
    #[must_use]
    pub fn is_running(&self, now: u64) -> bool {
        let stopped = self.stop_at.0 > 0 && now >= self.stop_at.0;
        !stopped || self.resume_at.0 > 0 && now >= self.resume_at.0
    }

    /// Checks the settings against the network's longest base RTT.
    ///
    /// # Errors
    /// The invalid key and the message.
    pub fn check_times(&self, base_rtt: Ps) -> Result<(), (&'static str, String)> {
        if self.has_connections() && self.max_rto <= base_rtt {
            let message = format!(
                "max_rto = {} must be above the base RTT of {base_rtt}, or every message would be \
                 retransmitted",
                self.max_rto
            );
            return Err(("max_rto", message));
        }
        // A renewal is sent at an iteration after half of the lifetime, and takes half a round
        // trip.
        if self.lifetime.0 / 2 <= self.iteration.0 + base_rtt.0 / 2 {
            let message = format!(
                "lifetime: rates that are valid for {} expire before the allocator can renew them: \
                 iterations are {} apart, and the base RTT is {base_rtt}",
                self.lifetime, self.iteration
            );
            return Err(("lifetime", message));
        }
        Ok(())
    }

    /// Checks that links keep capacity for the flowlets of their own domain. `ack_share` is the
    /// fraction of a link that the acknowledgements of a full link take.
    ///
    /// # Errors
    /// The invalid key and the message.
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
                "{key}: reserve = {}{transit} and acknowledgements (reserve_acks), which take up \
                 to {acks:.3} of a link, leave no capacity for the flowlets of its own servers",
                self.reserve
            ),
        ))
    }

    /// Validates the settings.
    ///
    /// # Errors
    /// The invalid key and the message.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let problem = |key, message: String| Err((key, format!("{key}: {message}")));
        if self.link_rate.0 == 0 {
            return problem("link_rate", "it must be above 0".into());
        }
        if self.iteration.0 == 0 {
            return problem("iteration", "it must be above 0".into());
        }
        if self.compute_time > self.iteration {
            let message = format!(
                "an iteration begins every {}, so its compute time must not be {}",
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
                return problem(key, "it must be at least 0 and below 1".into());
            }
        }
        if self.message_loss >= 1.0 {
            return problem("message_loss", "it must be below 1: some packets must arrive".into());
        }
        if self.control == ControlKind::Udp {
            self.check_datagrams()?;
        }
        if self.gamma == 0.0 {
            return problem(
                "gamma",
                "it must be above 0: a step of zero never changes a price".into(),
            );
        }
        if self.alpha == 0.0 {
            return problem("alpha", "it must be above 0: 0 maximises throughput alone".into());
        }
        if self.window_rtts < 1.0 {
            return problem(
                "window_rtts",
                "it must be at least 1: a smaller window limits rates".into(),
            );
        }
        if self.newton_interval == 0 {
            return problem("newton_interval", "it must be at least 1".into());
        }
        if self.min_rto.0 == 0 || self.max_rto < self.min_rto {
            return problem("max_rto", "it must be at least min_rto, and min_rto above 0".into());
        }
        if self.detection == Detection::Idle && self.idle_threshold.0 == 0 {
            return problem("idle_threshold", "it must be above 0".into());
        }
        if self.resume_at.0 > 0 && (self.stop_at.0 == 0 || self.resume_at <= self.stop_at) {
            return problem("resume_at", "it must be after stop_at".into());
        }
        Ok(())
    }

    fn check_datagrams(&self) -> Result<(), (&'static str, String)> {
        if !self.start_before_allocation {
            let message = "start_before_allocation: control = \"udp\" lets flows start at once, as \
                           its endpoints do: a flow whose report is lost would wait";
            return Err(("start_before_allocation", message.into()));
        }
        if !self.lifetime.0.is_multiple_of(MICROSECOND) {
            let message = format!(
                "lifetime: datagrams carry it in microseconds (control = \"udp\"), so it must be a \
                 whole number of them, not {}",
                self.lifetime
            );
            return Err(("lifetime", message));
        }
        if self.iteration.0 < MICROSECOND {
            let message = format!(
                "iteration: the times of control = \"udp\" follow from it and must be at least \
                 100 ns, so it must be at least 1us, not {}",
                self.iteration
            );
            return Err(("iteration", message));
        }
        Ok(())
    }

    /// Checks that frames of this payload can hold a datagram, if messages are in datagrams.
    ///
    /// # Errors
    /// The message.
    pub fn check_payload(&self, payload: Bytes) -> Result<(), String> {
        // A report of one flowlet, or one rate.
        let least = (wire::LEAST_DATAGRAM + 16) as u64;
        if self.control == ControlKind::Tcp || payload.0 + u64::from(SHORTER_HEADER) >= least {
            return Ok(());
        }
        Err(format!(
            "payload: {payload} cannot hold a datagram with one flowlet, which has {least} bytes \
             and a header of UDP (flowtune.control = \"udp\"); at least {} can",
            Bytes(least - u64::from(SHORTER_HEADER))
        ))
    }
}

/// Picoseconds in a microsecond.
const MICROSECOND: u64 = 1_000_000;

/// Bytes of the longest datagram in a frame whose payload is this with a header of TCP.
fn longest_datagram(payload: Bytes) -> usize {
    wire::DATAGRAM.min(payload.0 as usize + usize::from(SHORTER_HEADER))
}
