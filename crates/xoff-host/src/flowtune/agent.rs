//! What a server knows of its flowlets and their rates.
//!
//! A state machine: it is told what happens and the time, and returns [`Action`]s. It sees no packet
//! and no queue. Where flows may join a flowlet, those of one flowlet are served one after the other,
//! as calls of send() on one connection are.

use std::collections::VecDeque;

use xoff_core::counts;

use super::{AgentConfig, Message};

/// What is to be done. A flow is named by its number in its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The allocator is told something.
    Tell(Message),
    /// A flow goes at this rate (bit/s), whatever its window.
    Go {
        /// The flow.
        flow: u32,
        /// Its rate.
        rate: u64,
    },
    /// A flow goes on as its own congestion control says.
    FallBack {
        /// The flow.
        flow: u32,
        /// The rate to begin from (bit/s); 0: none, as it was before.
        rate: u64,
    },
    /// A flow waits.
    Hold {
        /// The flow.
        flow: u32,
    },
}

counts! {
    /// Counts of one partition's agents.
    pub struct AgentStats {
        /// Flowlets announced.
        flowlets,
        /// Flows that joined a flowlet instead.
        joined,
        /// Rates received.
        rates,
        /// Times that the rates of a server expired.
        expiries,
        /// Flows that their own congestion control took over then.
        fallbacks,
    }
}

/// A flowlet that has not ended.
#[derive(Debug)]
struct Flowlet {
    number: u32,
    dst: u32,
    label: u32,
    /// The flow that is served, if any.
    flow: Option<u32>,
    /// Those behind it.
    waiting: VecDeque<u32>,
    /// What the allocator said last (bit/s).
    rate: Option<u64>,
    /// Since when there is nothing to send (ps).
    idle_since: u64,
    /// When to report its end in advance (ps).
    report_at: u64,
    /// Whether its end has been reported.
    reported: bool,
}

/// The agent of one server.
#[derive(Debug, Default)]
pub struct Agent {
    /// In the order of their numbers.
    flowlets: Vec<Flowlet>,
    next: u32,
    /// When the allocator was last heard, or had something to say for the first time (ps).
    heard_ps: u64,
    /// Whether rates have expired since.
    expired: bool,
}

impl Agent {
    /// A flow begins: it has just been started under its own congestion control.
    pub fn on_start(
        &mut self,
        config: &AgentConfig,
        now: u64,
        (flow, dst, label): (u32, u32, u32),
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
            // Nobody renews the rates of a server that has none.
            self.heard_ps = now;
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

    /// A flow ends before it has sent what it was to send, perhaps before its turn came.
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

    /// A flow has sent its last byte. What may have to be sent again is no part of a flowlet: its own
    /// congestion control sees to that.
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

    /// The allocator has said something.
    pub fn on_message(
        &mut self,
        now: u64,
        message: Message,
        stats: &mut AgentStats,
        actions: &mut Vec<Action>,
    ) {
        self.heard_ps = now;
        if std::mem::take(&mut self.expired) {
            let served = self.flowlets.iter().filter_map(|f| Some((f.flow?, f.rate?)));
            actions.extend(served.map(|(flow, rate)| at_rate(flow, rate)));
        }
        match message {
            Message::Rate { flowlet, rate } => {
                stats.rates += 1;
                // It may have ended while this was on its way.
                let place = self.flowlets.binary_search_by_key(&flowlet, |f| f.number);
                let Ok(place) = place else { return };
                let flowlet = &mut self.flowlets[place];
                flowlet.rate = Some(rate);
                if rate == 0 {
                    // It waits, and nobody knows when it ends.
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
                unreachable!("allocators hear these")
            }
        }
    }

    /// The flow being served is expected to have sent all at `end` (ps).
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

    /// When rates expire if nothing is heard (ps).
    fn expiry(&self, config: &AgentConfig) -> Option<u64> {
        let held = !self.expired && self.flowlets.iter().any(|flowlet| !flowlet.reported);
        held.then(|| self.heard_ps + config.lifetime)
    }

    /// When it next wants to be asked (ps).
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

    /// How many flowlets there are, as the allocator should know them.
    #[must_use]
    pub fn live(&self) -> usize {
        self.flowlets.iter().filter(|flowlet| !flowlet.reported).count()
    }
}

impl Flowlet {
    fn announcement(&self) -> Message {
        Message::Start { flowlet: self.number, dst: self.dst, label: self.label }
    }

    /// Lets its flow begin, which may have been held until now.
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

    /// When it ends because it has had nothing to send (ps).
    fn idle_end(&self, config: &AgentConfig) -> Option<u64> {
        self.flow.is_none().then(|| self.idle_since.saturating_add(config.linger))
    }

    /// When its end is to be reported in advance (ps).
    fn report_due(&self, config: &AgentConfig) -> Option<u64> {
        let due = config.advance_notice > 0 && !self.reported && self.waiting.is_empty();
        (due && self.flow.is_some() && self.report_at < u64::MAX).then_some(self.report_at)
    }
}

/// A rate of zero is that of a path that cannot be used.
fn at_rate(flow: u32, rate: u64) -> Action {
    if rate == 0 { Action::Hold { flow } } else { Action::Go { flow, rate } }
}

#[cfg(test)]
mod tests;
