//! The tables of a run with packets. The names and types of columns are part of xoff's files.

use xoff_core::{table, tables};

const WITH_QUERIES: &str =
    "add [[traffic]] with kind = \"queries\"; run.flows must not be \"none\"";

table! {
    /// One row for each measured flow that finished, in the order (time of finishing, flow).
    /// `run.flows` selects all rows, one in a hundred (`"sample"`), or none.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FlowRow in "flows" {
        /// Index of the flow's arrival; the same under every scheme. Messages of jobs count from
        /// 2147483648.
        flow: u64,
        /// Sending host.
        src: u32,
        /// Receiving host.
        dst: u32,
        /// Payload.
        size_bytes: u64,
        /// Start of the flow.
        start_ps: u64,
        /// Time from the start to the acknowledgement of the last byte at the sender.
        fct_ps: u64,
        /// Time from the start to the last byte at the receiver.
        rx_fct_ps: u64,
        /// `fct_ps` of this flow alone on its path, without window and INT.
        ideal_fct_ps: u64,
        /// `fct_ps / ideal_fct_ps`: at least 1, except under Homa, which acknowledges a message
        /// once and can be up to 1 % below.
        slowdown: f64 = FlowRow::slowdown,
        /// Class of the traffic source, an index into `classes` of the summary.
        class: u16,
    }
}

impl FlowRow {
    /// FCT over ideal FCT.
    #[must_use]
    pub fn slowdown(&self) -> f64 {
        self.fct_ps as f64 / self.ideal_fct_ps as f64
    }
}

table! {
    /// Switches and monitored ports at every multiple of `run.grid` after the warm-up, up to the
    /// end of the measured time: one row for each switch, and one for each port towards a host of
    /// `run.monitor`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SampleRow in "samples" {
        /// Time of the sample.
        time_ps: u64,
        /// Node number of the switch.
        node: u32,
        /// Number of the port; 65535 is the whole switch.
        port: u16,
        /// Bytes in data queues.
        bytes: u64,
        /// Flows with packets at the port. A watched FIFO port counts its flows. The whole switch
        /// has the maximum over its ports, or that of occupied queues if its schedulers do not
        /// distinguish flows.
        active: u32,
    }
}

table! {
    /// One row for each port (a link has two), over the measured time.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PortRow in "ports" {
        /// Node of the port.
        node: u32,
        /// Number of the port at its node.
        port: u16,
        /// Node at the other end of the link.
        peer: u32,
        /// Layers that the link joins, seen from this end: `host-leaf`, `leaf-spine`, and so on.
        /// `attached` is the host of an allocator.
        link: String,
        /// Rate of the link.
        rate_bps: u64,
        /// Bytes sent, in packets of all kinds.
        tx_bytes: u64,
        /// Packets sent, of all kinds.
        tx_packets: u64,
        /// Time with at least one queue paused by the neighbour.
        paused_ps: u64,
        /// Transitions from no paused queue to a paused queue.
        pauses: u64,
        /// Packets for this port that found no room or were lost on its link (`[[fault]]`).
        drops: u64,
        /// Bytes of these packets on the wire.
        drop_bytes: u64,
    }
}

table! {
    /// At the end of every full interval of `run.flow_series` in the measured time: one row for
    /// each flow that is under way or ended in the interval, in the order (time, flow). A flow ends
    /// when its sender knows that all data has arrived.
    ///
    /// Receivers report at the end of an interval, and forget a flow with its last byte. The bytes
    /// of a flow that begins and ends within an interval therefore count when its sender learns of
    /// the end, half a round trip later.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FlowSeriesRow in "flow_series", optional: "set run.flow_series" {
        /// End of the interval.
        time_ps: u64,
        /// Index of the flow's arrival.
        flow: u64,
        /// Sending host.
        src: u32,
        /// Receiving host.
        dst: u32,
        /// Payload that arrived in the interval, in any order, and was kept. Repeated bytes count
        /// once.
        received_bytes: u64,
        /// Payload delivered to the application in the interval: in order, without a gap. Equal to
        /// `received_bytes` with perfect recovery.
        delivered_bytes: u64,
    }
}

table! {
    /// At the end of every full interval of `run.port_samples` in the measured time: one row for
    /// every port, in the order (time, node, port).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PortSampleRow in "port_samples", optional: "set run.port_samples" {
        /// End of the interval.
        time_ps: u64,
        /// Node of the port.
        node: u32,
        /// Number of the port at its node.
        port: u16,
        /// Bytes in all queues of the port at that instant. A host counts acknowledgements and
        /// frames only: it makes packets of its data when it sends them.
        queue_bytes: u64,
        /// Those of them in data queues that the neighbour pauses; 0 at a host.
        held_bytes: u64,
        /// Bytes sent in the interval.
        tx_bytes: u64,
        /// Packets sent in the interval.
        tx_packets: u64,
        /// Time in the interval with at least one queue paused by the neighbour.
        paused_ps: u64,
        /// Packets for this port that were lost in the interval.
        drops: u64,
        /// Bytes of these packets on the wire.
        drop_bytes: u64,
    }
}

table! {
    /// One row for each query that arrived in the measured time and has ended, in the order of
    /// their ends. A query lasts from the start of its request to the last byte of its response at
    /// the client. `run.flows = "sample"` selects one in a hundred web requests, with all of their
    /// queries.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct QueryRow in "queries", optional: WITH_QUERIES {
        /// The flow of its request; the flow of its response is the next one.
        query: u64,
        /// Its web request: the flow of the request of the first query.
        request: u64,
        /// Host that asks.
        client: u32,
        /// Host that answers.
        server: u32,
        /// Payload of the response.
        size_bytes: u64,
        /// Traffic class of its packets.
        priority: u8,
        /// Class of the traffic source, an index into `classes` of the summary.
        class: u16,
        /// Start of the request. A sequential query starts when the one before has ended.
        start_ps: u64,
        /// Time from the start to the last byte of the response at the client.
        completion_ps: u64,
    }
}

table! {
    /// One row for each web request that arrived in the measured time and has ended, in the order
    /// of their ends. A web request ends with its last query. `run.flows = "sample"` selects one in
    /// a hundred.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RequestRow in "requests", optional: WITH_QUERIES {
        /// The flow of the request of its first query.
        request: u64,
        /// Host that asks.
        client: u32,
        /// Number of its queries.
        queries: u32,
        /// Traffic class of its packets.
        priority: u8,
        /// Class of the traffic source, an index into `classes` of the summary.
        class: u16,
        /// Arrival of the web request.
        start_ps: u64,
        /// Time from its arrival to the end of its last query.
        completion_ps: u64,
    }
}

table! {
    /// The values of measured flows, queries and web requests by batch of time, as histograms that
    /// can be pooled over runs. The measured time has `run.batches` batches of equal length; a flow
    /// belongs to the batch in which it began, a web request with its queries to the batch in which
    /// it arrived. One row for each bucket that has values, in the order (kind, class, group,
    /// batch, bucket). Each flow is counted, with or without a row in other tables.
    ///
    /// A value is the slowdown of a flow, or the completion time of a query or web request in
    /// microseconds, rounded to thousandths. A bucket is one thousandth wide up to 0.512, and above
    /// that at most 1/256 of its lower end.
    ///
    /// A flow, query or web request that did not end with the run is censored: it is in the bucket
    /// of the least value that it can have. That is the time that it had lasted, for a flow divided
    /// by its ideal FCT. It counts under `censored`, and not under `finished`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct BatchRow in "batches", optional: "set run.batches" {
        /// `flows`, `queries` or `requests`.
        kind: String,
        /// Class of the traffic source, an index into `classes` of the summary.
        class: u16,
        /// Group of the class. Flows: `bin0` to `bin11` as in `bins` of the summary, the names of
        /// its `ranges`, `all`. Queries and web requests: the names in the summary.
        group: String,
        /// Number of the batch, from 0.
        batch: u16,
        /// Lower end of the bucket.
        low: f64,
        /// Upper end of the bucket, excluded.
        high: f64,
        /// Values in the bucket.
        finished: u64,
        /// Sum of these values, not rounded.
        sum: f64,
        /// Censored flows, queries or web requests with their least value in the bucket.
        censored: u64,
        /// Sum of these least values. A sequential query that never began has 0.
        censored_sum: f64,
    }
}

table! {
    /// One row for each node, in the order of their numbers.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct NodeRow in "nodes" {
        /// Number of the node in all tables.
        node: u32,
        /// Layer and number, such as `host 3`, `leaf 1` or `spine 0`. Scenarios write `3`, `leaf:1`
        /// and `spine:0`.
        name: String,
        /// `host`, `leaf`, `spine`, `core`, `gateway`, or `attached`: the host of an allocator.
        layer: String,
        /// Its name in the file of the network, or that of a server; empty if it has none.
        label: String,
        /// Hosts and leaves: the number of the leaf.
        rack: Option<u32>,
        /// Nodes below the cores of a network with three layers: the number of the pod. With
        /// gateways, nodes below them: the number of the data centre.
        pod: Option<u32>,
    }
}

table! {
    /// The path of the data packets of each flow that has begun, the warm-up included: one row for
    /// each port that they leave by, in the order (since_ps, flow, hop). `run.flows = "sample"`
    /// selects one flow in a hundred. Acknowledgements, credits and grants take a path of their
    /// own.
    ///
    /// When switches change their routes after the failure or the recovery of a link
    /// (`[[fault]]`), the flows under way whose path changes get the rows of their new path. The
    /// hash of a flow then picks among fewer or more ports, so flows that never crossed the link
    /// may change, too. From the failure to its detection, flows keep their path into the link, and
    /// their packets are lost. Packets under way when routes change finish on the new ones.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PathRow in "paths", optional: "set run.paths = true" {
        /// Index of the flow's arrival.
        flow: u64,
        /// Time from which packets take this path: the start of the flow, or a change of routes.
        since_ps: u64,
        /// Number of the port on the path; 0 is the sender's.
        hop: u16,
        /// Node of the port.
        node: u32,
        /// Number of the port at its node.
        port: u16,
        /// Node at the other end of the link; at the last hop, the receiver.
        peer: u32,
    }
}

const WITH_JOBS: &str = "add [[traffic]] with kind = \"collective\", \"pipeline\", \"goal\", \
                         \"chakra\" or \"dependent\"; a step must have ended, and run.flows \
                         must not be \"none\"";

table! {
    /// One row for each finished round of a job, in the order of their ends.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RoundRow in "rounds", optional: WITH_JOBS {
        /// The job: the place of its entry in the scenario's `[[traffic]]`, from 0.
        job: u16,
        /// The round, from 0.
        round: u32,
        /// Class of the traffic source, an index into `classes` of the summary.
        class: u16,
        /// Start of its first message.
        begin_ps: u64,
        /// Time at which the last rank finished it.
        end_ps: u64,
        /// Time between a rank's own end and that of the last one, mean over ranks.
        waited_ps: u64,
        /// The host that finished last.
        slowest: u32,
    }
}

table! {
    /// One row for each finished step of a round of a job, in the order of their ends. Step s of a
    /// collective operation has the messages that ranks send in stage s of its algorithm.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct StepRow in "steps", optional: WITH_JOBS {
        /// The job: the place of its entry in the scenario's `[[traffic]]`, from 0.
        job: u16,
        /// The round, from 0.
        round: u32,
        /// The step, from 0.
        step: u32,
        /// Class of the traffic source, an index into `classes` of the summary.
        class: u16,
        /// Start of its first message.
        begin_ps: u64,
        /// Time at which its last message had arrived.
        end_ps: u64,
        /// Number of its messages.
        messages: u64,
        /// The flow of the message that arrived last.
        last: u64,
    }
}

table! {
    /// One row for each measured flow that could not end, because a host was down for good, in the
    /// order of flows. It is in no other table and in no percentile. Flows that waited for a
    /// trigger, which nothing could activate any more, are among them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CutOffRow in "cut_off", optional: WITH_DEAD_HOSTS {
        /// Index of the flow's arrival, as in `flows`.
        flow: u64,
        /// Sending host.
        src: u32,
        /// Receiving host.
        dst: u32,
        /// Payload.
        size_bytes: u64,
        /// Start of the flow; of one whose trigger did not come, the time from which it waited.
        start_ps: u64,
        /// Payload acknowledged at the end of the run.
        acked_bytes: u64,
        /// The host that was down, one of both ends; if both were, the host that went down first.
        /// If a trigger did not come, the first such host among the ends of flows of its source.
        host: u32,
        /// Time at which it went down.
        down_ps: u64,
        /// Class of the traffic source, an index into `classes` of the summary.
        class: u16,
    }
}

const WITH_DEAD_HOSTS: &str = "add [[fault]] with kind = \"host-down\" and without until; flows \
                               must have an end on that host, and run.flows must not be \
                               \"none\"";

table! {
    /// One row for each queue that a PFC watchdog found stuck and released (`pfc.watchdog`), in the
    /// order of releases.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct StuckQueueRow in "stuck_queues", optional: WITH_WATCHDOG {
        /// Node number of the switch.
        node: u32,
        /// Number of its port.
        port: u16,
        /// Node at the other end of the link, which paused the queue.
        peer: u32,
        /// The class of the queue.
        queue: u8,
        /// Begin of the pause.
        paused_ps: u64,
        /// Time of the release.
        released_ps: u64,
        /// Time from which the queue obeyed pauses again; 0: it did not in this run.
        restored_ps: u64,
        /// Packets dropped: of this queue, and of its class that entered at this port.
        dropped: u64,
    }
}

const WITH_WATCHDOG: &str = "set pfc.watchdog to \"drop\" or \"forward\"; a queue must have been \
                             paused for pfc.watchdog_detection";

tables! {
    /// The tables of a run with packets: rows that wait to be taken.
    pub struct Rows {
        flows: FlowRow,
        samples: SampleRow,
        flow_series: FlowSeriesRow,
        port_samples: PortSampleRow,
        queries: QueryRow,
        requests: RequestRow,
        ports: PortRow,
        batches: BatchRow,
        nodes: NodeRow,
        paths: PathRow,
        rounds: RoundRow,
        steps: StepRow,
        cut_off: CutOffRow,
        stuck_queues: StuckQueueRow,
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::table::{Column, Table};

    use super::*;

    #[test]
    fn slowdown_is_computed_from_the_row() {
        let (flow, src, dst, size_bytes, start_ps, rx_fct_ps, class) = (0, 1, 2, 3, 4, 5, 6);
        let (fct_ps, ideal_fct_ps) = (12, 8);
        let row = FlowRow {
            flow,
            src,
            dst,
            size_bytes,
            start_ps,
            fct_ps,
            rx_fct_ps,
            ideal_fct_ps,
            class,
        };
        let columns = Table::of(&[row]).columns;
        assert_eq!(columns[8], ("slowdown", Column::F64(vec![1.5])));
        assert_eq!(columns[9], ("class", Column::U16(vec![6])));
    }
}
