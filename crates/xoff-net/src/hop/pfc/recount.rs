//! The bytes of ingress queues, and the pauses that they ask for, counted again.

use xoff_core::invariant::{Checker, Part, Violation, holds};

use super::{Accounting, Pfc};
use crate::packet::CLASSES;
use crate::recount::{Checked, equal_by_class};

/// Bytes and thresholds of ingress queues that nothing but their own packets changes.
pub trait Recountable: Accounting {
    /// The bytes that an ingress counts of a class.
    fn bytes(&self, number: u16, ingress: &Self::Ingress, class: u8) -> u32;

    /// The classes of an ingress that have reached XOFF, and all that are not below XON.
    fn reached(&self, number: u16, ingress: &Self::Ingress) -> [u8; 2];
}

impl<A: Recountable> Pfc<A> {
    /// Compares the bytes of each ingress, by class, with its counts, and its pauses with its
    /// thresholds.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    pub(crate) fn recount(&self, held: &[[u32; CLASSES]]) -> Checked {
        equal_by_class("ingress", held, |number, class| {
            self.accounting.bytes(number, self.accounts(number), class)
        })?;
        for (number, ingress) in (0..).zip(&self.ingresses) {
            let [xoff, xon] = self.accounting.reached(number, &ingress.accounts);
            let paused = ingress.paused;
            holds(xoff & !paused == 0 && paused & !xon == 0, || {
                let place = format!("classes that ingress {number} pauses, as a mask");
                let expected = format!("all of {xoff:#b}, and no others than {xon:#b}");
                let found = format!("{paused:#b}");
                Violation::new(Checker::Pauses, place, expected, found).of(Part::port(number))
            })?;
        }
        Ok(())
    }
}
