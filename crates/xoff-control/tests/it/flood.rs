//! A million datagrams from a network that reads, drops, changes, repeats and invents them.

use xoff_control::{Refused, RefusedCounts};

use crate::allocations;
use crate::hostile::recorded;
use crate::world::{Random, World};

const DATAGRAMS: usize = 1_000_000;
const LONGEST: usize = 2048;

/// What the attacker does. It has no key.
const ATTACKS: [fn(&mut Forged, &mut Random); 6] = [
    Forged::replay,
    Forged::flip_a_bit,
    Forged::truncate,
    Forged::extend,
    Forged::change_the_end,
    Forged::invent,
];

/// A datagram of the attacker, without allocations of its own.
struct Forged {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Forged {
    fn take(&mut self, recorded: &[u8]) {
        self.length = recorded.len();
        self.bytes[..self.length].copy_from_slice(recorded);
    }

    fn datagram(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn replay(&mut self, _: &mut Random) {}

    fn flip_a_bit(&mut self, random: &mut Random) {
        let bit = random.below(self.length as u64 * 8) as usize;
        self.bytes[bit / 8] ^= 1 << (bit % 8);
    }

    fn truncate(&mut self, random: &mut Random) {
        self.length = random.below(self.length as u64) as usize;
    }

    fn extend(&mut self, random: &mut Random) {
        let from = self.length;
        self.length += 1 + random.below(40) as usize;
        self.fill(from, random);
    }

    fn change_the_end(&mut self, random: &mut Random) {
        self.fill(random.below(self.length as u64) as usize, random);
    }

    fn invent(&mut self, random: &mut Random) {
        self.length = random.below(200) as usize;
        self.fill(0, random);
    }

    fn fill(&mut self, from: usize, random: &mut Random) {
        self.bytes[from..self.length].iter_mut().for_each(|byte| *byte = random.next() as u8);
    }
}

/// Refusals by reason, as this test has seen them.
#[derive(Default)]
struct Seen([u64; 12]);

impl Seen {
    fn count(&mut self, refused: Refused) {
        self.0[refused as usize] += 1;
    }

    /// The counters of a side, from zero, are these.
    fn expect(&self, counts: &RefusedCounts, reasons: &[Refused]) {
        for (reason, count) in counts.iter() {
            assert_eq!(self.0[reason as usize], count, "{reason:?}");
            let is_expected = reasons.contains(&reason);
            assert_eq!(count > 0, is_expected, "{reason:?}: {count}");
        }
    }
}

/// Everything that both sides know, without counters of refusals, which begin at zero.
fn state(world: &mut World) -> String {
    world.allocators[0].sessions.refused = RefusedCounts::default();
    world.servers[0].endpoint.refused = RefusedCounts::default();
    format!("{:?} {:?}", world.allocators[0].sessions, world.servers[0].endpoint)
}

/// The allocator gets a datagram, and answers at most a hello, with no more bytes, and with nothing
/// that an endpoint accepts.
fn attack_the_allocator(world: &mut World, datagram: &[u8], seen: &mut Seen) {
    let (now, mut events, mut buffer) = (world.now, Vec::new(), [0; 1500]);
    let sessions = &mut world.allocators[0].sessions;
    let answer = sessions.receive(datagram, now, &mut events);
    assert!(events.is_empty());
    match answer {
        Ok(_) => assert_eq!(datagram[3], 1, "a replay that is heard is a hello"),
        Err(refused) => seen.count(refused),
    }
    while let Some((endpoint, length)) = sessions.transmit(now, &mut buffer) {
        assert!(answer.is_ok() && length <= datagram.len());
        if endpoint.0 > 0 {
            let endpoint = &mut world.servers[endpoint.0 as usize].endpoint;
            assert_eq!(endpoint.receive(0, &buffer[..length], now), Err(Refused::Connection));
        }
    }
}

#[test]
fn a_million_hostile_datagrams_change_nothing_and_take_no_memory() {
    let mut world = recorded();
    let recorded = std::mem::take(&mut world.recorded);
    let before = state(&mut world);
    let (mut random, mut forged) = (Random(1), Forged { bytes: [0; LONGEST], length: 0 });
    let (mut at_allocator, mut at_endpoint) = (Seen::default(), Seen::default());
    let allocations = allocations::of_this_thread();
    for number in 0..DATAGRAMS {
        forged.take(&recorded[random.below(recorded.len() as u64) as usize]);
        ATTACKS[number % ATTACKS.len()](&mut forged, &mut random);
        attack_the_allocator(&mut world, forged.datagram(), &mut at_allocator);
        let refused = world.servers[0].endpoint.receive(0, forged.datagram(), world.now);
        at_endpoint.count(refused.expect_err("an endpoint hears no stranger and nothing twice"));
        assert_eq!(world.servers[0].endpoint.next_rate(), None);
    }
    assert_eq!(allocations::of_this_thread(), allocations);
    use Refused::{Connection, Endpoint, Kind, Length, Sequence, Tag, Version};
    let refused = &world.allocators[0].sessions.refused;
    at_allocator.expect(refused, &[Length, Version, Kind, Endpoint, Tag, Sequence]);
    let refused = &world.servers[0].endpoint.refused;
    at_endpoint.expect(refused, &[Length, Version, Kind, Endpoint, Tag, Sequence, Connection]);
    assert_eq!(state(&mut world), before);
    assert!(world.agrees(0));
}
