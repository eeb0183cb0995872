//! Model check of the threads' synchronisation: tries every interleaving. Run it with `make
//! test-loom`. It uses two threads: with more, spinning threads hide the others from the checker.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use xoff_core::sync::{Aborted, Mailboxes, Progress};

/// The work of one of two threads in a run: wait for the other, take, simulate a window, post.
fn simulate(own: usize, progress: &Progress, mail: &Mailboxes<Vec<u64>>, lag: u64, windows: u64) {
    let take = |window: u64| {
        let mut taken = Vec::new();
        mail.take(window, own, |messages| taken.append(messages));
        let posted = (window % 2 == own as u64).then_some(window * 10 + 1 - own as u64);
        assert_eq!(taken, Vec::from_iter(posted), "other messages than expected");
    };
    for window in 0..windows {
        progress.wait_for(2, (window + 1).saturating_sub(lag)).unwrap();
        if window >= lag {
            take(window - lag);
        }
        // Each thread posts in every second window, the other one in the windows between.
        if window % 2 != own as u64 {
            let mut messages = vec![window * 10 + own as u64];
            mail.post(window, own, 1 - own, &mut messages);
            assert!(messages.is_empty(), "the mailbox was not emptied");
        }
        progress.finish(own, window + 1);
    }
    progress.wait_for(2, windows).unwrap();
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
fn messages_arrive_in_the_next_window() {
    check(1, 3);
}

#[test]
fn messages_arrive_two_windows_later() {
    check(2, 3);
}

#[test]
fn aborting_ends_all_waiting() {
    loom::model(|| {
        let progress = Arc::new(Progress::new(2));
        let other = {
            let progress = Arc::clone(&progress);
            thread::spawn(move || progress.wait_for(2, 1))
        };
        progress.abort();
        assert_eq!(other.join().unwrap(), Err(Aborted));
    });
}
