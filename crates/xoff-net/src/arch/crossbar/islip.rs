//! iSlip (McKeown, IEEE/ACM Transactions on Networking 7(2), 1999), with strict priorities as in
//! its section on prioritised iSlip.
//!
//! In an iteration each free output grants one of the free inputs with packets for it, and each
//! input accepts one of its grants. Both choose the most important class, and go round from a
//! pointer per class. Pointers advance only past matches of the first iteration, so that outputs do
//! not grant the same input again and again.
//!
//! Packet mode: a matched pair stays together for the duration of its packet. A matching covers the
//! inputs and outputs that are free, and is made whenever it may find a pair.

use crate::packet::CLASSES;
use crate::ports::{PortMask, each, next_from};

/// Packets at the inputs for one output.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wanted {
    /// Classes with packets at any input.
    pub(super) classes: u8,
    /// Inputs with packets, by class.
    pub(super) inputs: [PortMask; CLASSES],
}

impl Wanted {
    /// An input now has packets of this class.
    #[inline]
    pub(super) fn add(&mut self, input: u8, class: u8) {
        self.inputs[class as usize] |= 1 << input;
        self.classes |= 1 << class;
    }

    /// An input has no packets of this class any more.
    #[inline]
    pub(super) fn remove(&mut self, input: u8, class: u8) {
        let inputs = &mut self.inputs[class as usize];
        *inputs &= !(1 << input);
        self.classes &= !(u8::from(*inputs == 0) << class);
    }

    /// The most important class of `open` with packets at an input of `free`, and these inputs.
    #[inline]
    fn best(&self, open: u8, free: PortMask) -> Option<(u8, PortMask)> {
        let mut classes = self.classes & open;
        while classes != 0 {
            let class = classes.trailing_zeros() as u8;
            let inputs = self.inputs[class as usize] & free;
            if inputs != 0 {
                return Some((class, inputs));
            }
            classes &= classes - 1;
        }
        None
    }
}

/// A packet of this class crosses from an input to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// Its input.
    pub(super) input: u8,
    /// Its output.
    pub(super) output: u8,
    /// Its class.
    pub(super) class: u8,
}

/// The arbiters of one switch.
#[derive(Debug)]
pub(super) struct ISlip {
    iterations: u8,
    /// The pointers of each output among inputs, and of each input among outputs, by class.
    grant: Vec<[u8; CLASSES]>,
    accept: Vec<[u8; CLASSES]>,
    /// Within an iteration: the outputs that grant an input, and the class of each grant.
    granting: Vec<PortMask>,
    class_of: Vec<u8>,
}

impl ISlip {
    /// For `ports` ports. A matching takes up to `iterations`.
    #[must_use]
    pub(super) fn new(ports: usize, iterations: u8) -> Self {
        Self {
            iterations,
            grant: vec![[0; CLASSES]; ports],
            accept: vec![[0; CLASSES]; ports],
            granting: vec![0; ports],
            class_of: vec![0; ports],
        }
    }

    /// Matches free inputs with free outputs, and calls `matched` for each pair. `wanted` and
    /// `open` are by output: packets at inputs, and the classes with room at the output.
    #[inline]
    pub(super) fn arbitrate(
        &mut self,
        mut inputs: PortMask,
        mut outputs: PortMask,
        wanted: &[Wanted],
        open: &[u8],
        mut matched: impl FnMut(Match),
    ) {
        for iteration in 0..self.iterations {
            if inputs == 0 || outputs == 0 {
                return;
            }
            let granted = self.grant(inputs, &mut outputs, wanted, open);
            if granted == 0 {
                return;
            }
            for input in each(granted) {
                let pair = self.accept(input);
                inputs &= !(1 << pair.input);
                outputs &= !(1 << pair.output);
                if iteration == 0 {
                    self.advance(pair);
                }
                matched(pair);
            }
        }
    }

    /// Each output grants one input. Returns the granted inputs. An output without an input to
    /// grant leaves `outputs`, because later iterations cannot find one either.
    #[inline]
    fn grant(
        &mut self,
        inputs: PortMask,
        outputs: &mut PortMask,
        wanted: &[Wanted],
        open: &[u8],
    ) -> PortMask {
        let mut granted = 0;
        for output in each(*outputs) {
            let at = output as usize;
            let Some((class, from)) = wanted[at].best(open[at], inputs) else {
                *outputs &= !(1 << output);
                continue;
            };
            let input = next_from(from, self.grant[at][class as usize]);
            let granting = &mut self.granting[input as usize];
            // Grants of an earlier iteration no longer count.
            *granting =
                if granted >> input & 1 == 1 { *granting | 1 << output } else { 1 << output };
            granted |= 1 << input;
            self.class_of[at] = class;
        }
        granted
    }

    /// A granted input accepts one of the outputs of its most important class.
    #[inline]
    fn accept(&self, input: u8) -> Match {
        let granting = self.granting[input as usize];
        let class_of = |output: u8| self.class_of[output as usize];
        let first = granting.trailing_zeros() as u8;
        if granting & (granting - 1) == 0 {
            return Match { input, output: first, class: class_of(first) };
        }
        let class = each(granting).map(class_of).min().unwrap_or(0);
        let equal = each(granting).filter(|&output| class_of(output) == class);
        let outputs = equal.fold(0, |set, output| set | 1 << output);
        let output = next_from(outputs, self.accept[input as usize][class as usize]);
        Match { input, output, class }
    }

    /// "The pointer is incremented (modulo N) to one location beyond the granted input if, and only
    /// if, the grant is accepted" in the first iteration.
    #[inline]
    fn advance(&mut self, Match { input, output, class }: Match) {
        let ports = self.grant.len() as u8;
        let beyond = |port: u8| if port + 1 == ports { 0 } else { port + 1 };
        self.grant[output as usize][class as usize] = beyond(input);
        self.accept[input as usize][class as usize] = beyond(output);
    }
}

#[cfg(test)]
#[path = "islip_tests.rs"]
mod tests;
