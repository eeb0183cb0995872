//! Flow-size distributions, given as tables of their cumulative distribution.

use std::collections::BTreeMap;

use xoff_core::Digest;
use xoff_core::Rng;

use crate::csv::{self, Row, TableError};

xoff_core::choices! {
    /// The reading of sizes between the points of a table. The two readings of one table have
    /// different means, so a result must name the reading it used.
    pub enum Reading {
        /// Linear interpolation between neighbouring points.
        Linear = "linear",
        /// Only sizes of the table: the first one with a cdf that reaches the drawn number.
        Step = "step",
    }
}

/// The largest size in a table. Up to here `f64` represents every whole number exactly.
const LARGEST: u64 = 1 << 53;

const HEADER: &str = "size_bytes,cdf";

/// A flow of a size up to `size` has the probability `cdf`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    size: f64,
    cdf: f64,
}

/// A distribution of flow sizes.
///
/// The cdf runs from exactly 0 to exactly 1 and neither column decreases. A first row `S,0`
/// followed by `S,p` puts the probability `p` on the size `S`.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    points: Vec<Point>,
}

impl SizeTable {
    /// Reads CSV text with the header `size_bytes,cdf`; `origin` names it in errors.
    ///
    /// # Errors
    /// The line that breaks the rules of a table, and how to correct it.
    pub fn from_csv(text: &str, origin: &str) -> Result<Self, TableError> {
        let rows = csv::rows(text, origin, &[HEADER])?;
        let points = rows.iter().map(read_point).collect::<Result<Vec<_>, _>>()?;
        for (row, pair) in rows[1..].iter().zip(points.windows(2)) {
            check_order(row, pair[0], pair[1])?;
        }
        // There is at least one row, or `csv::rows` would have failed.
        let last = rows.len() - 1;
        check_ends(&rows[0], points[0], &rows[last], points[last])?;
        let table = Self { points };
        // A load is a rate of flows by their mean.
        let mean = table.mean(Reading::Step);
        if mean < 1.0 {
            let problem = format!("the mean of all flows is {mean} bytes: give sizes in bytes");
            return Err(rows[last].error(problem));
        }
        Ok(table)
    }

    /// The distribution of these sizes with their frequencies, in the step reading. There must be
    /// at least one.
    #[must_use]
    pub fn of_flows(mut sizes: Vec<u64>) -> Self {
        sizes.sort_unstable();
        let count = sizes.len() as f64;
        let point = |(index, &size): (usize, &u64)| Point {
            size: size as f64,
            cdf: (index + 1) as f64 / count,
        };
        let mut points = vec![Point { size: sizes[0] as f64, cdf: 0.0 }];
        points.extend(sizes.iter().enumerate().map(point));
        Self { points }
    }

    /// The same for sizes with the number of each.
    #[must_use]
    pub fn of_counts(sizes: &BTreeMap<u64, u64>) -> Self {
        let all = sizes.values().sum::<u64>() as f64;
        let least = sizes.keys().next().copied().unwrap_or_default();
        let mut points = vec![Point { size: least as f64, cdf: 0.0 }];
        let mut before = 0;
        for (&size, count) in sizes {
            before += count;
            points.push(Point { size: size as f64, cdf: before as f64 / all });
        }
        Self { points }
    }

    /// A hash of the table's points, so that results identify their table.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        for point in &self.points {
            digest.add(point.size.to_bits());
            digest.add(point.cdf.to_bits());
        }
        digest.value()
    }

    /// Draws a size of at least 1 byte.
    pub fn sample(&self, rng: &mut Rng, reading: Reading) -> u64 {
        // In (0, 1], so that a size with a cdf of 0 is never drawn.
        self.quantile(1.0 - rng.unit(), reading)
    }

    /// The size below which a share `u` of the flows lies, rounded to the nearest byte and at
    /// least 1 (some tables begin at 0).
    #[must_use]
    pub fn quantile(&self, u: f64, reading: Reading) -> u64 {
        let last = self.points.len() - 1;
        let reached = self.points.partition_point(|point| point.cdf < u).min(last);
        let high = self.points[reached];
        let size = match reading {
            Reading::Linear if reached > 0 => interpolate(self.points[reached - 1], high, u),
            _ => high.size,
        };
        (size.round() as u64).max(1)
    }

    /// The mean size in bytes, before rounding to whole bytes.
    #[must_use]
    pub fn mean(&self, reading: Reading) -> f64 {
        let size = |low: Point, high: Point| match reading {
            Reading::Linear => (low.size + high.size) / 2.0,
            Reading::Step => high.size,
        };
        self.pieces().map(|(low, high)| size(low, high) * (high.cdf - low.cdf)).sum()
    }

    /// The share of all bytes that belong to flows shorter than `size`, in the linear reading.
    #[must_use]
    pub fn byte_fraction_below(&self, size: u64) -> f64 {
        let below = |low: Point, high: Point| {
            let cut = (size as f64).min(high.size);
            if low.size >= size as f64 {
                0.0
            } else if low.size == high.size {
                low.size * (high.cdf - low.cdf)
            } else {
                let density = (high.cdf - low.cdf) / (high.size - low.size);
                density * integral(low.size, cut)
            }
        };
        let bytes: f64 = self.pieces().map(|(low, high)| below(low, high)).sum();
        bytes / self.mean(Reading::Linear)
    }

    /// The table itself: each size in bytes with the share of flows up to it.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().map(|point| (point.size, point.cdf))
    }

    /// The mean of a flow's first `cap` bytes. A flow longer than `longest` counts as empty.
    #[must_use]
    pub fn mean_of_first(&self, cap: u64, longest: u64, reading: Reading) -> f64 {
        let (cap, longest) = (cap as f64, longest as f64);
        // The integral of min(size, cap).
        let area = |from: f64, to: f64| {
            let [low, high] = [from, to].map(|size| size.min(cap));
            integral(low, high) + ((to - high) - (from - low)) * cap
        };
        let piece = |(low, high): (Point, Point)| {
            let share = high.cdf - low.cdf;
            if reading == Reading::Step || low.size == high.size {
                if high.size <= longest { high.size.min(cap) * share } else { 0.0 }
            } else if low.size >= longest {
                0.0
            } else {
                let end = high.size.min(longest);
                area(low.size, end) * share / (high.size - low.size)
            }
        };
        self.pieces().map(piece).sum()
    }

    /// The size of the longest flow.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.points.last().map_or(0, |point| point.size as u64)
    }

    fn pieces(&self) -> impl Iterator<Item = (Point, Point)> {
        self.points.windows(2).map(|pair| (pair[0], pair[1]))
    }
}

/// The integral of sizes. Not a difference of squares, in which neighbouring sizes of many digits
/// would be lost.
fn integral(from: f64, to: f64) -> f64 {
    (to - from) * (to + from) / 2.0
}

/// The size at `u`, where `low.cdf < u`. Rounding errors cannot lead past `high`: each operation
/// is monotone in `u`, and exact at `high.cdf`. Beyond the last point it is `high.size`.
fn interpolate(low: Point, high: Point, u: f64) -> f64 {
    let share = ((u - low.cdf) / (high.cdf - low.cdf)).min(1.0);
    low.size + (high.size - low.size) * share
}

fn read_point(row: &Row<'_>) -> Result<Point, TableError> {
    let size = row.whole(0)?;
    if size > LARGEST {
        return Err(row.error(format!("size_bytes {size} is too large: the limit is {LARGEST}")));
    }
    let cdf: f64 = row.number(1)?;
    if !(0.0..=1.0).contains(&cdf) {
        let problem = format!("cdf is {cdf}: it must be between 0 and 1 (shares, not percent)");
        return Err(row.error(problem));
    }
    Ok(Point { size: size as f64, cdf })
}

fn check_order(row: &Row<'_>, before: Point, point: Point) -> Result<(), TableError> {
    let falls = |name: &str, from: f64, to: f64| {
        Err(row.error(format!("{name} falls from {from} to {to}: sort the lines by size_bytes")))
    };
    if point.size < before.size {
        return falls("size_bytes", before.size, point.size);
    }
    if point.cdf < before.cdf {
        return falls("cdf", before.cdf, point.cdf);
    }
    Ok(())
}

fn check_ends(
    first_row: &Row<'_>,
    first: Point,
    last_row: &Row<'_>,
    last: Point,
) -> Result<(), TableError> {
    if first.cdf != 0.0 {
        let problem = format!("the first cdf is {}: put a line \"size,0\" before it", first.cdf);
        return Err(first_row.error(problem));
    }
    if last.cdf != 1.0 {
        return Err(last_row.error(format!("the last cdf is {}: it must be 1", last.cdf)));
    }
    Ok(())
}
