//! Barrier and mailboxes under a model checker: every order in which the threads can interleave.
//! `make test-loom` runs it. Two threads: with more, those that spin hide the others from the checker.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use xoff_core::sync::{Barrier, Broken, Mailboxes};

/// What two threads do in a run: simulate a window, post, meet, take.
fn windows(own: usize, barrier: &Barrier, mail: &Mailboxes<Vec<u64>>, windows: u64) {
    for window in 0..windows {
        let mut parcel = vec![window * 10 + own as u64];
        mail.swap(window, own, 1 - own, &mut parcel);
        assert!(parcel.is_empty(), "what was posted two windows ago has been taken");
        barrier.wait().unwrap();
        let mut parcel = Vec::new();
        mail.swap(window, 1 - own, own, &mut parcel);
        assert_eq!(parcel, [window * 10 + 1 - own as u64], "all mail of this window, and no other");
    }
}

#[test]
fn mail_posted_in_a_window_is_there_after_its_barrier() {
    loom::model(|| {
        let barrier = Arc::new(Barrier::new(2));
        let mail = Arc::new(Mailboxes::new(2));
        let other = {
            let (barrier, mail) = (Arc::clone(&barrier), Arc::clone(&mail));
            thread::spawn(move || windows(1, &barrier, &mail, 3))
        };
        windows(0, &barrier, &mail, 3);
        other.join().unwrap();
    });
}

#[test]
fn a_broken_barrier_holds_nobody() {
    loom::model(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || barrier.wait())
        };
        barrier.break_up();
        assert_eq!(other.join().unwrap(), Err(Broken));
    });
}
