//! The tables of a run as record batches. The names and types of columns are part of xoff's files.

use xoff_fluid::{ErrorRow, StepRow};
use xoff_sim::{FlowRow, FlowSeriesRow, PortRow, PortSampleRow, QueryRow, RequestRow, SampleRow};

use crate::arrow::{Batch, Column};

fn column<R, V>(rows: &[R], value: impl Fn(&R) -> V) -> Column
where
    Column: From<Vec<V>>,
{
    rows.iter().map(value).collect::<Vec<V>>().into()
}

/// Finished flows; `class` is an index into the summary's classes.
#[must_use]
pub fn flows(rows: &[FlowRow]) -> Batch {
    Batch::new(vec![
        (c"flow", column(rows, |row| row.flow)),
        (c"src", column(rows, |row| row.src)),
        (c"dst", column(rows, |row| row.dst)),
        (c"size_bytes", column(rows, |row| row.size_bytes)),
        (c"start_ps", column(rows, |row| row.start_ps)),
        (c"fct_ps", column(rows, |row| row.fct_ps)),
        (c"rx_fct_ps", column(rows, |row| row.rx_fct_ps)),
        (c"ideal_fct_ps", column(rows, |row| row.ideal_fct_ps)),
        (c"slowdown", column(rows, FlowRow::slowdown)),
        (c"class", column(rows, |row| row.class)),
    ])
}

/// Samples of switches and monitored ports; `port` 65535 is the whole switch.
#[must_use]
pub fn samples(rows: &[SampleRow]) -> Batch {
    Batch::new(vec![
        (c"time_ps", column(rows, |row| row.time_ps)),
        (c"node", column(rows, |row| row.node)),
        (c"port", column(rows, |row| row.port)),
        (c"bytes", column(rows, |row| row.bytes)),
        (c"active", column(rows, |row| row.active)),
    ])
}

/// What every port did over the measured time.
#[must_use]
pub fn ports(rows: &[PortRow]) -> Batch {
    Batch::new(vec![
        (c"node", column(rows, |row| row.node)),
        (c"port", column(rows, |row| row.port)),
        (c"peer", column(rows, |row| row.peer)),
        (c"link", rows.iter().map(|row| row.link.as_str()).collect()),
        (c"rate_bps", column(rows, |row| row.rate_bps)),
        (c"tx_bytes", column(rows, |row| row.tx_bytes)),
        (c"tx_packets", column(rows, |row| row.tx_packets)),
        (c"paused_ps", column(rows, |row| row.paused_ps)),
        (c"pauses", column(rows, |row| row.pauses)),
        (c"drops", column(rows, |row| row.drops)),
        (c"drop_bytes", column(rows, |row| row.drop_bytes)),
    ])
}

/// What flows' receivers got in each interval.
#[must_use]
pub fn flow_series(rows: &[FlowSeriesRow]) -> Batch {
    Batch::new(vec![
        (c"time_ps", column(rows, |row| row.time_ps)),
        (c"flow", column(rows, |row| row.flow)),
        (c"src", column(rows, |row| row.src)),
        (c"dst", column(rows, |row| row.dst)),
        (c"received_bytes", column(rows, |row| row.received_bytes)),
        (c"delivered_bytes", column(rows, |row| row.delivered_bytes)),
    ])
}

/// What ports held at the end of each interval, and sent and lost in it.
#[must_use]
pub fn port_samples(rows: &[PortSampleRow]) -> Batch {
    Batch::new(vec![
        (c"time_ps", column(rows, |row| row.time_ps)),
        (c"node", column(rows, |row| row.node)),
        (c"port", column(rows, |row| row.port)),
        (c"queue_bytes", column(rows, |row| row.queue_bytes)),
        (c"tx_bytes", column(rows, |row| row.totals.tx_bytes)),
        (c"tx_packets", column(rows, |row| row.totals.tx_packets)),
        (c"drops", column(rows, |row| row.totals.drops)),
        (c"drop_bytes", column(rows, |row| row.totals.drop_bytes)),
    ])
}

/// Queries that have ended; `class` is an index into the summary's classes.
#[must_use]
pub fn queries(rows: &[QueryRow]) -> Batch {
    Batch::new(vec![
        (c"query", column(rows, |row| row.query)),
        (c"request", column(rows, |row| row.request)),
        (c"client", column(rows, |row| row.client)),
        (c"server", column(rows, |row| row.server)),
        (c"size_bytes", column(rows, |row| row.size_bytes)),
        (c"priority", column(rows, |row| u16::from(row.priority))),
        (c"class", column(rows, |row| row.class)),
        (c"start_ps", column(rows, |row| row.start_ps)),
        (c"completion_ps", column(rows, |row| row.completion_ps)),
    ])
}

/// Web requests that have ended.
#[must_use]
pub fn requests(rows: &[RequestRow]) -> Batch {
    Batch::new(vec![
        (c"request", column(rows, |row| row.request)),
        (c"client", column(rows, |row| row.client)),
        (c"queries", column(rows, |row| row.queries)),
        (c"priority", column(rows, |row| u16::from(row.priority))),
        (c"class", column(rows, |row| row.class)),
        (c"start_ps", column(rows, |row| row.start_ps)),
        (c"completion_ps", column(rows, |row| row.completion_ps)),
    ])
}

/// Steps of a numerical simulation, in Gb/s over all flowlets or links; not a number where a step did
/// not compute the optimum.
#[must_use]
pub fn steps(rows: &[StepRow]) -> Batch {
    Batch::new(vec![
        (c"time_ps", column(rows, |row| row.time_ps)),
        (c"flows", column(rows, |row| row.flows)),
        (c"allocated_gbps", column(rows, |row| row.allocated_gbps)),
        (c"carried_gbps", column(rows, |row| row.carried_gbps)),
        (c"over_capacity_gbps", column(rows, |row| row.over_capacity_gbps)),
        (c"optimal_gbps", column(rows, |row| row.optimal_gbps)),
        (c"optimum_share", column(rows, |row| row.carried_gbps / row.optimal_gbps)),
    ])
}

/// Errors of an allocator by iteration.
#[must_use]
pub fn errors(rows: &[ErrorRow]) -> Batch {
    Batch::new(vec![
        (c"iteration", column(rows, |row| row.iteration)),
        (c"error_p50", column(rows, |row| row.error_p50)),
        (c"error_p90", column(rows, |row| row.error_p90)),
        (c"error_first", column(rows, |row| row.error_first)),
        (c"within", column(rows, |row| row.within)),
    ])
}

/// Every table that a run may have, without rows. Numerical runs have other samples than runs with
/// packets.
#[must_use]
pub fn empty() -> Vec<(&'static str, Batch)> {
    vec![
        ("flows", flows(&[])),
        ("samples", samples(&[])),
        ("samples", steps(&[])),
        ("samples", errors(&[])),
        ("ports", ports(&[])),
        ("flow_series", flow_series(&[])),
        ("port_samples", port_samples(&[])),
        ("queries", queries(&[])),
        ("requests", requests(&[])),
    ]
}

#[cfg(test)]
mod tests {
    use xoff_sim::port_samples::PortTotals;

    use super::*;

    /// `name:format` of every column, as a consumer sees it.
    fn header(batch: &Batch) -> String {
        let columns = batch.columns().iter();
        let text = columns.map(|(name, column)| {
            format!("{}:{}", name.to_str().unwrap(), column.format().to_str().unwrap())
        });
        text.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn columns_are_those_of_the_files() {
        assert_eq!(
            header(&flows(&[])),
            "flow:L src:I dst:I size_bytes:L start_ps:L fct_ps:L rx_fct_ps:L ideal_fct_ps:L \
             slowdown:g class:S"
        );
        assert_eq!(header(&samples(&[])), "time_ps:L node:I port:S bytes:L active:I");
        assert_eq!(
            header(&ports(&[])),
            "node:I port:S peer:I link:u rate_bps:L tx_bytes:L tx_packets:L paused_ps:L \
             pauses:L drops:L drop_bytes:L"
        );
        assert_eq!(
            header(&flow_series(&[])),
            "time_ps:L flow:L src:I dst:I received_bytes:L delivered_bytes:L"
        );
        assert_eq!(
            header(&port_samples(&[])),
            "time_ps:L node:I port:S queue_bytes:L tx_bytes:L tx_packets:L drops:L drop_bytes:L"
        );
    }

    #[test]
    fn columns_of_web_requests_are_those_of_the_files() {
        assert_eq!(
            header(&queries(&[])),
            "query:L request:L client:I server:I size_bytes:L priority:S class:S start_ps:L \
             completion_ps:L"
        );
        assert_eq!(
            header(&requests(&[])),
            "request:L client:I queries:I priority:S class:S start_ps:L completion_ps:L"
        );
    }

    #[test]
    fn every_field_of_a_web_request_lands_in_its_own_column() {
        let query = QueryRow {
            query: 1,
            request: 2,
            client: 3,
            server: 4,
            size_bytes: 5,
            priority: 6,
            class: 7,
            start_ps: 8,
            completion_ps: 9,
        };
        assert_eq!(
            queries(&[query]).columns().iter().map(|(_, c)| c.clone()).collect::<Vec<_>>(),
            [
                vec![1_u64].into(),
                vec![2_u64].into(),
                vec![3_u32].into(),
                vec![4_u32].into(),
                vec![5_u64].into(),
                vec![6_u16].into(),
                vec![7_u16].into(),
                vec![8_u64].into(),
                Column::from(vec![9_u64]),
            ]
        );
        let request = RequestRow {
            request: 1,
            client: 2,
            queries: 3,
            priority: 4,
            class: 5,
            start_ps: 6,
            completion_ps: 7,
        };
        assert_eq!(
            requests(&[request]).columns().iter().map(|(_, c)| c.clone()).collect::<Vec<_>>(),
            [
                vec![1_u64].into(),
                vec![2_u32].into(),
                vec![3_u32].into(),
                vec![4_u16].into(),
                vec![5_u16].into(),
                vec![6_u64].into(),
                Column::from(vec![7_u64]),
            ]
        );
    }

    #[test]
    fn columns_of_numerical_runs_are_those_of_the_files() {
        assert_eq!(
            header(&steps(&[])),
            "time_ps:L flows:I allocated_gbps:g carried_gbps:g over_capacity_gbps:g optimal_gbps:g \
             optimum_share:g"
        );
        assert_eq!(
            header(&errors(&[])),
            "iteration:I error_p50:g error_p90:g error_first:g within:g"
        );
    }

    #[test]
    fn every_field_lands_in_its_own_column() {
        let flow = FlowRow {
            flow: 1,
            src: 2,
            dst: 3,
            size_bytes: 4,
            start_ps: 5,
            fct_ps: 12,
            rx_fct_ps: 7,
            ideal_fct_ps: 8,
            class: 9,
        };
        assert_eq!(
            flows(&[flow]).columns().iter().map(|(_, column)| column.clone()).collect::<Vec<_>>(),
            [
                vec![1_u64].into(),
                vec![2_u32].into(),
                vec![3_u32].into(),
                vec![4_u64].into(),
                vec![5_u64].into(),
                vec![12_u64].into(),
                vec![7_u64].into(),
                vec![8_u64].into(),
                vec![1.5].into(),
                Column::from(vec![9_u16]),
            ]
        );
        let sample = SampleRow { time_ps: 1, node: 2, port: u16::MAX, bytes: 4, active: 5 };
        assert_eq!(
            samples(&[sample]).columns().iter().map(|(_, c)| c.clone()).collect::<Vec<_>>(),
            [
                vec![1_u64].into(),
                vec![2_u32].into(),
                vec![u16::MAX].into(),
                vec![4_u64].into(),
                Column::from(vec![5_u32]),
            ]
        );
        let port = PortRow {
            node: 1,
            port: 2,
            peer: 3,
            link: "host-leaf".into(),
            rate_bps: 5,
            tx_bytes: 6,
            tx_packets: 7,
            paused_ps: 8,
            pauses: 9,
            drops: 10,
            drop_bytes: 11,
        };
        assert_eq!(
            ports(&[port]).columns().iter().map(|(_, c)| c.clone()).collect::<Vec<_>>(),
            [
                vec![1_u32].into(),
                vec![2_u16].into(),
                vec![3_u32].into(),
                ["host-leaf"].into_iter().collect(),
                vec![5_u64].into(),
                vec![6_u64].into(),
                vec![7_u64].into(),
                vec![8_u64].into(),
                vec![9_u64].into(),
                vec![10_u64].into(),
                Column::from(vec![11_u64]),
            ]
        );
    }

    #[test]
    fn every_field_of_an_interval_lands_in_its_own_column() {
        let flow = FlowSeriesRow {
            time_ps: 1,
            flow: 2,
            src: 3,
            dst: 4,
            received_bytes: 5,
            delivered_bytes: 6,
        };
        assert_eq!(
            flow_series(&[flow]).columns().iter().map(|(_, c)| c.clone()).collect::<Vec<_>>(),
            [
                vec![1_u64].into(),
                vec![2_u64].into(),
                vec![3_u32].into(),
                vec![4_u32].into(),
                vec![5_u64].into(),
                Column::from(vec![6_u64]),
            ]
        );
        let totals = PortTotals { tx_bytes: 5, tx_packets: 6, drops: 7, drop_bytes: 8 };
        let port = PortSampleRow { time_ps: 1, node: 2, port: 3, queue_bytes: 4, totals };
        assert_eq!(
            port_samples(&[port]).columns().iter().map(|(_, c)| c.clone()).collect::<Vec<_>>(),
            [
                vec![1_u64].into(),
                vec![2_u32].into(),
                vec![3_u16].into(),
                vec![4_u64].into(),
                vec![5_u64].into(),
                vec![6_u64].into(),
                vec![7_u64].into(),
                Column::from(vec![8_u64]),
            ]
        );
    }
}
