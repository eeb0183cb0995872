//! How an all-to-all shares out the bytes of a rank: evenly, or as the tokens of a mixture of
//! experts, where a few ranks get most of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use xoff_core::rng::Purpose;
use xoff_core::{Rng, math};

use super::pattern::share;
use crate::csv::{self, Row, TableError};

const HEADER: &str = "from,to,load";

/// The largest load. Their sums fit into 64 bits for any number of ranks.
const MOST: u64 = 1 << 40;

/// The shares of all ranks' bytes.
#[derive(Clone, Debug)]
pub(super) enum Loads {
    /// All ranks get the same.
    Even { ranks: u32 },
    /// All ranks send most to the same ones.
    Popular(Popular),
    /// Each rank has shares of its own, which a file gives.
    Given(Arc<[Shares]>),
}

impl Loads {
    /// The part of some bytes that one rank has for another. Parts sum to the bytes.
    pub(super) fn part(&self, bytes: u64, from: u32, to: u32) -> u64 {
        match self {
            Self::Even { ranks } => {
                share(bytes, u64::from(*ranks), u64::from(to), u64::from(to) + 1)
            }
            Self::Popular(popular) => popular.shares.part(bytes, to),
            Self::Given(rows) => rows[from as usize].part(bytes, to),
        }
    }

    /// The loads of a round, if they are not the same in all rounds.
    pub(super) fn of_round(&self, round: u32) -> Option<Self> {
        match self {
            Self::Popular(popular) if popular.redraws => {
                Some(Self::Popular(Popular { shares: popular.draw(round), ..popular.clone() }))
            }
            _ => None,
        }
    }

    /// Reads the loads between `ranks` ranks.
    ///
    /// # Errors
    /// What is wrong, with its line unless something is missing.
    pub(super) fn read(file: &str, text: &str, ranks: u32) -> Result<Self, String> {
        let rows = csv::rows(text, file, &[HEADER]);
        let loads = rows.and_then(|rows| by_sender(&rows, ranks));
        let loads = loads.map_err(|error| error.to_string())?;
        let shares = (0..).zip(loads).map(|(from, loads): (u32, _)| {
            Shares::of(loads).ok_or_else(|| {
                format!("{file}: rank {from} has no load: each rank must send to at least one")
            })
        });
        Ok(Self::Given(shares.collect::<Result<_, _>>()?))
    }
}

/// For each rank, its loads by their receivers.
fn by_sender(rows: &[Row<'_>], ranks: u32) -> Result<Vec<BTreeMap<u32, u64>>, TableError> {
    let mut loads = vec![BTreeMap::new(); ranks as usize];
    for row in rows {
        let (from, to) = (rank(row, 0, ranks)?, rank(row, 1, ranks)?);
        let load = row.whole(2)?;
        if load > MOST {
            return Err(row.error(format!("load {load}: it must be at most {MOST}")));
        }
        if loads[from as usize].insert(to, load).is_some() {
            return Err(row.error(format!("rank {from} has two loads for rank {to}: give one")));
        }
    }
    Ok(loads)
}

fn rank(row: &Row<'_>, column: usize, ranks: u32) -> Result<u32, TableError> {
    let found = row.whole(column)?;
    u32::try_from(found).ok().filter(|&rank| rank < ranks).ok_or_else(|| {
        let name = HEADER.split(',').nth(column).unwrap_or_default();
        row.error(format!("{name} {found}: ranks are 0 to {}", ranks - 1))
    })
}

/// The shares of bytes for ranks in proportion to loads.
#[derive(Debug)]
pub(super) struct Shares {
    /// The ranks with loads, ascending, and the sum of the loads before each.
    before: Vec<(u32, u64)>,
    sum: u64,
}

impl Shares {
    /// From ranks, ascending, and their loads; `None` if they have none.
    fn of(loads: impl IntoIterator<Item = (u32, u64)>) -> Option<Self> {
        let mut sum = 0;
        let mut before = Vec::new();
        for (to, load) in loads {
            before.push((to, sum));
            sum += load;
        }
        (sum > 0).then_some(Self { before, sum })
    }

    fn part(&self, bytes: u64, to: u32) -> u64 {
        let Ok(at) = self.before.binary_search_by_key(&to, |&(rank, _)| rank) else { return 0 };
        let after = self.before.get(at + 1).map_or(self.sum, |&(_, before)| before);
        share(bytes, self.sum, self.before[at].1, after)
    }
}

/// Loads by a Zipf distribution of popularity: the k-th most popular rank has 1/k^skew.
#[derive(Clone, Debug)]
pub(super) struct Popular {
    ranks: u32,
    skew: f64,
    seed: u64,
    source: u16,
    /// Whether each round draws which ranks are popular.
    redraws: bool,
    shares: Arc<Shares>,
}

impl Popular {
    pub(super) fn new(ranks: u32, skew: f64, redraws: bool, seed: u64, source: u16) -> Self {
        let shares = Arc::new(Shares { before: Vec::new(), sum: 1 });
        let mut popular = Self { ranks, skew, seed, source, redraws, shares };
        popular.shares = popular.draw(0);
        popular
    }

    /// The shares of a round. All ranks draw the same.
    fn draw(&self, round: u32) -> Arc<Shares> {
        let load = |place: u32| {
            let load = MOST as f64 / math::pow(f64::from(place + 1), self.skew);
            (load as u64).max(1)
        };
        let mut loads: Vec<u64> = (0..self.ranks).map(load).collect();
        let entity = u64::from(self.source) | u64::from(round) << 16;
        Rng::stream(self.seed, Purpose::Popularity, entity).shuffle(&mut loads);
        let shares = Shares::of((0..).zip(loads));
        Arc::new(shares.expect("each rank has one load, of at least 1"))
    }
}
