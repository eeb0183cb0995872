//! Pauses that go round in circles: that they do where routes turn down and up again, that a run which
//! they stop says so, and that it goes on where they are left out (BFC App. B).

mod common;

use common::{finish, open, open_on, over_switches, run};
use xoff_scenario::Run;
use xoff_sim::Threads;

/// Two spines, and two links that are down. Leaf 0 (hosts 0 to 7) reaches leaf 1 (8 to 15) by spine 1, a
/// third leaf and spine 0 only. With what leaves 2 and 3 send each other this closes a circle in each
/// direction: spine 0, leaf 2, spine 1, leaf 3.
const NETWORK: &str = r#"
leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 8 }
run = { warmup = "0us", measure = "1ms", drain = "200ms", watchdog = "20ms" }
[[fault]]
kind = "link-down"
link = "leaf:0,spine:0"
detection = "0us"
[[fault]]
kind = "link-down"
link = "leaf:1,spine:1"
detection = "0us"
"#;

/// Each host of leaf `src` sends to two hosts of leaf `dst`.
fn many(src: u32, dst: u32) -> String {
    (0..8)
        .map(|number| {
            let (from, to) = (8 * src + number, 8 * dst + number % 2);
            format!("[[traffic]]\nkind = \"long\"\nsrc = {from}\ndst = {to}\nbytes = \"2MB\"\n")
        })
        .collect()
}

/// All around the circles, more than the links can take.
fn around(scheme: &str) -> String {
    let pairs = [(0, 1), (1, 0), (2, 3), (3, 2)];
    let flows: String = pairs.map(|(src, dst)| many(src, dst)).concat();
    format!("scheme = \"{scheme}\"\n{NETWORK}{flows}")
}

const FLOWS: usize = 32;

fn stuck(mut run: Run) -> String {
    loop {
        match run.step() {
            Ok(more) => assert!(more, "the run ended"),
            Err(message) => break message,
        }
    }
}

#[test]
fn pfc_hangs_where_routes_turn_down_and_up_and_the_run_names_the_circle() {
    let said = stuck(open(&around("pfc"), &[]));
    assert!(said.contains("the run is stuck"), "{said}");
    assert!(said.contains("a deadlock: "), "{said}");
    println!("{said}");
}
