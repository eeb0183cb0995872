//! The list of benchmark cases. `golden.rs` runs each of them.

use xoff_run::bench::{BenchError, Size, bench, scenario};
use xoff_run::{Run, bench_cases};
use xoff_sim::Threads;

#[test]
fn the_cases_are_all_schemes_under_all_traffics_in_all_networks() {
    let cases = bench_cases();
    // BFC-SRF has no permutation.
    assert_eq!(cases.len(), (20 * 4 - 1) * 5);
    assert_eq!(scenario("bfc-srf-permutation-128", Size::Full), None);
    for case in [
        "dctcp-hadoop-128",
        "sfc-hadoop-512",
        "ideal-fq-google-1024",
        "tcp-cubic-permutation-65536",
    ] {
        assert!(cases.iter().any(|known| known == case), "{case}");
    }
}

#[test]
fn a_case_has_as_many_hosts_as_it_says() {
    for case in bench_cases().iter().filter(|case| case.starts_with("dctcp-hadoop-")) {
        let text = scenario(case, Size::Full).unwrap_or_else(|| panic!("{case} has no scenario"));
        let run = Run::open(&text, case, &[], xoff_sim::Threads::ONE)
            .unwrap_or_else(|problems| panic!("{problems}"));
        let hosts = run.simulation().setup().topology.hosts.to_string();
        assert!(case.ends_with(&format!("-{hosts}")), "{case} has {hosts} hosts");
    }
}

/// At each size, 100 senders send an incast of 20 MB often enough for 5 % of load.
#[test]
fn incasts_scale_with_the_network() {
    for (hosts, period) in [(128, "500000000ps"), (1024, "31250000ps"), (8192, "3906250ps")] {
        let text = scenario(&format!("bfc-incast-{hosts}"), Size::Full).unwrap();
        for line in ["degree = 100", "bytes = \"20000000B\"", &format!("period = \"{period}\"")] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}

#[test]
fn an_unknown_case_is_refused_by_name() {
    for case in ["bfc-gogle-128", "bfc-google-129", "bfg-google-128", "bfc", ""] {
        assert!(scenario(case, Size::Small).is_none(), "{case}");
        let BenchError::Unknown(message) = bench(case, Threads::ONE).unwrap_err() else {
            panic!("{case}")
        };
        assert!(message.contains(&format!("{case:?}")), "{message}");
        assert!(message.contains("bfc-google-128"), "{message}");
    }
}
