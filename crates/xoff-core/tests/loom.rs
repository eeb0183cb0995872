//! How threads keep in step, under a model checker: every order in which they can interleave.
//! `make test-loom` runs it. Two threads: with more, those that spin hide the others from the checker.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use xoff_core::sync::{Broken, Mailboxes, Progress};

/// What each of two threads does in a run: wait for the other, take, simulate a window, post.
fn simulate(own: usize, progress: &Progress, mail: &Mailboxes<Vec<u64>>, lag: u64, windows: u64) {
    let take = |window: u64| {
        let mut parcel = Vec::new();
        mail.swap(window, 1 - own, own, &mut parcel);
        assert_eq!(parcel, [window * 10 + 1 - own as u64], "all mail of this window, and no other");
    };
    for window in 0..windows {
        progress.wait_for_all((window + 1).saturating_sub(lag)).unwrap();
        if window >= lag {
            take(window - lag);
        }
        let mut parcel = vec![window * 10 + own as u64];
        mail.swap(window, own, 1 - own, &mut parcel);
        assert!(parcel.is_empty(), "what lay here before has been taken");
        progress.finish(own, window + 1);
    }
    progress.wait_for_all(windows).unwrap();
    (windows.saturating_sub(lag)..windows).for_each(take);
}

fn check(lag: u64, windows: u64) {
    loom::model(move || {
        let progress = Arc::new(Progress::new(2));
        let mail = Arc::new(Mailboxes::new(2, lag));
        let other = {
            let (progress, mail) = (Arc::clone(&progress), Arc::clone(&mail));
            thread::spawn(move || simulate(1, &progress, &mail, lag, windows))
        };
        simulate(0, &progress, &mail, lag, windows);
        other.join().unwrap();
    });
}

#[test]
fn mail_of_a_window_is_there_in_the_next() {
    check(1, 3);
}

#[test]
fn mail_of_a_window_is_there_two_windows_later() {
    check(2, 3);
}

#[test]
fn who_gives_up_holds_nobody() {
    loom::model(|| {
        let progress = Arc::new(Progress::new(2));
        let other = {
            let progress = Arc::clone(&progress);
            thread::spawn(move || progress.wait_for_all(1))
        };
        progress.break_up();
        assert_eq!(other.join().unwrap(), Err(Broken));
    });
}
