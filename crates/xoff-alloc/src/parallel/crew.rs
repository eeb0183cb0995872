//! The threads that work on blocks, and how they keep in step.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Looks this often before it lets other threads have the processor: a few microseconds, longer than
/// a phase of an iteration takes where there is a core for each thread.
const SPINS: u32 = 4_000;

/// Some thread of the crew has panicked: the others must not wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Broken;

/// Where all threads of a crew wait for each other, again and again: who has waited long sleeps.
#[derive(Debug)]
struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    /// How often all have met.
    meetings: AtomicUsize,
    sleepers: AtomicUsize,
    broken: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    /// Waits until all have come. Each then sees what the others did before.
    fn wait(&self) -> Result<(), Broken> {
        let meeting = self.meetings.load(SeqCst);
        if self.arrived.fetch_add(1, SeqCst) + 1 == self.threads {
            self.arrived.store(0, SeqCst);
            self.meetings.store(meeting.wrapping_add(1), SeqCst);
            self.wake_up();
        } else {
            self.wait_while(|| self.meetings.load(SeqCst) == meeting);
        }
        if self.broken.load(SeqCst) { Err(Broken) } else { Ok(()) }
    }

    fn wait_while(&self, is_early: impl Fn() -> bool) {
        let must_wait = || is_early() && !self.broken.load(SeqCst);
        for _ in 0..SPINS {
            if !must_wait() {
                return;
            }
            std::hint::spin_loop();
        }
        // Who wakes looks for sleepers after the meeting counts, and a sleeper looks for the meeting
        // after it counts itself: one of the two sees the other.
        self.sleepers.fetch_add(1, SeqCst);
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while must_wait() {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        drop(guard);
        self.sleepers.fetch_sub(1, SeqCst);
    }

    fn wake_up(&self) {
        if self.sleepers.load(SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// From now on nobody waits.
    fn break_up(&self) {
        self.broken.store(true, SeqCst);
        self.wake_up();
    }
}

/// Breaks the crew up if its thread ends by a panic.
struct Watch<'a>(&'a Barrier);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_up();
        }
    }
}

/// Work in phases, which any number of threads share.
pub(crate) trait Work: Send + Sync + 'static {
    /// How many phases it has. No thread begins one before all have ended the one before.
    fn phases(&self) -> usize;

    /// Does one thread's part of a phase.
    fn run(&self, phase: usize, thread: usize, threads: usize);
}

/// Threads that do some work, again and again. The caller's is one of them.
#[derive(Debug)]
pub(crate) struct Crew<W> {
    work: Arc<W>,
    barrier: Arc<Barrier>,
    dismissed: Arc<AtomicBool>,
    others: Vec<JoinHandle<()>>,
}

impl<W: Work> Crew<W> {
    pub(crate) fn new(work: Arc<W>, threads: usize) -> Self {
        let barrier = Arc::new(Barrier::new(threads));
        let dismissed = Arc::new(AtomicBool::new(false));
        let others = (1..threads)
            .map(|thread| {
                let (work, barrier) = (Arc::clone(&work), Arc::clone(&barrier));
                let dismissed = Arc::clone(&dismissed);
                std::thread::spawn(move || {
                    while barrier.wait().is_ok() && !dismissed.load(SeqCst) {
                        if work_once(&*work, &barrier, thread).is_err() {
                            return;
                        }
                    }
                })
            })
            .collect();
        Self { work, barrier, dismissed, others }
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.others.len() + 1
    }

    /// Does the work once.
    ///
    /// # Panics
    /// If one of the threads has.
    pub(crate) fn run(&self) {
        let done = self.barrier.wait().and_then(|()| work_once(&*self.work, &self.barrier, 0));
        assert_eq!(done, Ok(()), "a thread of the allocator has panicked");
    }
}

/// All phases of one thread. All have ended when it returns.
fn work_once(work: &impl Work, barrier: &Barrier, thread: usize) -> Result<(), Broken> {
    let watch = Watch(barrier);
    for phase in 0..work.phases() {
        work.run(phase, thread, barrier.threads);
        barrier.wait()?;
    }
    drop(watch);
    Ok(())
}

impl<W> Drop for Crew<W> {
    fn drop(&mut self) {
        self.dismissed.store(true, SeqCst);
        // Nobody is left to wait for if the crew is broken.
        if self.barrier.wait().is_ok() {
            self.others.drain(..).for_each(|thread| drop(thread.join()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds up, in each phase, what all threads left in the one before.
    struct Sums {
        cells: Vec<[AtomicUsize; 2]>,
        panics: bool,
    }

    impl Work for Sums {
        fn phases(&self) -> usize {
            20
        }

        fn run(&self, phase: usize, thread: usize, threads: usize) {
            assert!(!self.panics || thread != 1 || phase < 7, "as told to");
            let before = (phase + 1) % 2;
            let sum: usize = self.cells.iter().map(|cell| cell[before].load(SeqCst)).sum();
            self.cells[thread][phase % 2].store(sum / threads + 1, SeqCst);
        }
    }

    fn crew(threads: usize, panics: bool) -> Crew<Sums> {
        let cells = (0..threads).map(|_| [AtomicUsize::new(0), AtomicUsize::new(0)]).collect();
        Crew::new(Arc::new(Sums { cells, panics }), threads)
    }

    #[test]
    fn phases_follow_each_other_on_all_threads() {
        for threads in 1..5 {
            let crew = crew(threads, false);
            for round in 1..40 {
                crew.run();
                let found = crew.work.cells.iter().map(|cell| cell[1].load(SeqCst));
                assert!(found.clone().all(|found| found == round * 20), "{threads} threads");
            }
        }
    }

    #[test]
    fn who_sleeps_is_woken() {
        let crew = crew(3, false);
        for round in 1..4 {
            std::thread::sleep(std::time::Duration::from_millis(30));
            crew.run();
            assert_eq!(crew.work.cells[2][1].load(SeqCst), round * 20);
        }
    }

    #[test]
    fn a_panic_ends_the_work_of_all() {
        let crew = crew(3, true);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| crew.run()));
        assert!(outcome.is_err());
    }
}
