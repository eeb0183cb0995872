//! Hosts with a rate allocator: applies the agents' actions to flows and writes their messages to
//! streams.

mod streams;

use xoff_core::rng::Purpose;
use xoff_core::{BitRate, HostId, Ps, Rng, TimerId};
use xoff_net::Fabric;

use super::Hosts;
use crate::cc::{Capped, CongestionControl};
use crate::flow::FlowStart;
use crate::flowtune::agent::{Action, Agent, AgentStats};
use crate::flowtune::stream::{StreamId, StreamStats, Streams};
use crate::flowtune::{AgentConfig, Message};
use crate::transport::TcpConfig;

pub use self::streams::StreamSpec;

/// Settings of all hosts with an allocator.
#[derive(Clone, Debug)]
pub struct FlowtuneHostSetup {
    /// Settings of the agents.
    pub agent: AgentConfig,
    /// TCP settings of the streams.
    pub stream: TcpConfig,
}

/// State of hosts with an allocator.
#[derive(Debug)]
pub(super) struct FlowtuneHosts {
    setup: FlowtuneHostSetup,
    streams: Streams,
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
    pub(super) fn new(setup: FlowtuneHostSetup) -> Self {
        Self {
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
        let Some(flowtune) = &mut self.flowtune else { return };
        let mut actions = std::mem::take(&mut flowtune.actions);
        let stream = StreamId::to_allocator(self.nics[nic as usize].host);
        for action in actions.drain(..) {
            match action {
                Action::Tell(message) => self.tell(fabric, stream, message),
                Action::Go { flow, rate } => self.go(fabric, flow, rate),
                Action::FallBack { flow, rate } => self.fall_back(fabric, flow, rate),
                Action::Hold { flow } => self.hold(flow),
            }
        }
        let Some(flowtune) = &mut self.flowtune else { return };
        flowtune.actions = actions;
        let timer = flowtune.timers[nic as usize];
        if let Some(next) = flowtune.agents[nic as usize].next_timer(&flowtune.setup.agent)
            && fabric.wheel.armed(timer).is_none_or(|armed| next < armed)
        {
            fabric.wheel.arm(timer, next.max(fabric.now));
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

    /// Counters of the agents and streams of this partition.
    #[must_use]
    pub fn flowtune_stats(&self) -> Option<(&AgentStats, &[StreamStats; 3])> {
        let flowtune = self.flowtune.as_ref()?;
        Some((&flowtune.stats, flowtune.streams.stats()))
    }
}
