//! All-reduce in three steps: within servers, across servers, within servers (Cho et al.,
//! "BlueConnect: Decomposing All-Reduce for Deep Learning on Heterogeneous Network Hierarchy",
//! MLSys 2019). On a rail-optimised fabric, the second step stays on rails.

use super::pattern::{Pattern, Stage, share};
use super::ring::Ring;

/// Ranks of a server reduce and scatter in a ring; the ranks at the same place of all servers
/// all-reduce the piece of that place in a ring; the ranks of a server gather all pieces.
#[derive(Debug)]
pub(super) struct Hierarchical {
    /// The ring in a server, in two passes: before and after the second step.
    inside: Ring,
    /// The rings across servers, by place.
    across: Vec<Ring>,
    servers: u32,
}

/// Where a rank is in a stage.
enum Step {
    /// In this stage of the ring in its server.
    Inside(u32),
    /// In this stage of the ring across servers.
    Across(u32),
}

impl Hierarchical {
    /// For `servers` of `in_server` ranks each.
    pub(super) fn new(in_server: u32, servers: u32, lanes: &[u64]) -> Self {
        let ring = |ranks, passes, lanes| Ring { ranks, passes, lanes, both_ways: false };
        let across = |place: u32| {
            // A reduce-scatter leaves the piece after a rank's own with it.
            let piece = u64::from((place + 1) % in_server);
            let of_piece = |&bytes: &u64| share(bytes, in_server.into(), piece, piece + 1);
            ring(servers, 2, lanes.iter().map(of_piece).collect())
        };
        Self {
            inside: ring(in_server, 2, lanes.to_vec()),
            across: (0..in_server).map(across).collect(),
            servers,
        }
    }

    fn step(&self, stage: u32) -> Step {
        let (once, across) = (self.inside.stages() / 2, 2 * (self.servers - 1));
        match stage.checked_sub(once) {
            None => Step::Inside(stage),
            Some(later) if later < across => Step::Across(later),
            Some(later) => Step::Inside(once + later - across),
        }
    }

    /// What a rank sends in a stage, and the rank from which it gets a message in this stage.
    fn exchange(&self, lane: u32, stage: u32, rank: u32) -> ((u32, u64), u32) {
        let in_server = self.inside.ranks;
        let (server, place) = (rank / in_server, rank % in_server);
        let numbered = |server: u32, place: u32| server * in_server + place;
        match self.step(stage) {
            Step::Inside(stage) => {
                let (right, left, bytes) = self.inside.exchange(lane, stage, place);
                ((numbered(server, right), bytes), numbered(server, left))
            }
            Step::Across(stage) => {
                let (right, left, bytes) =
                    self.across[place as usize].exchange(lane, stage, server);
                ((numbered(right, place), bytes), numbered(left, place))
            }
        }
    }
}

impl Pattern for Hierarchical {
    fn stages(&self) -> u32 {
        self.inside.stages() + 2 * (self.servers - 1)
    }

    fn in_server(&self) -> Option<u32> {
        Some(self.inside.ranks)
    }

    fn fan(&self) -> u32 {
        1
    }

    fn messages(&self, _stage: u32) -> u64 {
        u64::from(self.inside.ranks) * u64::from(self.servers)
    }

    fn stage(&self, lane: u32, stage: u32, rank: u32) -> Stage {
        let mut found = Stage::default();
        if let Some(before) = stage.checked_sub(1) {
            found.waits.push((before, self.exchange(lane, before, rank).1, 0));
        }
        if stage < self.stages() {
            found.sends.push(self.exchange(lane, stage, rank).0);
        }
        found
    }
}
