//! What every hop control of the seam says of itself, and what a switch gets from it.

use xoff_core::knobs::Knob as _;
use xoff_core::rng::Purpose;
use xoff_core::seam::Seam as _;

use super::*;
use crate::buffer::BufferConfig;

const PORT: HopPort = HopPort { rate: 100_000_000_000, delay_ps: 1_000_000, host: true };

fn site() -> HopSite {
    HopSite {
        ports: vec![PORT; 4],
        buffer: BufferConfig::default(),
        nic_rate: PORT.rate,
        hosts: 4,
        elided: Vec::new(),
        carried_queues: false,
        rng: Rng::stream(1, Purpose::Recirculation, 0),
    }
}

/// What of this a hop control says with its default settings.
fn says(hop: &HopConfig) -> Vec<&'static str> {
    [
        ("backpressure", hop.backpressure().is_some()),
        ("elides", hop.can_elide().is_ok()),
        ("loses", hop.loses_packets().is_some()),
        ("survives link", hop.survives_link_down()),
        ("survives loss", hop.survives_loss()),
        ("pauses classes", hop.pauses_classes()),
        ("pauses queues", hop.pauses_queues()),
        ("limits ingress", hop.limits_ingress()),
        ("one path", hop.needs_one_path().is_some()),
        ("labels", hop.reads_labels()),
        ("derives", hop.derives_from_base_rtt()),
        ("nics obey", hop.nics_obey(false)),
        ("needs", !hop.needs().is_empty()),
    ]
    .into_iter()
    .filter_map(|(word, says)| says.then_some(word))
    .collect()
}

#[test]
fn every_hop_control_says_what_it_is_and_needs() {
    let table = [
        ("none", "survives link, survives loss"),
        ("pfc", "backpressure, elides, survives link, pauses classes, limits ingress, needs"),
        ("bfc", "backpressure, elides, survives link, pauses queues, one path, nics obey"),
        ("sfc", "survives link, survives loss, one path, derives, needs"),
    ];
    let found: Vec<_> = HopConfig::all()
        .iter()
        .map(|hop| (hop.kind().show().replace('"', ""), says(hop).join(", ")))
        .collect();
    assert_eq!(found, table.map(|(name, words)| (name.to_owned(), words.to_owned())));
    assert!(HopConfig::all().iter().all(|hop| hop.check().is_ok() && hop.frame_bytes() == 64));
    let classes = BufferConfig::default().by_class;
    assert!(HopConfig::all().iter().all(|hop| hop.replaced(&classes).is_empty()));
}

/// Only controls that pause queues by their number name them, and only BFC has its counts
/// (`bfc/settings.rs` has its other kinds).
#[test]
fn a_switch_tells_its_pauses_and_counts() {
    let with = |buffer: &str, change: fn(&mut PfcConfig), elided: &[(u16, u16)]| {
        use xoff_core::knobs::Value;
        let by_class = crate::by_class::ByClass::read(&Value::Text(buffer.into())).unwrap();
        let buffer = BufferConfig { by_class, ..BufferConfig::default() };
        let mut pfc = PfcConfig::default();
        change(&mut pfc);
        pfc.build(HopSite { buffer, elided: elided.to_vec(), ..site() }).unwrap()
    };
    let hops = HopConfig::all().into_iter().map(|hop| hop.build(site()).unwrap());
    let watched: fn(&mut PfcConfig) = |pfc| pfc.watchdog = Watchdog::Drop;
    let more = [
        AnyHop::Carried(Carried),
        with("3: alpha 0.5", |_| {}, &[]),
        with("", watched, &[]),
        with("", |_| {}, &[(1, 2)]),
    ];
    let found: Vec<_> = hops
        .chain(more)
        .map(|hop| {
            let classes = (hop.class_stats().is_some(), hop.stuck_queues().is_some());
            (hop.names_pauses(), hop.bfc_stats().is_some(), classes, hop.elision().is_some())
        })
        .collect();
    let none = (false, false);
    let expected = [
        (false, false, none, false),
        (true, false, none, false),
        (true, true, none, false),
        (false, false, none, false),
        (false, false, none, false),
        (true, false, (true, false), false),
        (true, false, (true, true), false),
        (true, false, none, true),
    ];
    assert_eq!(found, expected);
}
