//! Flows listed in a file that wait for others.

pub(crate) mod fuzz;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use xoff_core::files::digest_of;
use xoff_core::knobs::Effect;
use xoff_core::{HostId, Ps};

use crate::csv::{self, Row, TableError};
use crate::dag::{self, Dag, Edge, Op, RankOps, Schedule};
use crate::{CLASSES, Context, ENDLESS, Offer, Priority, TrafficSettings, checks};

xoff_core::knobs! {
    /// Flows in a CSV file with the columns id,src,dst,size_bytes,after,delay_ps. `after` has the
    /// ids of the flows for which a flow waits, separated by spaces. Each of them must end where
    /// the flow begins: at its receiver when all its bytes have arrived, or at its sender when they
    /// are acknowledged. The flow begins `delay_ps` after the last of them has ended, or after
    /// `start` if it waits for none. Flows from one host to another go one after another. They are
    /// all measured, whenever they begin.
    pub struct DependentConfig in "dependent" {
        /// The path of the file.
        file: String = String::new(),
        /// Start of the flows that wait for none.
        start: Ps = Ps(0),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "dependent".to_owned(),
    }
}

const HEADER: &str = "id,src,dst,size_bytes,after,delay_ps";

impl TrafficSettings for DependentConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let text = context.files.text_of("file", &self.file)?;
        let flows = read(&self.file, &text, context.hosts()).map_err(|error| error.to_string())?;
        Ok(self.dag(&flows).offer(digest_of(&text)))
    }
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Flow {
    src: HostId,
    dst: HostId,
    bytes: u64,
    /// The places of others in the list.
    after: Vec<usize>,
    delay: Ps,
}

/// Reads the flows, which a network with `hosts` hosts must be able to carry.
fn read(file: &str, text: &str, hosts: u32) -> Result<Vec<Flow>, TableError> {
    let rows = csv::rows(text, file, &[HEADER])?;
    let mut places = HashMap::new();
    for (place, row) in rows.iter().enumerate() {
        let id = row.whole(0)?;
        if places.insert(id, place).is_some() {
            return Err(
                row.error(format!("there is a flow {id} above: give each an id of its own"))
            );
        }
    }
    let mut flows = Vec::new();
    for row in &rows {
        flows.push(read_flow(row, &places, hosts)?);
    }
    for (row, flow) in rows.iter().zip(&flows) {
        for before in flow.after.iter().map(|&place| &flows[place]) {
            if ![before.src, before.dst].contains(&flow.src) {
                return Err(row.error(format!(
                    "it begins at host {}, but waits for a flow from host {} to host {}, which \
                     that host does not see",
                    flow.src, before.src, before.dst
                )));
            }
        }
    }
    let waits = (0..)
        .zip(&flows)
        .flat_map(|(place, flow)| flow.after.iter().map(move |&before| (before as u32, place)));
    match dag::stuck(flows.len(), waits) {
        Some(place) => Err(rows[place].error("the flow waits for itself")),
        None => Ok(flows),
    }
}

fn read_flow(row: &Row<'_>, places: &HashMap<u64, usize>, hosts: u32) -> Result<Flow, TableError> {
    let (src, dst) = (row.whole(1)?, row.whole(2)?);
    checks::ends(src, dst, hosts).map_err(|problem| row.error(problem))?;
    let bytes = row.whole(3)?;
    if !(1..ENDLESS).contains(&bytes) {
        return Err(row.error(format!("size_bytes {bytes}: a flow with an end has 1 byte or more")));
    }
    let place = |id: &str| {
        let found = id.parse().ok().and_then(|id| places.get(&id)).copied();
        found.ok_or_else(|| row.error(format!("after {id}: there is no such flow")))
    };
    let mut after = row.text(4).split_whitespace().map(place).collect::<Result<Vec<_>, _>>()?;
    after.sort_unstable();
    after.dedup();
    // Both are below `hosts`, so nothing is truncated.
    let (src, dst) = (HostId(src as u32), HostId(dst as u32));
    Ok(Flow { src, dst, bytes, after, delay: Ps(row.whole(5)?) })
}

impl DependentConfig {
    /// The operations of all hosts that have flows.
    fn dag(&self, flows: &[Flow]) -> Dag {
        let mut hosts: Vec<HostId> = flows.iter().flat_map(|flow| [flow.src, flow.dst]).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let rank = |host: HostId| hosts.binary_search(&host).expect("it has a flow") as u32;
        let mut schedule =
            Schedule { ranks: vec![RankOps::default(); hosts.len()], ..Schedule::default() };
        // For each flow, the operations for which others wait, at its sender and at its receiver,
        // and the operation that waits for others.
        let mut ops = Vec::new();
        for (place, flow) in flows.iter().enumerate() {
            let (from, to, tag) = (rank(flow.src), rank(flow.dst), place as u32);
            let own = &mut schedule.ranks[from as usize];
            let send = own.add(Op::Send { bytes: flow.bytes, to, tag }, place as u64);
            let mut first = send;
            if flow.delay > Ps(0) {
                // Each delay has a processor of its own.
                first = own.add(Op::Calc { time: flow.delay, cpu: tag }, place as u64);
                own.edges.push(Edge { waits: send, before: first, at_begin: false });
            }
            let receive = Op::Recv { from: Some(from), tag: Some(tag) };
            let received = schedule.ranks[to as usize].add(receive, place as u64);
            ops.push((send, received, first));
        }
        for (flow, &(_, _, first)) in flows.iter().zip(&ops) {
            for &before in &flow.after {
                let (sent, received, _) = ops[before];
                let before = if flows[before].src == flow.src { sent } else { received };
                let edge = Edge { waits: first, before, at_begin: false };
                schedule.ranks[rank(flow.src) as usize].edges.push(edge);
            }
        }
        Dag::new(schedule, hosts, self.start, self.priority.number())
    }
}
