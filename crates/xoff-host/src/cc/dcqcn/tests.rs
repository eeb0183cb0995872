use super::super::PATH;
use super::*;

fn mark(control: &mut Dcqcn, now: u64, pace: &mut Pace) {
    let ack = Ack { now, set: now, marked: true, ..Ack::default() };
    control.on_ack(&PATH, &ack, pace);
}

#[test]
fn the_first_mark_halves_the_rate_after_one_interval() {
    let mut control = Dcqcn::new(&DcqcnConfig::default(), &PATH);
    let mut pace = PATH.pace(PATH.line_rate);
    mark(&mut control, 10_000_000, &mut pace);
    assert_eq!(control.next_timer(), Some(14_001_000));
    control.on_timer(&PATH, 14_001_000, &mut pace);
    // Four ticks of alpha without a mark: alpha = (255/256)^4.
    let alpha: f64 = (255.0f64 / 256.0).powi(4);
    assert_eq!(pace.rate, (1e11 * (1.0 - alpha / 2.0)) as u64);
    assert_eq!(control.next_timer(), Some(314_001_000));
    // Fast recovery: half-way back to the rate before the cut.
    let cut = pace.rate;
    control.on_timer(&PATH, 314_001_000, &mut pace);
    assert_eq!(pace.rate, cut / 2 + 50_000_000_000);
}

/// Alpha estimates the share of marked packets: it stays at 1 if each interval has a mark.
#[test]
fn constant_marks_halve_the_rate() {
    let mut control = Dcqcn::new(&DcqcnConfig::default(), &PATH);
    let mut pace = PATH.pace(PATH.line_rate);
    for now in (0..=4_000_000).step_by(500_000) {
        mark(&mut control, now, &mut pace);
    }
    control.on_timer(&PATH, 4_001_000, &mut pace);
    assert!(control.alpha > 1.0 - 1e-12 && pace.rate == PATH.line_rate / 2, "{control:?}");
}

#[test]
fn a_mark_at_the_instant_of_a_cut_counts_only_if_set_before_it() {
    for (set, next) in [(0, 4_001_000), (3_000_000, 8_001_000)] {
        let mut control = Dcqcn::new(&DcqcnConfig::default(), &PATH);
        let mut pace = PATH.pace(PATH.line_rate);
        mark(&mut control, 0, &mut pace);
        control.decrease_marked = false;
        control.on_mark(4_001_000, set, &pace);
        assert_eq!(control.next_timer(), Some(next));
    }
}

#[test]
fn an_increase_comes_before_the_cut_of_the_same_instant() {
    let mut control = Dcqcn::new(&DcqcnConfig::default(), &PATH);
    let mut pace = PATH.pace(PATH.line_rate);
    mark(&mut control, 0, &mut pace);
    control.on_timer(&PATH, 4_001_000, &mut pace);
    let cut = pace.rate;
    mark(&mut control, 303_000_000, &mut pace);
    assert_eq!(control.timer_set(), 4_001_000);
    control.on_timer(&PATH, 304_001_000, &mut pace);
    assert_eq!(control.target, cut / 2 + 50_000_000_000);
}

#[test]
fn a_late_mark_waits_for_the_next_tick_of_the_decrease_timer() {
    let mut control = Dcqcn::new(&DcqcnConfig::default(), &PATH);
    let mut pace = PATH.pace(PATH.line_rate);
    mark(&mut control, 0, &mut pace);
    control.on_timer(&PATH, 4_001_000, &mut pace);
    mark(&mut control, 17_000_000, &mut pace);
    assert_eq!(control.next_timer(), Some(20_001_000));
}

/// One fast recovery, then an additive increase, then hyper increases.
#[test]
fn the_target_rises_after_fast_recovery() {
    let mut control = Dcqcn::new(&DcqcnConfig::default(), &PATH);
    let mut pace = PATH.pace(50_000_000_000);
    mark(&mut control, 10_000_000, &mut pace);
    control.on_timer(&PATH, 14_001_000, &mut pace);
    for (now, target) in [
        (314_001_000, 50_000_000_000),
        (614_001_000, 50_020_000_000),
        (914_001_000, 50_220_000_000),
        (1_214_001_000, 50_420_000_000),
    ] {
        assert_eq!(control.next_timer(), Some(now));
        let before = pace.rate;
        control.on_timer(&PATH, now, &mut pace);
        assert_eq!((control.target, pace.rate), (target, before / 2 + target / 2), "{now}");
    }
    control.target = PATH.line_rate;
    control.on_timer(&PATH, 1_514_001_000, &mut pace);
    assert_eq!(control.target, PATH.line_rate, "no target is above the line's rate");
}

/// A second cut without an increase before it keeps the target, unless it is clamped.
#[test]
fn a_clamped_target_falls_with_every_cut() {
    for clamp_target in [false, true] {
        let mut control = Dcqcn::new(&DcqcnConfig { clamp_target, ..Default::default() }, &PATH);
        let mut pace = PATH.pace(PATH.line_rate);
        mark(&mut control, 0, &mut pace);
        control.on_timer(&PATH, 4_001_000, &mut pace);
        let cut = pace.rate;
        mark(&mut control, 5_000_000, &mut pace);
        control.on_timer(&PATH, 8_001_000, &mut pace);
        assert!(pace.rate < cut);
        assert_eq!(control.target, if clamp_target { cut } else { PATH.line_rate });
    }
}

#[test]
fn no_cut_goes_below_the_minimum() {
    let mut control = Dcqcn::new(&DcqcnConfig::default(), &PATH);
    let mut pace = PATH.pace(1_500_000_000);
    mark(&mut control, 0, &mut pace);
    control.on_timer(&PATH, 4_001_000, &mut pace);
    assert_eq!(pace.rate, 1_000_000_000);
}
