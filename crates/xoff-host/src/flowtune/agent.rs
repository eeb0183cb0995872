//! A server's flowlets and their rates.
//!
//! A state machine: it receives events with their times and returns [`Action`]s. It sees no packets
//! and no queues. If flows can join a flowlet, the flows of one flowlet are served in sequence,
//! like calls of send() on one connection.

use std::collections::VecDeque;

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
    /// Time since which there is no data to send (ps).
    idle_since: u64,
    /// Time to report its end in advance (ps).
    report_at: u64,
    /// True if its end has been reported.
    reported: bool,
}

/// The agent of one server.
#[derive(Debug, Default)]
pub struct Agent {
    /// Ordered by number.
    flowlets: Vec<Flowlet>,
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
        if config.joins
            && let Some(flowlet) = self.flowlets.iter_mut().find(|f| f.dst == dst && !f.reported)
        {
            // "an implementation can choose to coalesce the new data into the existing flowlet, and
            // notify the allocator only when all data has finished" (§6).
            stats.joined += 1;
            if flowlet.flow.is_some() {
                flowlet.waiting.push_back(flow);
                actions.push(Action::Hold { flow });
            } else {
                flowlet.flow = Some(flow);
                flowlet.serve(config, self.expired, actions);
            }
            return;
        }
        if self.flowlets.iter().all(|flowlet| flowlet.reported) {
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
            idle_since: u64::MAX,
            report_at: u64::MAX,
            reported: false,
        };
        actions.push(Action::Tell(flowlet.announcement()));
        // "servers start a regular TCP connection, and in parallel send a notification to the
        // allocator" (§5.3).
        if !config.start_before_allocation && !self.expired {
            actions.push(Action::Hold { flow });
        }
        self.flowlets.push(flowlet);
    }

    /// A flow stops before it has sent all its data, perhaps before its turn.
    pub fn on_stop(
        &mut self,
        config: &AgentConfig,
        now: u64,
        flow: u32,
        actions: &mut Vec<Action>,
    ) {
        for flowlet in &mut self.flowlets {
            flowlet.waiting.retain(|&waiting| waiting != flow);
        }
        self.on_sent_all(config, now, flow, actions);
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
        let Some(place) = self.flowlets.iter().position(|f| f.flow == Some(flow)) else { return };
        let flowlet = &mut self.flowlets[place];
        if let Some(rate) = flowlet.rate.filter(|_| !self.expired) {
            actions.push(Action::FallBack { flow, rate });
        }
        flowlet.flow = flowlet.waiting.pop_front();
        flowlet.report_at = u64::MAX;
        if flowlet.flow.is_some() {
            flowlet.serve(config, self.expired, actions);
        } else if config.linger > 0 {
            flowlet.idle_since = now;
        } else {
            self.end(place, actions);
        }
    }

    fn end(&mut self, place: usize, actions: &mut Vec<Action>) {
        let Flowlet { number, reported, .. } = self.flowlets.remove(place);
        if !reported {
            actions.push(Action::Tell(Message::End { flowlet: number }));
        }
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
            let served = self.flowlets.iter().filter_map(|f| Some((f.flow?, f.rate?)));
            actions.extend(served.map(|(flow, rate)| at_rate(flow, rate)));
        }
        match message {
            Message::Rate { flowlet, rate } => {
                stats.rates += 1;
                // The flowlet may have ended while the message was in flight.
                let place = self.flowlets.binary_search_by_key(&flowlet, |f| f.number);
                let Ok(place) = place else { return };
                let flowlet = &mut self.flowlets[place];
                flowlet.rate = Some(rate);
                if rate == 0 {
                    // The flow is held, so its end is unknown.
                    flowlet.report_at = u64::MAX;
                }
                actions.extend(flowlet.flow.map(|flow| at_rate(flow, rate)));
            }
            Message::Resync => {
                let known = self.flowlets.iter().filter(|flowlet| !flowlet.reported);
                actions.extend(known.map(|flowlet| Action::Tell(flowlet.announcement())));
            }
            Message::Renewal => {}
            Message::Start { .. } | Message::End { .. } | Message::Transit { .. } => {
                unreachable!("only allocators receive these")
            }
        }
    }

    /// Sets the expected time at which the flow in service has sent all its data (ps).
    pub fn expect_end(&mut self, config: &AgentConfig, flow: u32, end: u64) {
        if let Some(flowlet) = self.flowlets.iter_mut().find(|f| f.flow == Some(flow)) {
            flowlet.report_at = end.saturating_sub(config.advance_notice);
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
        for flowlet in &mut self.flowlets {
            if flowlet.report_due(config).is_some_and(|time| time <= now) {
                // "knowing the exact flowlet size allows the OS and applications to provide the
                // allocator with advance notification of flowlet endings" (§6).
                flowlet.reported = true;
                actions.push(Action::Tell(Message::End { flowlet: flowlet.number }));
            }
        }
        while let Some(place) =
            self.flowlets.iter().position(|f| f.idle_end(config).is_some_and(|time| time <= now))
        {
            self.end(place, actions);
        }
    }

    /// "If the allocator fails, the rates expire and endpoint congestion control (e.g., TCP) takes
    /// over, using the previously allocated rates as a starting point" (§6).
    fn expire(&mut self, config: &AgentConfig, stats: &mut AgentStats, actions: &mut Vec<Action>) {
        self.expired = true;
        stats.expiries += 1;
        for flowlet in self.flowlets.iter().filter(|flowlet| !flowlet.reported) {
            let Some(flow) = flowlet.flow else { continue };
            if flowlet.rate.is_some() || !config.start_before_allocation {
                stats.fallbacks += 1;
                actions.push(Action::FallBack { flow, rate: flowlet.rate.unwrap_or(0) });
            }
        }
    }

    /// Time at which rates expire unless a message arrives (ps).
    fn expiry(&self, config: &AgentConfig) -> Option<u64> {
        let held = !self.expired && self.flowlets.iter().any(|flowlet| !flowlet.reported);
        held.then(|| self.last_message_ps + config.lifetime)
    }

    /// Time of the next timer (ps).
    #[must_use]
    pub fn next_timer(&self, config: &AgentConfig) -> Option<u64> {
        if config.linger == 0 && config.advance_notice == 0 {
            return self.expiry(config);
        }
        let of_flowlet = |flowlet: &Flowlet| {
            flowlet.idle_end(config).into_iter().chain(flowlet.report_due(config)).min()
        };
        self.flowlets.iter().filter_map(of_flowlet).chain(self.expiry(config)).min()
    }

    /// Number of flowlets that the allocator should know.
    #[must_use]
    pub fn live(&self) -> usize {
        self.flowlets.iter().filter(|flowlet| !flowlet.reported).count()
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

    /// Time at which it ends for lack of data (ps).
    fn idle_end(&self, config: &AgentConfig) -> Option<u64> {
        self.flow.is_none().then(|| self.idle_since.saturating_add(config.linger))
    }

    /// Time at which its end must be reported in advance (ps).
    fn report_due(&self, config: &AgentConfig) -> Option<u64> {
        let due = config.advance_notice > 0 && !self.reported && self.waiting.is_empty();
        (due && self.flow.is_some() && self.report_at < u64::MAX).then_some(self.report_at)
    }
}

/// A rate of zero means an unusable path.
fn at_rate(flow: u32, rate: u64) -> Action {
    if rate == 0 { Action::Hold { flow } } else { Action::Go { flow, rate } }
}

#[cfg(test)]
mod tests;
