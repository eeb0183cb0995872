//! Link-control frames of one switch: how they are sent, and the restart of a port once it may send
//! again.

use xoff_core::Rng;

use super::Signal;
use crate::fabric::Fabric;
use crate::sched::Egress;

/// Sends frames to neighbours.
#[derive(Debug)]
pub(crate) struct FrameSender {
    /// Fabric number of port 0.
    pub(crate) first_port: u32,
    /// Bytes of a frame.
    pub(crate) frame_bytes: u16,
    /// Share of frames that are lost, and its random stream.
    pub(crate) loss: Option<(f64, Rng)>,
}

impl FrameSender {
    /// Whether the next frame is lost on purpose.
    pub(crate) fn loses(&mut self) -> bool {
        self.loss.as_mut().is_some_and(|(share, rng)| rng.unit() < *share)
    }

    /// "It is enqueued for transmission at the head of the queue" (DeTail §6.1).
    pub(crate) fn send(&self, fabric: &mut Fabric, egress: &mut [Egress], signal: Signal) {
        let id = fabric.packets.insert(signal.frame(self.frame_bytes));
        egress[signal.port as usize].push_control(&mut fabric.packets, id);
        fabric.kick(self.port(signal.port));
    }

    /// The pauses of a port have changed: it sends if it may.
    pub(crate) fn wake(&self, fabric: &mut Fabric, egress: &[Egress], number: u16) {
        if egress[number as usize].is_ready() {
            fabric.kick(self.port(number));
        }
    }

    /// Fabric number of a port.
    pub(crate) fn port(&self, number: u16) -> u32 {
        self.first_port + u32::from(number)
    }
}
