//! iSlip in time slots, as in its paper.

use proptest::prelude::*;
use xoff_core::Rng;
use xoff_core::rng::Purpose;

use super::*;

/// A switch with packets of one slot each.
struct Slotted {
    islip: ISlip,
    wanted: Vec<Wanted>,
    open: Vec<u8>,
    /// Packets by input, output and class.
    queues: Vec<Vec<[u32; CLASSES]>>,
}

impl Slotted {
    fn new(ports: usize, iterations: u8) -> Self {
        Self {
            islip: ISlip::new(ports, iterations),
            wanted: vec![Wanted::default(); ports],
            open: vec![u8::MAX; ports],
            queues: vec![vec![[0; CLASSES]; ports]; ports],
        }
    }

    fn ports(&self) -> usize {
        self.queues.len()
    }

    fn add(&mut self, input: usize, output: usize, class: u8) {
        self.queues[input][output][class as usize] += 1;
        self.wanted[output].add(input as u8, class);
    }

    fn slot(&mut self) -> Vec<Match> {
        let all = PortMask::MAX >> (128 - self.ports());
        self.slot_among(all, all)
    }

    fn slot_among(&mut self, inputs: PortMask, outputs: PortMask) -> Vec<Match> {
        let mut pairs = Vec::new();
        self.islip.arbitrate(inputs, outputs, &self.wanted, &self.open, |pair| pairs.push(pair));
        for &Match { input, output, class } in &pairs {
            let left = &mut self.queues[input as usize][output as usize][class as usize];
            *left -= 1;
            if *left == 0 {
                self.wanted[output as usize].remove(input, class);
            }
        }
        pairs
    }

    fn waiting(&self) -> u32 {
        self.queues.iter().flatten().flatten().sum()
    }
}

/// "iSLIP can achieve 100 % throughput for uniform traffic": with queues in place, Bernoulli
/// arrivals at 95 % leave at their own rate, even with one iteration.
#[test]
fn uniform_traffic_gets_all_of_the_throughput() {
    let mut rng = Rng::stream(7, Purpose::Traffic, 0);
    for (ports, iterations) in [(4, 1), (16, 1), (16, 4)] {
        let mut switch = Slotted::new(ports, iterations);
        let (mut arrived, mut sent) = (0u32, 0u32);
        for slot in 0..40_000 {
            if slot == 20_000 {
                (arrived, sent) = (0, 0);
            }
            for input in 0..ports {
                if rng.unit() < 0.95 {
                    switch.add(input, rng.below(ports as u64) as usize, 0);
                    arrived += 1;
                }
            }
            sent += switch.slot().len() as u32;
        }
        let share = f64::from(sent) / f64::from(arrived);
        assert!(share > 0.998, "{ports} ports, {iterations} iterations: {share}");
    }
}

/// With packets for all pairs, the pointers of outputs spread until every output is matched in
/// every slot.
#[test]
fn pointers_desynchronise() {
    let ports = 16;
    let mut switch = Slotted::new(ports, 1);
    for input in 0..ports {
        for output in 0..ports {
            (0..200).for_each(|_| switch.add(input, output, 3));
        }
    }
    let sizes: Vec<usize> = (0..200).map(|_| switch.slot().len()).collect();
    assert!(sizes[0] == 1, "all start at the same input");
    assert!(sizes[ports..].iter().all(|&size| size == ports), "{sizes:?}");
}

/// "No connection is starved": a pair with packets is served within N^2 slots, for any traffic of
/// other pairs.
#[test]
fn nobody_starves() {
    let ports = 8;
    let mut rng = Rng::stream(1, Purpose::Traffic, 0);
    let mut switch = Slotted::new(ports, 1);
    let mut since = 0;
    for slot in 0..5_000 {
        if switch.queues[2][5][0] == 0 {
            switch.add(2, 5, 0);
        }
        for input in 0..ports {
            switch.add(input, 5, 0);
            switch.add(input, rng.below(ports as u64) as usize, 0);
        }
        if switch.slot().iter().any(|pair| (pair.input, pair.output) == (2, 5)) {
            since = slot;
        }
        assert!(slot - since <= ports * ports, "at slot {slot}");
    }
}

proptest! {
    /// Every matching is legal. It contains only free, open and wanted pairs, and no class that
    /// overtakes a more important one. With enough iterations no pair is left.
    #[test]
    fn every_matching_is_legal_and_strict(
        wishes in prop::collection::vec((0..12usize, 0..12usize, 0..8u8), 0..150),
        frees in prop::collection::vec((0..4096u128, 0..4096u128), 1..12),
        open in prop::collection::vec(any::<u8>(), 12),
        iterations in 1..12u8,
    ) {
        let mut switch = Slotted::new(12, iterations);
        switch.open = open;
        for (input, output, class) in wishes {
            switch.add(input, output, class);
        }
        for (inputs, outputs) in frees {
            let before = switch.queues.clone();
            let waiting = switch.waiting();
            let pairs = switch.slot_among(inputs, outputs);
            prop_assert_eq!(switch.waiting() + pairs.len() as u32, waiting);
            let (mut left_in, mut left_out) = (inputs, outputs);
            for pair in &pairs {
                prop_assert!(left_in >> pair.input & 1 == 1 && left_out >> pair.output & 1 == 1);
                left_in &= !(1 << pair.input);
                left_out &= !(1 << pair.output);
                prop_assert!(switch.open[pair.output as usize] >> pair.class & 1 == 1);
            }
            let could = |input: u8, output: u8, class: u8| {
                switch.open[output as usize] >> class & 1 == 1
                    && before[input as usize][output as usize][class as usize] > 0
            };
            for pair in &pairs {
                for class in 0..pair.class {
                    prop_assert!(!could(pair.input, pair.output, class));
                    prop_assert!(!each(left_in).any(|input| could(input, pair.output, class)));
                }
            }
            if iterations >= 11 {
                let pair_left = each(left_in).any(|input| each(left_out)
                    .any(|output| (0..8).any(|class| could(input, output, class))));
                prop_assert!(!pair_left || pairs.len() >= usize::from(iterations));
            }
        }
    }
}
