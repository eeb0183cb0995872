//! Tests of agents without a network.

use proptest::prelude::*;

use xoff_core::HostId;

use super::*;

const CONFIG: AgentConfig = AgentConfig {
    domain_servers: u32::MAX,
    start_before_allocation: true,
    window_rtts: 2.0,
    lifetime: 100,
    joins: false,
    linger: 0,
    advance_notice: 0,
    message_loss: 0.0,
};

/// An agent and its pending actions.
#[derive(Default)]
struct Rig {
    agent: Agent,
    stats: AgentStats,
    actions: Vec<Action>,
}

impl Rig {
    fn wants(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    fn start(&mut self, config: &AgentConfig, now: u64, flow: u32, dst: u32) -> Vec<Action> {
        self.agent.on_start(
            config,
            now,
            (flow, HostId(dst), 7),
            &mut self.stats,
            &mut self.actions,
        );
        self.wants()
    }

    fn receive(&mut self, now: u64, message: Message) -> Vec<Action> {
        self.agent.on_message(now, message, &mut self.stats, &mut self.actions);
        self.wants()
    }

    fn sent_all(&mut self, config: &AgentConfig, now: u64, flow: u32) -> Vec<Action> {
        self.agent.on_sent_all(config, now, flow, &mut self.actions);
        self.wants()
    }

    fn tick(&mut self, config: &AgentConfig, now: u64) -> Vec<Action> {
        self.agent.on_timer(config, now, &mut self.stats, &mut self.actions);
        self.wants()
    }
}

fn start(flowlet: u32, dst: u32) -> Action {
    Action::Tell(Message::Start { flowlet, dst: HostId(dst), label: 7 })
}

fn end(flowlet: u32) -> Action {
    Action::Tell(Message::End { flowlet })
}

fn rate(flowlet: u32, rate: u64) -> Message {
    Message::Rate { flowlet, rate }
}

#[test]
fn a_flowlet_is_announced_gets_rates_and_ends() {
    let mut rig = Rig::default();
    assert_eq!(rig.start(&CONFIG, 0, 5, 9), [start(0, 9)]);
    assert_eq!(rig.receive(10, rate(0, 40)), [Action::Go { flow: 5, rate: 40 }]);
    assert_eq!(rig.receive(20, rate(0, 0)), [Action::Hold { flow: 5 }]);
    assert_eq!(rig.receive(30, rate(0, 20)), [Action::Go { flow: 5, rate: 20 }]);
    assert_eq!(rig.sent_all(&CONFIG, 40, 5), [Action::FallBack { flow: 5, rate: 20 }, end(0)]);
    // A late rate, and a flow that has retransmitted data.
    assert_eq!(rig.receive(50, rate(0, 30)), []);
    assert_eq!(rig.sent_all(&CONFIG, 60, 5), []);
    assert_eq!(rig.agent.next_timer(&CONFIG), None);
}

#[test]
fn flows_can_be_held_until_their_first_rate() {
    let waits = AgentConfig { start_before_allocation: false, ..CONFIG };
    let mut rig = Rig::default();
    assert_eq!(rig.start(&waits, 0, 5, 9), [start(0, 9), Action::Hold { flow: 5 }]);
    assert_eq!(rig.tick(&waits, 99), []);
    assert_eq!(rig.tick(&waits, 100), [Action::FallBack { flow: 5, rate: 0 }]);
    // The allocator does not reply, so the next flow begins at once.
    assert_eq!(rig.start(&waits, 110, 6, 9), [start(1, 9)]);
}

#[test]
fn rates_expire_and_any_message_restores_them() {
    let mut rig = Rig::default();
    rig.start(&CONFIG, 0, 5, 9);
    rig.start(&CONFIG, 0, 6, 8);
    rig.receive(50, rate(0, 40));
    rig.receive(60, Message::Renewal);
    assert_eq!(rig.agent.next_timer(&CONFIG), Some(160));
    assert_eq!(rig.tick(&CONFIG, 159), []);
    assert_eq!(rig.tick(&CONFIG, 160), [Action::FallBack { flow: 5, rate: 40 }]);
    assert_eq!((rig.stats.expiries, rig.stats.fallbacks), (1, 1));
    assert_eq!(rig.agent.next_timer(&CONFIG), None);
    assert_eq!(rig.receive(300, Message::Renewal), [Action::Go { flow: 5, rate: 40 }]);
    assert_eq!(rig.agent.next_timer(&CONFIG), Some(400));
}

/// "synchronizes state between the allocator and endpoints" (§5.1): a restarted allocator gets
/// reports of all existing flowlets.
#[test]
fn a_resync_reports_all_flowlets() {
    let mut rig = Rig::default();
    (5..8).for_each(|flow| drop(rig.start(&CONFIG, 0, flow, flow)));
    rig.sent_all(&CONFIG, 10, 6);
    assert_eq!(rig.receive(20, Message::Resync), [start(0, 5), start(2, 7)]);
}

#[test]
fn flows_of_one_flowlet_are_served_in_sequence() {
    let joins = AgentConfig { joins: true, ..CONFIG };
    let mut rig = Rig::default();
    rig.start(&joins, 0, 5, 9);
    assert_eq!(rig.start(&joins, 0, 6, 9), [Action::Hold { flow: 6 }]);
    rig.receive(10, rate(0, 40));
    let next = [Action::FallBack { flow: 5, rate: 40 }, Action::Go { flow: 6, rate: 40 }];
    assert_eq!(rig.sent_all(&joins, 20, 5), next);
    let over = [Action::FallBack { flow: 6, rate: 40 }, end(0)];
    assert_eq!(rig.sent_all(&joins, 30, 6), over);
    assert_eq!((rig.stats.flowlets, rig.stats.joined), (1, 1));
}

#[test]
fn an_idle_flowlet_keeps_its_rate_until_its_linger_time_ends() {
    let idle = AgentConfig { joins: true, linger: 50, lifetime: 1000, ..CONFIG };
    let mut rig = Rig::default();
    rig.start(&idle, 0, 5, 9);
    rig.receive(10, rate(0, 40));
    assert_eq!(rig.sent_all(&idle, 20, 5), [Action::FallBack { flow: 5, rate: 40 }]);
    assert_eq!(rig.start(&idle, 60, 6, 9), [Action::Go { flow: 6, rate: 40 }]);
    rig.sent_all(&idle, 80, 6);
    assert_eq!(rig.agent.next_timer(&idle), Some(130));
    assert_eq!(rig.tick(&idle, 129), []);
    assert_eq!(rig.tick(&idle, 130), [end(0)]);
}

#[test]
fn an_end_is_reported_once() {
    let early = AgentConfig { advance_notice: 20, ..CONFIG };
    let mut rig = Rig::default();
    rig.start(&early, 0, 5, 9);
    rig.receive(10, rate(0, 40));
    rig.agent.expect_end(&early, 5, 60);
    assert_eq!(rig.agent.next_timer(&early), Some(40));
    assert_eq!(rig.tick(&early, 40), [end(0)]);
    // Its rate stays valid without renewals.
    assert_eq!(rig.agent.next_timer(&early), None);
    assert_eq!(rig.sent_all(&early, 60, 5), [Action::FallBack { flow: 5, rate: 40 }]);
}

/// A flow stopped before its turn is not served, and those behind it are.
#[test]
fn a_flow_that_stops_while_waiting_is_skipped() {
    let joins = AgentConfig { joins: true, ..CONFIG };
    let mut rig = Rig::default();
    (5..8).for_each(|flow| drop(rig.start(&joins, 0, flow, 9)));
    rig.receive(10, rate(0, 40));
    rig.agent.on_stop(&joins, 15, 6, &mut rig.actions);
    assert_eq!(rig.wants(), []);
    let next = [Action::FallBack { flow: 5, rate: 40 }, Action::Go { flow: 7, rate: 40 }];
    assert_eq!(rig.sent_all(&joins, 20, 5), next);
}

#[test]
fn a_waiting_flow_does_not_end_the_one_in_service() {
    let joins = AgentConfig { joins: true, ..CONFIG };
    let mut rig = Rig::default();
    (5..7).for_each(|flow| drop(rig.start(&joins, 0, flow, 9)));
    rig.receive(10, rate(0, 40));
    assert_eq!(rig.sent_all(&joins, 20, 6), []);
    let next = [Action::FallBack { flow: 5, rate: 40 }, Action::Go { flow: 6, rate: 40 }];
    assert_eq!(rig.sent_all(&joins, 30, 5), next);
}

/// A flow that waits for a path has no expected end, nor has one that replaces another.
#[test]
fn an_expected_end_belongs_to_the_flow_in_service() {
    let early = AgentConfig { advance_notice: 20, joins: true, lifetime: 1000, ..CONFIG };
    let mut rig = Rig::default();
    (5..7).for_each(|flow| drop(rig.start(&early, 0, flow, 9)));
    rig.receive(10, rate(0, 40));
    rig.agent.expect_end(&early, 5, 60);
    rig.sent_all(&early, 60, 5);
    assert_eq!(rig.tick(&early, 60), []);
    rig.agent.expect_end(&early, 6, 200);
    assert_eq!(rig.receive(70, rate(0, 0)), [Action::Hold { flow: 6 }]);
    assert_eq!(rig.tick(&early, 200), []);
}

proptest! {
    /// In any sequence the allocator gets as many ends as starts, one per flowlet, and no flow
    /// without a known flowlet sends at a rate.
    #[test]
    fn every_start_has_one_end(
        joins in any::<bool>(),
        linger in 0u64..60,
        steps in prop::collection::vec((0u64..80, 0u8..4, 0u32..4), 1..80),
    ) {
        let config = AgentConfig { joins, linger: if joins { linger } else { 0 }, ..CONFIG };
        let (mut rig, mut now, mut begun) = (Rig::default(), 0, Vec::new());
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        let mut note = |actions: Vec<Action>| for action in actions {
            match action {
                Action::Tell(Message::Start { flowlet, .. }) => starts.push(flowlet),
                Action::Tell(Message::End { flowlet }) => ends.push(flowlet),
                _ => {}
            }
        };
        for (time, what, which) in steps {
            now += time;
            match what {
                0 => {
                    let flow = begun.len() as u32;
                    begun.push(Some(flow));
                    note(rig.start(&config, now, flow, which));
                }
                1 => note(rig.receive(now, rate(which, u64::from(which)))),
                2 => if let Some(served) = rig.agent.flowlets.values().next().and_then(|f| f.flow) {
                    note(rig.sent_all(&config, now, served));
                },
                _ => note(rig.tick(&config, now)),
            }
        }
        while let Some(flow) = rig.agent.flowlets.values().find_map(|f| f.flow) {
            note(rig.sent_all(&config, now, flow));
        }
        note(rig.tick(&config, now + 1000));
        prop_assert!(rig.agent.flowlets.is_empty() && rig.agent.of_flow.is_empty());
        prop_assert!(rig.agent.due.is_empty() && rig.agent.to_join.is_empty());
        prop_assert_eq!(rig.agent.live, 0);
        ends.sort_unstable();
        prop_assert_eq!(starts, ends);
    }
}
