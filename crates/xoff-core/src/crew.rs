//! How many threads of a group work. On a machine whose cores other programs want, threads wait for
//! threads that do not run, and several threads are then slower than one.
//!
//! A group begins with all its threads. While they wait for each other for long, it tries fewer for
//! a moment, and keeps the number that does more work per second. With fewer than all it tries more
//! from time to time. The choice depends on the clock, so results must not depend on the choice.

use std::time::Duration;

/// Length of a trial: several turns of a scheduler that shares a core (some 3 ms each), so that a
/// trial sees more than one program's turn.
const TRIAL: Duration = Duration::from_millis(20);

/// Shortest and longest time between trials. A trial that fails doubles it.
const SOON: Duration = Duration::from_millis(40);
const LATE: Duration = Duration::from_millis(1280);

/// Fewer threads are tried if the observed one waits for long in more than a share of `1 / PATIENT`
/// of the time.
const PATIENT: u32 = 8;

/// A number of threads must need less time for the same work than this share of what another number
/// needs, to replace it. Otherwise noise would change it in every trial.
const BETTER: f64 = 0.95;

/// Work done with one number of threads.
#[derive(Clone, Copy, Debug, Default)]
struct Spell {
    work: u64,
    wall: Duration,
    waited: Duration,
}

impl Spell {
    /// Seconds for a unit of work.
    fn cost(&self) -> f64 {
        self.wall.as_secs_f64() / self.work.max(1) as f64
    }
}

/// The number of a group's threads that work, chosen from what was measured.
#[derive(Clone, Debug)]
pub struct Crew {
    /// Numbers of threads to choose from, ascending.
    sizes: Vec<usize>,
    at: usize,
    /// During a trial: the index in `sizes` and the cost before it.
    before: Option<(usize, f64)>,
    spell: Spell,
    patience: Duration,
}

impl Crew {
    /// A group whose threads may all work, or half of them, a quarter, and so on down to one.
    #[must_use]
    pub fn by_halves(threads: usize) -> Self {
        let mut sizes: Vec<usize> =
            std::iter::successors(Some(threads.max(1)), |&size| (size > 1).then_some(size / 2))
                .collect();
        sizes.reverse();
        Self::of_sizes(sizes)
    }

    /// A group in which all threads work, or one.
    #[must_use]
    pub fn all_or_one(threads: usize) -> Self {
        Self::of_sizes(if threads > 1 { vec![1, threads] } else { vec![1] })
    }

    fn of_sizes(sizes: Vec<usize>) -> Self {
        let at = sizes.len() - 1;
        Self { sizes, at, before: None, spell: Spell::default(), patience: SOON }
    }

    /// The number of threads that should do the next work.
    #[must_use]
    pub fn size(&self) -> usize {
        self.sizes[self.at]
    }

    /// Records work done by [`Crew::size`] threads, in any unit; its duration; and for how much of
    /// it one of the threads waited for others, not counting short waits.
    pub fn record(&mut self, work: u64, wall: Duration, waited: Duration) {
        if self.sizes.len() == 1 {
            return;
        }
        let spell = &mut self.spell;
        spell.work += work;
        spell.wall += wall;
        spell.waited += waited;
        if spell.wall < if self.before.is_some() { TRIAL } else { self.patience } {
            return;
        }
        let spell = std::mem::take(spell);
        match self.before.take() {
            None => self.begin_trial(spell),
            Some(before) => self.end_trial(spell, before),
        }
    }

    fn begin_trial(&mut self, spell: Spell) {
        let waits = spell.waited * PATIENT > spell.wall;
        let other = if waits && self.at > 0 {
            self.at - 1
        } else if self.at + 1 < self.sizes.len() {
            self.at + 1
        } else {
            return;
        };
        self.before = Some((self.at, spell.cost()));
        self.at = other;
    }

    fn end_trial(&mut self, spell: Spell, (old, old_cost): (usize, f64)) {
        if spell.cost() < old_cost * BETTER {
            self.patience = SOON;
        } else {
            self.at = old;
            self.patience = (2 * self.patience).min(LATE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets a crew work for a time. `speed` is the work per millisecond of a number of threads,
    /// `waits` the share of time that they wait, in percent. Returns the work done.
    fn work(
        crew: &mut Crew,
        time: Duration,
        speed: impl Fn(usize) -> u64,
        waits: impl Fn(usize) -> u32,
    ) -> u64 {
        let step = Duration::from_millis(1);
        let mut done = 0;
        for _ in 0..time.as_millis() {
            let size = crew.size();
            crew.record(speed(size), step, step * waits(size) / 100);
            done += speed(size);
        }
        done
    }

    const TEN_SECONDS: Duration = Duration::from_secs(10);
    /// Two threads whose cores two other programs want: lock-step costs more than it gains.
    const BUSY: [u64; 3] = [0, 1000, 400];
    const QUIET: [u64; 3] = [0, 1000, 1900];

    #[test]
    fn a_group_that_does_not_wait_never_tries_fewer_threads() {
        for threads in [1, 2, 7, 64] {
            let mut crew = Crew::by_halves(threads);
            let full = |size| if size == threads { 1000 } else { 1 };
            assert_eq!(work(&mut crew, TEN_SECONDS, full, |_| 10), 10_000 * 1000);
        }
    }

    #[test]
    fn one_thread_works_if_the_others_do_not_run() {
        let waits = |size| if size > 1 { 50 } else { 0 };
        for mut crew in [Crew::by_halves(2), Crew::all_or_one(2)] {
            let done = work(&mut crew, TEN_SECONDS, |size| BUSY[size], waits);
            assert!(done > 9_700_000, "{done}");
            assert_eq!(crew.size(), 1);
        }
    }

    #[test]
    fn all_threads_work_again_once_the_machine_is_quiet() {
        let mut crew = Crew::by_halves(2);
        work(&mut crew, TEN_SECONDS, |size| BUSY[size], |size| if size > 1 { 50 } else { 0 });
        let done = work(&mut crew, TEN_SECONDS, |size| QUIET[size], |_| 0);
        assert!(done > 17_500_000, "{done}");
        assert_eq!(crew.size(), 2);
    }

    #[test]
    fn waiting_alone_does_not_decide() {
        // Threads that wait half of the time and are still faster than one.
        let mut crew = Crew::by_halves(2);
        let done = work(&mut crew, TEN_SECONDS, |size| QUIET[size], |size| 50 * (size as u32 - 1));
        assert!(done > 18_700_000, "{done}");
    }

    #[test]
    fn the_best_of_many_sizes_is_found() {
        // 64 threads on a machine on which 8 cores are free.
        let mut crew = Crew::by_halves(64);
        let speed = |size: usize| if size <= 8 { 100 * size as u64 } else { 1600 / size as u64 };
        let done = work(&mut crew, TEN_SECONDS, speed, |size| if size > 8 { 60 } else { 0 });
        assert_eq!(crew.size(), 8);
        assert!(done > 7_500_000, "{done}");
    }
}
