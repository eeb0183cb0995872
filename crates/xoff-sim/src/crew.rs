//! The threads that simulate the partitions, window by window.
//!
//! What a partition sends arrives no sooner than the shortest link between two partitions is long.
//! That time is cut into [`LAG`] windows: a partition may begin a window once all have finished the
//! one `LAG` before it, whose mail it takes then. So a thread with more to do for a moment does not
//! hold up the others at once. Which thread runs a partition changes nothing but the time it takes;
//! nor does the clock, which only says whether there is enough to do for more than one thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use xoff_core::rng::mix64;
use xoff_core::sync::{Broken, Mailboxes, Patience, Progress};

use crate::partition::{Parcel, Partition};

/// Windows that the shortest link between partitions is long, where threads wait for each other.
const LAG: u64 = 4;

/// A stretch that takes less than this is left to one thread: the others would only wait.
const LIGHT: Duration = Duration::from_micros(100);

/// Partitions are dealt out to the threads again after so many steps.
const STEPS_BETWEEN_DEALS: u32 = 16;

/// A stretch of time to simulate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) from_ps: u64,
    pub(crate) until_ps: u64,
    /// The shortest link between two partitions.
    pub(crate) lookahead_ps: u64,
    /// The number of its first window.
    pub(crate) first_window: u64,
}

/// A stretch cut into windows.
#[derive(Clone, Copy, Debug)]
struct Windows {
    stretch: Stretch,
    /// How many of them the shortest link is long.
    lag: u64,
}

impl Windows {
    fn length(self) -> u64 {
        self.stretch.lookahead_ps / self.lag
    }

    /// The number of each window with its end.
    fn all(self) -> impl Iterator<Item = (u64, u64)> {
        (self.stretch.first_window..self.next()).map(move |window| (window, self.end(window)))
    }

    /// When a window ends (ps).
    fn end(self, window: u64) -> u64 {
        let Stretch { from_ps, until_ps, first_window, .. } = self.stretch;
        let length = self.length().saturating_mul(window - first_window + 1);
        until_ps.min(from_ps.saturating_add(length))
    }

    /// The window of a time (ps) in the stretch, or the last one for what comes after it.
    fn at(self, time_ps: u64) -> u64 {
        let Stretch { from_ps, until_ps, first_window, .. } = self.stretch;
        first_window + (time_ps.min(until_ps - 1) - from_ps) / self.length()
    }

    /// The number of the first window after them.
    fn next(self) -> u64 {
        let stretch = self.stretch;
        stretch.first_window + (stretch.until_ps - stretch.from_ps).div_ceil(self.length())
    }
}

/// What all threads share.
#[derive(Debug)]
struct Shared {
    progress: Progress,
    mail: Mailboxes<Parcel>,
    parts: usize,
    jitter: Option<(u64, u64)>,
}

impl Shared {
    /// Simulates some partitions for a stretch, in step with the other threads.
    fn simulate(
        &self,
        thread: usize,
        partitions: &mut [Partition],
        windows: Windows,
    ) -> Result<(), Broken> {
        let mut parcel = Parcel::default();
        let first = windows.stretch.first_window;
        for (window, end) in windows.all() {
            self.delay(thread, window);
            self.progress.wait_for_all((window + 1).saturating_sub(windows.lag))?;
            if let Some(old) = window.checked_sub(windows.lag).filter(|&old| old >= first) {
                self.take(partitions, old, &mut parcel);
            }
            for partition in &mut *partitions {
                partition.run_before(end);
                self.post(partition, window, &mut parcel);
            }
            self.progress.finish(thread, window + 1);
        }
        let next = windows.next();
        self.progress.wait_for_all(next)?;
        for window in first.max(next.saturating_sub(windows.lag))..next {
            self.take(partitions, window, &mut parcel);
        }
        Ok(())
    }

    /// Simulates all partitions while the other threads rest. Windows in which nothing happens anywhere are
    /// left out: where links between partitions are short and packets few, these are nearly all.
    fn simulate_alone(&self, partitions: &mut [Partition], windows: Windows) {
        let mut parcel = Parcel::default();
        let mut window = windows.stretch.first_window;
        while window < windows.next() {
            let end = windows.end(window);
            for partition in &mut *partitions {
                partition.run_before(end);
                self.post(partition, window, &mut parcel);
            }
            self.take(partitions, window, &mut parcel);
            let next = partitions.iter().map(Partition::not_before).min().unwrap_or(u64::MAX);
            window = windows.at(next.max(end)).max(window + 1);
        }
        self.progress.finish_for_all(windows.next());
    }

    fn post(&self, partition: &mut Partition, window: u64, parcel: &mut Parcel) {
        let from = partition.index as usize;
        for to in 0..self.parts {
            if partition.has_mail(to) {
                partition.swap_mail(to, parcel);
                self.mail.swap(window, from, to, parcel);
            }
        }
    }

    fn take(&self, partitions: &mut [Partition], window: u64, parcel: &mut Parcel) {
        for partition in partitions {
            let to = partition.index as usize;
            for from in (0..self.parts).filter(|&from| from != to) {
                self.mail.swap(window, from, to, parcel);
                partition.receive(parcel);
                // Its memory is used again by whoever posts here next.
                self.mail.swap(window, from, to, parcel);
            }
        }
    }

    fn delay(&self, thread: usize, window: u64) {
        if let Some((seed, most_us)) = self.jitter {
            let us = mix64(mix64(seed ^ thread as u64) ^ window) % (most_us + 1);
            std::thread::sleep(Duration::from_micros(us));
        }
    }
}

struct Job {
    partitions: Vec<Partition>,
    windows: Windows,
}

type Outcome = std::thread::Result<Vec<Partition>>;

struct Worker {
    jobs: Option<Sender<Job>>,
    outcomes: Receiver<Outcome>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn spawn(number: usize, shared: Arc<Shared>) -> Self {
        let (jobs, jobs_here) = channel::<Job>();
        let (outcomes_here, outcomes) = channel();
        let work = move || {
            while let Some(Job { mut partitions, windows }) = receive(&jobs_here) {
                let work = || shared.simulate(number, &mut partitions, windows);
                let outcome = catch_unwind(AssertUnwindSafe(work));
                if outcome.is_err() {
                    shared.progress.break_up();
                }
                if outcomes_here.send(outcome.map(|_| partitions)).is_err() {
                    return;
                }
            }
        };
        Self { jobs: Some(jobs), outcomes, thread: Some(std::thread::spawn(work)) }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // It has caught its panics; there is nothing to be learnt from its end.
            let _ = thread.join();
        }
    }
}

/// The next message: the thread looks for it for a while before it goes to sleep.
fn receive<T>(channel: &Receiver<T>) -> Option<T> {
    let mut patience = Patience::default();
    while !patience.is_over() {
        match channel.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => patience.wait(),
        }
    }
    channel.recv().ok()
}

/// The threads of a simulation, this one included.
pub(crate) struct Crew {
    shared: Arc<Shared>,
    workers: Vec<Worker>,
    /// The thread of each partition, and the work each had done when they were dealt out.
    thread_of: Vec<usize>,
    work_then: Vec<u64>,
    steps: u32,
    /// Whether the last stretch was too little work for more than one thread.
    light: bool,
    /// Whether a stretch has begun and not ended.
    broken: bool,
}

impl Crew {
    /// A crew for so many partitions.
    pub(crate) fn new(count: usize, parts: usize, jitter: Option<(u64, u64)>) -> Self {
        let shared = Arc::new(Shared {
            progress: Progress::new(count),
            mail: Mailboxes::new(parts, LAG),
            parts,
            jitter,
        });
        let worker = |number| Worker::spawn(number, Arc::clone(&shared));
        Self {
            workers: (1..count).map(worker).collect(),
            thread_of: (0..parts).map(|part| part * count / parts).collect(),
            work_then: vec![0; parts],
            steps: 0,
            light: false,
            broken: false,
            shared,
        }
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Simulates all partitions for a stretch; returns the number of the first window after it.
    ///
    /// # Panics
    /// As a thread of the crew does, and ever after.
    pub(crate) fn simulate(&mut self, partitions: &mut Vec<Partition>, stretch: Stretch) -> u64 {
        assert!(!self.broken, "a thread of this run has panicked: nothing can follow");
        self.broken = true;
        let begin = Instant::now();
        let windows = if self.workers.is_empty() || self.light {
            let windows = Windows { stretch, lag: 1 };
            self.shared.simulate_alone(partitions, windows);
            windows
        } else {
            let windows = Windows { stretch, lag: LAG.min(stretch.lookahead_ps) };
            self.simulate_together(partitions, windows);
            windows
        };
        self.broken = false;
        self.light = begin.elapsed() < LIGHT;
        windows.next()
    }

    fn simulate_together(&mut self, partitions: &mut Vec<Partition>, windows: Windows) {
        if self.steps.is_multiple_of(STEPS_BETWEEN_DEALS) && self.steps > 0 {
            self.deal(partitions);
        }
        self.steps += 1;
        let mut shares: Vec<Vec<Partition>> = (0..self.threads()).map(|_| Vec::new()).collect();
        for partition in partitions.drain(..) {
            shares[self.thread_of[partition.index as usize]].push(partition);
        }
        let mut own = shares.remove(0);
        for (worker, partitions) in self.workers.iter().zip(shares) {
            if let Some(jobs) = &worker.jobs {
                // A worker hears until it is dropped.
                let _ = jobs.send(Job { partitions, windows });
            }
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| self.shared.simulate(0, &mut own, windows)));
        if let Err(panic) = outcome {
            self.shared.progress.break_up();
            resume_unwind(panic);
        }
        partitions.append(&mut own);
        for worker in &self.workers {
            match receive(&worker.outcomes) {
                Some(Ok(mut share)) => partitions.append(&mut share),
                Some(Err(panic)) => resume_unwind(panic),
                None => unreachable!("a worker ends only when it is dropped"),
            }
        }
        partitions.sort_unstable_by_key(|partition| partition.index);
    }

    /// Deals the partitions out by the work each had since the last time: the largest first, each to
    /// the thread with the least so far. Results do not depend on it.
    fn deal(&mut self, partitions: &[Partition]) {
        let mut work: Vec<(u64, usize)> = Vec::new();
        for (part, partition) in partitions.iter().enumerate() {
            let hops = partition.packet_hops();
            work.push((hops - self.work_then[part], part));
            self.work_then[part] = hops;
        }
        work.sort_unstable_by_key(|&(hops, part)| (std::cmp::Reverse(hops), part));
        let mut loads = vec![0; self.threads()];
        for (hops, part) in work {
            let least = (0..loads.len()).min_by_key(|&thread| loads[thread]).unwrap_or(0);
            loads[least] += hops.max(1);
            self.thread_of[part] = least;
        }
    }
}
