//! Capacity of an allocator's links that is not available to its own flowlets: acknowledgements,
//! and flowlets from other domains. "With NED, it is straightforward to dynamically adjust link
//! capacities or add dummy flows for external traffic" (§6).

use xoff_alloc::LinkId;

/// Bits per second of each link. Integers, so that additions can be undone exactly.
#[derive(Debug)]
pub(super) struct Reserved {
    acks: Vec<u64>,
    transit: Vec<u64>,
    /// Links with changes unknown to the optimizer.
    changed: Vec<LinkId>,
}

impl Reserved {
    /// Creates it with nothing reserved on `links` links.
    pub(super) fn new(links: usize) -> Self {
        Self { acks: vec![0; links], transit: vec![0; links], changed: Vec::new() }
    }

    /// Changes the acknowledgements on these links from `before` to `after`.
    pub(super) fn change_acks(&mut self, links: &[LinkId], before: u64, after: u64) {
        for link in links {
            let taken = &mut self.acks[link.0 as usize];
            *taken = *taken - before + after;
        }
        self.changed.extend(links);
    }

    /// Changes a flowlet from another domain on these links from `before` to `after`.
    pub(super) fn change_transit(&mut self, links: &[LinkId], before: u64, after: u64) {
        for link in links {
            let taken = &mut self.transit[link.0 as usize];
            *taken = *taken - before + after;
        }
        self.changed.extend(links);
    }

    /// The links with changes since the last call, and their reserved capacity (Gb/s). Flowlets
    /// from other domains are limited to `share` of the capacity.
    pub(super) fn take_changed(&mut self, capacities: &[f64], share: f64) -> Vec<(LinkId, f64)> {
        let changed = std::mem::take(&mut self.changed);
        let reserved = |link: LinkId| {
            let index = link.0 as usize;
            let transit = (self.transit[index] as f64 / 1e9).min(share * capacities[index]);
            (link, self.acks[index] as f64 / 1e9 + transit)
        };
        changed.into_iter().map(reserved).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_are_added_and_removed() {
        let mut reserved = Reserved::new(3);
        let (one, two) = (LinkId(1), LinkId(2));
        reserved.change_acks(&[one], 0, 500_000_000);
        reserved.change_transit(&[one, two], 0, 8_000_000_000);
        let capacities = [10.0, 10.0, 40.0];
        let found = reserved.take_changed(&capacities, 0.5);
        assert_eq!(found, [(one, 5.5), (one, 5.5), (two, 8.0)]);
        assert_eq!(reserved.take_changed(&capacities, 0.5), []);
        reserved.change_acks(&[one], 500_000_000, 0);
        reserved.change_transit(&[one, two], 8_000_000_000, 0);
        assert_eq!(reserved.take_changed(&capacities, 0.5)[0], (one, 0.0));
    }
}
