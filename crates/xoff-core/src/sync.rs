//! Synchronisation of the threads that simulate parts of one network. Each thread publishes the
//! number of windows of simulated time it has finished. No thread runs further ahead than the
//! shortest link between parts allows. Mailboxes hold the messages between parts.
//!
//! With `--cfg loom` the same code runs under a model checker that tries every interleaving of the
//! threads (see `tests/loom.rs`).

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
use std::time::Duration;
#[cfg(not(loom))]
use std::time::Instant;

/// Number of polls before yielding the processor: a few microseconds.
#[cfg(not(loom))]
const SPINS: u32 = 2_000;

/// A thread of the group has panicked; the others must stop waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aborted;

/// A counter on a cache line of its own, to avoid false sharing.
#[derive(Debug)]
#[repr(align(128))]
struct Count(AtomicU64);

/// Number of windows that each thread of a group has finished.
#[derive(Debug)]
pub struct Progress {
    finished: Vec<Count>,
    aborted: AtomicBool,
}

impl Progress {
    /// Creates the counters for a group of `threads`.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let finished = (0..threads).map(|_| Count(AtomicU64::new(0))).collect();
        Self { finished, aborted: AtomicBool::new(false) }
    }

    /// Publishes that a thread has finished this many windows. A thread that sees the new count
    /// also sees all that was written in those windows.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn finish(&self, thread: usize, windows: u64) {
        self.finished[thread].0.store(windows, Ordering::Release);
    }

    /// Sets every thread's count, after one thread has done the work of all.
    pub fn finish_for_all(&self, windows: u64) {
        (0..self.finished.len()).for_each(|thread| self.finish(thread, windows));
    }

    /// Waits until the first `threads` threads have finished this many windows. Returns for how
    /// long it yielded the processor.
    ///
    /// # Errors
    /// If a thread has called [`Progress::abort`].
    pub fn wait_for(&self, threads: usize, windows: u64) -> Result<Duration, Aborted> {
        let mut yielded = Duration::ZERO;
        for count in &self.finished[..threads] {
            let mut backoff = Backoff::default();
            while count.0.load(Ordering::Acquire) < windows {
                if self.aborted.load(Ordering::Acquire) {
                    return Err(Aborted);
                }
                backoff.wait();
            }
            yielded += backoff.yielded();
        }
        Ok(yielded)
    }

    /// Ends all waiting, now and later: a thread cannot continue.
    pub fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
    }
}

/// A bounded wait: polls at once at first, then yields the processor between polls.
#[derive(Debug, Default)]
pub struct Backoff {
    #[cfg(not(loom))]
    looks: u32,
    #[cfg(not(loom))]
    yields_since: Option<Instant>,
}

impl Backoff {
    /// Waits before the next poll.
    pub fn wait(&mut self) {
        #[cfg(loom)]
        loom::thread::yield_now();
        #[cfg(not(loom))]
        if self.looks < SPINS {
            self.looks += 1;
            std::hint::spin_loop();
        } else {
            self.yields_since.get_or_insert_with(Instant::now);
            std::thread::yield_now();
        }
    }

    /// How long ago it began to yield between polls; zero if it has not yet.
    #[must_use]
    pub fn yielded(&self) -> Duration {
        #[cfg(loom)]
        return Duration::ZERO;
        #[cfg(not(loom))]
        self.yields_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// True once it yields between polls.
    #[cfg(not(loom))]
    #[must_use]
    pub fn is_yielding(&self) -> bool {
        self.looks >= SPINS
    }
}

/// Mailboxes for the messages from each part to each other part in each window.
///
/// Messages posted in a window are taken `lag` windows later, and no thread posts in a window
/// before all threads have finished the window `lag` earlier. `2 * lag` slots per pair of parts are
/// therefore enough. Taking looks only into mailboxes with messages: of many parts few send to one
/// another in one window.
#[derive(Debug)]
pub struct Mailboxes<T> {
    parts: usize,
    slots: u64,
    cells: Vec<Mutex<T>>,
    /// By slot and receiver, a bit for each sender that has posted. [`Progress`] orders posting
    /// before taking.
    posted: Vec<AtomicU64>,
}

/// Words between the bits of two receivers, at least: two cache lines, against false sharing.
const RECEIVER_WORDS: usize = 16;

impl<T: Default> Mailboxes<T> {
    /// Creates empty mailboxes between `parts` parts.
    ///
    /// # Panics
    /// If `lag` is zero.
    #[must_use]
    pub fn new(parts: usize, lag: u64) -> Self {
        assert!(lag > 0, "lag must be at least one window");
        let slots = 2 * lag;
        let receivers = slots as usize * parts;
        Self {
            parts,
            slots,
            cells: (0..receivers * parts).map(|_| Mutex::new(T::default())).collect(),
            posted: (0..receivers * words(parts)).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Swaps messages with the empty mailbox between two parts.
    ///
    /// # Panics
    /// If `from` or `to` is not a part.
    pub fn post(&self, window: u64, from: usize, to: usize, messages: &mut T) {
        assert!(from < self.parts && to < self.parts, "no mailbox from {from} to {to}");
        let receiver = self.receiver(window, to);
        let cell = &self.cells[receiver * self.parts + from];
        std::mem::swap(&mut *cell.lock().unwrap_or_else(PoisonError::into_inner), messages);
        let word = &self.posted[receiver * words(self.parts) + from / 64];
        word.fetch_or(1 << (from % 64), Ordering::Relaxed);
    }

    /// Gives the messages for a part to `take`, in the order of their senders. What `take` leaves
    /// of a value, its memory, is what the next poster gets.
    ///
    /// # Panics
    /// If `to` is not a part.
    pub fn take(&self, window: u64, to: usize, mut take: impl FnMut(&mut T)) {
        assert!(to < self.parts, "no mailbox to {to}");
        let receiver = self.receiver(window, to);
        let first = receiver * words(self.parts);
        for (number, word) in self.posted[first..][..self.parts.div_ceil(64)].iter().enumerate() {
            let mut senders = word.swap(0, Ordering::Relaxed);
            while senders != 0 {
                let from = number * 64 + senders.trailing_zeros() as usize;
                senders &= senders - 1;
                let cell = &self.cells[receiver * self.parts + from];
                take(&mut cell.lock().unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    fn receiver(&self, window: u64, to: usize) -> usize {
        (window % self.slots) as usize * self.parts + to
    }
}

fn words(parts: usize) -> usize {
    parts.div_ceil(64).next_multiple_of(RECEIVER_WORDS)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    const THREADS: usize = 3;
    const LAG: u64 = 4;

    #[test]
    fn threads_stay_within_the_lag_and_lose_no_messages() {
        let progress = Arc::new(Progress::new(THREADS));
        let mail = Arc::new(Mailboxes::<Vec<u64>>::new(THREADS, LAG));
        let work = |own: usize| {
            let (progress, mail) = (Arc::clone(&progress), Arc::clone(&mail));
            move || {
                for window in 0..5000 {
                    progress.wait_for(THREADS, (window + 1u64).saturating_sub(LAG)).unwrap();
                    if let Some(old) = window.checked_sub(LAG) {
                        let mut taken = Vec::new();
                        mail.take(old, own, |messages| taken.append(messages));
                        let posted = (0..THREADS as u64).filter(|from| (old + from) % 2 == 0);
                        assert_eq!(taken, posted.map(|from| old * 10 + from).collect::<Vec<_>>());
                    }
                    for to in (0..THREADS).filter(|_| (window + own as u64).is_multiple_of(2)) {
                        let mut messages = vec![window * 10 + own as u64];
                        mail.post(window, own, to, &mut messages);
                        assert!(messages.is_empty(), "the mailbox was not emptied");
                    }
                    progress.finish(own, window + 1);
                }
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|own| std::thread::spawn(work(own))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn messages_of_many_parts_come_in_the_order_of_their_senders() {
        let mail = Mailboxes::<Vec<usize>>::new(200, 1);
        for from in [199, 0, 64, 63, 128] {
            mail.post(7, from, 5, &mut vec![from]);
        }
        let take = |window, to| {
            let mut taken = Vec::new();
            mail.take(window, to, |messages| taken.append(messages));
            taken
        };
        assert_eq!((take(6, 5), take(7, 4)), (vec![], vec![]));
        assert_eq!(take(7, 5), [0, 63, 64, 128, 199]);
        assert_eq!(take(7, 5), []);
    }

    #[test]
    fn aborting_ends_all_waiting() {
        let progress = Arc::new(Progress::new(2));
        let other = Arc::clone(&progress);
        let waiting = std::thread::spawn(move || other.wait_for(2, 1));
        progress.abort();
        assert_eq!(waiting.join().unwrap(), Err(Aborted));
    }
}
