//! Windows of simulated time, in which partitions do not need each other's messages.

/// Number of windows per delay of the shortest link between partitions, with several threads.
pub(crate) const LAG: u64 = 4;

/// A stretch of time to simulate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) from_ps: u64,
    pub(crate) until_ps: u64,
    /// Delay of the shortest link between two partitions.
    pub(crate) lookahead_ps: u64,
    /// Index of its first window.
    pub(crate) first_window: u64,
}

/// A stretch divided into windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    pub(crate) stretch: Stretch,
    /// Number of windows per delay of the shortest link.
    pub(crate) lag: u64,
}

impl Windows {
    fn length(self) -> u64 {
        self.stretch.lookahead_ps / self.lag
    }

    /// Index and end of each window.
    pub(crate) fn all(self) -> impl Iterator<Item = (u64, u64)> {
        (self.stretch.first_window..self.next()).map(move |window| (window, self.end(window)))
    }

    /// End of a window (ps).
    pub(crate) fn end(self, window: u64) -> u64 {
        let Stretch { from_ps, until_ps, first_window, .. } = self.stretch;
        let length = self.length().saturating_mul(window - first_window + 1);
        until_ps.min(from_ps.saturating_add(length))
    }

    /// The window of a time (ps) in the stretch; the last one for later times.
    pub(crate) fn at(self, time_ps: u64) -> u64 {
        let Stretch { from_ps, until_ps, first_window, .. } = self.stretch;
        first_window + (time_ps.min(until_ps - 1) - from_ps) / self.length()
    }

    /// Index of the first window after the stretch.
    pub(crate) fn next(self) -> u64 {
        let stretch = self.stretch;
        stretch.first_window + (stretch.until_ps - stretch.from_ps).div_ceil(self.length())
    }
}
