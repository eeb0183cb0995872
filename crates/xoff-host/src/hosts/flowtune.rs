//! Hosts with a rate allocator: applies the agents' actions to flows and sends their messages, in
//! streams or in datagrams.

mod datagrams;
mod streams;

use xoff_control::EndpointConfig;

use xoff_core::rng::Purpose;
use xoff_core::{BitRate, HostId, Ps, Rng, TimerId};
use xoff_net::Fabric;

use super::Hosts;
use crate::cc::{Capped, CongestionControl};
use crate::flow::FlowStart;
use crate::flowtune::agent::{Action, Agent, AgentStats};
use crate::flowtune::datagram::Datagrams;
use crate::flowtune::mail::ControlMail;
use crate::flowtune::stream::{StreamStats, Streams};
use crate::flowtune::stream_id::{Direction, StreamId};
use crate::flowtune::{AgentConfig, Message};
use crate::transport::TcpConfig;

pub use self::datagrams::SHORTER_HEADER;
pub use crate::flowtune::stream_id::StreamSpec;

/// Settings of all hosts with an allocator.
#[derive(Clone, Debug)]
pub struct FlowtuneHostSetup {
    /// Settings of the agents.
    pub agent: AgentConfig,
    /// TCP settings of the streams.
    pub stream: TcpConfig,
    /// With datagrams between servers and allocators: settings of all endpoints but their number.
    pub endpoint: Option<EndpointConfig>,
}

/// State of hosts with an allocator.
#[derive(Debug)]
pub(super) struct FlowtuneHosts {
    setup: FlowtuneHostSetup,
    streams: Streams,
    datagrams: Option<Datagrams>,
    /// By NIC; the agents of an allocator's own NICs are idle.
    agents: Vec<Agent>,
    timers: Vec<TimerId>,
    /// By NIC, flows that have sent all their data and whose agent has not been told yet.
    sent_all: Vec<Vec<u32>>,
    losses: Vec<Rng>,
    /// Messages received by allocators of this partition.
    inbox: Vec<(StreamId, Message)>,
    stats: AgentStats,
    actions: Vec<Action>,
}

impl FlowtuneHosts {
    pub(super) fn new(setup: FlowtuneHostSetup, seed: u64) -> Self {
        Self {
            datagrams: setup.endpoint.map(|config| Datagrams::new(config, seed)),
            setup,
            streams: Streams::default(),
            agents: Vec::new(),
            timers: Vec::new(),
            sent_all: Vec::new(),
            losses: Vec::new(),
            inbox: Vec::new(),
            stats: AgentStats::default(),
            actions: Vec::new(),
        }
    }

    pub(super) fn add_host(&mut self, timer: TimerId, seed: u64, host: HostId) {
        self.agents.push(Agent::default());
        self.timers.push(timer);
        self.sent_all.push(Vec::new());
        self.losses.push(Rng::stream(seed, Purpose::MessageLoss, u64::from(host.0)));
        if let Some(datagrams) = &mut self.datagrams {
            datagrams.add_nic();
        }
    }

    /// The datagrams, if a stream is one of them. Allocators of pods have connections in any case.
    fn datagrams_of(&mut self, stream: StreamId) -> Option<&mut Datagrams> {
        let of_server = !matches!(stream.direction(), Direction::Between(..));
        self.datagrams.as_mut().filter(|_| of_server)
    }

    /// Draws whether to lose a control packet deliberately.
    fn loses(&mut self, nic: u32, stream: StreamId) -> bool {
        let share = self.setup.agent.message_loss;
        let lost = share > 0.0 && self.losses[nic as usize].unit() < share;
        self.streams.count(stream).lost += u64::from(lost);
        lost
    }
}

impl Hosts {
    /// A flow begins.
    #[inline]
    pub(super) fn start_flowtune(&mut self, fabric: &mut Fabric, sender: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let FlowStart { dst, label, .. } = self.flows[sender as usize].start;
        let nic = self.flows[sender as usize].nic;
        let FlowtuneHosts { setup, agents, stats, actions, .. } = &mut **flowtune;
        let agent = &mut agents[nic as usize];
        agent.on_start(&setup.agent, fabric.now, (sender, dst, label), stats, actions);
        self.act(fabric, nic);
    }

    /// A flow has no data left to send. Its agent is told later in the same instant, because the
    /// port is just selecting its next packet.
    #[inline]
    pub(super) fn rest_flowtune(&mut self, fabric: &mut Fabric, sender: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let flow = &self.flows[sender as usize];
        if !flow.open {
            flowtune.sent_all[flow.nic as usize].push(sender);
            fabric.wheel.arm(flowtune.timers[flow.nic as usize], fabric.now);
        }
    }

    /// A flow stops before it has sent all its data.
    pub(super) fn stop_flowtune(&mut self, fabric: &mut Fabric, sender: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let nic = self.flows[sender as usize].nic;
        let FlowtuneHosts { setup, agents, actions, .. } = &mut **flowtune;
        agents[nic as usize].on_stop(&setup.agent, fabric.now, sender, actions);
        self.act(fabric, nic);
    }

    /// An agent's timer is due.
    #[cold]
    #[inline(never)]
    pub fn on_agent_timer(&mut self, fabric: &mut Fabric, nic: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let FlowtuneHosts { setup, agents, sent_all, stats, actions, .. } = &mut **flowtune;
        for flow in sent_all[nic as usize].drain(..) {
            agents[nic as usize].on_sent_all(&setup.agent, fabric.now, flow, actions);
        }
        agents[nic as usize].on_timer(&setup.agent, fabric.now, stats, actions);
        self.act(fabric, nic);
    }

    /// Executes an agent's actions and arms its timer.
    fn act(&mut self, fabric: &mut Fabric, nic: u32) {
        self.execute(fabric, nic);
        if self.flowtune.as_ref().is_some_and(|flowtune| flowtune.datagrams.is_some()) {
            self.ask_endpoint(fabric, nic);
            self.execute(fabric, nic);
        }
        let Some(flowtune) = &mut self.flowtune else { return };
        let timer = flowtune.timers[nic as usize];
        let of_agent = flowtune.agents[nic as usize].next_timer(&flowtune.setup.agent);
        let of_endpoint = flowtune.endpoint_timer(nic);
        if let Some(next) = of_agent.into_iter().chain(of_endpoint).min()
            && next != Ps::NEVER.0
            && fabric.wheel.armed(timer).is_none_or(|armed| next < armed)
        {
            fabric.wheel.arm(timer, next.max(fabric.now));
        }
    }

    fn execute(&mut self, fabric: &mut Fabric, nic: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let mut actions = std::mem::take(&mut flowtune.actions);
        for action in actions.drain(..) {
            match action {
                Action::Tell(message) => self.tell_allocator(fabric, nic, message),
                Action::Go { flow, rate } => self.go(fabric, flow, rate),
                Action::FallBack { flow, rate } => self.fall_back(fabric, flow, rate),
                Action::Hold { flow } => self.hold(flow),
            }
        }
        if let Some(flowtune) = &mut self.flowtune {
            flowtune.actions = actions;
        }
    }

    fn tell_allocator(&mut self, fabric: &mut Fabric, nic: u32, message: Message) {
        let Some(flowtune) = &mut self.flowtune else { return };
        match &mut flowtune.datagrams {
            Some(datagrams) => FlowtuneHosts::report(datagrams, fabric.now, nic, message),
            None => {
                let stream = StreamId::to_allocator(self.nics[nic as usize].host);
                self.tell(fabric, stream, message);
            }
        }
    }

    /// Applies an allocated rate. "Whenever a server receives a rate update for a flow from the
    /// allocator, it opens the flow's TCP window and paces packets on that flow according to the
    /// allocated rate" (§5.3).
    fn go(&mut self, fabric: &mut Fabric, sender: u32, rate: u64) {
        let Some(flowtune) = &self.flowtune else { return };
        let (flow, control) =
            (&mut self.flows[sender as usize], &mut self.controls[sender as usize]);
        let before = flow.pace.rate;
        let path = &self.paths[flow.path];
        let config = &flowtune.setup.agent;
        if config.opens_window(&flow.start) {
            let bytes = config.window_rtts * BitRate(rate).bytes_in(Ps(path.base_rtt)).0 as f64;
            control.reopen(path, bytes as u64, &mut flow.pace);
        }
        Capped::limit(control, rate, &mut flow.pace);
        let left = flow.start.bytes - flow.snd_nxt;
        self.rebase(fabric, sender, before);
        self.make_ready(fabric, sender);
        let Some(flowtune) = &mut self.flowtune else { return };
        let config = &flowtune.setup.agent;
        if config.advance_notice > 0 {
            let full = self.setup.frame.payload.0;
            let headers = left.div_ceil(full) * u64::from(self.overhead);
            let takes = BitRate(rate).time_for(left.saturating_add(headers));
            // The end of an unlimited flow cannot be predicted.
            if takes == Ps::NEVER {
                return;
            }
            let end = fabric.now.saturating_add(takes.0);
            let agent = &mut flowtune.agents[self.flows[sender as usize].nic as usize];
            agent.expect_end(config, sender, end);
        }
    }

    /// Returns a flow to its own congestion control, starting from its allocated rate if it had
    /// one.
    fn fall_back(&mut self, fabric: &mut Fabric, sender: u32, rate: u64) {
        let (flow, control) =
            (&mut self.flows[sender as usize], &mut self.controls[sender as usize]);
        let path = &self.paths[flow.path];
        let before = flow.pace.rate;
        let Some(flowtune) = &self.flowtune else { return };
        let opened = flowtune.setup.agent.opens_window(&flow.start);
        let was_limited = Capped::release(control, &mut flow.pace);
        // A flow whose rate was only an upper limit kept its own window.
        if rate > 0 && (opened || !was_limited) {
            let rtt = flow.rto().and_then(|rto| rto.smoothed_rtt());
            let bytes = BitRate(rate).bytes_in(Ps(rtt.unwrap_or(path.base_rtt))).0;
            control.reopen(path, bytes, &mut flow.pace);
        }
        self.rebase(fabric, sender, before);
        self.make_ready(fabric, sender);
    }

    /// Holds a flow until the next action.
    fn hold(&mut self, sender: u32) {
        Capped::hold(&mut self.controls[sender as usize], &mut self.flows[sender as usize].pace);
    }

    /// Opens a stream of control packets written by a host of this partition.
    pub fn open_stream(&mut self, fabric: &mut Fabric, nic: u32, spec: StreamSpec) {
        let Some(flowtune) = &mut self.flowtune else { return };
        if flowtune.datagrams_of(spec.stream).is_some() {
            self.open_datagrams(fabric, nic, spec);
        } else {
            self.open_connection(fabric, nic, spec);
        }
    }

    /// Registers a host of this partition as the reader of a stream.
    pub fn read_stream(&mut self, stream: StreamId) {
        let Some(flowtune) = &mut self.flowtune else { return };
        match flowtune.datagrams_of(stream) {
            Some(datagrams) => datagrams.mail.read_here(stream),
            None => flowtune.streams.read_here(stream),
        }
    }

    /// Handles an arriving control packet.
    #[cold]
    pub(super) fn on_segment(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        if flowtune.datagrams_of(StreamId::of_flow(fabric.packets[id].flow)).is_some() {
            self.on_datagram(fabric, nic, id);
        } else {
            self.on_stream_segment(fabric, nic, id);
        }
    }

    /// Counters of the agents and streams of this partition.
    #[must_use]
    pub fn flowtune_stats(&self) -> Option<(AgentStats, &[StreamStats; 3])> {
        let flowtune = self.flowtune.as_ref()?;
        let mut stats = flowtune.stats;
        for endpoint in flowtune.datagrams.iter().flat_map(Datagrams::endpoints) {
            stats.expiries += endpoint.stats.expiries;
        }
        Some((stats, flowtune.streams.stats()))
    }

    /// Swaps the content of control packets for another partition with an empty value.
    pub fn swap_control_mail(&mut self, partition: usize, mail: &mut ControlMail) {
        let Some(flowtune) = &mut self.flowtune else { return };
        flowtune.streams.mail().swap(partition, &mut mail.messages);
        if let Some(datagrams) = &mut flowtune.datagrams {
            datagrams.mail.swap(partition, &mut mail.datagrams);
        }
    }

    /// True if there is content of control packets for another partition.
    #[must_use]
    pub fn has_control_mail(&self, partition: usize) -> bool {
        self.flowtune.as_ref().is_some_and(|flowtune| {
            let datagrams = flowtune.datagrams.as_ref();
            flowtune.streams.has_mail(partition)
                || datagrams.is_some_and(|datagrams| datagrams.mail.is_waiting(partition))
        })
    }

    /// Accepts the content of control packets for readers in this partition, and leaves the value
    /// empty.
    pub fn receive_control_mail(&mut self, mail: &mut ControlMail) {
        let Some(flowtune) = &mut self.flowtune else { return };
        mail.messages.drain(..).for_each(|letter| flowtune.streams.mail().deliver(letter));
        if let Some(datagrams) = &mut flowtune.datagrams {
            mail.datagrams.drain(..).for_each(|letter| datagrams.mail.deliver(letter));
        }
    }
}
