//! The threads that simulate the partitions, window by window.
//!
//! A message between partitions takes at least the delay of the shortest link between them. That
//! time is divided into [`LAG`] windows. A partition may begin a window once all have finished the
//! window `LAG` earlier, whose messages it takes then. A thread with more work for a moment
//! therefore does not delay the others at once. Neither the assignment of partitions to threads nor
//! the wall clock affects results; the clock only decides how many threads work: one if there is
//! little to do, and fewer than all if they wait for each other ([`Crew`]).

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use xoff_core::crew::Crew;
use xoff_core::rng::mix64;
use xoff_core::sync::{Aborted, Backoff, Mailboxes, Progress};

use crate::cut::Threads;
use crate::partition::{Partition, PartitionMessages};
use crate::speed_up::SpeedUp;
use crate::windows::{LAG, Stretch, Windows};

/// A stretch shorter than this runs on one thread: the others would only wait.
const LIGHT: Duration = Duration::from_micros(100);

/// Number of steps between reassignments of partitions to threads.
const STEPS_BETWEEN_DEALS: u32 = 16;

/// State shared by all threads.
#[derive(Debug)]
struct Shared {
    progress: Progress,
    mail: Mailboxes<PartitionMessages>,
    parts: usize,
    jitter: Option<(u64, u64)>,
}

impl Shared {
    /// Simulates some partitions for a stretch, in step with the other threads. Returns for how
    /// long it has waited for them, not counting short waits.
    fn simulate(
        &self,
        thread: usize,
        partitions: &mut [Partition],
        Turn { windows, threads }: Turn,
    ) -> Result<Duration, Aborted> {
        let mut messages = PartitionMessages::default();
        let mut waited = Duration::ZERO;
        let first = windows.stretch.first_window;
        for (window, end) in windows.all() {
            self.delay(thread, window);
            let needed = (window + 1).saturating_sub(windows.lag);
            waited += self.progress.wait_for(threads, needed)?;
            if let Some(old) = window.checked_sub(windows.lag).filter(|&old| old >= first) {
                self.take(partitions, old);
            }
            for partition in &mut *partitions {
                partition.run_before(end);
                self.post(partition, window, &mut messages);
            }
            self.progress.finish(thread, window + 1);
        }
        let next = windows.next();
        waited += self.progress.wait_for(threads, next)?;
        for window in first.max(next.saturating_sub(windows.lag))..next {
            self.take(partitions, window);
        }
        Ok(waited)
    }

    /// Simulates all partitions while the other threads rest. Skips windows without events, which
    /// are the majority with short links between partitions and few packets.
    fn simulate_alone(&self, partitions: &mut [Partition], windows: Windows) {
        let mut messages = PartitionMessages::default();
        let mut window = windows.stretch.first_window;
        while window < windows.next() {
            let end = windows.end(window);
            for partition in &mut *partitions {
                partition.run_before(end);
                self.post(partition, window, &mut messages);
            }
            self.take(partitions, window);
            window += 1;
            if window < windows.next() {
                let next = partitions.iter().map(Partition::not_before).min().unwrap_or(u64::MAX);
                window = windows.at(next.max(end)).max(window);
            }
        }
        self.progress.finish_for_all(windows.next());
    }

    /// Simulates all partitions in the windows that several threads have, and counts their work.
    fn simulate_modelled(
        &self,
        partitions: &mut [Partition],
        windows: Windows,
        thread_of: &[usize],
        model: &mut SpeedUp,
    ) {
        let mut messages = PartitionMessages::default();
        let begin = Instant::now();
        for (window, end) in windows.all() {
            for partition in &mut *partitions {
                let before = partition.packet_hops();
                partition.run_before(end);
                self.post(partition, window, &mut messages);
                let hops = partition.packet_hops() - before;
                model.add(thread_of[partition.index as usize], hops);
            }
            self.take(partitions, window);
            model.end_window(window);
        }
        model.end_stretch(begin.elapsed());
    }

    fn post(&self, partition: &mut Partition, window: u64, messages: &mut PartitionMessages) {
        let from = partition.index as usize;
        for to in 0..self.parts {
            if partition.has_mail(to) {
                partition.swap_mail(to, messages);
                self.mail.post(window, from, to, messages);
            }
        }
    }

    fn take(&self, partitions: &mut [Partition], window: u64) {
        for partition in partitions {
            let to = partition.index as usize;
            self.mail.take(window, to, |messages| partition.receive(messages));
        }
    }

    fn delay(&self, thread: usize, window: u64) {
        if let Some((seed, most_us)) = self.jitter {
            let us = mix64(mix64(seed ^ thread as u64) ^ window) % (most_us + 1);
            std::thread::sleep(Duration::from_micros(us));
        }
    }
}

/// A stretch that several threads simulate together, the pool's first ones.
#[derive(Clone, Copy, Debug)]
struct Turn {
    windows: Windows,
    threads: usize,
}

struct Job {
    partitions: Vec<Partition>,
    turn: Turn,
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
            while let Some(Job { mut partitions, turn }) = receive(&jobs_here) {
                let work = || shared.simulate(number, &mut partitions, turn);
                let outcome = catch_unwind(AssertUnwindSafe(work));
                if outcome.is_err() {
                    shared.progress.abort();
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
            // The thread has caught its panics; its result is irrelevant.
            let _ = thread.join();
        }
    }
}

/// Receives the next message: polls for a while before the thread sleeps.
fn receive<T>(channel: &Receiver<T>) -> Option<T> {
    let mut backoff = Backoff::default();
    while !backoff.is_yielding() {
        match channel.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => backoff.wait(),
        }
    }
    channel.recv().ok()
}

/// The threads of a simulation, including the caller's.
pub(crate) struct WorkerPool {
    shared: Arc<Shared>,
    workers: Vec<Worker>,
    /// The thread of each partition, and the work of each at the last reassignment.
    thread_of: Vec<usize>,
    work_then: Vec<u64>,
    /// Number of threads at the last reassignment, and of stretches since.
    dealt_to: usize,
    steps: u32,
    crew: Crew,
    /// Counts what several threads would gain, while one works.
    model: Option<SpeedUp>,
    /// True if the last stretch was too little work for several threads.
    light: bool,
    /// True while a stretch is running, and after a panic.
    broken: bool,
}

impl WorkerPool {
    /// Creates `useful` threads for `parts` partitions.
    pub(crate) fn new(useful: usize, parts: usize, threads: Threads) -> Self {
        let Threads { jitter, modelled, .. } = threads;
        let count = if modelled { 1 } else { useful };
        let shared = Arc::new(Shared {
            progress: Progress::new(count),
            mail: Mailboxes::new(parts, LAG),
            parts,
            jitter,
        });
        let worker = |number| Worker::spawn(number, Arc::clone(&shared));
        Self {
            workers: (1..count).map(worker).collect(),
            thread_of: (0..parts).map(|part| part * useful / parts).collect(),
            work_then: vec![0; parts],
            dealt_to: useful,
            steps: 0,
            crew: Crew::by_halves(count),
            model: modelled.then(|| SpeedUp::new(useful)),
            light: false,
            broken: false,
            shared,
        }
    }

    /// Number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// What several threads would gain, if that is counted.
    pub(crate) fn speed_up(&self) -> Option<&SpeedUp> {
        self.model.as_ref()
    }

    /// Simulates all partitions for a stretch; returns the index of the first window after it.
    ///
    /// # Panics
    /// If a thread of the pool panics, and in every later call.
    pub(crate) fn simulate(&mut self, partitions: &mut Vec<Partition>, stretch: Stretch) -> u64 {
        assert!(!self.broken, "a thread of this run has panicked");
        self.broken = true;
        let next = if let Some(mut model) = self.model.take() {
            let next = self.simulate_modelled(partitions, stretch, &mut model);
            self.model = Some(model);
            next
        } else if self.workers.is_empty() {
            self.simulate_alone(partitions, stretch)
        } else {
            self.simulate_timed(partitions, stretch)
        };
        self.broken = false;
        next
    }

    fn simulate_alone(&self, partitions: &mut [Partition], stretch: Stretch) -> u64 {
        let windows = Windows { stretch, lag: 1 };
        self.shared.simulate_alone(partitions, windows);
        windows.next()
    }

    fn simulate_modelled(
        &mut self,
        partitions: &mut [Partition],
        stretch: Stretch,
        model: &mut SpeedUp,
    ) -> u64 {
        if self.steps >= STEPS_BETWEEN_DEALS {
            self.deal(partitions, model.threads);
        }
        self.steps += 1;
        let windows = Windows { stretch, lag: LAG.min(stretch.lookahead_ps) };
        self.shared.simulate_modelled(partitions, windows, &self.thread_of, model);
        windows.next()
    }

    /// Simulates with as many threads as has been fastest, and records the speed.
    fn simulate_timed(&mut self, partitions: &mut Vec<Partition>, stretch: Stretch) -> u64 {
        let threads = self.threads_now(stretch);
        let begin = Instant::now();
        let before = hops(partitions);
        let (next, waited) = if threads == 1 || self.light {
            (self.simulate_alone(partitions, stretch), Duration::ZERO)
        } else {
            let windows = Windows { stretch, lag: LAG.min(stretch.lookahead_ps) };
            let waited = self.simulate_together(partitions, Turn { windows, threads });
            (windows.next(), waited)
        };
        let wall = begin.elapsed();
        if threads == 1 || !self.light {
            self.crew.record(hops(partitions) - before, wall, waited);
        }
        self.light = wall < LIGHT;
        next
    }

    /// The number of threads for a stretch. In tests that delay threads it varies at random.
    fn threads_now(&self, stretch: Stretch) -> usize {
        match self.shared.jitter {
            Some((seed, _)) => {
                1 + (mix64(seed ^ mix64(stretch.first_window)) % self.threads() as u64) as usize
            }
            None => self.crew.size(),
        }
    }

    /// Returns for how long the calling thread has waited for the others.
    fn simulate_together(&mut self, partitions: &mut Vec<Partition>, turn: Turn) -> Duration {
        if turn.threads != self.dealt_to || self.steps >= STEPS_BETWEEN_DEALS {
            self.deal(partitions, turn.threads);
        }
        self.steps += 1;
        let mut shares: Vec<Vec<Partition>> = (0..turn.threads).map(|_| Vec::new()).collect();
        for partition in partitions.drain(..) {
            shares[self.thread_of[partition.index as usize]].push(partition);
        }
        let mut own = shares.remove(0);
        for (worker, partitions) in self.workers.iter().zip(shares) {
            if let Some(jobs) = &worker.jobs {
                // A worker receives until it is dropped.
                let _ = jobs.send(Job { partitions, turn });
            }
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| self.shared.simulate(0, &mut own, turn)));
        let waited = match outcome {
            Ok(waited) => waited.unwrap_or_default(),
            Err(panic) => {
                self.shared.progress.abort();
                resume_unwind(panic);
            }
        };
        partitions.append(&mut own);
        for worker in &self.workers[..turn.threads - 1] {
            match receive(&worker.outcomes) {
                Some(Ok(mut share)) => partitions.append(&mut share),
                Some(Err(panic)) => resume_unwind(panic),
                None => unreachable!("a worker ends only when it is dropped"),
            }
        }
        partitions.sort_unstable_by_key(|partition| partition.index);
        // Those of the threads that had a rest, too.
        self.shared.progress.finish_for_all(turn.windows.next());
        waited
    }

    /// Reassigns the partitions by their work since the last time: the largest first, each to the
    /// thread with the least work so far. Results do not depend on it.
    fn deal(&mut self, partitions: &[Partition], threads: usize) {
        (self.dealt_to, self.steps) = (threads, 0);
        let mut work: Vec<(u64, usize)> = Vec::new();
        for (part, partition) in partitions.iter().enumerate() {
            let hops = partition.packet_hops();
            work.push((hops - self.work_then[part], part));
            self.work_then[part] = hops;
        }
        work.sort_unstable_by_key(|&(hops, part)| (std::cmp::Reverse(hops), part));
        let mut loads = vec![0; threads];
        for (hops, part) in work {
            let least = (0..threads).min_by_key(|&thread| loads[thread]).unwrap_or(0);
            loads[least] += hops.max(1);
            self.thread_of[part] = least;
        }
    }
}

fn hops(partitions: &[Partition]) -> u64 {
    partitions.iter().map(Partition::packet_hops).sum()
}
