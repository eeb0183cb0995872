//! Packet spraying: each packet takes one of the equal-cost ports, regardless of its flow.
//!
//! "Homa assumes per-packet spraying to ensure load balancing across core links" (BFC App. A.2).
//! Random spraying gives ports equal shares on average, and short queues form by chance. Round
//! robin spreads the packets to one group of hosts exactly.

use xoff_core::seam::Need;
use xoff_core::{Rng, choices, knobs};

use super::{
    AnyBalancer, Arrival, BalanceSettings, Balancer, PathPer, Place, needs_of_several_paths,
};

choices! {
    /// The order in which packets take ports.
    pub enum SprayOrder {
        /// Each packet takes any port, with equal probability.
        Random = "random",
        /// Packets to the hosts of one switch take the ports in turn.
        RoundRobin = "round-robin",
    }
}

knobs! {
    /// Packet spraying, where `switch.balance` is "spray".
    pub struct SprayConfig in "spray" {
        /// The order in which packets take the equal-cost ports.
        order: SprayOrder = SprayOrder::Random,
    }
}

impl BalanceSettings for SprayConfig {
    fn needs(&self) -> Vec<Need> {
        needs_of_several_paths()
    }

    fn path_per(&self) -> PathPer {
        PathPer::Packet
    }

    fn balancer(&self, place: Place) -> Option<AnyBalancer> {
        Some(AnyBalancer::Spray(Spray::new(self, place.groups, place.rng)))
    }
}

/// The spraying of one switch.
#[derive(Debug)]
pub struct Spray {
    order: SprayOrder,
    /// The next choice, by group of destinations.
    turns: Vec<u32>,
    rng: Rng,
}

impl Spray {
    /// For a switch with routes to `groups` groups. Turns start at a random port, so that switches
    /// are not synchronised.
    fn new(config: &SprayConfig, groups: usize, mut rng: Rng) -> Self {
        let turns = (0..groups).map(|_| rng.u64() as u32 >> 1).collect();
        Self { order: config.order, turns, rng }
    }

    /// The choice of the next packet to a group among `count` equal-cost ports.
    #[inline]
    fn turn(&mut self, group: u32, count: u32) -> u32 {
        match self.order {
            _ if count <= 1 => 0,
            SprayOrder::Random => self.rng.below(u64::from(count)) as u32,
            SprayOrder::RoundRobin => {
                let turn = &mut self.turns[group as usize];
                // A route change may change the number of equal-cost ports.
                let choice = *turn % count;
                *turn = choice + 1;
                choice
            }
        }
    }
}

impl Balancer for Spray {
    #[inline]
    fn choose(&mut self, arrival: &Arrival<'_>) -> Option<u32> {
        Some(self.turn(arrival.to, arrival.ports.len() as u32))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xoff_core::rng::Purpose;

    use super::*;

    fn spray(order: SprayOrder, groups: usize) -> Spray {
        Spray::new(&SprayConfig { order }, groups, xoff_core::Rng::stream(1, Purpose::Spraying, 0))
    }

    #[test]
    fn a_random_port_is_any_port_with_the_same_probability() {
        let mut spray = spray(SprayOrder::Random, 2);
        let mut joint = [[0u32; 4]; 4];
        let mut before = 0;
        for _ in 0..16_000 {
            let choice = spray.turn(1, 4);
            joint[before as usize][choice as usize] += 1;
            before = choice;
        }
        assert!(joint.iter().flatten().all(|count| (850..1150).contains(count)), "{joint:?}");
    }

    #[test]
    fn one_port_needs_no_choice() {
        for order in [SprayOrder::Random, SprayOrder::RoundRobin] {
            assert_eq!([(); 9].map(|()| spray(order, 1).turn(0, 1)), [0; 9]);
        }
    }

    proptest! {
        /// For any packets to other groups in between, the packets to one group are spread as
        /// evenly as whole numbers allow, also after route changes.
        #[test]
        fn turns_are_exactly_even(
            groups in prop::collection::vec(0..3u32, 1..400),
            counts in prop::collection::vec(1..9u32, 2..3),
        ) {
            let mut spray = spray(SprayOrder::RoundRobin, 3);
            for &count in &counts {
                let mut chosen = vec![[0u32; 3]; count as usize];
                for &group in &groups {
                    chosen[spray.turn(group, count) as usize][group as usize] += 1;
                }
                for group in 0..3 {
                    let shares = chosen.iter().map(|port| port[group]);
                    let (least, most) = (shares.clone().min(), shares.max());
                    prop_assert!(most.unwrap() - least.unwrap() <= 1, "{:?}", chosen);
                }
            }
        }
    }
}
