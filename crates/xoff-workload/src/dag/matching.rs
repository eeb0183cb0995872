//! Messages and the receptions that take them, as in MPI: the first reception that fits takes a
//! message, and a reception takes the first message that fits.

use std::collections::{BTreeMap, VecDeque};

/// A sender and a tag; `None`: any.
pub(super) type Wanted = (Option<u32>, Option<u32>);

/// What waits for the other side at a rank.
#[derive(Debug, Default)]
pub(super) struct Matching {
    /// Number of receptions and messages so far, which orders them.
    events: u64,
    /// Operations that receive, by sender and tag.
    exact: BTreeMap<(u32, u32), VecDeque<(u64, u32)>>,
    /// Operations that receive from any sender or with any tag.
    any: VecDeque<(u64, u32, Wanted)>,
    /// Messages that no reception has taken, by sender and tag: when each came.
    unexpected: BTreeMap<(u32, u32), VecDeque<u64>>,
}

impl Matching {
    /// A reception begins. Returns true if a message for it is here already.
    pub(super) fn receive(&mut self, op: u32, wanted: Wanted) -> bool {
        self.events += 1;
        if let Some(key) = self.first_for(wanted) {
            pop(&mut self.unexpected, key);
            return true;
        }
        match wanted {
            (Some(from), Some(tag)) => {
                self.exact.entry((from, tag)).or_default().push_back((self.events, op));
            }
            _ => self.any.push_back((self.events, op, wanted)),
        }
        false
    }

    /// The sender and tag of the first message that a reception takes.
    fn first_for(&self, wanted: Wanted) -> Option<(u32, u32)> {
        if let (Some(from), Some(tag)) = wanted {
            return self.unexpected.contains_key(&(from, tag)).then_some((from, tag));
        }
        let fitting = self.unexpected.iter().filter(|(key, _)| fits(wanted, **key));
        fitting.min_by_key(|(_, came)| came.front().copied()).map(|(&key, _)| key)
    }

    /// A message arrives. Returns the operation that receives it, if one waits.
    pub(super) fn deliver(&mut self, message: (u32, u32)) -> Option<u32> {
        self.events += 1;
        let exact = self.exact.get(&message).and_then(|all| all.front().copied());
        let any = self.any.iter().position(|&(_, _, wanted)| fits(wanted, message));
        let began = any.map(|place| self.any[place].0);
        match (exact, any) {
            (Some((event, _)), _) if began.is_none_or(|began| event < began) => {
                pop(&mut self.exact, message).map(|(_, op)| op)
            }
            (_, Some(place)) => self.any.remove(place).map(|(_, op, _)| op),
            (_, None) => {
                self.unexpected.entry(message).or_default().push_back(self.events);
                None
            }
        }
    }
}

/// True if a reception of this sender and tag takes a message with these.
fn fits((from, tag): Wanted, message: (u32, u32)) -> bool {
    from.is_none_or(|from| from == message.0) && tag.is_none_or(|tag| tag == message.1)
}

/// Takes the first entry of a key, and the key with its last one.
fn pop<T>(all: &mut BTreeMap<(u32, u32), VecDeque<T>>, key: (u32, u32)) -> Option<T> {
    let entries = all.get_mut(&key)?;
    let first = entries.pop_front();
    if entries.is_empty() {
        all.remove(&key);
    }
    first
}
