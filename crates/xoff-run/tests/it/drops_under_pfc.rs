//! Packets that PFC fails to hold back, and the bound from which on it holds all of them back.

use xoff_run::Run;
use xoff_sim::Threads;

/// Sixteen hosts on slow links, where few packets are on the wire: a headroom in proportion to
/// these holds not even one packet.
fn text(headroom_factor: u32) -> String {
    format!(
        "scheme = \"pfc\"\n[network]\ntopology = \"star\"\n[star]\nhosts = 16\nrate = \"2Gbps\"\n\
         [buffer]\nsize = \"400KB\"\n[pfc]\nreserve = \"0B\"\n\
         headroom_factor = {headroom_factor}\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\ncheck_invariants = true\nflows = \"none\"\n\
         watchdog = \"1s\"\n[[traffic]]\nkind = \"incast\"\nvictims = \"0\"\ndegree = 15\n\
         bytes = \"3MB\"\nevents = 1\n"
    )
}

fn summary(headroom_factor: u32) -> (u64, Vec<String>) {
    let mut run = Run::open(&text(headroom_factor), "test.toml", &[], Threads::ONE).unwrap();
    while run.step().unwrap() {}
    let summary = run.summary();
    (summary.drops_packets, summary.warnings)
}

/// The bytes that may arrive are (2 x (1048 + 250) + 1047 + 64) B = 3707 B on a link of 2 Gb/s and
/// 1 us. The wire holds 250 B: a factor of 15 is enough, and one of 14 may not be.
#[test]
fn pfc_says_why_it_drops_packets() {
    let (drops, warnings) = summary(3);
    assert!(drops > 0);
    let said = format!(
        "switches dropped {drops} packets: pfc.headroom_factor gives a headroom of 750B, but up to \
         3707B arrive after a pause over a link of 2Gbps with a delay of 1us: packets of a \
         lossless class may be dropped"
    );
    assert!(warnings.contains(&said), "{warnings:?}");
    let (drops, warnings) = summary(15);
    assert_eq!((drops, warnings), (0, vec![]));
}

#[test]
fn a_stuck_run_says_why_packets_were_lost() {
    let overrides = ["run.watchdog=50ms", "run.drain=1s"].map(String::from);
    let mut run = Run::open(&text(3), "test.toml", &overrides, Threads::ONE).unwrap();
    let error = loop {
        match run.step() {
            Ok(more) => assert!(more, "the run is not stuck"),
            Err(error) => break error,
        }
    };
    assert!(error.contains("pfc.headroom_factor gives a headroom of 750B, but up to"), "{error}");
}
