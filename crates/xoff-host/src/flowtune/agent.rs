//! A server's flowlets and their rates.
//!
//! A state machine: it receives events with their times and returns [`Action`]s. It sees no packets
//! and no queues. If flows can join a flowlet, the flows of one flowlet are served in sequence,
//! like calls of send() on one connection.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use xoff_control::Detector;
use xoff_core::{HostId, counts};

use super::{AgentConfig, Message};

/// An action for the host. Flows are identified by their slot in the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send a message to the allocator.
    Tell(Message),
    /// Let a flow send at this rate, regardless of its window.
    Go {
        /// The flow.
        flow: u32,
        /// Rate in bit/s.
        rate: u64,
    },
    /// Return a flow to its own congestion control.
    FallBack {
        /// The flow.
        flow: u32,
        /// Initial rate (bit/s); 0: none, the control continues from its state.
        rate: u64,
    },
    /// Hold a flow.
    Hold {
        /// The flow.
        flow: u32,
    },
}

counts! {
    /// Counters of one partition's agents.
    pub struct AgentStats {
        /// Flowlets announced.
        flowlets,
        /// Flows that joined a flowlet instead.
        joined,
        /// Rates received.
        rates,
        /// Expiries of a server's rates.
        expiries,
        /// Flows returned to their own congestion control at an expiry.
        fallbacks,
        /// Datagrams refused.
        refused,
    }
}

/// A flowlet that has not ended.
#[derive(Debug)]
struct Flowlet {
    number: u32,
    dst: HostId,
    label: u32,
    /// The flow in service, if any.
    flow: Option<u32>,
    /// Flows waiting for service.
    waiting: VecDeque<u32>,
    /// The last rate from the allocator (bit/s).
    rate: Option<u64>,
    /// Time to report its end in advance (ps).
    report_at: u64,
    /// True if its end has been reported.
    reported: bool,
    /// Its time in `Agent::due`; `NEVER` if it is not there.
    due: u64,
}

const NEVER: u64 = u64::MAX;

/// The agent of one server.
#[derive(Debug, Default)]
pub struct Agent {
    /// By number.
    flowlets: BTreeMap<u32, Flowlet>,
    /// Numbers of the flowlets of flows, in service and waiting.
    of_flow: BTreeMap<u32, u32>,
    /// The flowlets that flows to a server may join, and when they end for lack of data (ps).
    to_join: Detector<HostId, u32>,
    /// Times at which the ends of flowlets are reported in advance (ps), with their numbers.
    due: BTreeSet<(u64, u32)>,
    /// Flowlets whose end has not been reported.
    live: usize,
    next: u32,
    /// Time of the last message from the allocator, or of the first flowlet after an idle period
    /// (ps).
    last_message_ps: u64,
    /// True if rates have expired since.
    expired: bool,
}

impl Agent {
    /// A flow begins; it has just been started under its own congestion control.
    pub fn on_start(
        &mut self,
        config: &AgentConfig,
        now: u64,
        (flow, dst, label): (u32, HostId, u32),
        stats: &mut AgentStats,
        actions: &mut Vec<Action>,
    ) {
        let expired = self.expired;
        if let Some((number, flowlet)) = self.joined_by(dst) {
            // "an implementation can choose to coalesce the new data into the existing flowlet, and
            // notify the allocator only when all data has finished" (§6).
            stats.joined += 1;
            if flowlet.flow.is_some() {
                flowlet.waiting.push_back(flow);
                actions.push(Action::Hold { flow });
            } else {
                flowlet.flow = Some(flow);
                flowlet.serve(config, expired, actions);
            }
            self.to_join.on_data(dst, number);
            self.of_flow.insert(flow, number);
            self.schedule(number);
            return;
        }
        if self.live == 0 {
            // A server without flowlets gets no renewals.
            self.last_message_ps = now;
        }
        stats.flowlets += 1;
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let flowlet = Flowlet {
            number,
            dst,
            label,
            flow: Some(flow),
            waiting: VecDeque::new(),
            rate: None,
            report_at: NEVER,
            reported: false,
            due: NEVER,
        };
        actions.push(Action::Tell(flowlet.announcement()));
        // "servers start a regular TCP connection, and in parallel send a notification to the
        // allocator" (§5.3).
        if !config.start_before_allocation && !self.expired {
            actions.push(Action::Hold { flow });
        }
        self.flowlets.insert(number, flowlet);
        self.of_flow.insert(flow, number);
        self.live += 1;
        if config.joins {
            self.to_join.on_data(dst, number);
        }
    }

    fn joined_by(&mut self, dst: HostId) -> Option<(u32, &mut Flowlet)> {
        let number = self.to_join.flowlet(dst)?;
        Some((number, self.flowlets.get_mut(&number)?))
    }

    /// A flow stops before it has sent all its data, perhaps before its turn.
    pub fn on_stop(
        &mut self,
        config: &AgentConfig,
        now: u64,
        flow: u32,
        actions: &mut Vec<Action>,
    ) {
        let Some(&number) = self.of_flow.get(&flow) else { return };
        let Some(flowlet) = self.flowlets.get_mut(&number) else { return };
        if flowlet.flow == Some(flow) {
            self.on_sent_all(config, now, flow, actions);
        } else {
            flowlet.waiting.retain(|&waiting| waiting != flow);
            self.of_flow.remove(&flow);
            self.schedule(number);
        }
    }

    /// A flow has sent its last byte. Retransmissions are not part of a flowlet; the flow's own
    /// congestion control handles them.
    pub fn on_sent_all(
        &mut self,
        config: &AgentConfig,
        now: u64,
        flow: u32,
        actions: &mut Vec<Action>,
    ) {
        let Some(&number) = self.of_flow.get(&flow) else { return };
        let Some(flowlet) = self.flowlets.get_mut(&number).filter(|f| f.flow == Some(flow)) else {
            return;
        };
        self.of_flow.remove(&flow);
        if let Some(rate) = flowlet.rate.filter(|_| !self.expired) {
            actions.push(Action::FallBack { flow, rate });
        }
        flowlet.flow = flowlet.waiting.pop_front();
        flowlet.report_at = NEVER;
        if flowlet.flow.is_some() {
            flowlet.serve(config, self.expired, actions);
        } else if config.linger > 0 {
            self.to_join.on_empty(flowlet.dst, now.saturating_add(config.linger));
        } else {
            self.end(number, actions);
            return;
        }
        self.schedule(number);
    }

    fn end(&mut self, number: u32, actions: &mut Vec<Action>) {
        self.report(number, actions);
        if let Some(flowlet) = self.flowlets.remove(&number) {
            self.due.remove(&(flowlet.due, number));
        }
    }

    /// Tells the allocator that a flowlet ends, unless it knows.
    fn report(&mut self, number: u32, actions: &mut Vec<Action>) {
        let Some(flowlet) = self.flowlets.get_mut(&number) else { return };
        if !std::mem::replace(&mut flowlet.reported, true) {
            actions.push(Action::Tell(Message::End { flowlet: number }));
            self.live -= 1;
            if self.to_join.flowlet(flowlet.dst) == Some(number) {
                self.to_join.close(flowlet.dst);
            }
        }
    }

    /// Brings a flowlet's place in `due` up to date.
    fn schedule(&mut self, number: u32) {
        let Some(flowlet) = self.flowlets.get_mut(&number) else { return };
        let due = flowlet.reported_at();
        if due == flowlet.due {
            return;
        }
        self.due.remove(&(flowlet.due, number));
        if due != NEVER {
            self.due.insert((due, number));
        }
        flowlet.due = due;
    }

    /// A message from the allocator has arrived.
    pub fn on_message(
        &mut self,
        now: u64,
        message: Message,
        stats: &mut AgentStats,
        actions: &mut Vec<Action>,
    ) {
        self.last_message_ps = now;
        if std::mem::take(&mut self.expired) {
            let served = self.flowlets.values().filter_map(|f| Some((f.flow?, f.rate?)));
            actions.extend(served.map(|(flow, rate)| at_rate(flow, rate)));
        }
        match message {
            Message::Rate { flowlet, rate } => {
                stats.rates += 1;
                // The flowlet may have ended while the message was in flight.
                let number = flowlet;
                let Some(flowlet) = self.flowlets.get_mut(&number) else { return };
                flowlet.rate = Some(rate);
                actions.extend(flowlet.flow.map(|flow| at_rate(flow, rate)));
                if rate == 0 {
                    // The flow is held, so its end is unknown.
                    flowlet.report_at = NEVER;
                    self.schedule(number);
                }
            }
            Message::Resync => {
                let known = self.flowlets.values().filter(|flowlet| !flowlet.reported);
                actions.extend(known.map(|flowlet| Action::Tell(flowlet.announcement())));
            }
            Message::Renewal => {}
            Message::Start { .. } | Message::End { .. } | Message::Transit { .. } => {
                unreachable!("only allocators receive these")
            }
        }
    }

    /// A flowlet's rate has expired: its flow continues under its own congestion control.
    pub fn on_expiry(&mut self, number: u32, stats: &mut AgentStats, actions: &mut Vec<Action>) {
        let Some(flowlet) = self.flowlets.get_mut(&number) else { return };
        let rate = flowlet.rate.take().unwrap_or(0);
        flowlet.report_at = NEVER;
        if let Some(flow) = flowlet.flow {
            stats.fallbacks += 1;
            actions.push(Action::FallBack { flow, rate });
        }
        self.schedule(number);
    }

    /// Sets the expected time at which the flow in service has sent all its data (ps).
    pub fn expect_end(&mut self, config: &AgentConfig, flow: u32, end: u64) {
        let Some(&number) = self.of_flow.get(&flow) else { return };
        if let Some(flowlet) = self.flowlets.get_mut(&number)
            && flowlet.flow == Some(flow)
        {
            flowlet.report_at = end.saturating_sub(config.advance_notice);
            self.schedule(number);
        }
    }

    /// The time of [`Agent::next_timer`] has come, or an earlier one.
    pub fn on_timer(
        &mut self,
        config: &AgentConfig,
        now: u64,
        stats: &mut AgentStats,
        actions: &mut Vec<Action>,
    ) {
        if self.expiry(config).is_some_and(|time| time <= now) {
            self.expire(config, stats, actions);
        }
        let due = self.due.range(..=(now, u32::MAX)).map(|&(_, number)| number);
        let mut due: Vec<u32> = due.collect();
        due.sort_unstable();
        for number in due {
            // "knowing the exact flowlet size allows the OS and applications to provide the
            // allocator with advance notification of flowlet endings" (§6).
            self.report(number, actions);
            self.schedule(number);
        }
        let mut ended: Vec<u32> = std::iter::from_fn(|| self.to_join.next_end(now)).collect();
        ended.sort_unstable();
        for number in ended {
            self.end(number, actions);
        }
    }

    /// "If the allocator fails, the rates expire and endpoint congestion control (e.g., TCP) takes
    /// over, using the previously allocated rates as a starting point" (§6).
    fn expire(&mut self, config: &AgentConfig, stats: &mut AgentStats, actions: &mut Vec<Action>) {
        self.expired = true;
        stats.expiries += 1;
        for flowlet in self.flowlets.values().filter(|flowlet| !flowlet.reported) {
            let Some(flow) = flowlet.flow else { continue };
            if flowlet.rate.is_some() || !config.start_before_allocation {
                stats.fallbacks += 1;
                actions.push(Action::FallBack { flow, rate: flowlet.rate.unwrap_or(0) });
            }
        }
    }

    /// Time at which rates expire unless a message arrives (ps).
    fn expiry(&self, config: &AgentConfig) -> Option<u64> {
        (!self.expired && self.live > 0)
            .then(|| self.last_message_ps.saturating_add(config.lifetime))
            .filter(|&time| time != NEVER)
    }

    /// Time of the next timer (ps).
    #[must_use]
    pub fn next_timer(&self, config: &AgentConfig) -> Option<u64> {
        let report = self.due.first().map(|&(time, _)| time);
        let times = [report, self.to_join.deadline(), self.expiry(config)];
        times.into_iter().flatten().min()
    }
}

impl Flowlet {
    fn announcement(&self) -> Message {
        Message::Start { flowlet: self.number, dst: self.dst, label: self.label }
    }

    /// Lets its flow start, which may have been held until now.
    fn serve(&self, config: &AgentConfig, expired: bool, actions: &mut Vec<Action>) {
        let Some(flow) = self.flow else { return };
        actions.push(match self.rate.filter(|_| !expired) {
            Some(rate) => at_rate(flow, rate),
            None if config.start_before_allocation || expired => {
                Action::FallBack { flow, rate: self.rate.unwrap_or(0) }
            }
            None => Action::Hold { flow },
        });
    }

    /// Time at which its end is reported in advance (ps).
    fn reported_at(&self) -> u64 {
        let is_last = self.flow.is_some() && self.waiting.is_empty();
        if is_last && !self.reported { self.report_at } else { NEVER }
    }
}

/// A rate of zero means an unusable path.
fn at_rate(flow: u32, rate: u64) -> Action {
    if rate == 0 { Action::Hold { flow } } else { Action::Go { flow, rate } }
}

#[cfg(test)]
mod tests;
