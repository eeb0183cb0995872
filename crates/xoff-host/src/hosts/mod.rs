//! All hosts of a partition: the life of flows, and the packets they send and receive.
//!
//! Indices are plain integers: `nic` is the index of a host in this partition, `sender` that of a
//! flow's sender here, and `id` that of a packet in the fabric's pool.

mod audit;
mod chains;
mod deadlines;
mod feedback;
mod flows;
mod flowtune;
mod intake;
mod links;
mod losses;
mod map_order;
mod paths;
mod pauses;
mod posted;
mod programs;
mod receive;
mod receiver_driven;
mod send;
mod share_out;
mod shortest;
mod tcp;

use std::sync::Arc;

use xoff_core::prefetch::prefetch;
use xoff_core::{FlowId, HostId, PortId, Rng, rng::Purpose};
use xoff_net::packet::NONE;
use xoff_net::pint::WholeDraws;
use xoff_net::{Fabric, phase};

use self::deadlines::Deadlines;
use self::flowtune::FlowtuneHosts;
use self::losses::RtoPolicy;
use crate::cc::hpcc_pint::Sampling;
use crate::cc::{AnyControl, Carries, ControlConfig};
use crate::flow::{Finished, Sender};
use crate::frame::FrameConfig;
use crate::intake::{Intake, NicConfig};
use crate::nic::{Nic, NicQueues, NicTimers, Posted, RoundRobin, ShortestFirst};
use crate::onramp::{OnRamp, OnRampConfig};
use crate::receiver::Receivers;
use crate::receiver_driven::{Action, AnyDriven, Driven, DrivenHost, DrivenSetup, DriverConfig};
use crate::recovery::{Chunks, ReceiverSetup, RecoveryConfig, RxProgress};
use crate::tcp::{SackBytes, TcpConfig};
use crate::transport::TransportConfig;

pub use self::chains::{Arrived, Chains, TriggerId};
pub use self::flowtune::{FlowtuneHostSetup, SHORTER_HEADER, StreamSpec};
pub use self::paths::{BaseRtts, GivenPath, GivenPaths};
pub use self::programs::{HostedJob, LabelRule, Programs, RoundEnd};
pub use crate::stats::{HostStats, SignalStats};

/// Settings of all hosts.
#[derive(Clone, Debug)]
pub struct HostSetup {
    /// Frame sizes.
    pub frame: FrameConfig,
    /// Transport of every flow.
    pub transport: TransportConfig,
    /// Congestion control of every flow.
    pub control: ControlConfig,
    /// Recovery from losses.
    pub recovery: RecoveryConfig,
    /// TCP's settings, used only with selective acknowledgements.
    pub tcp: TcpConfig,
    /// The end of a flow that decides what is sent, with derived settings.
    pub driver: DriverConfig,
    /// Flow control by one-way delay, if any.
    pub onramp: Option<OnRampConfig>,
    /// The servers' use of an allocator's rates, if there is an allocator.
    pub flowtune: Option<FlowtuneHostSetup>,
    /// Assignment of flows to a NIC's queues.
    pub queues: NicQueues,
    /// For each traffic source, whether senders label its flows as incast.
    pub labelled: Vec<bool>,
    /// NICs obey pauses.
    pub obey_pauses: bool,
    /// Delay between a pause frame's arrival and its effect (ps).
    pub pause_response: u64,
    /// The hosts' receive rate and their NICs' pauses.
    pub nic: NicConfig,
    /// Acknowledgements wait behind a pause of their class.
    pub acks_obey_pauses: bool,
    /// Follow the HPCC simulator to the letter where packets are lost or overtaken: in go-back-N,
    /// and in the narrow fields of HPCC's INT.
    pub literal: bool,
    /// Base RTT of the network (ps).
    pub base_rtt: u64,
    /// Base RTTs of pairs of hosts, if flows use their own.
    pub base_rtts: Option<Arc<BaseRtts>>,
    /// Base RTT and window of each pair of hosts that has flows, if they are given.
    pub given_paths: Option<Arc<GivenPaths>>,
    /// Seed of the run.
    pub seed: u64,
}

impl HostSetup {
    /// Size of a data packet without its payload.
    #[must_use]
    pub fn overhead(&self) -> u16 {
        (self.frame.header.0 + self.control.header_bytes().unwrap_or(0)) as u16
    }

    /// Size of the longest packet in bytes.
    #[must_use]
    pub fn longest_packet(&self) -> u64 {
        let data = self.frame.payload.0 + u64::from(self.overhead());
        data.max(u64::from(self.ack_bytes()))
    }

    /// Settings of a receiver-driven transport.
    fn for_driven(&self) -> DrivenSetup {
        DrivenSetup {
            payload: self.frame.payload.0,
            overhead: self.overhead(),
            control_bytes: self.ack_bytes(),
            base_rtt: self.base_rtt,
            timeout: self.transport.timeout.0,
            seed: self.seed,
        }
    }

    /// Size of an acknowledgement in bytes.
    #[must_use]
    pub fn ack_bytes(&self) -> u16 {
        let (ack, header) = (self.frame.ack.0, self.frame.ack_header.0);
        self.control.header_bytes().map_or(ack, |more| ack.max(header + more)) as u16
    }
}

/// Tags of the hosts' events. The tag of an event is its base plus the index of the flow or NIC.
#[derive(Clone, Copy, Debug)]
pub struct HostTags {
    /// Pacing allows a flow's next packet.
    pub pace: u32,
    /// A flow's congestion control has a timer due.
    pub control: u32,
    /// A NIC checks its flows for timeouts.
    pub timeout: u32,
    /// A flow's retransmission timeout.
    pub retransmission: u32,
    /// A NIC with round robin by index searches for a packet.
    pub index: u32,
    /// A pause of a NIC's queues may have ended.
    pub pause: u32,
    /// A host's backlog falls to the XON threshold.
    pub intake: u32,
    /// A receiver-driven transport has a timer due.
    pub receiver_driven: u32,
    /// The allocator's agent of a server has a timer due.
    pub agent: u32,
}

/// The hosts of one partition.
#[derive(Debug)]
pub struct Hosts {
    setup: HostSetup,
    tags: HostTags,
    nics: Vec<Nic>,
    /// The ready flows of each NIC, with shortest-first scheduling.
    shortest: Vec<ShortestFirst>,
    /// What flows have posted to each NIC, if they do.
    posted: Vec<Posted>,
    /// The acknowledgements posted to each NIC, if they go first.
    posted_acks: Vec<Posted>,
    flows: Vec<Sender>,
    controls: Vec<AnyControl>,
    /// The flow control of each flow, if any.
    onramps: Vec<OnRamp>,
    /// The backlog of each host, if hosts have a receive rate.
    intakes: Vec<Intake>,
    free: Vec<u32>,
    receivers: Receivers,
    rto_policy: RtoPolicy,
    /// When each NIC looks for timeouts, if flows have them.
    deadlines: Vec<Deadlines>,
    /// The receiver-driven transport, if any.
    receiver_driven: Option<Box<AnyDriven>>,
    /// The choice among the links of hosts with several, if there are any.
    links: Option<Box<links::Links>>,
    /// The order in which hosts would share out their flows to their links, if links go for good.
    orders: Option<Box<share_out::Orders>>,
    /// Whether packets arrive at a receiver-driven transport or at a host with several links.
    apart: bool,
    /// Whether an acknowledgement leaves by the link of its data, at its usual size, in the NIC's
    /// own order: one test per packet for all that is rare.
    answers_plainly: bool,
    /// Whether flows need nothing but their recovery and congestion control: no TCP, no flow
    /// control, no receiver-driven transport.
    plain: bool,
    /// Whether packets also leave without checks.
    sends_plainly: bool,
    /// What chooses the acknowledgements of each NIC that bring their record, if not all do.
    samplings: Vec<Sampling>,
    /// One sequence of random numbers for all of them and the switches, if there is one.
    shared_draws: Option<WholeDraws>,
    /// Actions requested by the transport during a call; empty otherwise.
    actions: Vec<Action>,
    /// State of flows with selective acknowledgements.
    tcp: Option<tcp::TcpHosts>,
    flowtune: Option<Box<FlowtuneHosts>>,
    /// Sizes of a data packet without its payload, and of an acknowledgement.
    overhead: u16,
    ack_bytes: u16,
    sack_bytes: SackBytes,
    carries: Carries,
    /// How far reports of receivers count.
    chunks: Chunks,
    /// True if the congestion control has timers.
    timed: bool,
    /// Path constants of flows.
    paths: paths::Paths,
    /// Flows that begin when others have arrived or ended.
    pub chains: Chains,
    /// The programs that hosts run.
    pub programs: Programs,
    /// Flows that have ended since they were last taken.
    pub finished: Vec<Finished>,
    /// Checks of each packet that a flow sends, if they are on.
    checks: Option<Box<audit::SendChecks>>,
    /// Counters.
    pub stats: HostStats,
}

impl Hosts {
    /// Creates it without hosts.
    #[must_use]
    pub fn new(setup: HostSetup, tags: HostTags) -> Self {
        let transport = &setup.transport;
        let receiver_driven = setup.driver.build(&setup.for_driven()).map(Box::new);
        let plain = setup.onramp.is_none()
            && setup.control.sampled().is_none()
            && !setup.recovery.reports_losses()
            && receiver_driven.is_none();
        Self {
            receivers: Receivers::new(
                ReceiverSetup {
                    recovery: transport.recovery,
                    nack_interval: transport.nack_interval.0,
                    payload: setup.frame.payload.0,
                    chunks: setup.recovery.chunks(),
                    literal: setup.literal,
                },
                setup.control.notification_interval(),
            ),
            rto_policy: RtoPolicy::new(transport, setup.recovery.timeouts(), setup.frame.payload.0),
            apart: receiver_driven.is_some(),
            answers_plainly: setup.onramp.is_none()
                && setup.tcp.sack_bytes == SackBytes::None
                && setup.nic.receive_rate.0 == 0
                && transport.round_robin != RoundRobin::Posted,
            plain,
            sends_plainly: plain,
            receiver_driven,
            links: None,
            orders: None,
            samplings: Vec::new(),
            shared_draws: None,
            actions: Vec::new(),
            tcp: setup.recovery.reports_losses().then(|| tcp::TcpHosts::new(&setup.tcp)),
            flowtune: setup
                .flowtune
                .as_ref()
                .map(|flowtune| Box::new(FlowtuneHosts::new(flowtune.clone(), setup.seed))),
            overhead: setup.overhead(),
            ack_bytes: setup.ack_bytes(),
            sack_bytes: setup.tcp.sack_bytes,
            carries: setup.control.carries(),
            timed: setup.control.has_timers(),
            chunks: setup.recovery.chunks(),
            setup,
            tags,
            nics: Vec::new(),
            deadlines: Vec::new(),
            shortest: Vec::new(),
            posted: Vec::new(),
            posted_acks: Vec::new(),
            flows: Vec::new(),
            controls: Vec::new(),
            onramps: Vec::new(),
            intakes: Vec::new(),
            free: Vec::new(),
            paths: paths::Paths::default(),
            chains: Chains::default(),
            programs: Programs::default(),
            finished: Vec::new(),
            checks: None,
            stats: HostStats::default(),
        }
    }

    /// Adds a host's NIC, on port `id` of the topology, which is `port` of the fabric. A host with
    /// several links has a NIC for each, one after the other. Returns the NIC's index in this
    /// partition.
    pub fn add_nic(&mut self, fabric: &mut Fabric, host: HostId, id: PortId, port: u32) -> u32 {
        let nic = self.nics.len() as u32;
        // Where hosts have one link, ports of hosts have the numbers of the hosts.
        let rank = phase::TIMER | phase::kind(8) | u64::from(id.0) << 3;
        let wheel = &mut fabric.wheel;
        let timers = NicTimers {
            timeout: wheel.add_timer(rank, self.tags.timeout + nic),
            index: wheel.add_timer(rank | 1, self.tags.index + nic),
            pause: wheel.add_timer(rank | 2, self.tags.pause + nic),
            intake: wheel.add_timer(rank | 3, self.tags.intake + nic),
            receiver_driven: wheel.add_timer(rank | 4, self.tags.receiver_driven + nic),
        };
        if let Some(flowtune) = &mut self.flowtune {
            let timer = fabric.wheel.add_timer(rank | 7, self.tags.agent + nic);
            flowtune.add_host(timer, self.setup.seed, host);
        }
        let rng = Rng::stream(self.setup.seed, Purpose::Transport, u64::from(id.0));
        self.nics.push(Nic::new(host, port, self.setup.queues, rng, timers));
        match self.setup.transport.round_robin {
            RoundRobin::Ready | RoundRobin::Index | RoundRobin::Fifo => {}
            RoundRobin::Shortest => self.shortest.push(ShortestFirst::new(self.setup.queues)),
            RoundRobin::Posted => {
                self.posted.push(Posted::default());
                if !self.setup.transport.posted_acks {
                    self.posted_acks.push(Posted::default());
                }
                self.nics[nic as usize].order.push((NONE, FlowId(u64::MAX)));
            }
        }
        if self.rto_policy.long > 0 {
            self.deadlines.push(Deadlines::default());
        }
        self.add_sampling(id);
        if self.setup.nic.receive_rate.0 > 0 {
            self.intakes.push(Intake::default());
        }
        let line_rate = fabric.rate(port);
        if let Some(transport) = &mut self.receiver_driven {
            transport.add_host(&DrivenHost { host, nic, line_rate, timer: timers.receiver_driven });
        }
        self.paths.add(&self.setup, line_rate);
        if let Some(links) = &mut self.links {
            links.add_nic(nic, host);
        }
        nic
    }

    /// Whole random numbers come from here, in the order of events. Call it before NICs are added.
    pub fn share_draws(&mut self, draws: WholeDraws) {
        self.shared_draws = Some(draws);
    }

    fn add_sampling(&mut self, id: PortId) {
        let Some(share) = self.setup.control.sampled() else { return };
        let own =
            || WholeDraws::Own(Rng::stream(self.setup.seed, Purpose::Sampling, u64::from(id.0)));
        if share < 1.0 || self.shared_draws.is_some() {
            let draws = self.shared_draws.clone().unwrap_or_else(own);
            self.samplings.push(Sampling::new(share, draws));
        }
    }

    /// Prefetches a host's state before a packet arrives.
    #[inline(always)]
    pub fn prefetch(&self, nic: u32) {
        prefetch(&self.nics, nic as usize);
    }

    /// All NICs, in the order they were added.
    #[must_use]
    pub fn nics(&self) -> &[Nic] {
        &self.nics
    }

    /// The senders of all flows that have not ended.
    pub fn alive(&self) -> impl Iterator<Item = &Sender> {
        self.flows.iter().filter(|flow| flow.alive)
    }

    /// Receive progress of a flow to a host here, between its first packet and its last.
    #[must_use]
    pub fn rx_progress(&self, now: u64, flow: FlowId) -> Option<RxProgress> {
        match &self.receiver_driven {
            Some(transport) => transport.rx_progress(flow.0 as u32),
            None => self.receivers.rx_progress(now, flow.0 as u32),
        }
    }

    /// Duplicate data packets, for receivers that keep out-of-order packets. A receiver keeps no
    /// state of a flow of one packet, so those are not counted.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.receivers.repeated
    }

    /// Number of flow slots: the maximum number of concurrent flows so far.
    #[must_use]
    pub fn flow_slots(&self) -> usize {
        self.flows.len()
    }
}
