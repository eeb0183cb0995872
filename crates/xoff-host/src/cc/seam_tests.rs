//! What every control of the seam says of itself, and what they have in common.

use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam as _;
use xoff_core::{BitRate, Bytes, Ps, Rng, rng};
use xoff_net::arch::InBand;
use xoff_net::pint::WholeDraws;

use super::window::tests::{Driver, PATH};
use super::*;

fn controls() -> impl Iterator<Item = ControlConfig> {
    ControlConfig::all().into_iter().filter(|control| !matches!(control, ControlConfig::Added(_)))
}

/// What of this a control says with its default settings.
fn says(control: &ControlConfig) -> Vec<&'static str> {
    [
        ("controls", control.controls()),
        ("marks", control.reacts_to_marks(&TcpConfig::default())),
        ("rate", control.sets_rate()),
        ("own window", control.sets_own_window()),
        ("tcp window", control.has_tcp_window()),
        ("reno", control.grows_as_reno()),
        ("flight", control.reduces_flight()),
        ("tells", control.tells_window()),
        ("halves", control.halves_window()),
        ("shrinks", control.shrinks_in_recovery()),
        ("losses", control.needs_loss_reports()),
        ("base rtt", control.uses_base_rtt()),
        ("derives", control.derives_from_base_rtt()),
        ("one path", control.needs_one_path().is_some()),
        ("timers", control.has_timers()),
        ("scales", control.scales_window().is_some()),
    ]
    .into_iter()
    .filter_map(|(word, says)| says.then_some(word))
    .collect()
}

#[test]
fn every_control_says_what_it_is_and_needs() {
    let table = [
        ("none", ""),
        ("dctcp", "controls, marks, rate, base rtt"),
        ("dcqcn", "controls, marks, rate, timers"),
        ("dcqcn-rdma15", "controls, marks, rate, timers"),
        ("hpcc", "controls, rate, base rtt, one path, scales"),
        ("newreno", "controls, tcp window, reno, flight, tells, halves, shrinks, losses"),
        ("cubic", "controls, tcp window, flight, tells, losses"),
        ("dctcp-tcp", "controls, marks, tcp window, reno, flight, tells, losses"),
        ("dctcp-htsim", "controls, marks, tcp window, losses"),
        ("newreno-htsim", "controls, tcp window, shrinks, losses"),
        ("xcp", "controls, own window, losses, derives"),
        ("pfabric", "controls, losses, base rtt, derives"),
        ("delay-window", "controls, base rtt, one path"),
        ("swift", "controls, own window, losses, base rtt, derives, one path"),
        ("timely", "controls, rate, one path"),
        ("ns3-cubic", "controls, tcp window, tells, losses"),
        ("ns3-dctcp", "controls, marks, tcp window, tells, losses"),
        ("powertcp", "controls, rate, base rtt, one path, scales"),
        ("theta-powertcp", "controls, rate, base rtt, one path, scales"),
        ("hpcc-pint", "controls, rate, derives"),
    ];
    let found: Vec<_> = controls()
        .map(|control| (control.kind().show().replace('"', ""), says(&control).join(", ")))
        .collect();
    let table = table.map(|(name, words)| (name.to_owned(), words.to_owned()));
    assert_eq!(found, table);
}

/// The header in each data packet, the lowest rate, and what else few controls have.
#[test]
fn every_control_says_what_its_packets_carry() {
    for control in controls() {
        let name = control.kind().show().replace('"', "");
        let (carries, bytes) = match &*name {
            "hpcc" => (Carries::Int, Some(80)),
            "powertcp" => (Carries::Int, Some(42)),
            "hpcc-pint" => (Carries::Pint, Some(2)),
            "timely" => (Carries::Nothing, Some(8)),
            "xcp" => (Carries::Xcp, Some(XcpConfig::default().header.0)),
            _ => (Carries::Nothing, None),
        };
        assert_eq!((control.carries(), control.header_bytes()), (carries, bytes), "{name}");
        let draws = WholeDraws::Own(Rng::stream(1, rng::Purpose::Transport, 0));
        let in_band = match control.in_band(&[100_000_000_000], draws) {
            InBand::None => Carries::Nothing,
            InBand::Int => Carries::Int,
            InBand::Pint(_) => Carries::Pint,
            InBand::Xcp(_) => Carries::Xcp,
        };
        assert_eq!(in_band, carries, "{name}");
        let least = control.min_rate().map(|(_, rate)| rate);
        let expected = match &*name {
            "dcqcn-rdma15" | "powertcp" | "theta-powertcp" => Some(BitRate(100_000_000)),
            _ => control.sets_rate().then_some(BitRate::from_gbps(1)),
        };
        assert_eq!(least, expected, "{name}");
        assert_eq!(control.sampled(), (name == "hpcc-pint").then_some(1.0));
        assert!(control.preset().is_none_or(|scheme| scheme.starts_with("# ")), "{name}");
        let interval = (name == "dcqcn-rdma15").then_some(Ps::from_us(50).0);
        assert_eq!(control.notification_interval(), interval);
        let (section, _) = control.marks_setting();
        assert_eq!(section, if name == "newreno" { "tcp" } else { "transport" });
    }
}

/// What a control derives from the base RTT of the longest path.
#[test]
fn what_is_not_set_follows_from_the_base_rtt() {
    let base = Ps::from_us(10);
    for mut control in controls() {
        let name = control.kind().show().replace('"', "");
        assert!(control.check().is_ok() && control.check_base_rtt(base).is_ok(), "{name}");
        let derives = control.derives_from_base_rtt();
        let found = control.derive(base);
        let expected = match &*name {
            "hpcc-pint" => vec![("hpcc_pint_interval", base)],
            "pfabric" => vec![("pfabric_rto", Ps::from_us(30))],
            "swift" => vec![("swift_queueing", base)],
            "xcp" => vec![("xcp_initial_interval", base)],
            _ => Vec::new(),
        };
        assert_eq!((found, derives), (expected.clone(), !expected.is_empty()), "{name}");
        let again = control.derives_from_base_rtt();
        assert_eq!(again, name == "pfabric", "{name}: only pFabric's stays unset");
        let fixed = control.recovery(base).map(|tcp| (tcp.duplicate_acks, tcp.max_rto));
        assert_eq!(fixed, (name == "pfabric").then_some((0, Ps::from_us(30))), "{name}");
    }
}

/// An allocator opens a window to whole packets. It does not grow by what was counted before, nor
/// in slow start.
#[test]
fn a_window_of_tcp_opens_to_a_known_size() {
    let tcp = TcpConfig { initial_ssthresh: Bytes(1), ..TcpConfig::default() };
    for config in controls().filter(|control| control.has_tcp_window()) {
        let name = config.kind().show();
        let (control, pace) = config.start(&PATH, &tcp);
        let mut driver = Driver::new(control, pace);
        assert_eq!(driver.packets(), 10);
        (0..19).for_each(|_| driver.packet(false));
        for (bytes, packets) in [(9_001, 10), (59_001, 60), (60_000, 60)] {
            driver.control.reopen(&PATH, bytes, &mut driver.pace);
            assert_eq!(driver.packets(), packets, "{name}");
            driver.packet(false);
            assert_eq!(driver.packets(), packets, "{name}");
        }
    }
}

#[test]
fn a_cubic_rises_and_a_loss_leaves_a_share_of_the_window() {
    let check = |scale, beta| {
        let config = CubicConfig { scale, beta, ..CubicConfig::default() };
        config.check().map_err(|(key, _)| key)
    };
    assert_eq!(check(0.4, 0.7), Ok(()));
    for scale in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert_eq!(check(scale, 0.7), Err("scale"), "{scale}");
    }
    for beta in [0.0, 1.0, 1.5, f64::NAN] {
        assert_eq!(check(0.4, beta), Err("beta"), "{beta}");
    }
}
