//! Hosts that are drawn from a set, in a time that does not grow with the set.

use xoff_core::{HostId, Rng};

/// Draws a host of a sorted set other than `host`.
pub(crate) fn draw_other(set: &[HostId], host: HostId, rng: &mut Rng) -> HostId {
    let places = Places::without(set, host);
    set[places.index(rng.below(places.count as u64) as usize)]
}

/// The places in a set, numbered without a gap if one is left out.
#[derive(Clone, Copy, Debug)]
struct Places {
    left_out: Option<usize>,
    count: usize,
}

impl Places {
    fn without(set: &[HostId], host: HostId) -> Self {
        let left_out = set.binary_search(&host).ok();
        Self { left_out, count: set.len() - usize::from(left_out.is_some()) }
    }

    fn index(self, place: usize) -> usize {
        place + usize::from(self.left_out.is_some_and(|left_out| place >= left_out))
    }
}

/// A sorted set of hosts from which several are drawn at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    /// Sorted, except while some are drawn.
    hosts: Vec<HostId>,
    /// Pairs of hosts that have been exchanged since then.
    exchanges: Vec<(usize, usize)>,
}

impl Candidates {
    /// From a sorted set.
    pub(crate) fn new(hosts: Vec<HostId>) -> Self {
        Self { hosts, exchanges: Vec::new() }
    }

    /// Draws from all of them.
    pub(crate) fn all(&mut self) -> Drawing<'_> {
        let places = Places { left_out: None, count: self.hosts.len() };
        Drawing { candidates: self, places }
    }

    /// Draws from those other than `host`.
    pub(crate) fn without(&mut self, host: HostId) -> Drawing<'_> {
        let places = Places::without(&self.hosts, host);
        Drawing { candidates: self, places }
    }
}

/// A list of candidates that draws change. In the end it is put back in order: that takes less time
/// than a copy, as a few hosts are drawn from thousands.
#[derive(Debug)]
pub(crate) struct Drawing<'a> {
    candidates: &'a mut Candidates,
    places: Places,
}

impl Drawing<'_> {
    /// The number of candidates.
    pub(crate) fn count(&self) -> usize {
        self.places.count
    }

    /// Draws one.
    pub(crate) fn any(&self, rng: &mut Rng) -> HostId {
        let place = rng.below(self.places.count as u64) as usize;
        self.candidates.hosts[self.places.index(place)]
    }

    /// Draws a host that is no candidate any more.
    pub(crate) fn take(&mut self, rng: &mut Rng) -> HostId {
        let place = rng.below(self.places.count as u64) as usize;
        self.places.count -= 1;
        self.exchange(place, self.places.count)
    }

    /// Draws one from `place` on and puts it there: a step of a Fisher-Yates shuffle.
    pub(crate) fn shuffle_at(&mut self, place: usize, rng: &mut Rng) -> HostId {
        let from = place + rng.below((self.places.count - place) as u64) as usize;
        self.exchange(from, place)
    }

    /// Exchanges the hosts at two places. Returns the host that comes to the second.
    fn exchange(&mut self, from: usize, to: usize) -> HostId {
        let (from, to) = (self.places.index(from), self.places.index(to));
        let Candidates { hosts, exchanges } = &mut *self.candidates;
        hosts.swap(from, to);
        exchanges.push((from, to));
        hosts[to]
    }
}

impl Drop for Drawing<'_> {
    fn drop(&mut self) {
        let Candidates { hosts, exchanges } = &mut *self.candidates;
        for (from, to) in exchanges.drain(..).rev() {
            hosts.swap(from, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};
    use xoff_core::rng::Purpose;

    use super::*;

    /// A set and a host that may be in it.
    fn sets() -> impl Strategy<Value = (Vec<HostId>, HostId)> {
        let hosts = btree_set(0u32..40, 2..20);
        let set = hosts.prop_map(|set| set.into_iter().map(HostId).collect());
        (set, (0u32..40).prop_map(HostId))
    }

    /// Two streams with the same numbers.
    fn streams(seed: u64) -> [Rng; 2] {
        [(); 2].map(|()| Rng::stream(seed, Purpose::Traffic, 0))
    }

    proptest! {
        /// The same draws from a copy of the set give the same hosts, again and again.
        #[test]
        fn hosts_are_those_of_a_copy(
            (set, host) in sets(), seed in any::<u64>(), draws in 1usize..60,
        ) {
            let [mut rng, mut of_copy] = streams(seed);
            let mut candidates = Candidates::new(set.clone());
            for _ in 0..3 {
                let mut others = candidates.without(host);
                let mut copy = set.clone();
                copy.retain(|other| *other != host);
                for draw in 0..draws {
                    prop_assert_eq!(others.count(), copy.len());
                    let place = draw % copy.len();
                    let left = (copy.len() - place) as u64;
                    copy.swap(place, place + of_copy.below(left) as usize);
                    prop_assert_eq!(others.shuffle_at(place, &mut rng), copy[place]);
                    let any = copy[of_copy.below(copy.len() as u64) as usize];
                    prop_assert_eq!(others.any(&mut rng), any);
                }
                let mut copy = set.clone();
                copy.retain(|other| *other != host);
                let other = copy[of_copy.below(copy.len() as u64) as usize];
                prop_assert_eq!(draw_other(&set, host, &mut rng), other);
            }
        }

        #[test]
        fn taken_hosts_are_those_of_a_copy(
            (set, _) in sets(), seed in any::<u64>(), draws in 1usize..20,
        ) {
            let [mut rng, mut of_copy] = streams(seed);
            let mut candidates = Candidates::new(set.clone());
            for _ in 0..3 {
                let mut left = candidates.all();
                let mut copy = set.clone();
                for _ in 0..draws.min(set.len()) {
                    let place = of_copy.below(copy.len() as u64) as usize;
                    prop_assert_eq!(left.take(&mut rng), copy.swap_remove(place));
                    prop_assert_eq!(left.count(), copy.len());
                }
            }
            prop_assert_eq!(candidates.hosts, set);
        }
    }
}
