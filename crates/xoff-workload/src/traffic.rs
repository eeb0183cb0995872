//! The flows of all sources, merged into one sequence.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use xoff_core::program::Job;
use xoff_core::{FlowId, Ps};

use crate::{Arrival, Source};

/// A source and its next flow.
struct Stream {
    source: Box<dyn Source + Send>,
    head: Option<Arrival>,
}

/// The merged flows of a run. A flow's id is its index in this sequence.
#[derive(Default)]
pub struct Traffic {
    streams: Vec<Stream>,
    /// The start and the index of every stream that has a next flow, the earliest on top. Equal
    /// starts are taken in the order of the sources, so the merge has one possible result.
    heads: BinaryHeap<Reverse<(Ps, usize)>>,
    issued: u64,
    /// The jobs, each with its source.
    jobs: Vec<(u16, Arc<dyn Job>)>,
}

impl Traffic {
    /// Merges `sources`. The source at index `i` must have been made with the index `i`.
    #[must_use]
    pub fn new(sources: Vec<Box<dyn Source + Send>>) -> Self {
        let streams = sources.into_iter().map(|source| Stream { source, head: None }).collect();
        let mut traffic = Self { streams, ..Self::default() };
        for index in 0..traffic.streams.len() {
            traffic.refill(index);
        }
        traffic
    }

    /// Adds a job of a source.
    pub fn add_job(&mut self, source: u16, job: Arc<dyn Job>) {
        self.jobs.push((source, job));
    }

    /// The jobs, each with its source.
    #[must_use]
    pub fn jobs(&self) -> &[(u16, Arc<dyn Job>)] {
        &self.jobs
    }

    /// True if a source has a flow that was not taken yet.
    #[must_use]
    pub fn has_more_of(&self, source: u16) -> bool {
        self.heads.iter().any(|&Reverse((_, index))| index == usize::from(source))
    }

    /// Appends to `out` every flow that starts before `until` and was not taken yet, in the order
    /// of (start, source). Returns the first one; the others are numbered after it without a gap.
    pub fn take_before(&mut self, until: Ps, out: &mut Vec<Arrival>) -> FlowId {
        let first = FlowId(self.issued);
        while let Some(&Reverse((start, index))) = self.heads.peek()
            && start < until
        {
            self.heads.pop();
            out.extend(self.refill(index));
            self.issued += 1;
        }
        first
    }

    /// Start of each source's first flow that was not taken yet, or of its job; `None` if there is
    /// none.
    pub fn first_starts(&self) -> impl Iterator<Item = Option<Ps>> {
        let job = |index| {
            let job = self.jobs.iter().find(|(source, _)| usize::from(*source) == index);
            job.map(|(_, job)| job.start())
        };
        let streams = self.streams.iter().enumerate();
        streams
            .map(move |(index, stream)| stream.head.map(|flow| flow.start).or_else(|| job(index)))
    }

    /// Start of the next flow; `None` when there are no more.
    #[must_use]
    pub fn next_start(&self) -> Option<Ps> {
        self.heads.peek().map(|Reverse((start, _))| *start)
    }

    /// The number of flows taken so far, which is the id of the next one.
    #[must_use]
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// Draws the next flow of the stream at `index` and returns the flow that it replaces.
    fn refill(&mut self, index: usize) -> Option<Arrival> {
        let stream = &mut self.streams[index];
        let taken = stream.head;
        stream.head = stream.source.next();
        if let Some(next) = stream.head {
            debug_assert_eq!(usize::from(next.source), index, "a source made with another index");
            debug_assert!(taken.is_none_or(|taken| taken.start <= next.start), "time went back");
            self.heads.push(Reverse((next.start, index)));
        }
        taken
    }
}
