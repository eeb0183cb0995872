//! Queries and web requests, from their start to their complete arrival.
//!
//! A query lasts from the start of its request to the last byte of its response at the client. A
//! web request lasts from the start of its first query to the end of its last. A web request that
//! arrives in the measurement is measured with all of its queries. One that has not ended with the
//! run counts as infinitely long.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use xoff_core::{FlowId, HostId, Ps, rng::mix64};
use xoff_host::FlowStart;
use xoff_host::hosts::Arrived;
use xoff_workload::{Arrival, Role};

use crate::measure::{CompletionTimes, Measured};
use crate::tables::{QueryRow, RequestRow, Rows};

/// A group of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueryGroup {
    /// All queries.
    All,
    /// Queries with this response payload.
    Size(u64),
    /// Queries with this priority.
    Priority(u8),
    /// Queries with this response payload and priority.
    SizeAndPriority(u64, u8),
}

/// Completion times of one class, in microseconds.
#[derive(Clone, Debug, Default)]
pub struct RequestResults {
    /// Completion times of queries.
    pub queries: BTreeMap<QueryGroup, CompletionTimes>,
    /// Completion times of all web requests, at `None`, and of those with a given number of
    /// queries.
    pub requests: BTreeMap<Option<u32>, CompletionTimes>,
}

impl RequestResults {
    /// The groups of queries with their names. Groups by size and priority are only there if the
    /// class has several priorities.
    pub fn named_queries(&self) -> impl Iterator<Item = (String, &CompletionTimes)> {
        let priorities =
            self.queries.keys().filter(|group| matches!(group, QueryGroup::Priority(_))).count();
        self.queries.iter().filter_map(move |(group, found)| {
            let name = match group {
                QueryGroup::All => "all".into(),
                QueryGroup::Size(bytes) => bytes.to_string(),
                QueryGroup::Priority(priority) => format!("priority{priority}"),
                QueryGroup::SizeAndPriority(bytes, priority) if priorities > 1 => {
                    format!("{bytes}-priority{priority}")
                }
                QueryGroup::SizeAndPriority(..) => return None,
            };
            Some((name, found))
        })
    }

    /// The groups of web requests with their names.
    pub fn named_requests(&self) -> impl Iterator<Item = (String, &CompletionTimes)> {
        self.requests.iter().map(|(queries, found)| {
            (queries.map_or_else(|| "all".into(), |queries| queries.to_string()), found)
        })
    }

    fn with_query(&mut self, row: &QueryRow, change: impl Fn(&mut CompletionTimes)) {
        let groups = [
            QueryGroup::All,
            QueryGroup::Size(row.size_bytes),
            QueryGroup::Priority(row.priority),
            QueryGroup::SizeAndPriority(row.size_bytes, row.priority),
        ];
        groups.into_iter().for_each(|group| change(self.queries.entry(group).or_default()));
    }

    fn with_request(&mut self, queries: u32, change: impl Fn(&mut CompletionTimes)) {
        let groups = [None, Some(queries)];
        groups.into_iter().for_each(|group| change(self.requests.entry(group).or_default()));
    }
}

/// A query that has not ended.
#[derive(Clone, Copy, Debug)]
struct Asked {
    row: QueryRow,
    /// The request has begun.
    begun: bool,
    /// The batch of its web request, if there are batches.
    batch: Option<u16>,
}

/// A web request that has not ended.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    row: RequestRow,
    /// Its batch, if there are batches.
    batch: Option<u16>,
    /// Number of its queries that have not ended.
    left: u32,
}

/// Records measured web requests.
#[derive(Debug)]
pub(crate) struct Requests {
    /// By class.
    pub(crate) results: Vec<RequestResults>,
    row_every: u64,
    /// By the flow number of a query's request.
    queries: FxHashMap<FlowId, Asked>,
    requests: FxHashMap<FlowId, Waiting>,
    /// The web request whose flows are being added.
    last: FlowId,
}

const PS_PER_US: f64 = 1e6;

impl Requests {
    pub(crate) fn new(classes: usize, row_every: u64) -> Self {
        Self {
            results: vec![RequestResults::default(); classes],
            row_every,
            queries: FxHashMap::default(),
            requests: FxHashMap::default(),
            last: FlowId(0),
        }
    }

    /// Number of web requests that have not ended.
    pub(crate) fn outstanding(&self) -> u64 {
        self.requests.len() as u64
    }

    /// Number of web requests that have begun.
    pub(crate) fn begun(&self) -> u64 {
        let all = self.results.iter().filter_map(|results| results.requests.get(&None));
        all.map(CompletionTimes::flows).sum()
    }

    /// Adds a measured flow of a batch. Returns true if its arrival must be reported.
    pub(crate) fn add(
        &mut self,
        flow: FlowId,
        arrival: &Arrival,
        class: u16,
        batch: Option<u16>,
    ) -> bool {
        let &Arrival { start: Ps(start_ps), src, dst, bytes, priority, .. } = arrival;
        match arrival.role {
            Role::Alone | Role::Successive { .. } | Role::Activates { .. } => false,
            Role::Request { first_of } => {
                if first_of > 0 {
                    self.last = flow;
                    let (request, client, queries, completion_ps) = (flow.0, src.0, first_of, 0);
                    let row = RequestRow {
                        request,
                        client,
                        queries,
                        priority,
                        class,
                        start_ps,
                        completion_ps,
                    };
                    self.requests.insert(flow, Waiting { row, batch, left: first_of });
                    self.results[class as usize].with_request(first_of, CompletionTimes::start);
                }
                let row = QueryRow {
                    query: flow.0,
                    request: self.last.0,
                    client: src.0,
                    server: dst.0,
                    size_bytes: 0,
                    priority,
                    class,
                    start_ps,
                    completion_ps: 0,
                };
                let begun = arrival.after.is_none();
                self.queries.insert(flow, Asked { row, begun, batch });
                false
            }
            Role::Response => {
                if let Some(Asked { row, .. }) = self.queries.get_mut(&FlowId(flow.0 - 1)) {
                    row.size_bytes = bytes;
                    self.results[class as usize].with_query(row, CompletionTimes::start);
                }
                true
            }
        }
    }

    /// A chained flow has begun.
    pub(crate) fn on_begun(&mut self, start: &FlowStart) {
        if let Some(asked) = self.queries.get_mut(&start.id) {
            asked.row.start_ps = start.start_ps;
            asked.begun = true;
        }
    }

    /// A flow has arrived. Adds a row for each query and web request that ends with it.
    pub(crate) fn on_arrived(&mut self, arrived: &Arrived, rows: &mut Rows) {
        let query = arrived.flow.0.checked_sub(1);
        let query = query.and_then(|query| self.queries.remove(&FlowId(query)));
        let Some(Asked { mut row, batch, .. }) = query else { return };
        let keeps = self.row_every > 0 && mix64(row.request).is_multiple_of(self.row_every);
        let results = &mut self.results[row.class as usize];
        row.completion_ps = arrived.time_ps - row.start_ps;
        let measured = Measured::new(row.completion_ps as f64 / PS_PER_US, batch);
        results.with_query(&row, |times| times.finish(measured));
        if keeps {
            rows.queries.push(row);
        }
        let Some(waiting) = self.requests.get_mut(&FlowId(row.request)) else { return };
        waiting.left -= 1;
        if waiting.left > 0 {
            return;
        }
        let mut whole = waiting.row;
        self.requests.remove(&FlowId(row.request));
        whole.completion_ps = arrived.time_ps - whole.start_ps;
        let measured = Measured::new(whole.completion_ps as f64 / PS_PER_US, batch);
        results.with_request(whole.queries, |times| times.finish(measured));
        if keeps {
            rows.requests.push(whole);
        }
    }

    /// Drops the web requests with a query that cannot end, because `dead` names a host of it that
    /// is down for good. Returns that host of each, in the order of web requests.
    pub(crate) fn cut_off(
        &mut self,
        dead: impl Fn(HostId, HostId) -> Option<HostId>,
    ) -> Vec<HostId> {
        let mut lost = BTreeMap::new();
        for Asked { row, .. } in in_order(&self.queries) {
            if let Some(host) = dead(HostId(row.client), HostId(row.server)) {
                lost.entry(FlowId(row.request)).or_insert(host);
            }
        }
        for Asked { row, .. } in in_order(&self.queries) {
            if lost.contains_key(&FlowId(row.request)) {
                self.queries.remove(&FlowId(row.query));
                self.results[row.class as usize].with_query(&row, CompletionTimes::withdraw);
            }
        }
        for request in lost.keys() {
            if let Some(Waiting { row, .. }) = self.requests.remove(request) {
                let results = &mut self.results[row.class as usize];
                results.with_request(row.queries, CompletionTimes::withdraw);
            }
        }
        lost.into_values().collect()
    }

    /// The run ends. Its queries and web requests that have not ended take at least as long as they
    /// have lasted.
    pub(crate) fn censor(&mut self, end: Ps) {
        let lasted = |start_ps: u64| (end.0 - start_ps) as f64 / PS_PER_US;
        for Asked { row, begun, batch } in in_order(&self.queries) {
            let Some(batch) = batch else { continue };
            let bound = if begun { lasted(row.start_ps) } else { 0.0 };
            self.results[row.class as usize].with_query(&row, |times| times.censor(bound, batch));
        }
        for Waiting { row, batch, .. } in in_order(&self.requests) {
            let Some(batch) = batch else { continue };
            let bound = lasted(row.start_ps);
            self.results[row.class as usize]
                .with_request(row.queries, |times| times.censor(bound, batch));
        }
    }
}

/// The values by flow number. Sums of bounds must not depend on the order of a hash map.
fn in_order<T: Copy>(map: &FxHashMap<FlowId, T>) -> Vec<T> {
    let mut found: Vec<(FlowId, T)> = map.iter().map(|(&flow, &value)| (flow, value)).collect();
    found.sort_unstable_by_key(|&(flow, _)| flow);
    found.into_iter().map(|(_, value)| value).collect()
}
