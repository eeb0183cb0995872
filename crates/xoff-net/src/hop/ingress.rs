//! Hop controls that count bytes at each ingress.

use super::Signal;

/// Counts packets at ingress ports, and pauses the neighbours of full ones.
pub(crate) trait IngressControl {
    /// A packet of a class joins the memory of its ingress.
    fn on_arrival(&mut self, ingress: u16, class: u8, bytes: u16) -> Option<Signal>;

    /// A packet leaves that memory.
    fn on_departure(&mut self, ingress: u16, class: u8, bytes: u16) -> Option<Signal>;

    /// The neighbour's queues that an ingress holds paused.
    fn paused_queues(&self, ingress: u16) -> u8;
}
