//! Compares drain bytes with a recount.

use proptest::prelude::*;

use super::*;
use crate::hop::IngressControl;

fn pauses(scope: Scope, classes: u8) -> Pfc<DrainBytes> {
    Pfc::by_drain_bytes(scope, classes, &[Thresholds { xoff: 10_000, xon: 4_000 }; 2])
}

#[test]
fn a_class_is_paused_for_what_is_as_important_or_more() {
    let mut pauses = pauses(Scope::Class, 8);
    assert_eq!(pauses.add(1, 2, 9_999), 0);
    // One byte of class 5 takes the drain bytes of classes 5 to 7 to 10 000 B, but not of 2 to 4.
    assert_eq!(pauses.add(1, 5, 1), 0b1110_0000);
    assert_eq!(pauses.add(1, 5, 500), 0);
    assert_eq!(pauses.add(1, 0, 1), 0b0001_1100);
    assert_eq!(pauses.paused_queues(1), 0b1111_1100);
    assert_eq!((pauses.paused(0), pauses.held(0), pauses.held(1)), (0, 0, 10_501));
    assert_eq!(pauses.remove(1, 2, 5_999), 0);
    // Class 2 and above: 4001 B and 4000 B reach the threshold, 3999 B do not.
    assert_eq!(pauses.remove(1, 0, 1), 0);
    assert_eq!(pauses.remove(1, 2, 1), 0b0001_1100);
    assert_eq!(pauses.remove(1, 5, 501), 0b1110_0000);
}

#[test]
fn a_pause_of_the_port_speaks_of_all_classes() {
    for classes in [1, 8] {
        let mut pauses = pauses(Scope::Port, classes);
        pauses.add(0, 0, 9_000);
        let paused = pauses.add(0, classes - 1, 1_000);
        assert_eq!(paused, 1 << (classes - 1));
        assert_eq!(pauses.accounting().queues(paused), 0xff);
    }
    let mut without = pauses(Scope::None, 1);
    assert_eq!(without.add(0, 0, 60_000), 0);
}

/// Classes that are not distinguished pause with the last class that is.
#[test]
fn the_last_class_stands_for_those_after_it() {
    let pauses = pauses(Scope::Class, 2);
    assert_eq!(pauses.accounting().queues(0b01), 0b0000_0001);
    assert_eq!(pauses.accounting().queues(0b10), 0b1111_1110);
}

proptest! {
    /// A class is paused exactly from the moment when its recounted drain bytes reach XOFF until
    /// they fall below XON.
    #[test]
    fn pauses_follow_a_recount(
        steps in prop::collection::vec((0..8u8, 64..1531u16, any::<bool>()), 1..300),
    ) {
        let mut pauses = pauses(Scope::Class, 8);
        let mut held: Vec<(u8, u16)> = Vec::new();
        let mut asked = 0u8;
        for (class, bytes, join) in steps {
            if join || held.is_empty() {
                asked |= pauses.add(0, class, bytes);
                held.push((class, bytes));
            } else {
                let (class, bytes) = held.swap_remove(usize::from(bytes) % held.len());
                asked &= !pauses.remove(0, class, bytes);
            }
            for class in 0..8u8 {
                let drain: u32 =
                    held.iter().filter(|one| one.0 <= class).map(|one| u32::from(one.1)).sum();
                let is_asked = asked >> class & 1 == 1;
                let (low, high) = if is_asked { (4_000, u32::MAX) } else { (0, 9_999) };
                prop_assert!((low..=high).contains(&drain), "class {class}: {drain}");
            }
            prop_assert_eq!(asked, pauses.paused(0));
        }
    }
}

/// XOFF is at 10 000 B and XON below 4000 B: a pause must be there, may be there, or may not.
#[test]
fn a_recount_knows_which_pauses_must_and_may_be_there() {
    for (bytes, paused, is_right) in [
        (10_000, 0, false),
        (10_000, 0b1000_0000, true),
        (9_999, 0, true),
        (4_000, 0b1000_0000, true),
        (3_999, 0b1000_0000, false),
    ] {
        let mut pauses = pauses(Scope::Class, 8);
        pauses.add(1, 7, bytes);
        pauses.ingresses[1].paused = paused;
        let mut held = [[0; CLASSES]; 2];
        held[1][7] = u32::from(bytes);
        assert_eq!(pauses.recount(&held).is_ok(), is_right, "{bytes} {paused:#b}");
        held[1][7] += 1;
        assert!(pauses.recount(&held).is_err(), "a byte more than is counted");
    }
}
