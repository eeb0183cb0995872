//! What the programs of all ranks know.

use std::sync::Arc;

use xoff_core::HostId;

use super::Collective;
use crate::collective::Numbers;

/// A message, by its number: the sends of all ranks, one rank after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) from: u32,
    pub(super) tag: u32,
}

/// A collective operation on hosts.
#[derive(Debug)]
pub(super) struct Together {
    pub(super) operation: Collective,
    pub(super) hosts: Arc<[HostId]>,
    /// The number of its first message.
    pub(super) first: u64,
}

impl Together {
    /// The number of its messages. Some numbers may have none.
    pub(super) fn messages(&self) -> u64 {
        let Collective { pattern, parts, .. } = &self.operation;
        u64::from(parts.count()).saturating_mul(pattern.messages_in_all())
    }

    /// The number after that of its last message.
    pub(super) fn end(&self) -> u64 {
        self.first.saturating_add(self.operation.numbers().count(self.operation.parts))
    }
}

impl Collective {
    fn numbers(&self) -> Numbers {
        Numbers::of(&*self.pattern, self.ranks.len())
    }
}

/// What all ranks know.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) hosts: Vec<HostId>,
    pub(super) messages: Vec<Message>,
    /// Collective operations, whose messages have the numbers after those of `messages`.
    pub(super) together: Vec<Together>,
}

impl Shared {
    /// The collective operation of a message; `None` if a `send` sends it.
    pub(super) fn collective(&self, message: u64) -> Option<u32> {
        let after = self.together.partition_point(|together| together.first <= message);
        after.checked_sub(1).map(|place| place as u32)
    }
}
