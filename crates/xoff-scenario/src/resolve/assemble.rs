//! From the spec of a scenario to its network, hosts and switches.

use std::sync::Arc;

use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam;
use xoff_core::{Bytes, HostId, Ps};
use xoff_host::receiver_driven::{Context as DriverContext, FlowSizes};
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::credit::CreditShape;
use xoff_net::fabric::{Instants, Rounding};
use xoff_net::hop::HopContext;
use xoff_net::topo::{Routes, Topology, TopologyConfig};
use xoff_sim::faults::Fault;
use xoff_sim::flowtune::FlowtuneSetup;
use xoff_sim::setup::{Labels, Setup};
use xoff_workload::Mix;

use super::build::{self, NetworkRtts};
use super::rules::{self, Context};
use super::spec::Spec;
use super::{Resolved, Resolver};
use crate::nearest::suggestion;
use crate::presets;
use crate::scalars::EngineKind;
use crate::sections::{InstantsKind, NetworkConfig, RoundingKind};
use crate::traffic::{self, Basis, Flows, Span};

/// The network of a scenario, with the allocators' hosts.
struct Network {
    topology: Topology,
    routes: Routes,
    flowtune: Option<FlowtuneSetup>,
    /// Of the longest path.
    base_rtt: Ps,
}

/// The sizes of a workload's flows over the length of a run.
struct SizesOf<'a> {
    mix: &'a Mix,
    run: Ps,
}

impl FlowSizes for SizesOf<'_> {
    fn share_of_first(&self, bytes: u64) -> f64 {
        self.mix.share_of_first(bytes, self.run)
    }

    fn even_cutoffs(&self, groups: u8, bytes: u64) -> Vec<u64> {
        self.mix.even_cutoffs(groups, bytes, self.run)
    }
}

impl Resolver<'_> {
    /// Reads all sections, so that all problems are found; `None` if a problem leaves nothing to
    /// run.
    pub(super) fn packets(mut self) -> Option<Resolved> {
        let (name, seed, scheme) = self.top()?;
        let network = xoff_core::seam::Sections::read::<NetworkConfig>(&mut self);
        let mut shape = TopologyConfig::choose("network.topology", network.topology, &mut self);
        let topology = self.topology(&mut shape);
        let spec = Spec::read(&mut self.reader);
        self.reader.check_effects(&spec.capabilities(&shape));
        rules::check(&spec, &mut self.reader);
        let plan = self.plan(&spec.run);
        let network_of = self.weighted(&spec, topology?)?;
        let (topology, routes, flowtune) = self.attach_allocators(&spec, network_of)?;
        let span = plan.as_ref().map(Span::of);
        let flows = self.flows(&spec, (&topology, &routes), seed, span)?;
        let monitored = self.monitored(&spec.run, topology.servers())?;
        let captured = self.captured(&spec.run, &topology)?;
        let faults = self.link_faults(&topology, &spec);
        rules::check_departure(&spec, &faults, &mut self.reader);
        rules::check_instants(&spec, network.instants, &faults, &mut self.reader);
        // Times of a frame that was refused may be out of range.
        spec.frame.check().ok()?;
        let base_rtt = self.base_rtt(&spec.transport, &topology, &routes, &spec.frame);
        let network_of = Network { topology, routes, flowtune, base_rtt };
        self.check_network(&spec, &shape, &network_of, &flows, &faults);
        let elide = spec.switch.elide;
        let mut setup = self.setup(spec, &network, network_of, &flows, faults, seed);
        let mut plan = plan?;
        if flows.triggers.is_some() {
            plan.partitions = 1;
        }
        self.fits(&setup, &plan, &monitored, &captured)?;
        self.elide(elide, &mut setup);
        Some(Resolved {
            name,
            scheme,
            setup,
            plan,
            traffic: flows.traffic,
            classes: flows.classes,
            class_of: flows.class_of,
            nominal_load: flows.nominal_load,
            load_capacity: flows.load_capacity,
            fills: flows.fills,
            monitored,
            captured,
            outputs: None,
            effective: self.reader.effective.text(),
        })
    }

    fn check_network(
        &mut self,
        spec: &Spec,
        shape: &TopologyConfig,
        network: &Network,
        flows: &Flows,
        faults: &[Fault],
    ) {
        let context = Context {
            shape,
            topology: &network.topology,
            base_rtt: network.base_rtt,
            flows,
            faults,
            flowtune: network.flowtune.as_ref(),
        };
        rules::check_network(spec, &context, &mut self.reader);
    }

    /// Name, seed and scheme.
    fn top(&mut self) -> Option<(String, u64, String)> {
        let name = self.reader.layers.scalar::<String>("name").ok()?.unwrap_or_default();
        let _ = self.reader.layers.scalar::<EngineKind>("engine");
        let seed = self.reader.layers.scalar::<u64>("seed").ok()?.unwrap_or(1);
        let scheme = self.scheme()?;
        self.reader.effective.top(&[
            ("name", &name.show()),
            ("seed", &seed.show()),
            ("scheme", &scheme.show()),
        ]);
        Some((name, seed, scheme))
    }

    fn scheme(&mut self) -> Option<String> {
        let names = presets::names();
        let Some(scheme) = self.reader.layers.scalar::<String>("scheme").ok()? else {
            let help = format!("write scheme = \"bfc\"; the schemes are {}", names.join(", "));
            self.reader.layers.problem(None, "the scenario names no scheme", Some(help));
            return None;
        };
        if presets::find(&scheme).is_none() {
            let place = self.reader.layers.has("", "scheme");
            let help = suggestion(&scheme, &names);
            self.reader.layers.problem(place, format!("unknown scheme \"{scheme}\""), help);
            return None;
        }
        Some(scheme)
    }

    fn flows(
        &mut self,
        spec: &Spec,
        (topology, routes): (&Topology, &Routes),
        seed: u64,
        span: Option<Span>,
    ) -> Option<Flows> {
        let one_class = spec.one_class();
        let capacity = crate::capacity::capacity(topology);
        let one_class = one_class.as_deref();
        let partial = topology.is_partial.then_some(routes);
        let basis = Basis { capacity: &capacity, seed, span, one_class, partial };
        let Self { reader, folder, needs, .. } = self;
        traffic::read(reader.layers, folder, basis, needs, &mut reader.effective)
    }

    /// Network, switches and hosts, with all derived settings.
    fn setup(
        &mut self,
        mut spec: Spec,
        config: &NetworkConfig,
        network: Network,
        flows: &Flows,
        faults: Vec<Fault>,
        seed: u64,
    ) -> Setup {
        let Network { topology, routes, flowtune, base_rtt } = network;
        let base_rtts = self.base_rtts(&spec.transport, &topology, &routes, &spec.frame);
        self.reader.effective.derive_network(&topology, base_rtt);
        let product = topology.port_of_host(HostId(0)).rate.bytes_in(base_rtt);
        let buffer = self.buffer(&spec, product);
        self.derive(&mut spec, &topology, &buffer, base_rtt, product, flows);
        let credits = self.credits(&spec);
        rules::timeouts_exceed_rtt(&spec, base_rtt, &mut self.reader);
        let rtts = NetworkRtts { longest: base_rtt, pairs: base_rtts };
        let hosts = build::hosts(&spec, flowtune.as_ref(), &flows.labelled, rtts, seed);
        rules::check_architecture(&spec, &topology, &hosts, &mut self.reader);
        Setup {
            switch: build::switches(spec, buffer, credits),
            hosts,
            topology: Arc::new(topology),
            routes: Arc::new(routes),
            rounding: match config.rounding {
                RoundingKind::Picosecond => Rounding::PicosecondUp,
                RoundingKind::Nanosecond => Rounding::NanosecondDown,
            },
            instants: match config.instants {
                InstantsKind::Phases => Instants::Phases,
                InstantsKind::AsSet => Instants::AsSet,
            },
            labels: labels(flowtune.as_ref()),
            flowtune,
            seed,
            faults,
            receive_errors: Vec::new(),
        }
    }

    /// Fills in the settings that depend on the network and the traffic.
    fn derive(
        &mut self,
        spec: &mut Spec,
        topology: &Topology,
        buffer: &BufferConfig,
        base_rtt: Ps,
        product: Bytes,
        flows: &Flows,
    ) {
        let reader = &mut self.reader;
        let context = hop_context(topology, buffer, base_rtt);
        let section = spec.hop.own_section();
        match spec.hop.derive(&context) {
            Ok(derived) => {
                derived.iter().for_each(|(name, value)| reader.effective.derive(name, value))
            }
            Err((key, message)) => reader.problem(section, key, message),
        }
        for (name, value) in spec.control.derive(base_rtt) {
            reader.effective.derive(name, value);
        }
        let section = spec.scheduler.own_section();
        match spec.scheduler.derive(base_rtt) {
            Ok(derived) => {
                derived.iter().for_each(|(name, value)| reader.effective.derive(name, value))
            }
            Err((key, message)) => reader.problem(section, key, message),
        }
        spec.overflow.derive(product, spec.frame.ack.0);
        let run = spec.run.warmup + spec.run.measure;
        let sizes = SizesOf { mix: &flows.sizes, run };
        let context =
            DriverContext { bandwidth_delay_product: product, frame: &spec.frame, sizes: &sizes };
        let section = spec.driver.own_section();
        match spec.driver.derive(&context) {
            Ok(derived) => {
                derived.iter().for_each(|(name, value)| reader.effective.derive(name, value))
            }
            Err(problems) => problems
                .into_iter()
                .for_each(|(key, message)| reader.problem(section, key, message)),
        }
    }

    /// The memory of switches. A scheduler may derive the memory of a port.
    fn buffer(&mut self, spec: &Spec, product: Bytes) -> BufferConfig {
        let Some(mut buffer) = spec.buffer.clone() else {
            return BufferConfig { kind: BufferKind::Unlimited, ..BufferConfig::default() };
        };
        if spec.hop.limits_ingress() && buffer.by_class.is_empty() {
            buffer.alpha = 0.0;
        }
        if let Some((name, size)) =
            spec.scheduler.port_memory(product).filter(|_| buffer.size.0 == 0)
        {
            buffer.size = size;
            self.reader.effective.derive(name, size);
            let full = spec.frame.full_packet();
            if size.0 < full {
                let message = format!("the derived size = {size} must hold a packet of {full}B");
                self.reader.problem("buffer", "size", message);
            }
        }
        buffer
    }

    /// The shaping of receivers' credits at ports, if receivers send credits.
    fn credits(&mut self, spec: &Spec) -> Option<CreditShape> {
        let shape = spec.driver.credits(spec.frame.full_packet())?;
        let share = shape.credit_bytes as f64 / shape.bytes_per_credit() as f64;
        self.reader.effective.derive("credit_share", share);
        Some(shape)
    }

    /// The network with the routes of its load balancer.
    fn weighted(
        &mut self,
        spec: &Spec,
        (mut topology, routes): (Topology, Routes),
    ) -> Option<(Topology, Routes)> {
        topology.weighted = spec.balance.weighted();
        if topology.weighted.is_none() {
            return Some((topology, routes));
        }
        let weighted = Routes::new(&topology);
        let routes =
            weighted.map_err(|message| self.reader.problem("network", "topology", message)).ok()?;
        Some((topology, routes))
    }

    /// Adds the allocator's NICs to the network.
    fn attach_allocators(
        &mut self,
        spec: &Spec,
        network: (Topology, Routes),
    ) -> Option<(Topology, Routes, Option<FlowtuneSetup>)> {
        let Some(config) = spec.allocator.clone() else {
            return Some((network.0, network.1, None));
        };
        config.check().ok()?;
        let attached = FlowtuneSetup::attach(config, &network.0)
            .and_then(|(topology, setup)| Ok((Routes::new(&topology)?, topology, setup)));
        match attached {
            Ok((routes, topology, setup)) => {
                self.reader.effective.derive("allocator_nics", topology.attached);
                Some((topology, routes, Some(setup)))
            }
            Err(message) => {
                let mut nodes = network.0.node_ids();
                let gateways = nodes.any(|node| network.0.is_gateway(node));
                let (section, key) =
                    if gateways { ("network", "topology") } else { ("flowtune", "allocators") };
                self.reader.problem(section, key, message);
                None
            }
        }
    }
}

fn hop_context(topology: &Topology, buffer: &BufferConfig, base_rtt: Ps) -> HopContext {
    let hosts = topology.host_ids().map(|host| topology.port_of_host(host).rate);
    let longest = |of_gateways: bool| {
        let ports = topology.ports().iter();
        let ports = ports.filter(|port| topology.is_gateway(port.node) == of_gateways);
        ports.map(|port| port.delay).max()
    };
    HopContext {
        base_rtt,
        bandwidth_delay_product: hosts.max().map_or(Bytes(0), |rate| rate.bytes_in(base_rtt)),
        slowest: rules::slowest(topology),
        host_rate: topology.port_of_host(HostId(0)).rate,
        queue_limit: buffer.queue_limit(),
        longest_delays: (longest(false).unwrap_or(Ps(0)), longest(true)),
    }
}

/// Flows that join a flowlet use its connection.
fn labels(flowtune: Option<&FlowtuneSetup>) -> Labels {
    if flowtune.is_some_and(|flowtune| flowtune.config.joins()) {
        Labels::Connections
    } else {
        Labels::Hashed
    }
}
