use super::*;

fn with(assignment: Assignment) -> BfcConfig {
    BfcConfig { assignment, ..BfcConfig::default() }
}

/// The strawman's threshold has one rule for pause and resume, which a single queue needs, too.
#[test]
fn a_single_queue_has_no_rule_for_its_threshold_unless_it_pauses_by_length() {
    assert!(!BfcConfig::default().has_one_queue());
    assert!(with(Assignment::Single).has_one_queue());
    let backpressure = BackpressureKind::Occupancy;
    assert!(!BfcConfig { backpressure, ..with(Assignment::Single) }.has_one_queue());
}

#[test]
fn the_table_decides_unless_hashes_do() {
    let hashed = with(Assignment::Stochastic);
    let all = BfcConfig { reserve_control_queue: false, ..hashed.clone() };
    let split = BfcConfig { hardware: Hardware::Tofino, ..all.clone() };
    let decide = [with(Assignment::Dynamic), hashed, all, split, with(Assignment::Single)];
    assert_eq!(decide.map(|bfc| bfc.table_decides()), [true, true, false, true, false]);
}
