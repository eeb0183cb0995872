//! The threads that simulate the partitions, window by window.
//!
//! A window is no longer than the shortest link between two partitions, so what a partition sends in
//! one window arrives in the next one or later: within a window partitions do not see each other. At
//! its end all threads meet, and each takes in what was sent to its partitions. Which thread runs a
//! partition changes nothing but the time it takes.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use xoff_core::rng::mix64;
use xoff_core::sync::{Barrier, Mailboxes, Patience};

use crate::partition::{Parcel, Partition};

/// Partitions are dealt out to the threads again after so many steps.
const STEPS_BETWEEN_DEALS: u32 = 16;

/// A stretch of time to simulate, cut into windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) from_ps: u64,
    pub(crate) until_ps: u64,
    pub(crate) window_ps: u64,
    /// The number of its first window.
    pub(crate) first_window: u64,
}

impl Stretch {
    /// The end of each window with its number.
    fn windows(self) -> impl Iterator<Item = (u64, u64)> {
        let Self { from_ps, until_ps, window_ps, first_window } = self;
        let ends = std::iter::successors(Some(from_ps), move |&end| {
            (end < until_ps).then(|| until_ps.min(end.saturating_add(window_ps)))
        });
        (first_window..).zip(ends.skip(1))
    }

    pub(crate) fn last_window(self) -> u64 {
        self.first_window + self.windows().count() as u64
    }
}

/// What all threads share.
#[derive(Debug)]
struct Shared {
    barrier: Barrier,
    mail: Mailboxes<Parcel>,
    parts: usize,
    jitter: Option<(u64, u64)>,
}

impl Shared {
    /// Simulates some partitions for a stretch, in step with the other threads.
    fn simulate(&self, thread: u64, partitions: &mut [Partition], stretch: Stretch) {
        let mut parcel = Parcel::default();
        for (window, end) in stretch.windows() {
            self.delay(thread, window);
            for partition in &mut *partitions {
                partition.run_before(end);
                for to in 0..self.parts {
                    if partition.has_mail(to) {
                        partition.swap_mail(to, &mut parcel);
                        self.mail.swap(window, partition.index as usize, to, &mut parcel);
                    }
                }
            }
            if self.barrier.wait().is_err() {
                return;
            }
            for partition in &mut *partitions {
                for from in 0..self.parts {
                    self.mail.swap(window, from, partition.index as usize, &mut parcel);
                    partition.receive(&mut parcel);
                    // Its memory is used again by whoever sends next.
                    self.mail.swap(window, from, partition.index as usize, &mut parcel);
                }
            }
        }
    }

    fn delay(&self, thread: u64, window: u64) {
        if let Some((seed, most_us)) = self.jitter {
            let us = mix64(mix64(seed ^ thread) ^ window) % (most_us + 1);
            std::thread::sleep(Duration::from_micros(us));
        }
    }
}

struct Job {
    partitions: Vec<Partition>,
    stretch: Stretch,
}

type Outcome = std::thread::Result<Vec<Partition>>;

struct Worker {
    jobs: Option<Sender<Job>>,
    outcomes: Receiver<Outcome>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn spawn(number: u64, shared: Arc<Shared>) -> Self {
        let (jobs, jobs_here) = channel::<Job>();
        let (outcomes_here, outcomes) = channel();
        let work = move || {
            while let Some(Job { mut partitions, stretch }) = receive(&jobs_here) {
                let work = || shared.simulate(number, &mut partitions, stretch);
                let outcome = catch_unwind(AssertUnwindSafe(work));
                if outcome.is_err() {
                    shared.barrier.break_up();
                }
                if outcomes_here.send(outcome.map(|()| partitions)).is_err() {
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
}

impl Crew {
    /// A crew for so many partitions.
    pub(crate) fn new(count: usize, parts: usize, jitter: Option<(u64, u64)>) -> Self {
        let shared = Arc::new(Shared {
            barrier: Barrier::new(count),
            mail: Mailboxes::new(parts),
            parts,
            jitter,
        });
        let worker = |number| Worker::spawn(number as u64, Arc::clone(&shared));
        Self {
            workers: (1..count).map(worker).collect(),
            thread_of: (0..parts).map(|part| part * count / parts).collect(),
            work_then: vec![0; parts],
            steps: 0,
            shared,
        }
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Simulates all partitions for a stretch.
    ///
    /// # Panics
    /// As a thread of the crew did.
    pub(crate) fn simulate(&mut self, partitions: &mut Vec<Partition>, stretch: Stretch) {
        if self.workers.is_empty() {
            self.shared.simulate(0, partitions, stretch);
            return;
        }
        if self.steps.is_multiple_of(STEPS_BETWEEN_DEALS) && self.steps > 0 {
            self.deal(partitions);
        }
        self.steps += 1;
        let mut shares: Vec<Vec<Partition>> = (0..self.threads()).map(|_| Vec::new()).collect();
        for partition in partitions.drain(..) {
            shares[self.thread_of[partition.index as usize]].push(partition);
        }
        let mut own = shares.swap_remove(0);
        // The last share has taken the first one's place.
        let count = shares.len();
        shares.rotate_left(1.min(count));
        for (worker, share) in self.workers.iter().zip(shares) {
            if let Some(jobs) = &worker.jobs {
                // A worker hears until it is dropped.
                let _ = jobs.send(Job { partitions: share, stretch });
            }
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| self.shared.simulate(0, &mut own, stretch)));
        if let Err(panic) = outcome {
            self.shared.barrier.break_up();
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
