//! The receivers' halves of flows: a table whose places are used again.

use std::collections::hash_map::Entry;
use std::ops::{Index, IndexMut};

use rustc_hash::FxHashMap;
use xoff_net::packet::{Packet, flag};

use super::arrived::Arrived;
use super::{Address, Shape};

/// The receiver's half of a flow; `S` is what its transport keeps of it.
#[derive(Debug)]
pub(crate) struct Half<S> {
    /// The sender.
    pub(crate) to: Address,
    /// Payload of the flow (bytes).
    pub(crate) size: u64,
    /// The packets received.
    pub(crate) arrived: Arrived,
    /// State of the transport.
    pub(crate) state: S,
}

impl<S> Half<S> {
    /// Bytes received without a gap.
    pub(crate) fn delivered(&self, shape: &Shape) -> u64 {
        shape.bytes_before(self.arrived.next(), self.size)
    }
}

/// The halves of a partition's flows, by place and by flow.
#[derive(Debug)]
pub(crate) struct Halves<S> {
    places: Vec<Half<S>>,
    free: Vec<u32>,
    by_flow: FxHashMap<u32, u32>,
}

impl<S> Default for Halves<S> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), by_flow: FxHashMap::default() }
    }
}

impl<S: Default> Halves<S> {
    /// The place of the half of a packet's flow, and true if the flow begins with this packet.
    /// `None` if the flow is complete, also with this packet alone (`is_all`), which needs no half.
    pub(crate) fn of(&mut self, packet: &Packet, is_all: bool) -> Option<(u32, bool)> {
        match self.by_flow.entry(packet.flow) {
            Entry::Occupied(place) => Some((*place.get(), false)),
            // The sender has had a reply from this half, which is gone: the flow was complete.
            Entry::Vacant(_) if packet.has(flag::PROGRESSED) || is_all => None,
            Entry::Vacant(place) => {
                Some((*place.insert(begin(&mut self.places, &mut self.free, packet)), true))
            }
        }
    }
}

impl<S> Halves<S> {
    /// The half of a flow.
    pub(crate) fn get(&self, flow: u32) -> Option<&Half<S>> {
        Some(&self[*self.by_flow.get(&flow)?])
    }

    /// True if no flow has a half.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_flow.is_empty()
    }

    /// Ends the flow at a place, which is kept until [`release`](Self::release).
    pub(crate) fn end(&mut self, place: u32) {
        let flow = self[place].to.flow;
        self.by_flow.remove(&flow);
    }

    /// Lets another flow have a place.
    pub(crate) fn release(&mut self, place: u32) {
        self.free.push(place);
    }
}

impl<S> Index<u32> for Halves<S> {
    type Output = Half<S>;

    fn index(&self, place: u32) -> &Half<S> {
        &self.places[place as usize]
    }
}

impl<S> IndexMut<u32> for Halves<S> {
    fn index_mut(&mut self, place: u32) -> &mut Half<S> {
        &mut self.places[place as usize]
    }
}

/// Begins the half of a packet's flow at a free place, with the memory of the one before.
fn begin<S: Default>(places: &mut Vec<Half<S>>, free: &mut Vec<u32>, packet: &Packet) -> u32 {
    let place = free.pop().unwrap_or(places.len() as u32);
    let (to, size, state) = (Address::of(packet), packet.stamp, S::default());
    if let Some(half) = places.get_mut(place as usize) {
        half.arrived.restart();
        (half.to, half.size, half.state) = (to, size, state);
    } else {
        places.push(Half { to, size, arrived: Arrived::default(), state });
    }
    place
}

#[cfg(test)]
mod tests {
    use xoff_net::packet::Kind;

    use super::*;

    fn packet(flow: u32, size: u64) -> Packet {
        let mut packet = Packet::new(Kind::Data, 1000);
        (packet.flow, packet.stamp) = (flow, size);
        packet
    }

    #[test]
    fn a_place_is_used_again_once_it_is_released() {
        let mut halves = Halves::<u64>::default();
        assert_eq!(halves.of(&packet(7, 3000), false), Some((0, true)));
        assert_eq!(halves.of(&packet(7, 3000), false), Some((0, false)));
        halves[0].arrived.insert(0);
        halves[0].state = 5;
        halves.end(0);
        assert!(halves.get(7).is_none());
        assert_eq!(halves.of(&packet(8, 2000), false), Some((1, true)));
        halves.release(0);
        assert_eq!(halves.of(&packet(9, 4000), false), Some((0, true)));
        let half = halves.get(9).unwrap();
        assert_eq!((half.size, half.arrived.next(), half.state), (4000, 0, 0));
    }

    #[test]
    fn a_complete_flow_gets_no_other_half() {
        let mut halves = Halves::<u64>::default();
        let mut late = packet(7, 3000);
        late.flags |= flag::PROGRESSED;
        assert_eq!(halves.of(&late, false), None);
        assert_eq!(halves.of(&packet(7, 900), true), None);
        assert!(halves.is_empty());
    }

    #[test]
    fn bytes_are_delivered_up_to_the_first_gap() {
        let mut halves = Halves::<u64>::default();
        let shape = Shape { payload: 1000, initial_window: 1000 };
        let (place, _) = halves.of(&packet(7, 2500), false).unwrap();
        for (number, delivered) in [(1, 0), (0, 2000), (2, 2500)] {
            halves[place].arrived.insert(number);
            assert_eq!(halves[place].delivered(&shape), delivered);
        }
    }
}
