//! Shares of traffic classes in the memory of switches: lossless and lossy classes next to
//! each other.

use crate::common::{over_switches, run};
use xoff_net::arch::Switch;
use xoff_run::Run;
use xoff_run::summary::RefusedPackets;

const STAR: &str = "[network]\ntopology = \"star\"\n[star]\nhosts = 32\n[transport]\n\
                    timeout = \"200us\"\n[run]\nwarmup = \"0us\"\nmeasure = \"3ms\"\n\
                    check_invariants = true\n";

/// Hosts from `first` on send to a host at once, in a class.
fn incast(first: u8, degree: u8, victim: u8, class: u8) -> String {
    let flow = |src: u8| {
        format!(
            "[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {victim}\nbytes = \"500KB\"\n\
             priority = {class}\nclass = \"{class}\"\n"
        )
    };
    (first..first + degree).map(flow).collect()
}

fn refused(run: &Run, class: &str) -> Option<RefusedPackets> {
    let memory = run.summary().class_memory.expect("accounts of classes");
    memory.refused.get(class).cloned()
}

/// An incast in a lossless class and another in a lossy one fill the memory. Only the lossy class
/// loses packets, at its threshold, and every flow ends.
#[test]
fn a_lossless_class_loses_nothing_beside_a_lossy_one() {
    let text = STAR.to_owned() + &incast(2, 14, 0, 3) + &incast(16, 14, 1, 0);
    let by_class = "buffer.by_class=0: lossy alpha 1, 3: alpha 0.1";
    for scheduler in ["fifo", "ets"] {
        let scheduler = format!("switch.scheduler={scheduler}");
        let sets = ["scheme=pfc", "buffer.size=5MB", by_class, &scheduler];
        let (run, rows) = run(&text, &sets);
        assert_eq!(rows.len(), 28, "{scheduler}");
        assert!(refused(&run, "3").is_none(), "{scheduler}");
        let lossy = refused(&run, "0").expect("it drops");
        let drops = over_switches(&run, |switch| switch.stats().drops);
        assert_eq!((lossy.threshold, lossy.headroom), (drops, 0), "{scheduler}");
        assert!(over_switches(&run, |switch| switch.stats().pauses) > 0, "{scheduler}");
    }
}

/// With a large alpha the lossy class takes the pool. The lossless class then lives from its
/// reserve and headroom, and still loses nothing.
#[test]
fn a_greedy_lossy_class_takes_no_headroom() {
    let text = STAR.to_owned() + &incast(2, 14, 0, 3) + &incast(16, 14, 1, 0);
    let by_class = "buffer.by_class=0: lossy alpha 64, 3: alpha 0.1";
    let (run, rows) = run(&text, &["scheme=pfc", "buffer.size=3200KB", by_class]);
    assert_eq!(rows.len(), 28);
    assert!(refused(&run, "3").is_none() && refused(&run, "0").is_some());
    assert!(run.summary().class_memory.unwrap().headroom_max_bytes > 0);
}

/// Headrooms from one pool: it suffices for a quarter of the ports, and not for all.
#[test]
fn an_oversubscribed_headroom_drops_when_many_ports_need_it() {
    let lost = |degree: u8, times: &str| {
        let text = STAR.to_owned() + &incast(1, degree, 0, 3);
        let times = format!("pfc.headroom_oversubscription={times}");
        let low = "pfc.threshold=0.001";
        let (run, rows) = run(&text, &["scheme=pfc", &times, low]);
        assert_eq!(rows.len(), usize::from(degree));
        let pool = refused(&run, "3").map_or(0, |refused| refused.headroom_pool);
        assert_eq!(pool, over_switches(&run, |switch| switch.stats().drops));
        pool
    };
    assert_eq!(lost(30, "1"), 0);
    assert_eq!(lost(6, "4"), 0);
    assert!(lost(30, "4") > 0);
}

/// Guaranteed bytes of a class when others have filled the pool. Its flows fit into them.
#[test]
fn a_reserve_lets_a_class_through_a_full_memory() {
    let late = incast(16, 2, 0, 5).replace("500KB\"", "50KB\"\nstart = \"100us\"");
    let text = STAR.to_owned() + &incast(2, 14, 0, 0) + &late;
    let lost = |own: &str| {
        let by_class = format!("buffer.by_class=0: alpha 64, 5: alpha 0.01 {own}");
        let sets = ["scheme=pfc", "switch.hop=none", "buffer.size=4MB", &by_class];
        let (run, _) = run(&text, &sets);
        assert!(refused(&run, "0").is_some(), "the memory is not full");
        refused(&run, "5").map_or(0, |refused| refused.threshold)
    };
    assert_eq!(lost("reserve 110KB"), 0);
    assert!(lost("") > 0);
}

/// Classes that are alike make no difference: the accounts by class drop what one threshold for all
/// drops, and pause when PFC without classes does.
#[test]
fn classes_that_are_alike_change_nothing() {
    let text = STAR.to_owned() + &incast(2, 14, 0, 3) + &incast(16, 14, 1, 0);
    let digest = |sets: &[&str]| {
        let (run, _) = run(&text, sets);
        (run.digest(), over_switches(&run, |switch| switch.stats().drops))
    };
    let none = ["scheme=dctcp", "switch.hop=none", "buffer.size=2MB", "buffer.alpha=0.5"];
    let alike = [&none[..], &["buffer.by_class=3: alpha 0.5"]].concat();
    let plain = digest(&none);
    assert!(plain.1 > 0);
    assert_eq!(digest(&alike), plain);
    let pfc = ["scheme=pfc", "buffer.size=5MB"];
    let alike = [&pfc[..], &["pfc.headroom_oversubscription=1"]].concat();
    assert_eq!(digest(&alike), digest(&pfc));
}
