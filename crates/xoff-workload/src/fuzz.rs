//! What no file may do to the readers of traffic: functions for fuzzers. They panic where a rule is
//! broken, and return why a file is refused.
//!
//! The crate `xoff-fuzz` calls them. What can be read is written again in a form of its own, and
//! must then read the same.

use std::fmt::Write as _;

pub use crate::chakra::fuzz::chakra;
pub use crate::connections::fuzz::connections;
pub use crate::dependent::fuzz::dependent;
pub use crate::goal::fuzz::goal;

use crate::collective::{Algorithm, Operation};
use crate::fuzz_network::{HOSTS, offer};
use crate::{
    Arrival, CollectiveConfig, FlowList, ListConfig, Reading, SizeTable, Source, host_set,
};

/// Reads a table of flow sizes.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If the table reads differently after it is written, or its sizes are in no order.
pub fn sizes(file: &str, text: &str) -> Result<(), String> {
    let table = SizeTable::from_csv(text, file).map_err(|error| error.to_string())?;
    let mut written = String::from("size_bytes,cdf\n");
    for (size, cdf) in table.points() {
        let _ = writeln!(written, "{size},{cdf}");
    }
    assert_eq!(SizeTable::from_csv(&written, file).as_ref(), Ok(&table));
    for reading in [Reading::Linear, Reading::Step] {
        let sizes = (0..=16).map(|part| table.quantile(f64::from(part) / 16.0, reading));
        let sizes: Vec<u64> = sizes.collect();
        assert!(sizes.is_sorted() && sizes[0] >= 1 && sizes[16] <= table.longest(), "{sizes:?}");
        let mean = table.mean(reading);
        // The sum over the table is rounded.
        let most = table.longest() as f64 * (1.0 + 1e-12);
        assert!(mean > 0.0 && mean <= most, "a mean of {mean}");
        let all = table.mean_of_first(u64::MAX, u64::MAX, reading);
        assert!((all - mean).abs() <= 1e-9 * mean, "{all} is not {mean}");
    }
    Ok(())
}

/// Reads a list of flows.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If its flows read differently after they are written, or are in no order.
pub fn list(file: &str, text: &str) -> Result<(), String> {
    let config = ListConfig { file: file.into(), ..ListConfig::default() };
    let flows = flows(&config, text)?;
    let with_paths = flows[0].paths.is_some();
    let mut written = String::from("src,dst,size_bytes,start_ps,priority");
    written += if with_paths { ",data_path,ack_path\n" } else { "\n" };
    for Arrival { src, dst, bytes, start, priority, paths, .. } in &flows {
        let _ = write!(written, "{src},{dst},{bytes},{},{priority}", start.0);
        let _ = paths.map(|(data, ack)| write!(written, ",{data},{ack}"));
        written.push('\n');
    }
    assert_eq!(self::flows(&config, &written).as_ref(), Ok(&flows));
    assert!(flows.is_sorted_by_key(|flow| flow.start));
    offer(&config, &[(file, text.as_bytes())])
}

fn flows(config: &ListConfig, text: &str) -> Result<Vec<Arrival>, String> {
    let mut list = FlowList::from_csv(config, text, HOSTS, 0).map_err(|error| error.to_string())?;
    Ok(std::iter::from_fn(|| list.next()).collect())
}

/// Reads the loads of an all-to-all among all hosts.
///
/// # Errors
/// Why they are refused.
pub fn loads(file: &str, text: &str) -> Result<(), String> {
    let config = CollectiveConfig {
        operation: Operation::AllToAll,
        algorithm: Algorithm::Direct,
        loads: file.into(),
        ..CollectiveConfig::default()
    };
    offer(&config, &[(file, text.as_bytes())])
}

/// Reads a set of hosts.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If it reads differently after it is written.
pub fn hosts(text: &str) -> Result<(), String> {
    let set = host_set::parse(text, HOSTS)?;
    let written: Vec<String> = set.iter().map(ToString::to_string).collect();
    assert_eq!(host_set::parse(&written.join(","), HOSTS), Ok(set));
    Ok(())
}
