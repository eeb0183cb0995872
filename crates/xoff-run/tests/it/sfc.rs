//! Source flow control end to end: its closed forms, its properties, and failures of its parts.

use crate::common::{finish, open, over_hosts, over_switches, run};
use xoff_net::arch::Switch;
use xoff_net::hop::{AnyHop, Sfc};
use xoff_run::Run;

/// The dumbbell of SFC §2.3.1: `senders` to one host behind another switch, 4 us away, at 100 Gb/s.
/// Only SFC controls the senders, and only the links delay its signals.
fn dumbbell(senders: u32, bytes: u64) -> String {
    format!(
        "scheme = \"sfc\"\n[network]\ntopology = \"dumbbell\"\n\
         [dumbbell]\nleft_hosts = {senders}\nright_hosts = 1\ntrunk_rate = \"10Tbps\"\n\
         trunk_delay = \"3us\"\n[buffer]\nkind = \"unlimited\"\n\
         [transport]\ncongestion = \"none\"\nwindow = \"unlimited\"\n\
         [sfc]\nbit_delay = \"0ps\"\nmirror_delay = \"0ps\"\npause_unit = \"0ps\"\n\
         trigger = \"202KB\"\ntarget = \"101KB\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"100us\"\ngrid = \"1us\"\ndrain = \"1s\"\n\
         [[traffic]]\nkind = \"incast\"\nvictims = \"{senders}\"\ndegree = {senders}\n\
         bytes = \"{bytes}B\"\nevents = 1\n"
    )
}

/// 24 senders in one rack to a host in another, on a small leaf-spine fabric with HPCC and
/// selective repeat. Two other hosts of the racks exchange flows without congestion.
const RACKS: &str = "scheme = \"sfc\"\n[leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 26\n\
    spine_rate = \"1Tbps\"\n[buffer]\nsize = \"4MB\"\n[run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\n\
    drain = \"1s\"\n\
    [[traffic]]\nkind = \"incast\"\nsenders = \"0-23\"\nvictims = \"26\"\ndegree = 24\n\
    bytes = \"12MB\"\nspread = \"20us\"\nevents = 1\n\
    [[traffic]]\nkind = \"incast\"\nsenders = \"24\"\nvictims = \"51\"\ndegree = 1\n\
    bytes = \"50KB\"\n\
    period = \"30us\"\nevents = 20\nclass = \"bystander\"\n";

fn sum_sfc(run: &Run, count: impl Fn(&Sfc) -> u64) -> u64 {
    let switches = run.simulation().partitions().iter().flat_map(|part| part.switches());
    switches
        .map(|(_, switch)| if let Some(AnyHop::Sfc(sfc)) = switch.hop() { count(sfc) } else { 0 })
        .sum()
}

fn drops(run: &Run) -> u64 {
    over_switches(run, |switch| switch.stats().drops)
}

/// The deepest queue at the end of any step.
fn peak_bytes(run: &mut Run) -> u64 {
    let mut peak = 0;
    while run.step().unwrap_or_else(|message| panic!("{message}")) {
        let switches = run.simulation().partitions().iter().flat_map(|part| part.switches());
        peak = switches.map(|(_, switch)| switch.used_bytes()).max().unwrap_or(0).max(peak);
    }
    peak
}

/// App. C, eq. 3: `B_incast = N R T_F` with `T_F = 2 T_A + T_S`.
#[test]
fn an_incast_at_once_fills_n_r_t_f() {
    for senders in [16u32, 32, 63] {
        let mut run = open(&dumbbell(senders, 100_000_000), &["run.drain=\"0us\""]);
        let (t_a, t_s, rate) = (4e-6, 1048.0 / 12.5e9, 12.5e9);
        let closed_form = f64::from(senders) * rate * (2.0 * t_a + t_s);
        let ratio = peak_bytes(&mut run) as f64 / closed_form;
        assert!((0.9..=1.1).contains(&ratio), "{senders} senders: {ratio}");
    }
}

/// §1, claim: signals take less than a base RTT (10 us here), for any queue.
#[test]
fn signals_do_not_wait_behind_the_queue() {
    let mut run = open(&dumbbell(63, 63_000_000), &["run.drain=\"0us\""]);
    assert!(peak_bytes(&mut run) > 5_000_000);
    let slowest = over_hosts(&run, |stats| stats.signals.max_ps);
    // To the bottleneck and back, with the serialisation of a packet and of a signal on each link.
    assert!((8_000_000..8_300_000).contains(&slowest), "{slowest} ps");
}

/// With the target above `T_F R` the link never runs dry (§3.3).
#[test]
fn pauses_end_in_time_to_keep_the_link_busy() {
    let seconds = |overrides: &[&str]| {
        let (_, rows) = run(&dumbbell(2, 32_000_000), overrides);
        assert_eq!(rows.len(), 2);
        rows.iter().map(|row| row.fct_ps).max().unwrap() as f64 * 1e-12
    };
    let busy = 32e6 * 1.048 / 12.5e9 + 10e-6;
    assert!(seconds(&[]) < 1.01 * busy, "{} {busy}", seconds(&[]));
    let dry = seconds(&["sfc.target=\"1KB\"", "sfc.trigger=\"2KB\""]);
    assert!(dry > 1.02 * busy, "{dry} {busy}");
}

#[test]
fn what_it_keeps_below_the_drop_point_is_not_lost() {
    let (sfc, rows) = run(RACKS, &[]);
    assert_eq!((drops(&sfc), rows.len()), (0, 44));
    let (irn, _) = run(RACKS, &["scheme=irn"]);
    assert!(drops(&irn) > 100, "without SFC the same buffer is not enough: {}", drops(&irn));
}

/// A flow that shares no queue with the incast is as fast as without SFC, although its sender's
/// switch has the incast's receiver in its cache.
#[test]
fn who_is_not_signalled_does_not_wait() {
    let bystanders = |overrides: &[&str]| {
        let (run, rows) = run(RACKS, overrides);
        let rows = rows.into_iter().filter(|row| row.size_bytes == 50_000);
        (rows.map(|row| row.fct_ps).collect::<Vec<_>>(), sum_sfc(&run, |sfc| sfc.stats.sent))
    };
    let (with, signals) = bystanders(&[]);
    let (without, none) = bystanders(&["scheme=irn"]);
    assert!(signals > 100 && none == 0);
    assert_eq!(with.len(), 20);
    for (with, without) in with.iter().zip(&without) {
        // Signals of 64 B share its links.
        assert!(with.abs_diff(*without) < 200_000, "{with} ps, {without} ps without SFC");
    }
}

#[test]
fn lost_signals_are_harmless() {
    for loss in ["0.02", "0.5"] {
        let loss = format!("faults.control_loss={loss}");
        let (run, rows) = run(RACKS, &[&loss]);
        assert_eq!(rows.len(), 44, "{loss}: flows that finished");
        assert!(over_switches(&run, |switch| switch.stats().control_lost) > 3, "{loss}");
    }
    let digest = |overrides: &[&str]| run(RACKS, overrides).0.simulation().digest();
    assert_eq!(digest(&["faults.control_loss=1.0"]), digest(&["scheme=irn"]), "no signal, no SFC");
}

/// "If the table is full, or a hash collision happens, we just don't apply the optimization" (App.
/// B.2): there are two congested receivers and room for one. Signals still come from the congested
/// queues.
#[test]
fn a_cache_of_one_entry_costs_buffer_and_nothing_else() {
    let two = RACKS.to_owned()
        + "[[traffic]]\nkind = \"incast\"\nsenders = \"0-23\"\nvictims = \"27\"\ndegree = 24\n\
           bytes = \"12MB\"\nspread = \"20us\"\nevents = 1\n";
    let signals = |overrides: &[&str]| {
        let (run, rows) = run(&two, overrides);
        assert_eq!((rows.len(), drops(&run)), (68, 0));
        (sum_sfc(&run, Sfc::cache_collisions), sum_sfc(&run, |sfc| sfc.stats.sent_near_source))
    };
    let (collisions, near) = signals(&["sfc.cache_entries=1", "buffer.size=\"32MB\""]);
    let (none, near_with_room) = signals(&["buffer.size=\"32MB\""]);
    assert!(collisions > 0 && none == 0, "{collisions} {none}");
    assert!(near < near_with_room, "{near} {near_with_room}");
}

/// A filter of one cell suppresses all signals of a period but the first, for any flow. The queue
/// grows deeper, and every flow still ends.
#[test]
fn false_positives_cost_buffer_and_nothing_else() {
    let peak = |overrides: &[&str]| {
        let mut run = open(RACKS, overrides);
        let peak = peak_bytes(&mut run);
        assert_eq!(run.progress().flows_finished, 44);
        (peak, sum_sfc(&run, Sfc::false_positives))
    };
    let large = "buffer.size=\"32MB\"";
    let (blind, wrong) = peak(&[large, "sfc.filter_cells=1", "sfc.filter_hashes=1"]);
    let (seeing, right) = peak(&[large]);
    let (none, _) = peak(&[large, "scheme=irn"]);
    assert!(wrong > 100 && right == 0, "{wrong} {right}");
    assert!(seeing < blind && blind <= none, "{seeing} {blind} {none}");
}

#[test]
fn sfc_p_pauses_nics_of_today() {
    let (run, rows) = run(RACKS, &["sfc.to_pfc=true", "transport.recovery=\"go-back-n\""]);
    assert_eq!((rows.len(), drops(&run)), (44, 0));
    assert!(sum_sfc(&run, |sfc| sfc.stats.converted) > 100);
    assert_eq!(over_hosts(&run, |stats| stats.signals.count), 0, "no signal reaches a host");
    let nics = run.simulation().partitions().iter().flat_map(|part| part.hosts().nics());
    let now = run.simulation().progress().sim_ps;
    let paused: Vec<u64> = nics.map(|nic| nic.paused_time().total(now)).collect();
    assert!(paused[..24].iter().all(|&time| time > 0), "senders of the incast");
    assert!(paused[24..].iter().all(|&time| time == 0), "and no other sender");
}

/// §3.4: the first sender's signal enters the cache of its switch. Packets from other hosts to the
/// same receiver are answered at once from then on.
#[test]
fn late_starters_hear_from_their_own_switch() {
    let text = dumbbell(16, 160_000_000);
    let late = "traffic.0.head_start=\"40us\"";
    let alone = |overrides: &[&str]| {
        let mut run = open(&text, overrides);
        let peak = peak_bytes(&mut run);
        (peak, sum_sfc(&run, |sfc| sfc.stats.sent_near_source))
    };
    let few = ["run.drain=\"0us\"", "traffic.0.spread=\"60us\"", late];
    let (cached, near) = alone(&few);
    let (uncached, none) = alone(&[&few[..], &["sfc.cache=false"]].concat());
    assert!(near > 10 && none == 0, "{near}");
    assert!(cached < uncached, "{cached} {uncached}");
}

/// Memory slots do not grow with the length of the run, including copies on their way.
#[test]
fn a_run_leaves_nothing_behind() {
    let mut run = open(RACKS, &[]);
    finish(&mut run);
    for partition in run.simulation().partitions() {
        assert!(partition.fabric().packets.is_empty());
        assert!(partition.switches().iter().all(|(_, switch)| switch.used_bytes() == 0));
    }
}
