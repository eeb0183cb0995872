//! Triggers of a connection matrix (htsim, `sim/trigger.cpp`).

use std::collections::BTreeMap;

use super::Connection;

/// How a trigger reacts to activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// All of its flows start at the first activation, and there is no other.
    OneShot,
    /// One of its flows starts at each activation, in the order of the file.
    MultiShot,
    /// All of its flows start at the last of `count` activations.
    Barrier {
        /// The number of activations.
        count: u32,
    },
}

/// A trigger's own line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trigger {
    pub(super) kind: Kind,
    pub(super) line: usize,
}

/// What the file says about a trigger.
#[derive(Debug, Default)]
struct Entry {
    definition: Option<Trigger>,
    /// The first line that names it.
    line: usize,
    /// Flows that it starts.
    starts: Vec<usize>,
    /// Flows that activate it; one may do so twice.
    activated_by: Vec<usize>,
}

/// All triggers of a file, by their ids.
#[derive(Debug, Default)]
pub(super) struct Triggers(BTreeMap<u32, Entry>);

impl Triggers {
    fn entry(&mut self, id: u32, line: usize) -> &mut Entry {
        self.0.entry(id).or_insert_with(|| Entry { line, ..Entry::default() })
    }

    pub(super) fn activated_by(&mut self, id: u32, flow: usize, line: usize) {
        self.entry(id, line).activated_by.push(flow);
    }

    pub(super) fn start(&mut self, id: u32, flow: usize, line: usize) {
        self.entry(id, line).starts.push(flow);
    }

    /// False if it was defined before.
    pub(super) fn define(&mut self, id: u32, trigger: Trigger) -> bool {
        self.entry(id, trigger.line).definition.replace(trigger).is_none()
    }

    /// The number of triggers with a line of their own.
    pub(super) fn defined(&self) -> usize {
        self.0.values().filter(|entry| entry.definition.is_some()).count()
    }

    /// Gives each waiting flow the number of activations by which it starts.
    ///
    /// # Errors
    /// The line of a trigger that is not defined, or that htsim would stop at; of a flow that never
    /// starts.
    pub(super) fn resolve(&self, flows: &mut [Connection]) -> Result<(), (usize, String)> {
        for (id, entry) in &self.0 {
            let Some(trigger) = entry.definition else {
                return Err((entry.line, format!("trigger {id} is used but not defined")));
            };
            let activations = entry.activated_by.len();
            let problem = |what: String| Err((trigger.line, format!("trigger {id} {what}")));
            match trigger.kind {
                _ if entry.starts.is_empty() => return problem("starts no flow".into()),
                Kind::OneShot if activations > 1 => {
                    return problem(format!(
                        "is a oneshot, but {activations} flows activate it: make it a barrier or a \
                         multishot"
                    ));
                }
                Kind::Barrier { count } if activations != count as usize => {
                    return problem(format!(
                        "waits for {count} activations, but flows activate it {activations} times"
                    ));
                }
                _ => {}
            }
            for (place, &flow) in (1..).zip(&entry.starts) {
                let activations = match trigger.kind {
                    Kind::OneShot => 1,
                    Kind::MultiShot => place,
                    Kind::Barrier { count } => count,
                };
                flows[flow].waits = Some((*id, activations));
            }
        }
        self.check_all_start(flows)
    }

    /// Starts flows as a run does, whatever their order.
    fn check_all_start(&self, flows: &[Connection]) -> Result<(), (usize, String)> {
        let mut started: Vec<bool> = flows.iter().map(|flow| flow.waits.is_none()).collect();
        let mut next: Vec<usize> = (0..flows.len()).filter(|&flow| started[flow]).collect();
        // Activations so far, and flows of a multishot that have started.
        let mut counts: BTreeMap<u32, (u32, usize)> = BTreeMap::new();
        while let Some(flow) = next.pop() {
            for id in [flows[flow].sent, flows[flow].received].into_iter().filter(|&id| id > 0) {
                let (activations, used) = counts.entry(id).or_default();
                *activations += 1;
                let starts = &self.0[&id].starts;
                while let Some(&waiting) = starts.get(*used)
                    && flows[waiting].waits.is_some_and(|(_, needed)| needed <= *activations)
                {
                    *used += 1;
                    started[waiting] = true;
                    next.push(waiting);
                }
            }
        }
        match flows.iter().zip(started).find(|(_, started)| !started) {
            Some((&Connection { line, waits: Some((id, needed)), .. }, _)) => {
                let found = counts.get(&id).map_or(0, |&(activations, _)| activations);
                Err((
                    line,
                    format!(
                        "the flow never starts: it waits for activation {needed} of trigger {id}, \
                         and flows that can end activate it {found} times"
                    ),
                ))
            }
            _ => Ok(()),
        }
    }
}
