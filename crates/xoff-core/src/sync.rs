//! How threads that simulate parts of one network keep in step: a barrier at the end of every window
//! of simulated time, and mailboxes for what crosses from part to part.
//!
//! Built with `--cfg loom` the same code runs under a model checker that tries every order in which
//! threads can interleave (see `tests/loom.rs`).

#[cfg(loom)]
use loom::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};
#[cfg(not(loom))]
use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use std::sync::PoisonError;

/// Looks this often before it lets other threads have the processor: a few microseconds.
#[cfg(not(loom))]
const SPINS: u32 = 2_000;

/// Some thread of the group has panicked: the others must not wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// All threads of a group wait for the last of them, again and again.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    /// How often all have met.
    meetings: AtomicUsize,
    broken: AtomicBool,
}

impl Barrier {
    /// For a group of so many threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// Waits until all threads have called this. What each did before is seen by all after.
    ///
    /// # Errors
    /// If a thread has broken the barrier.
    pub fn wait(&self) -> Result<(), Broken> {
        let meeting = self.meetings.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            // Nobody can arrive for the next meeting before this one is over.
            self.arrived.store(0, Ordering::Relaxed);
            self.meetings.store(meeting.wrapping_add(1), Ordering::Release);
            return Ok(());
        }
        let mut patience = Patience::default();
        while self.meetings.load(Ordering::Acquire) == meeting {
            if self.broken.load(Ordering::Acquire) {
                return Err(Broken);
            }
            patience.wait();
        }
        Ok(())
    }

    /// From now on nobody waits here: a thread cannot go on.
    pub fn break_up(&self) {
        self.broken.store(true, Ordering::Release);
    }
}

/// Waits a moment: at first by looking again at once, after a while by letting others run.
#[derive(Debug, Default)]
pub struct Patience {
    #[cfg(not(loom))]
    looks: u32,
}

impl Patience {
    /// Waits before the next look.
    pub fn wait(&mut self) {
        #[cfg(loom)]
        loom::thread::yield_now();
        #[cfg(not(loom))]
        if self.looks < SPINS {
            self.looks += 1;
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }

    /// Whether it has waited long already.
    #[cfg(not(loom))]
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.looks >= SPINS
    }
}

/// What goes from each part to each other one, for two windows: what was posted in one is taken after
/// the barrier at its end, while others may already post in the next.
#[derive(Debug)]
pub struct Mailboxes<T> {
    parts: usize,
    cells: Vec<Mutex<T>>,
}

impl<T: Default> Mailboxes<T> {
    /// Empty ones between so many parts.
    #[must_use]
    pub fn new(parts: usize) -> Self {
        let cells = (0..2 * parts * parts).map(|_| Mutex::new(T::default())).collect();
        Self { parts, cells }
    }

    /// Exchanges what lies in the box between two parts for `with`: who posts leaves something for
    /// nothing, who takes leaves nothing.
    ///
    /// # Panics
    /// If there are no such parts.
    pub fn swap(&self, window: u64, from: usize, to: usize, with: &mut T) {
        assert!(from < self.parts && to < self.parts, "no mailbox from {from} to {to}");
        let turn = (window % 2) as usize;
        let cell = &self.cells[(turn * self.parts + from) * self.parts + to];
        std::mem::swap(&mut *cell.lock().unwrap_or_else(PoisonError::into_inner), with);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn nobody_is_ahead_by_more_than_a_window_and_no_mail_is_lost() {
        const THREADS: usize = 3;
        let barrier = Arc::new(Barrier::new(THREADS));
        let mail = Arc::new(Mailboxes::<Vec<u64>>::new(THREADS));
        let work = |own: usize| {
            let (barrier, mail) = (Arc::clone(&barrier), Arc::clone(&mail));
            move || {
                for window in 0..1000 {
                    for to in 0..THREADS {
                        let mut parcel = vec![window * 10 + own as u64];
                        mail.swap(window, own, to, &mut parcel);
                        assert!(parcel.is_empty(), "the mail of two windows before was taken");
                    }
                    barrier.wait().unwrap();
                    for from in 0..THREADS {
                        let mut parcel = Vec::new();
                        mail.swap(window, from, own, &mut parcel);
                        assert_eq!(parcel, [window * 10 + from as u64]);
                    }
                }
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|own| std::thread::spawn(work(own))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn a_broken_barrier_lets_all_go() {
        let barrier = Arc::new(Barrier::new(2));
        let other = Arc::clone(&barrier);
        let waiting = std::thread::spawn(move || other.wait());
        barrier.break_up();
        assert_eq!(waiting.join().unwrap(), Err(Broken));
    }
}
