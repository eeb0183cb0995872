//! How threads that simulate parts of one network keep in step: each says how many windows of
//! simulated time it has finished, none goes further ahead than the shortest link between parts
//! allows, and what crosses from part to part lies in mailboxes meanwhile.
//!
//! Built with `--cfg loom` the same code runs under a model checker that tries every order in which
//! threads can interleave (see `tests/loom.rs`).

#[cfg(loom)]
use loom::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
#[cfg(not(loom))]
use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use std::sync::PoisonError;

/// Looks this often before it lets other threads have the processor: a few microseconds.
#[cfg(not(loom))]
const SPINS: u32 = 2_000;

/// Some thread of the group has panicked: the others must not wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

/// A counter that shares no cache line with another thread's.
#[derive(Debug)]
#[repr(align(128))]
struct Count(AtomicU64);

/// How many windows each thread of a group has finished.
#[derive(Debug)]
pub struct Progress {
    finished: Vec<Count>,
    broken: AtomicBool,
}

impl Progress {
    /// For a group of so many threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let finished = (0..threads).map(|_| Count(AtomicU64::new(0))).collect();
        Self { finished, broken: AtomicBool::new(false) }
    }

    /// A thread has finished so many windows: who learns of it sees all it did in them.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn finish(&self, thread: usize, windows: u64) {
        self.finished[thread].0.store(windows, Ordering::Release);
    }

    /// One thread has done the work of all: each counts as having finished so many windows.
    pub fn finish_for_all(&self, windows: u64) {
        (0..self.finished.len()).for_each(|thread| self.finish(thread, windows));
    }

    /// Waits until every thread has finished so many windows.
    ///
    /// # Errors
    /// If a thread has given up.
    pub fn wait_for_all(&self, windows: u64) -> Result<(), Broken> {
        for count in &self.finished {
            let mut patience = Patience::default();
            while count.0.load(Ordering::Acquire) < windows {
                if self.broken.load(Ordering::Acquire) {
                    return Err(Broken);
                }
                patience.wait();
            }
        }
        Ok(())
    }

    /// From now on nobody waits: a thread cannot go on.
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

/// What goes from each part to each other one in each window.
///
/// What was posted in a window is taken `lag` windows later, and nobody posts in a window before all
/// have finished the one `lag` before it: so twice as many boxes as that are enough for ever.
#[derive(Debug)]
pub struct Mailboxes<T> {
    parts: usize,
    slots: u64,
    cells: Vec<Mutex<T>>,
}

impl<T: Default> Mailboxes<T> {
    /// Empty ones between so many parts.
    ///
    /// # Panics
    /// If `lag` is zero.
    #[must_use]
    pub fn new(parts: usize, lag: u64) -> Self {
        assert!(lag > 0, "mail is taken in a later window");
        let slots = 2 * lag;
        let count = slots as usize * parts * parts;
        Self { parts, slots, cells: (0..count).map(|_| Mutex::new(T::default())).collect() }
    }

    /// Exchanges what lies in the box between two parts for `with`: who posts leaves something for
    /// nothing, who takes leaves nothing.
    ///
    /// # Panics
    /// If there are no such parts.
    pub fn swap(&self, window: u64, from: usize, to: usize, with: &mut T) {
        assert!(from < self.parts && to < self.parts, "no mailbox from {from} to {to}");
        let slot = (window % self.slots) as usize;
        let cell = &self.cells[(slot * self.parts + from) * self.parts + to];
        std::mem::swap(&mut *cell.lock().unwrap_or_else(PoisonError::into_inner), with);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    const THREADS: usize = 3;
    const LAG: u64 = 4;

    #[test]
    fn nobody_is_too_far_ahead_and_no_mail_is_lost() {
        let progress = Arc::new(Progress::new(THREADS));
        let mail = Arc::new(Mailboxes::<Vec<u64>>::new(THREADS, LAG));
        let work = |own: usize| {
            let (progress, mail) = (Arc::clone(&progress), Arc::clone(&mail));
            move || {
                for window in 0..5000 {
                    progress.wait_for_all((window + 1u64).saturating_sub(LAG)).unwrap();
                    for from in (0..THREADS).filter(|_| window >= LAG) {
                        let mut parcel = Vec::new();
                        mail.swap(window - LAG, from, own, &mut parcel);
                        assert_eq!(parcel, [(window - LAG) * 10 + from as u64]);
                    }
                    for to in 0..THREADS {
                        let mut parcel = vec![window * 10 + own as u64];
                        mail.swap(window, own, to, &mut parcel);
                        assert!(parcel.is_empty(), "the mail that lay here before was taken");
                    }
                    progress.finish(own, window + 1);
                }
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|own| std::thread::spawn(work(own))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn who_gives_up_lets_all_go() {
        let progress = Arc::new(Progress::new(2));
        let other = Arc::clone(&progress);
        let waiting = std::thread::spawn(move || other.wait_for_all(1));
        progress.break_up();
        assert_eq!(waiting.join().unwrap(), Err(Broken));
    }
}
