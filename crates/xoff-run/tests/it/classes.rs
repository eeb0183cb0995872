//! Priority classes (BFC App. A.3): BFC with divided queues, and its rivals.

use crate::common::{over_switches, run};
use xoff_net::arch::Switch;

const STAR: &str = "[network]\ntopology = \"star\"\n[star]\nhosts = 20\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"3ms\"\n";

/// Four flows per class, each from a different host, to host 0.
fn flows(classes: u8, bytes: &str) -> String {
    let flow = |src: u8| {
        format!(
            "[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = 0\nbytes = \"{bytes}\"\n\
             priority = {}\nclass = \"{0}\"\n",
            (src - 1) / 4
        )
    };
    (1..=4 * classes).map(flow).collect()
}

/// The end of each class's last flow, as a share of the link's time for all flows of this class and
/// those before it.
fn ends(scheme: &str, overrides: &[&str]) -> Vec<f64> {
    let mut all = vec![scheme];
    all.extend(overrides);
    let (_, rows) = run(&(STAR.to_owned() + &flows(4, "500KB")), &all);
    assert_eq!(rows.len(), 16);
    let end = |class: u16| {
        let of_class = rows.iter().filter(|row| row.class == class);
        let last = of_class.map(|row| row.fct_ps).max().unwrap();
        last as f64 / (u64::from(class + 1) * 4 * 500 * 1048 * 80) as f64
    };
    (0..4).map(end).collect()
}

/// Each class has the whole link once the classes before it have ended. It wastes no more of the
/// link than synchronised flows do without classes (App. C).
#[test]
fn classes_are_served_one_after_the_other() {
    for overrides in [&[][..], &["bfc.queues=128"], &["bfc.assignment=stochastic"]] {
        for end in ends("scheme=bfc-classes", overrides) {
            assert!((1.0..1.27).contains(&end), "{overrides:?}: {end}");
        }
    }
    for end in ends("scheme=dctcp-classes", &[]) {
        assert!((1.0..1.35).contains(&end), "DCTCP: {end}");
    }
}

/// With memory for each class, a full class takes none from the others while it is in service, also
/// where the packet in service keeps its room.
#[test]
fn a_full_class_drops_no_packets_of_others() {
    let flow = |src: u32, kb: u32, rest: &str| {
        format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = 0\nbytes = \"{kb}KB\"\n{rest}\n")
    };
    let long: String = (1..=12).map(|src| flow(src, 200, "priority = 1")).collect();
    let short: String = (0..60).map(|us| flow(14, 1, &format!("start = \"{us}us\""))).collect();
    let overrides = [
        "scheme=htsim-dctcp",
        "buffer.size=40KB",
        "tcp.handshake=false",
        "ecn.kmin=1MB",
        "ecn.kmax=1MB",
    ];
    let (run, rows) = run(&(STAR.to_owned() + &long + &short), &overrides);
    assert!(over_switches(&run, |switch| switch.stats().drops) > 100);
    assert_eq!(rows.len(), 72);
    for row in rows.iter().filter(|row| row.size_bytes < 2000) {
        assert!(row.slowdown() < 3.0, "at {}: {}", row.start_ps, row.slowdown());
    }
}

/// Flows of one class share fairly.
#[test]
fn flows_of_a_class_end_together() {
    let (_, rows) = run(&(STAR.to_owned() + &flows(4, "500KB")), &["scheme=bfc-classes"]);
    for class in 0..4 {
        let of_class = || rows.iter().filter(|row| row.class == class).map(|row| row.fct_ps);
        let (first, last) = (of_class().min().unwrap(), of_class().max().unwrap());
        // A tenth of the link's time for the class.
        assert!(last - first <= 200 * 1048 * 80, "class {class}: {} ps apart", last - first);
    }
}

/// Under DCTCP a class with a short queue is not marked for the queues of others. HPCC reports the
/// bytes of all classes.
#[test]
fn rivals_look_at_a_class_or_at_all() {
    let long = "[[traffic]]\nkind = \"long\"\nsrc = 1\ndst = 0\npriority = 3\ncount = 2\n";
    let short = "[[traffic]]\nkind = \"long\"\nsrc = 2\ndst = 0\nbytes = \"3MB\"\n\
                 priority = 0\nclass = \"short\"\nstart = \"500us\"\n";
    let text = STAR.to_owned() + long + &long.replace("src = 1", "src = 3") + short;
    let slowdown = |scheme: &str| {
        let (run, rows) = run(&text, &[scheme, "run.drain=1ms"]);
        (rows[0].slowdown(), over_switches(&run, |switch| switch.stats().marks))
    };
    let (dctcp, marks) = slowdown("scheme=dctcp-classes");
    assert!(dctcp < 1.02 && marks > 0, "{dctcp}, {marks} marks");
    let (hpcc, _) = slowdown("scheme=hpcc-classes");
    assert!(hpcc > 1.1, "{hpcc}");
}

/// A lower threshold marks more packets, of its own class only.
#[test]
fn a_class_is_marked_at_its_own_thresholds() {
    let marks = |by_class: &str, class: u8| {
        let set = format!("ecn.by_class=\"{by_class}\"");
        let text = STAR.to_owned() + &flows(1, "5MB");
        let text = text.replace("priority = 0", &format!("priority = {class}"));
        let sets = ["scheme=dctcp-classes", "ecn.kmin=50KB", "ecn.kmax=50KB", &set];
        let (run, rows) = run(&text, &sets);
        assert_eq!(rows.len(), 4);
        over_switches(&run, |switch| switch.stats().marks)
    };
    let (early, usual) = (marks("3: 10KB-10KB, 4: never", 3), marks("3: 10KB-10KB, 4: never", 2));
    assert!(early > usual && usual > 0, "{early} and {usual} marks");
    assert_eq!(marks("3: 10KB-10KB, 4: never", 4), 0);
    assert_eq!(marks("", 3), usual);
}

/// The link between two leaves carries three classes, and PFC pauses one of them for a receiver
/// that others fill. The two others share what it leaves in proportion to their weights.
#[test]
fn a_paused_class_leaves_the_weights_of_others() {
    let flow = |(src, dst, class, bytes): (u8, u8, u8, &str)| {
        format!(
            "[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {dst}\nbytes = \"{bytes}\"\n\
             priority = {class}\nclass = \"{class}\"\n"
        )
    };
    // Class 3 could have most of the link, but half of its receiver's link is taken.
    let flows = [(0, 4, 1, "2MB"), (1, 5, 2, "6MB"), (2, 6, 3, "0B"), (7, 6, 3, "0B")];
    let text = "scheme = \"pfc\"\n[network]\ntopology = \"leaf-spine\"\n[leaf_spine]\n\
                leaves = 2\nspines = 1\nhosts_per_leaf = 4\n[switch]\nscheduler = \"ets\"\n\
                [ets]\nweights = \"1,1,3,8,1,1,1,1\"\n\
                [run]\nwarmup = \"0us\"\nmeasure = \"2ms\"\n";
    let text = text.to_owned() + &flows.map(flow).concat();
    let (run, rows) = run(&text, &["run.drain=0us"]);
    let seconds = |class| {
        let row = rows.iter().find(|row| row.class == class).expect("it ends");
        row.fct_ps as f64 / 1e12
    };
    let ends = [seconds(0), seconds(1)];
    assert!((ends[0] / ends[1] - 1.0).abs() < 0.03, "{ends:?}");
    // Without pauses the weight of class 3 would leave them a third of the link.
    let share = 8e6 * 8.0 * 1048.0 / 1000.0 / ends[1] / 100e9;
    assert!(share > 0.38, "{share}");
    assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0);
}
