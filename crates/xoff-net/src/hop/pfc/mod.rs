//! Priority flow control (IEEE 802.1Qbb): an ingress pauses a class of its neighbour when it holds
//! too many bytes of that class, and resumes the class when it holds few enough.
//!
//! [`Pfc`] keeps the paused classes of each ingress and reports changes. An [`Accounting`] counts
//! the bytes and sets the thresholds: bytes in a shared pool with a dynamic threshold
//! ([`SharedPool`]), the same for all classes or by class ([`ClassLimits`]), drain bytes
//! ([`DrainBytes`]), or bytes in a memory per ingress. [`headroom`]
//! computes thresholds from the time a pause takes to act. [`frames`] requests and obeys pauses
//! that last for a time. [`watchdog`] releases queues that stay paused.

mod class_limits;
mod config;
mod drain_bytes;
pub(crate) mod frames;
pub(crate) mod headroom;
mod limits;
mod memory_plan;
mod obeyed;
mod recount;
mod settings;
mod shared_pool;
mod watchdog;

use std::fmt::Debug;

use super::{Ask, IngressControl, Signal};
use crate::sched::QueueMask;

use class_limits::ClassLimits;
pub use class_limits::{ClassStats, Refused};
pub use config::{PauseConfig, PfcConfig, Scope, Watchdog};
pub(crate) use drain_bytes::DrainBytes;
pub use headroom::{Reaction, Thresholds};
pub(crate) use memory_plan::MemoryPlan;
pub(crate) use recount::Recountable;
use shared_pool::SharedPool;
pub use watchdog::{StuckQueue, Watched};

/// The bytes at ingresses, and their thresholds.
pub trait Accounting {
    /// The state of one ingress.
    type Ingress: Debug;

    /// A packet of a class joins an ingress with `paused` classes. Returns further classes that
    /// have reached XOFF.
    fn add(
        &mut self,
        number: u16,
        ingress: &mut Self::Ingress,
        class: u8,
        bytes: u16,
        paused: u8,
    ) -> u8;

    /// A packet of a class leaves an ingress. Returns the classes of `paused` that are below XON
    /// now.
    fn remove(
        &mut self,
        number: u16,
        ingress: &mut Self::Ingress,
        class: u8,
        bytes: u16,
        paused: u8,
    ) -> u8;

    /// The neighbour's queues for a set of classes.
    #[inline(always)]
    fn queues(&self, classes: u8) -> u8 {
        classes
    }
}

/// An ingress port. The state of its first classes shares a cache line.
#[derive(Debug)]
#[repr(C, align(64))]
struct Ingress<T> {
    /// Classes that its neighbour is asked to pause.
    paused: u8,
    accounts: T,
}

/// Priority flow control with limits by class.
pub type ClassPfc = Pfc<SharedPool<ClassLimits>>;

/// The pauses of one switch's ingresses.
#[derive(Debug)]
pub struct Pfc<A: Accounting = SharedPool> {
    ingresses: Vec<Ingress<A::Ingress>>,
    accounting: A,
}

impl<A: Accounting> Pfc<A> {
    /// With nothing paused.
    pub(crate) fn of(accounting: A, ingresses: impl Iterator<Item = A::Ingress>) -> Self {
        let ingresses = ingresses.map(|accounts| Ingress { paused: 0, accounts }).collect();
        Self { ingresses, accounting }
    }

    /// The occupancy of ingresses.
    pub(crate) fn accounting(&self) -> &A {
        &self.accounting
    }

    /// The same, mutable.
    pub(crate) fn accounting_mut(&mut self) -> &mut A {
        &mut self.accounting
    }

    /// The state of an ingress.
    #[inline(always)]
    pub(crate) fn accounts(&self, ingress: u16) -> &A::Ingress {
        &self.ingresses[ingress as usize].accounts
    }

    /// The classes that an ingress holds paused.
    #[inline]
    pub(crate) fn paused(&self, ingress: u16) -> u8 {
        self.ingresses[ingress as usize].paused
    }

    /// A packet joins an ingress. Returns the classes to pause now.
    #[inline]
    pub(crate) fn add(&mut self, ingress: u16, class: u8, bytes: u16) -> u8 {
        let Ingress { paused, accounts } = &mut self.ingresses[ingress as usize];
        let reached = self.accounting.add(ingress, accounts, class, bytes, *paused);
        if reached != 0 {
            *paused |= reached;
        }
        reached
    }

    /// A packet leaves an ingress. Returns the classes to resume now.
    #[inline]
    pub(crate) fn remove(&mut self, ingress: u16, class: u8, bytes: u16) -> u8 {
        let Ingress { paused, accounts } = &mut self.ingresses[ingress as usize];
        let below = self.accounting.remove(ingress, accounts, class, bytes, *paused);
        if below != 0 {
            *paused &= !below;
        }
        below
    }

    #[inline]
    fn signal(&self, ingress: u16, ask: Ask, classes: u8) -> Option<Signal> {
        if classes == 0 {
            return None;
        }
        Some(Signal::new(ingress, ask, QueueMask::from(self.accounting.queues(classes))))
    }
}

impl<A: Accounting> IngressControl for Pfc<A> {
    #[inline]
    fn on_arrival(&mut self, ingress: u16, class: u8, bytes: u16) -> Option<Signal> {
        let reached = self.add(ingress, class, bytes);
        self.signal(ingress, Ask::Pause, reached)
    }

    #[inline]
    fn on_departure(&mut self, ingress: u16, class: u8, bytes: u16) -> Option<Signal> {
        let below = self.remove(ingress, class, bytes);
        self.signal(ingress, Ask::Resume, below)
    }

    fn paused_queues(&self, ingress: u16) -> u8 {
        self.accounting.queues(self.paused(ingress))
    }
}
