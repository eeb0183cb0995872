//! Small CSV files, with errors that name the line.
//!
//! The files have a header line and plain cells: no quotes, no commas within a cell. Blank lines
//! are skipped, and so is the byte order mark that spreadsheets put before the header.

use core::fmt;
use std::borrow::Cow;

/// An error in a table or a flow list, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// The file's name, or another name for the origin of the text.
    pub origin: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what to do about it.
    pub problem: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.origin, self.line, self.problem)
    }
}

impl std::error::Error for TableError {}

/// A line of a file.
pub(crate) struct Row<'a> {
    origin: &'a str,
    header: &'a str,
    line: usize,
    cells: Vec<&'a str>,
}

/// Splits `text` into the rows below its header line, which must be one of `headers`. There is at
/// least one row, and each has the same number of cells as the header.
pub(crate) fn rows<'a>(
    text: &'a str,
    origin: &'a str,
    headers: &[&'a str],
) -> Result<Vec<Row<'a>>, TableError> {
    let error = |line, problem| TableError { origin: origin.to_owned(), line, problem };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.lines()).filter(|(_, content)| !content.trim().is_empty());
    let wanted = headers.join("\" or \"");
    let Some((header_line, found)) = lines.next() else {
        return Err(error(1, format!("the file is empty: begin it with the header \"{wanted}\"")));
    };
    let found = found.trim();
    let Some(header) = headers.iter().copied().find(|header| *header == found) else {
        let found = shortened(found);
        let problem = format!("expected the header \"{wanted}\", found \"{found}\"");
        return Err(error(header_line, problem));
    };
    let rows = lines.map(|(line, content)| Row::split(origin, header, line, content));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    if rows.is_empty() {
        return Err(error(header_line, "no rows below the header: add at least one".to_owned()));
    }
    Ok(rows)
}

impl<'a> Row<'a> {
    fn split(
        origin: &'a str,
        header: &'a str,
        line: usize,
        content: &'a str,
    ) -> Result<Self, TableError> {
        let cells = content.split(',').map(str::trim).collect();
        let row = Self { origin, header, line, cells };
        let (found, expected) = (row.cells.len(), header.split(',').count());
        if found != expected {
            let problem = format!("{found} columns: write the {expected} columns \"{header}\"");
            return Err(row.error(problem));
        }
        Ok(row)
    }

    /// An error in this line.
    pub(crate) fn error(&self, problem: impl Into<String>) -> TableError {
        TableError { origin: self.origin.to_owned(), line: self.line, problem: problem.into() }
    }

    /// The index of the column with this name; `None` if this file's header has no such column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.header.split(',').position(|column| column == name)
    }

    /// What is in `column`.
    pub(crate) fn text(&self, column: usize) -> &'a str {
        self.cells[column]
    }

    /// The whole number in `column`.
    pub(crate) fn whole(&self, column: usize) -> Result<u64, TableError> {
        let cell = self.cells[column];
        cell.parse().map_err(|_| self.number_error(column, "a whole number without a unit"))
    }

    /// The non-negative number in `column`.
    pub(crate) fn number(&self, column: usize) -> Result<f64, TableError> {
        let number = self.cells[column].parse::<f64>().ok();
        number
            .filter(|number| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| self.number_error(column, "a number such as 0.25"))
    }

    fn number_error(&self, column: usize, wanted: &str) -> TableError {
        let cell = self.cells[column];
        let name = self.header.split(',').nth(column).unwrap_or_default();
        let negative = cell.parse::<f64>().is_ok_and(|number| number < 0.0);
        let found = if negative { "negative" } else { "not a number that fits" };
        let cell = shortened(cell);
        self.error(format!("{name} \"{cell}\" is {found}: write {wanted}"))
    }
}

/// The beginning of a text, so that a message about it stays readable.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}
