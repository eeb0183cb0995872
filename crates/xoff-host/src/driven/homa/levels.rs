//! What priorities are for: the first ones for unscheduled data, shorter messages before longer ones, the
//! others for scheduled data, in the order in which the receiver ranks its messages.

/// Priorities and who has them; 0 is served first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// The longest message (bytes) of each unscheduled priority but the last, in rising order.
    pub cutoffs: Vec<u64>,
    /// How many priorities scheduled data has.
    pub scheduled: u8,
}

impl Levels {
    /// How many priorities unscheduled data has.
    #[must_use]
    pub fn unscheduled(&self) -> u8 {
        self.cutoffs.len() as u8 + 1
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u8 {
        self.unscheduled() + self.scheduled
    }

    /// The priority of unscheduled data of a message of so many bytes.
    #[must_use]
    pub fn of_size(&self, bytes: u64) -> u8 {
        self.cutoffs.partition_point(|&cutoff| cutoff < bytes) as u8
    }

    /// The priority of scheduled data of the message with so many before it, of `granted` that are granted
    /// at once. Where they are fewer than the priorities they have the lowest ones, so that a shorter
    /// message that comes finds one above them free (Homa §3.4).
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
    fn shorter_messages_are_served_first_and_all_unscheduled_data_before_any_other() {
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
