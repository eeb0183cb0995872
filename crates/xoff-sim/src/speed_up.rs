//! What a run on more cores than the machine has would gain, counted in a run on one thread.
//!
//! Every partition's packet-hops are counted window by window. A schedule of these windows on the
//! threads, with the waits that the windows' messages impose, gives the longest chain of work.

use std::time::Duration;

use crate::windows::LAG;

/// Time to learn of one other thread's progress: a cache line comes from another core. An
/// assumption, from the 60 to 120 ns that such a transfer takes within and between sockets.
const PROGRESS_NS: u64 = 100;

/// Time to hand a thread its partitions at a step of the grid, and to get them back: two messages
/// with a cache line each, and their memory. An assumption; the calling thread does one after the
/// other.
const HAND_OVER_NS: u64 = 500;

/// After a stretch whose longest chain has fewer packet-hops, which takes some 0.1 ms, the next one
/// runs on the calling thread, as in a run with several threads.
const LIGHT_HOPS: u64 = 1_000;

/// The counts of a run so far.
#[derive(Clone, Debug)]
pub struct SpeedUp {
    /// Number of threads that the schedule has.
    pub threads: usize,
    /// Packet-hops of all partitions.
    pub hops: u64,
    /// Packet-hops on the longest chain: a thread waits for the slowest one, four windows earlier.
    pub critical_hops: u64,
    /// Windows with several threads.
    pub windows: u64,
    /// Stretches with several threads.
    pub stretches: u64,
    /// Time of the partitions' work, in this run on one thread.
    pub work: Duration,
    /// Packet-hops by which each thread ends a window, for the last [`LAG`] windows.
    ends: [Vec<u64>; LAG as usize],
    /// Packet-hops of each thread in the window so far.
    window: Vec<u64>,
    stretch_hops: u64,
    light: bool,
}

impl SpeedUp {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            threads,
            hops: 0,
            critical_hops: 0,
            windows: 0,
            stretches: 0,
            work: Duration::ZERO,
            ends: std::array::from_fn(|_| vec![0; threads]),
            window: vec![0; threads],
            stretch_hops: 0,
            light: false,
        }
    }

    /// Counts a partition's packet-hops in the current window.
    pub(crate) fn add(&mut self, thread: usize, hops: u64) {
        self.window[thread] += hops;
        self.stretch_hops += hops;
    }

    /// Ends a window: each thread begins it once it has ended the one before, and all have ended
    /// the one `LAG` earlier.
    pub(crate) fn end_window(&mut self, window: u64) {
        let place = (window % LAG) as usize;
        let before = ((window + LAG - 1) % LAG) as usize;
        let others = self.ends[place].iter().copied().max().unwrap_or(0);
        for thread in 0..self.threads {
            let begin = self.ends[before][thread].max(others);
            self.ends[place][thread] = begin + std::mem::take(&mut self.window[thread]);
        }
        self.windows += u64::from(!self.light);
    }

    /// Ends a stretch, for which all wait.
    pub(crate) fn end_stretch(&mut self, work: Duration) {
        let last = self.ends.iter().flatten().copied().max().unwrap_or(0);
        self.ends.iter_mut().for_each(|ends| ends.fill(0));
        let longest = if self.light { self.stretch_hops } else { last };
        self.critical_hops += longest;
        self.stretches += u64::from(!self.light);
        self.hops += self.stretch_hops;
        self.work += work;
        self.light = longest < LIGHT_HOPS;
        self.stretch_hops = 0;
    }

    /// The estimated time of the run (s). On one thread it takes `wall_s`.
    ///
    /// It leaves out what the cores share: caches, memory, clock rate.
    #[must_use]
    pub fn estimate_s(&self, wall_s: f64) -> f64 {
        let work_s = self.work.as_secs_f64();
        let serial_s = wall_s - work_s;
        let share = self.critical_hops as f64 / self.hops.max(1) as f64;
        let others = self.threads as u64 - 1;
        let meeting = Duration::from_nanos(
            others * (self.windows * PROGRESS_NS + self.stretches * HAND_OVER_NS),
        );
        serial_s + work_s * share + meeting.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packet-hops of each window of one stretch, by thread.
    fn critical(windows: &[[u64; 2]]) -> u64 {
        let mut model = SpeedUp::new(2);
        for (window, hops) in windows.iter().enumerate() {
            hops.iter().enumerate().for_each(|(thread, &hops)| model.add(thread, hops));
            model.end_window(window as u64);
        }
        model.end_stretch(Duration::ZERO);
        model.critical_hops
    }

    #[test]
    fn equal_work_halves_the_chain() {
        assert_eq!(critical(&[[10, 10]; 9]), 90);
    }

    #[test]
    fn one_thread_with_all_the_work_is_the_chain() {
        assert_eq!(critical(&[[10, 0]; 9]), 90);
    }

    #[test]
    fn work_may_differ_within_the_lag() {
        assert_eq!(critical(&[[40, 0], [0, 0], [0, 0], [0, 40]]), 40);
    }

    #[test]
    fn a_window_waits_for_the_one_lag_windows_earlier() {
        assert_eq!(critical(&[[40, 0], [0, 0], [0, 0], [0, 0], [0, 40]]), 80);
    }

    #[test]
    fn stretches_follow_each_other() {
        let mut model = SpeedUp::new(2);
        for hops in [5_000, 3_000] {
            model.add(0, hops);
            model.end_window(0);
            model.end_stretch(Duration::ZERO);
        }
        assert_eq!((model.hops, model.critical_hops), (8_000, 8_000));
    }

    #[test]
    fn a_stretch_after_a_light_one_runs_on_one_thread() {
        let mut model = SpeedUp::new(2);
        // 600 packet-hops take less than 0.1 ms on each of two threads, 1,200 on one do not.
        for hops in [10, 600, 600, 600] {
            model.add(0, hops);
            model.add(1, hops);
            model.end_window(0);
            model.end_stretch(Duration::ZERO);
        }
        assert_eq!(model.critical_hops, 10 + 1_200 + 600 + 1_200);
    }

    #[test]
    fn the_estimate_adds_what_only_one_thread_does_and_the_meetings() {
        let mut model = SpeedUp::new(3);
        for thread in 0..3 {
            model.add(thread, 1_000);
        }
        model.end_window(0);
        model.end_stretch(Duration::from_secs(3));
        let meetings = 2.0 * 600e-9;
        assert!((model.estimate_s(4.0) - (1.0 + 1.0 + meetings)).abs() < 1e-12);
    }
}
