//! Queues of small numbers, each in at most one queue.

const NONE: u32 = u32::MAX;

/// Doubly linked lists through arrays: every operation takes constant time, and none allocates,
/// except for numbers that are new.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    links: Vec<Link>,
    /// First and last of each queue.
    ends: Box<[(u32, u32)]>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    queue: u32,
    before: u32,
    after: u32,
}

const FREE: Link = Link { queue: NONE, before: NONE, after: NONE };

impl Queues {
    pub(crate) fn new(queues: usize) -> Self {
        Self { links: Vec::new(), ends: vec![(NONE, NONE); queues].into_boxed_slice() }
    }

    /// Makes room for the numbers below this one.
    pub(crate) fn grow(&mut self, numbers: usize) {
        if numbers > self.links.len() {
            self.links.resize(numbers, FREE);
        }
    }

    /// The queue of a number.
    pub(crate) fn queue_of(&self, number: u32) -> Option<u32> {
        Some(self.links[number as usize].queue).filter(|&queue| queue != NONE)
    }

    /// The first of a queue.
    pub(crate) fn front(&self, queue: u32) -> Option<u32> {
        Some(self.ends[queue as usize].0).filter(|&first| first != NONE)
    }

    /// Appends a number to a queue, and removes it from its present one.
    pub(crate) fn push(&mut self, queue: u32, number: u32) {
        self.remove(number);
        let (first, last) = self.ends[queue as usize];
        self.links[number as usize] = Link { queue, before: last, after: NONE };
        match self.links.get_mut(last as usize) {
            Some(link) => link.after = number,
            None => self.ends[queue as usize].0 = number,
        }
        self.ends[queue as usize].1 = number;
        debug_assert!(first != NONE || last == NONE, "a queue has both ends or none");
    }

    /// Removes a number from its queue, if it is in one.
    pub(crate) fn remove(&mut self, number: u32) {
        let Link { queue, before, after } = self.links[number as usize];
        if queue == NONE {
            return;
        }
        match self.links.get_mut(before as usize) {
            Some(link) => link.after = after,
            None => self.ends[queue as usize].0 = after,
        }
        match self.links.get_mut(after as usize) {
            Some(link) => link.before = before,
            None => self.ends[queue as usize].1 = before,
        }
        self.links[number as usize] = FREE;
    }

    /// Removes the first of a queue.
    pub(crate) fn pop(&mut self, queue: u32) -> Option<u32> {
        let first = self.front(queue)?;
        self.remove(first);
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The queues are those of a slow and obvious model.
        #[test]
        fn queues_are_queues(steps in prop::collection::vec((0u32..4, 0u32..3, 0u32..9), 1..200)) {
            let mut queues = Queues::new(3);
            queues.grow(9);
            let mut model = vec![VecDeque::new(); 3];
            for (step, queue, number) in steps {
                let known = &mut model[queue as usize];
                match step {
                    0 => prop_assert_eq!(queues.pop(queue), known.pop_front()),
                    1 => {
                        queues.remove(number);
                        model.iter_mut().for_each(|queue| queue.retain(|&n| n != number));
                    }
                    _ => {
                        queues.push(queue, number);
                        model.iter_mut().for_each(|queue| queue.retain(|&n| n != number));
                        model[queue as usize].push_back(number);
                    }
                }
                for (queue, model) in model.iter().enumerate() {
                    prop_assert_eq!(queues.front(queue as u32), model.front().copied());
                    for &number in model {
                        prop_assert_eq!(queues.queue_of(number), Some(queue as u32));
                    }
                }
            }
        }
    }
}
