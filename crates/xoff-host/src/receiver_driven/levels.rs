//! Use of the priorities that packets carry: the first ones are for unscheduled data, shorter
//! messages before longer ones. The others are for scheduled data, in the order of the receiver's
//! ranking of its messages.

/// The priorities and their use; 0 is served first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Longest message (bytes) of each unscheduled priority but the last, in ascending order.
    pub cutoffs: Vec<u64>,
    /// Number of priorities for scheduled data.
    pub scheduled: u8,
}

impl Levels {
    /// Number of priorities for unscheduled data.
    #[must_use]
    pub fn unscheduled(&self) -> u8 {
        self.cutoffs.len() as u8 + 1
    }

    /// Total number of priorities.
    #[must_use]
    pub fn count(&self) -> u8 {
        self.unscheduled() + self.scheduled
    }

    /// Priority of unscheduled data of a message of `bytes`.
    #[must_use]
    pub fn of_size(&self, bytes: u64) -> u8 {
        self.cutoffs.partition_point(|&cutoff| cutoff < bytes) as u8
    }

    /// Priority of scheduled data of the message at rank `before` among `granted` messages granted
    /// at once. If there are fewer messages than priorities, they use the lowest ones, so that a
    /// shorter message that arrives later finds a higher one free (Homa §3.4).
    #[must_use]
    pub fn of_rank(&self, before: usize, granted: usize) -> u8 {
        let above_last = (granted - 1 - before).min(usize::from(self.scheduled) - 1);
        self.count() - 1 - above_last as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unscheduled_data_precedes_scheduled_data_and_shorter_messages_longer_ones() {
        let levels = Levels { cutoffs: vec![300, 2_000], scheduled: 4 };
        assert_eq!((levels.unscheduled(), levels.count()), (3, 7));
        let of_sizes = [1, 300, 301, 2_000, 2_001, u64::MAX].map(|bytes| levels.of_size(bytes));
        assert_eq!(of_sizes, [0, 0, 1, 1, 2, 2]);
        assert_eq!([0, 1, 2, 3].map(|before| levels.of_rank(before, 4)), [3, 4, 5, 6]);
        assert_eq!([0, 1].map(|before| levels.of_rank(before, 2)), [5, 6]);
        assert_eq!(levels.of_rank(0, 1), 6);
        // More messages than priorities: the first ones share the highest.
        assert_eq!([0, 1, 2, 5].map(|before| levels.of_rank(before, 6)), [3, 3, 3, 6]);
    }

    #[test]
    fn one_priority_of_a_kind_is_enough() {
        let levels = Levels { cutoffs: Vec::new(), scheduled: 1 };
        assert_eq!((levels.of_size(1), levels.of_size(1 << 40)), (0, 0));
        assert_eq!((levels.of_rank(0, 1), levels.of_rank(3, 9)), (1, 1));
    }
}
