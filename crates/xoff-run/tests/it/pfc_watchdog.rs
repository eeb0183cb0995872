//! The watchdog of priority flow control at the switch of a receiver that reads too slowly.

use crate::common::{finish, open, over_switches};
use xoff_net::arch::Switch;
use xoff_sim::{FlowRow, StuckQueueRow};

const US: u64 = 1_000_000;

/// Host 2 reads at a hundredth of its link's rate. A flow to it fills its NIC, which pauses the
/// switch for some 400 us. A short flow leaves it at 250 us, after the release of its queue.
const SLOW: &str = r#"
scheme = "pfc"
network = { topology = "star" }
star = { hosts = 4 }
nic = { receive_rate = "1Gbps" }
pfc = { watchdog_detection = "100us", watchdog_restoration = "150us" }
transport = { timeout = "1ms" }
run = { warmup = "0us", measure = "1ms", drain = "100ms" }
[[traffic]]
kind = "long"
src = 0
dst = 2
bytes = "1MB"
[[traffic]]
kind = "long"
src = 2
dst = 1
bytes = "20KB"
start = "250us"
"#;

struct Outcome {
    /// The long flow and the short one.
    flows: Vec<FlowRow>,
    stuck: Vec<StuckQueueRow>,
    drops: u64,
}

fn outcome(text: &str, action: &str) -> Outcome {
    let mut run = open(text, &[&format!("pfc.watchdog={action}"), "run.check_invariants=true"]);
    let mut flows = finish(&mut run);
    flows.sort_unstable_by_key(|row| row.flow);
    let found = run.summary().pfc.watchdog.expect("a watchdog");
    let drops = over_switches(&run, |switch| switch.stats().drops);
    let stuck = std::mem::take(&mut run.rows().stuck_queues);
    assert_eq!(found.stuck_queues, stuck.len() as u64);
    assert_eq!(found.dropped_packets, stuck.iter().map(|row| row.dropped).sum::<u64>());
    for row in &stuck {
        assert_eq!((row.peer, row.released_ps - row.paused_ps), (2, 100 * US), "{row:?}");
    }
    Outcome { flows, stuck, drops }
}

/// All packets that the switch drops are in the table: its memory has room for both flows.
#[test]
fn packets_to_and_from_a_stuck_port_are_dropped_until_it_is_restored() {
    let Outcome { flows, stuck, drops } = outcome(SLOW, "drop");
    assert_eq!(drops, stuck.iter().map(|row| row.dropped).sum::<u64>());
    let [long, short] = flows.as_slice() else { panic!("{flows:?}") };
    // Most of the flow waits in the switch when its queue is released.
    assert!(stuck[0].dropped > 800 && long.fct_ps > 1_000 * US, "{:?}", stuck[0]);
    assert!(stuck[0].released_ps < short.start_ps && stuck[0].restored_ps > 400 * US);
    assert!(short.start_ps + short.rx_fct_ps > stuck[0].restored_ps, "{short:?}");
}

#[test]
fn a_queue_that_forwards_loses_nothing_and_stops_no_packets_from_its_port() {
    let Outcome { flows, stuck, drops } = outcome(SLOW, "forward");
    let [long, short] = flows.as_slice() else { panic!("{flows:?}") };
    assert_eq!((stuck.len(), stuck[0].dropped, drops), (1, 0, 0));
    assert_eq!(short.fct_ps, short.ideal_fct_ps);
    // The NIC has room for all that it does not want.
    assert!(long.fct_ps > stuck[0].released_ps && long.fct_ps < 200 * US, "{long:?}");
}

/// The end of a link ends its pauses, and the queue obeys again after the time for it.
#[test]
fn a_stuck_queue_whose_link_goes_down_is_restored() {
    let down = "[[fault]]\nkind = \"host-down\"\nhost = \"2\"\nat = \"200us\"\n";
    for action in ["drop", "forward"] {
        let Outcome { flows, stuck, .. } = outcome(&format!("{SLOW}{down}"), action);
        assert_eq!(flows.len(), usize::from(action == "forward"), "{flows:?}");
        let [row] = stuck.as_slice() else { panic!("{stuck:?}") };
        assert_eq!(row.restored_ps, 350 * US, "{action}");
    }
}
