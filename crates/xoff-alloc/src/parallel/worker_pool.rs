//! Worker threads that process blocks in phases, and their barrier. While the threads wait for each
//! other for long, because other programs want their cores, one thread does all the work.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use xoff_core::crew::Crew;

/// Number of polls before yielding the processor: a few microseconds, longer than a phase of an
/// iteration if each thread has a core.
const SPINS: u32 = 4_000;

/// A thread of the pool has panicked; the others must stop waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Aborted;

/// A reusable barrier for all threads of a pool. A thread that waits long sleeps.
#[derive(Debug)]
struct Barrier {
    threads: AtomicUsize,
    arrived: AtomicUsize,
    /// Number of times that all threads have met.
    meetings: AtomicUsize,
    sleepers: AtomicUsize,
    aborted: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Barrier {
    fn new(threads: usize) -> Self {
        Self {
            threads: AtomicUsize::new(threads),
            arrived: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            aborted: AtomicBool::new(false),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    fn threads(&self) -> usize {
        self.threads.load(SeqCst)
    }

    /// Waits until all threads have arrived. Each then sees the others' earlier writes. Returns for
    /// how long the thread slept.
    fn wait(&self) -> Result<Duration, Aborted> {
        let meeting = self.meetings.load(SeqCst);
        let mut slept = Duration::ZERO;
        if self.arrived.fetch_add(1, SeqCst) + 1 == self.threads() {
            self.arrived.store(0, SeqCst);
            self.meetings.store(meeting.wrapping_add(1), SeqCst);
            self.wake_up();
        } else {
            slept = self.wait_while(|| self.meetings.load(SeqCst) == meeting);
        }
        if self.aborted.load(SeqCst) { Err(Aborted) } else { Ok(slept) }
    }

    fn wait_while(&self, is_early: impl Fn() -> bool) -> Duration {
        let must_wait = || is_early() && !self.aborted.load(SeqCst);
        for _ in 0..SPINS {
            if !must_wait() {
                return Duration::ZERO;
            }
            std::hint::spin_loop();
        }
        let begin = Instant::now();
        // The waker checks for sleepers after it counts the meeting, and a sleeper checks the
        // meeting after it counts itself: one of the two sees the other.
        self.sleepers.fetch_add(1, SeqCst);
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while must_wait() {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        drop(guard);
        self.sleepers.fetch_sub(1, SeqCst);
        begin.elapsed()
    }

    fn wake_up(&self) {
        if self.sleepers.load(SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// Ends all waiting, now and later.
    fn abort(&self) {
        self.aborted.store(true, SeqCst);
        self.wake_up();
    }
}

/// Aborts the barrier if its thread panics.
struct Watch<'a>(&'a Barrier);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abort();
        }
    }
}

/// Work in phases that any number of threads share.
pub(crate) trait Work: Send + Sync + 'static {
    /// Number of phases. No thread begins a phase before all have ended the previous one.
    fn phases(&self) -> usize;

    /// Does one thread's part of a phase.
    fn run(&self, phase: usize, thread: usize, threads: usize);
}

/// Threads that repeat some work. The caller's thread is one of them.
#[derive(Debug)]
pub(crate) struct WorkerPool<W> {
    work: Arc<W>,
    barrier: Arc<Barrier>,
    dismissed: Arc<AtomicBool>,
    others: Vec<JoinHandle<()>>,
    crew: Crew,
}

impl<W: Work> WorkerPool<W> {
    /// This many threads, or as many as the system allows.
    pub(crate) fn new(work: Arc<W>, threads: usize) -> Self {
        Self::with(work, threads, |run| Builder::new().spawn(run))
    }

    fn with(
        work: Arc<W>,
        threads: usize,
        mut spawn: impl FnMut(Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>>,
    ) -> Self {
        let barrier = Arc::new(Barrier::new(threads));
        let dismissed = Arc::new(AtomicBool::new(false));
        let start = |thread| {
            let (work, barrier) = (Arc::clone(&work), Arc::clone(&barrier));
            let dismissed = Arc::clone(&dismissed);
            spawn(Box::new(move || {
                while barrier.wait().is_ok() && !dismissed.load(SeqCst) {
                    if work_once(&*work, &barrier, thread).is_err() {
                        return;
                    }
                }
            }))
        };
        let others: Vec<_> = (1..threads).map(start).map_while(Result::ok).collect();
        // None of them is beyond its first meeting, which needs the caller's thread.
        let threads = others.len() + 1;
        barrier.threads.store(threads, SeqCst);
        Self { work, barrier, dismissed, others, crew: Crew::all_or_one(threads) }
    }

    /// Number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.others.len() + 1
    }

    /// Does the work once.
    ///
    /// # Panics
    /// If one of the threads has panicked.
    pub(crate) fn run(&mut self) {
        let begin = Instant::now();
        let slept = if self.crew.size() == 1 {
            (0..self.work.phases()).for_each(|phase| self.work.run(phase, 0, 1));
            Duration::ZERO
        } else {
            let met = self.barrier.wait();
            met.and_then(|slept| Ok(slept + work_once(&*self.work, &self.barrier, 0)?))
                .expect("a thread of the allocator has panicked")
        };
        self.crew.record(1, begin.elapsed(), slept);
    }
}

/// Runs all phases of one thread. When it returns, all threads have ended all phases. Returns for
/// how long the thread slept.
fn work_once(work: &impl Work, barrier: &Barrier, thread: usize) -> Result<Duration, Aborted> {
    let watch = Watch(barrier);
    let mut slept = Duration::ZERO;
    for phase in 0..work.phases() {
        work.run(phase, thread, barrier.threads());
        slept += barrier.wait()?;
    }
    drop(watch);
    Ok(slept)
}

impl<W> Drop for WorkerPool<W> {
    fn drop(&mut self) {
        self.dismissed.store(true, SeqCst);
        // If the barrier is aborted, the other threads have ended or are ending.
        if self.barrier.wait().is_ok() {
            self.others.drain(..).for_each(|thread| drop(thread.join()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells that the threads share. Each phase adds one to the mean of all cells in the previous
    /// phase.
    struct Sums {
        cells: Vec<[AtomicUsize; 2]>,
        panics: bool,
    }

    impl Work for Sums {
        fn phases(&self) -> usize {
            20
        }

        fn run(&self, phase: usize, thread: usize, threads: usize) {
            assert!(!self.panics || thread != 1 || phase < 7, "intended");
            let before = (phase + 1) % 2;
            let sum: usize = self.cells.iter().map(|cell| cell[before].load(SeqCst)).sum();
            for cell in self.cells.iter().skip(thread).step_by(threads) {
                cell[phase % 2].store(sum / self.cells.len() + 1, SeqCst);
            }
        }
    }

    fn worker_pool(threads: usize, panics: bool) -> WorkerPool<Sums> {
        let cells = (0..threads).map(|_| [AtomicUsize::new(0), AtomicUsize::new(0)]).collect();
        WorkerPool::new(Arc::new(Sums { cells, panics }), threads)
    }

    #[test]
    fn no_thread_starts_a_phase_early() {
        for threads in 1..5 {
            let mut worker_pool = worker_pool(threads, false);
            for round in 1..40 {
                worker_pool.run();
                let found = worker_pool.work.cells.iter().map(|cell| cell[1].load(SeqCst));
                assert!(found.clone().all(|found| found == round * 20), "{threads} threads");
            }
        }
    }

    #[test]
    fn a_limit_of_threads_leaves_fewer() {
        for allowed in 0..3 {
            let cells = (0..4).map(|_| [AtomicUsize::new(0), AtomicUsize::new(0)]).collect();
            let (work, mut left) = (Arc::new(Sums { cells, panics: false }), allowed);
            let mut worker_pool = WorkerPool::with(work, 4, |run| {
                left = usize::checked_sub(left, 1).ok_or(io::ErrorKind::WouldBlock)?;
                Builder::new().spawn(run)
            });
            assert_eq!(worker_pool.threads(), allowed + 1);
            worker_pool.run();
            worker_pool.work.cells.iter().for_each(|cell| assert_eq!(cell[1].load(SeqCst), 20));
        }
    }

    #[test]
    fn sleeping_threads_are_woken() {
        let mut worker_pool = worker_pool(3, false);
        for round in 1..4 {
            std::thread::sleep(std::time::Duration::from_millis(30));
            worker_pool.run();
            assert_eq!(worker_pool.work.cells[2][1].load(SeqCst), round * 20);
        }
    }

    #[test]
    fn a_panic_ends_the_work_of_all() {
        let mut worker_pool = worker_pool(3, true);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| worker_pool.run()));
        assert!(outcome.is_err());
    }
}
