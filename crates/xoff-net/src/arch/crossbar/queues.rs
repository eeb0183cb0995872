//! Ingress queues: one per input, output and class (virtual output queues), so that a packet never
//! waits behind a packet for another output.

use super::islip::Wanted;
use crate::packet::{Pool, Queue};
use crate::ports::PortMask;

/// The ingress queues of one switch.
#[derive(Debug)]
pub(super) struct VirtualOutputQueues {
    ports: usize,
    classes: usize,
    queues: Vec<Queue>,
    /// By output, packets at the inputs.
    wanted: Vec<Wanted>,
    /// Outputs with waiting packets.
    outputs: PortMask,
}

impl VirtualOutputQueues {
    pub(super) fn new(ports: usize, classes: u8) -> Self {
        let classes = classes as usize;
        Self {
            ports,
            classes,
            queues: vec![Queue::default(); ports * ports * classes],
            wanted: vec![Wanted::default(); ports],
            outputs: 0,
        }
    }

    #[inline]
    fn place(&self, input: u16, output: u16, class: u8) -> usize {
        (input as usize * self.ports + output as usize) * self.classes + class as usize
    }

    #[inline]
    pub(super) fn push(&mut self, pool: &mut Pool, id: u32, input: u16, output: u16, class: u8) {
        let place = self.place(input, output, class);
        self.queues[place].push(pool, id);
        self.wanted[output as usize].add(input as u8, class);
        self.outputs |= 1 << output;
    }

    #[inline]
    pub(super) fn pop(&mut self, pool: &Pool, input: u16, output: u16, class: u8) -> Option<u32> {
        let place = self.place(input, output, class);
        let id = self.queues[place].pop(pool)?;
        if self.queues[place].is_empty() {
            let wanted = &mut self.wanted[output as usize];
            wanted.remove(input as u8, class);
            if wanted.classes == 0 {
                self.outputs &= !(1 << output);
            }
        }
        Some(id)
    }

    /// All packets in them.
    pub(super) fn packets(&self, pool: &Pool) -> impl Iterator<Item = u32> {
        self.queues.iter().flat_map(|queue| queue.packets(pool))
    }

    /// By output, packets at the inputs.
    #[inline]
    pub(super) fn wanted(&self) -> &[Wanted] {
        &self.wanted
    }

    /// Outputs with waiting packets.
    #[inline]
    pub(super) fn outputs(&self) -> PortMask {
        self.outputs
    }
}
