//! An all-to-all in two steps: within servers, then on rails (NVIDIA, "Doubling all2all Performance
//! with NVIDIA Collective Communication Library 2.12", 2022: PXN). Messages of one rail from one
//! server to another go together.

use std::sync::Arc;

use super::loads::Loads;
use super::pattern::{Pattern, Stage};

/// A rank gives each rank of its server what is for the ranks at that one's place in all servers.
/// Then each rank sends what its server has for the rank at its own place of each other server.
#[derive(Debug)]
pub(super) struct TwoSteps {
    pub(super) in_server: u32,
    pub(super) servers: u32,
    /// Bytes of each lane.
    pub(super) lanes: Arc<[u64]>,
    /// How a rank shares them out.
    pub(super) loads: Loads,
}

impl TwoSteps {
    fn rank(&self, server: u32, place: u32) -> u32 {
        server * self.in_server + place
    }

    /// The bytes that a rank has for another.
    fn part(&self, lane: u32, from: u32, to: u32) -> u64 {
        self.loads.part(self.lanes[lane as usize], from, to)
    }

    /// What a rank gives another one of its server.
    fn inside(&self, lane: u32, from: u32, place: u32) -> u64 {
        (0..self.servers).map(|server| self.part(lane, from, self.rank(server, place))).sum()
    }

    /// What a server has for a rank of another one.
    fn across(&self, lane: u32, server: u32, to: u32) -> u64 {
        (0..self.in_server).map(|place| self.part(lane, self.rank(server, place), to)).sum()
    }
}

impl Pattern for TwoSteps {
    fn stages(&self) -> u32 {
        2
    }

    fn in_server(&self) -> Option<u32> {
        Some(self.in_server)
    }

    fn fan(&self) -> u32 {
        self.in_server.max(self.servers) - 1
    }

    fn messages(&self, stage: u32) -> u64 {
        let others = if stage == 0 { self.in_server } else { self.servers } - 1;
        u64::from(self.in_server * self.servers) * u64::from(others)
    }

    /// To the one at a distance of d above goes message d - 1 of a stage.
    fn stage(&self, lane: u32, stage: u32, rank: u32) -> Stage {
        let (server, place) = (rank / self.in_server, rank % self.in_server);
        let place_at = |distance: u32| (place + distance) % self.in_server;
        let server_at = |distance: u32| (server + distance) % self.servers;
        let mut found = Stage::default();
        if stage == 0 {
            found.sends.extend((1..self.in_server).map(|distance| {
                let place = place_at(distance);
                (self.rank(server, place), self.inside(lane, rank, place))
            }));
            return found;
        }
        if stage == 1 {
            let from = |distance| self.rank(server, place_at(self.in_server - distance));
            found.waits.extend((1..self.in_server).map(|d| (0, from(d), d - 1)));
            found.sends.extend((1..self.servers).map(|distance| {
                let to = self.rank(server_at(distance), place);
                (to, self.across(lane, server, to))
            }));
        } else {
            let from = |distance| self.rank(server_at(self.servers - distance), place);
            found.waits.extend((1..self.servers).map(|d| (1, from(d), d - 1)));
        }
        found
    }

    fn of_round(&self, round: u32) -> Option<Arc<dyn Pattern>> {
        let loads = self.loads.of_round(round)?;
        let (in_server, servers, lanes) = (self.in_server, self.servers, self.lanes.clone());
        Some(Arc::new(Self { in_server, servers, lanes, loads }))
    }
}
