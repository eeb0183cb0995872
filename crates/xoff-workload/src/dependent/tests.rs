//! Flows that wait for others.

use proptest::prelude::{any, prop_assert_eq, proptest};
use xoff_core::Rng;
use xoff_core::program::{Act, Job};
use xoff_core::rng::Purpose;

use super::*;
use crate::dag::testing::run;

fn flows(rows: &str) -> Result<Vec<Flow>, String> {
    read("f.csv", &format!("{HEADER}\n{rows}"), 8).map_err(|error| error.to_string())
}

fn dag(rows: &str) -> Dag {
    DependentConfig::default().dag(&flows(rows).unwrap())
}

#[test]
fn a_flow_begins_when_those_before_it_have_ended_and_its_delay_is_over() {
    let job = dag("10,3,5,100,,0\n11,5,7,200,10,0\n12,3,7,300,10,4000\n13,7,3,400,12 11,0\n");
    assert_eq!(job.hosts(), [HostId(3), HostId(5), HostId(7)]);
    let found = run(&job, |_| 0);
    let send = |message, to, bytes| Act::Send { message, to: HostId(to), bytes };
    let finish = Act::Finish { round: 0 };
    let delay = Act::Compute { key: 2, time: Ps(4000) };
    assert_eq!(found[0], [send(0, 5, 100), delay, send(1, 7, 300), finish]);
    assert_eq!(found[1], [send(2, 7, 200), finish]);
    assert_eq!(found[2], [send(3, 3, 400), finish]);
}

#[test]
fn delays_run_at_the_same_time() {
    let mut acts = Vec::new();
    let job = dag("1,0,1,5,,10\n2,0,1,5,,20\n");
    job.program(0).react(xoff_core::program::Event::Begin, &mut acts);
    assert_eq!(acts.len(), 2);
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (rows, said) in [
        ("1,0,1,5,,0\n1,0,1,5,,0", "line 3: there is a flow 1 above: give each an id of its own"),
        ("1,0,9,5,,0", "line 2: host 9 does not exist: hosts are 0 to 7"),
        ("1,0,1,0,,0", "line 2: size_bytes 0: a flow with an end has 1 byte or more"),
        ("1,0,1,5,2,0", "line 2: after 2: there is no such flow"),
        ("1,0,1,5,x,0", "line 2: after x: there is no such flow"),
        ("1,0,1,5,,", "line 2: delay_ps \"\" is not a number that fits: write a whole number"),
        ("1,0,1,5,2,0\n2,1,0,5,1,0", "line 2: the flow waits for itself"),
        ("1,0,1,5,2,0\n2,1,0,5,3,0\n3,0,1,5,2,0", "line 3: the flow waits for itself"),
        (
            "1,0,1,5,,0\n2,2,3,5,1,0",
            "line 3: it begins at host 2, but waits for a flow from host 0 to host 1, which that \
             host does not see",
        ),
    ] {
        let found = flows(rows).unwrap_err();
        assert!(found.starts_with(&format!("f.csv, {said}")), "{found}");
    }
}

proptest! {
    /// Every flow waits for some of the earlier ones that its host sees.
    #[test]
    fn all_flows_are_sent_in_any_order_of_events(seed in any::<u64>(), count in 1usize..40) {
        let mut rng = Rng::stream(seed, Purpose::Traffic, 0);
        let mut ends: Vec<(u64, u64)> = Vec::new();
        let mut rows = String::new();
        for id in 0..count {
            let src = rng.below(8);
            let dst = (src + 1 + rng.below(7)) % 8;
            let seen = (0..id).filter(|&other| [ends[other].0, ends[other].1].contains(&src));
            let after = seen.filter(|_| rng.below(3) == 0).map(|id| id.to_string());
            let after = after.collect::<Vec<_>>().join(" ");
            let (bytes, delay) = (1 + rng.below(9), rng.below(2));
            rows += &format!("{id},{src},{dst},{bytes},{after},{delay}\n");
            ends.push((src, dst));
        }
        let found = run(&dag(&rows), |waiting| rng.below(waiting as u64) as usize);
        let sent = found.iter().flatten().filter(|act| matches!(act, Act::Send { .. })).count();
        prop_assert_eq!(sent, count);
    }
}
