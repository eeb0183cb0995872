//! Hop controls that count what each ingress holds.

use super::Signal;

/// Counts packets in ingress ports, and has the neighbours of those that hold too much pause.
pub(crate) trait IngressControl {
    /// A packet of a class joins the memory of its ingress.
    fn on_arrival(&mut self, ingress: u16, class: u8, bytes: u16) -> Option<Signal>;

    /// It leaves that memory.
    fn on_departure(&mut self, ingress: u16, class: u8, bytes: u16) -> Option<Signal>;

    /// The neighbour's queues that an ingress holds paused.
    fn paused_queues(&self, ingress: u16) -> u8;
}
