//! Flows listed one by one in a file.

use xoff_core::files::digest_of;
use xoff_core::knobs::{Effect, Knob as _};
use xoff_core::{HostId, Ps};

use crate::checks;
use crate::csv::{self, Row, TableError};
use crate::{
    Arrival, CLASSES, Context, Crowd, DscpMap, ENDLESS, Frequency, Mix, Offer, Priority, Source,
    TrafficSettings,
};

xoff_core::knobs! {
    /// Flows in a CSV file with the columns src,dst,size_bytes,start_ps and, optionally, priority
    /// or dscp, and data_path,ack_path, sorted by start_ps. With `switch.balance = "given"`,
    /// `data_path` is the number of the equal-cost port that a flow's packets take, from 0 (in a
    /// leaf-spine fabric: the spine), and `ack_path` that of its acknowledgements. It is 0 where
    /// there is no choice.
    pub struct ListConfig in "list" {
        /// The path of the file.
        file: String = String::new(),
        /// The priority of the packets of a file with neither a column priority nor a column dscp.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The traffic classes of the code points in the column dscp, as switches map them:
        /// "26:3, 46:5".
        dscp_map: DscpMap = DscpMap::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "list".to_owned(),
    }
}

const HEADERS: [&str; 6] = [
    "src,dst,size_bytes,start_ps",
    "src,dst,size_bytes,start_ps,priority",
    "src,dst,size_bytes,start_ps,dscp",
    "src,dst,size_bytes,start_ps,data_path,ack_path",
    "src,dst,size_bytes,start_ps,priority,data_path,ack_path",
    "src,dst,size_bytes,start_ps,dscp,data_path,ack_path",
];

impl TrafficSettings for ListConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let text = context.files.text_of("file", &self.file)?;
        let rows = csv::rows(&text, &self.file, &HEADERS);
        let list = rows.and_then(|rows| {
            context.one_class.map_or(Ok(()), |reason| refuse_classes(&rows, reason))?;
            FlowList::from_rows(self, rows, context.hosts(), context.source)
        });
        let list = list.map_err(|error| error.to_string())?;
        let (sizes, paths) = (list.sizes(), list.has_paths());
        let mut mix = Mix::default();
        mix.add_flows(Frequency::InAll(sizes.len() as f64), sizes);
        // All of them are in memory before the run: the file was counted.
        Ok(Offer {
            sizes: Some(mix),
            paths,
            derived: digest_of(&text),
            ..Offer::new(list, Crowd::of(0.0))
        })
    }
}

/// Makes the flows of a list.
#[derive(Clone, Debug)]
pub struct FlowList {
    flows: std::vec::IntoIter<Arrival>,
}

impl FlowList {
    /// Reads `text`, the contents of `config.file`, for a network with `hosts` hosts, as the source
    /// with index `source`.
    ///
    /// # Errors
    /// The line that cannot be read, is not sorted, or has a flow that the network cannot carry.
    pub fn from_csv(
        config: &ListConfig,
        text: &str,
        hosts: u32,
        source: u16,
    ) -> Result<Self, TableError> {
        Self::from_rows(config, csv::rows(text, &config.file, &HEADERS)?, hosts, source)
    }

    fn from_rows(
        config: &ListConfig,
        rows: Vec<Row<'_>>,
        hosts: u32,
        source: u16,
    ) -> Result<Self, TableError> {
        let mut flows: Vec<Arrival> = Vec::new();
        refuse_idle(&rows, config)?;
        for row in rows {
            let flow = read_flow(&row, config, hosts, source)?;
            if let Some(before) = flows.last().filter(|before| before.start > flow.start) {
                let (Ps(from), Ps(to)) = (before.start, flow.start);
                let problem = format!("start_ps falls from {from} to {to}: sort the lines by it");
                return Err(row.error(problem));
            }
            flows.push(flow);
        }
        Ok(Self { flows: flows.into_iter() })
    }

    /// True if it gives the path of each flow.
    #[must_use]
    pub fn has_paths(&self) -> bool {
        self.flows.as_slice().first().is_some_and(|flow| flow.paths.is_some())
    }

    /// The sizes of its flows with an end.
    #[must_use]
    pub fn sizes(&self) -> Vec<u64> {
        let sizes = self.flows.as_slice().iter().map(|flow| flow.bytes);
        sizes.filter(|&bytes| bytes != ENDLESS).collect()
    }
}

impl Source for FlowList {
    fn next(&mut self) -> Option<Arrival> {
        self.flows.next()
    }
}

fn read_flow(
    row: &Row<'_>,
    config: &ListConfig,
    hosts: u32,
    source: u16,
) -> Result<Arrival, TableError> {
    let (src, dst) = (row.whole(0)?, row.whole(1)?);
    checks::ends(src, dst, hosts).map_err(|problem| row.error(problem))?;
    // Both are below `hosts`, so nothing is truncated.
    let (src, dst) = (HostId(src as u32), HostId(dst as u32));
    let bytes = row.whole(2)?;
    if !(1..=ENDLESS).contains(&bytes) {
        return Err(row.error(format!("size_bytes {bytes}: a flow has 1 to {ENDLESS} bytes")));
    }
    let start = Ps(row.whole(3)?);
    let priority = read_class(row, config)?.number();
    let paths = read_byte(row, "data_path")?.zip(read_byte(row, "ack_path")?);
    Ok(Arrival { priority, paths, ..Arrival::new(start, src, dst, bytes, source) })
}

/// Refuses columns with traffic classes, which no queue distinguishes for this reason.
fn refuse_classes(rows: &[Row<'_>], reason: &str) -> Result<(), TableError> {
    let row = &rows[0];
    class_column(row).map_or(Ok(()), |name| {
        let problem = format!("the column {name} has no effect, because {reason}: remove it");
        Err(row.error(problem))
    })
}

/// Refuses settings of classes that the columns of the file leave without effect.
fn refuse_idle(rows: &[Row<'_>], config: &ListConfig) -> Result<(), TableError> {
    let row = &rows[0];
    if row.column("dscp").is_none() && !config.dscp_map.is_empty() {
        return Err(row.error("dscp_map has no effect: the file has no column dscp"));
    }
    let column = class_column(row).filter(|_| config.priority != Priority::default());
    column.map_or(Ok(()), |name| {
        let priority = config.priority.show();
        Err(row.error(format!(
            "priority = {priority} has no effect: the column {name} gives each flow its class; \
             remove the setting or the column"
        )))
    })
}

/// The column that gives each flow its class, if the file has one.
fn class_column(row: &Row<'_>) -> Option<&'static str> {
    ["priority", "dscp"].into_iter().find(|name| row.column(name).is_some())
}

/// The traffic class of a row, from its priority or DSCP if the file has such a column.
fn read_class(row: &Row<'_>, config: &ListConfig) -> Result<Priority, TableError> {
    if let Some(column) = row.column("priority") {
        let number = row.whole(column)?;
        return Priority::new(number)
            .ok_or_else(|| row.error(format!("priority {number}: it is {}", Priority::expects())));
    }
    let Some(column) = row.column("dscp") else { return Ok(config.priority) };
    let number = row.whole(column)?;
    config.dscp_map.class(number).ok_or_else(|| {
        row.error(format!("dscp {number} has no class: add \"{number}:CLASS\" to dscp_map"))
    })
}

/// The number from 0 to 255 in the column with this name, if the file has one.
fn read_byte(row: &Row<'_>, name: &str) -> Result<Option<u8>, TableError> {
    let Some(column) = row.column(name) else { return Ok(None) };
    let number = row.whole(column)?;
    let byte = u8::try_from(number);
    byte.map(Some)
        .map_err(|_| row.error(format!("{name} {number} is out of range: it is 0 to 255")))
}
