//! The size tables shipped with xoff, and the search for a table by name or path.
//!
//! `flow-sizes/README.md` documents the source of each table.

use crate::sizes::SizeTable;
use xoff_core::Files;

/// Short names and CSV texts.
const TABLES: [(&str, &str); 8] = [
    ("google", include_str!("../flow-sizes/google_all_rpc_2008.csv")),
    ("hadoop", include_str!("../flow-sizes/homa_w4_fb_hadoop.csv")),
    ("hadoop-hpcc", include_str!("../flow-sizes/fb_hadoop_hpcc.csv")),
    ("websearch", include_str!("../flow-sizes/websearch_dctcp.csv")),
    ("alistorage", include_str!("../flow-sizes/ali_storage_2019.csv")),
    ("fb-web", include_str!("../flow-sizes/fb_web_all_roy2015.csv")),
    ("fb-cache", include_str!("../flow-sizes/fb_cache_follower_all_roy2015.csv")),
    ("fb-hadoop", include_str!("../flow-sizes/fb_hadoop_all_roy2015.csv")),
];

/// The CSV text of a table shipped with xoff.
#[must_use]
pub fn builtin(name: &str) -> Option<&'static str> {
    TABLES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of [`builtin`] tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(name, _)| *name)
}

/// The table with the name `name`, or the CSV file of that name if it ends in `.csv`.
///
/// # Errors
/// The valid names, the nearest first; or why the file cannot be read or is not a table.
pub fn find(name: &str, files: &dyn Files) -> Result<SizeTable, String> {
    if let Some(text) = builtin(name) {
        return SizeTable::from_csv(text, name).map_err(|error| error.to_string());
    }
    if !name.ends_with(".csv") {
        return Err(unknown(name));
    }
    let path = files.path(name);
    let origin = path.display().to_string();
    let text = files
        .text(&path)
        .map_err(|error| format!("cannot read the size table {origin}: {error}"))?;
    SizeTable::from_csv(&text, &origin).map_err(|error| error.to_string())
}

fn unknown(name: &str) -> String {
    let mut nearest: Vec<_> = names().collect();
    nearest.sort_by_key(|known| edits(name, known));
    format!(
        "no size table is called \"{name}\": choose one of {}, or give the path of a .csv file",
        nearest.join(", ")
    )
}

/// The number of letters to add, remove or replace to turn `from` into `to` (Levenshtein).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (deleted, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = deleted + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn counts_edits() {
        assert_eq!(edits("gogle", "google"), 1);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("kitten", "sitting"), 3);
    }

    #[test]
    fn an_unknown_name_lists_the_nearest_first() {
        assert_eq!(
            find("hadop-hpc", &Path::new(".")).unwrap_err(),
            "no size table is called \"hadop-hpc\": choose one of hadoop-hpcc, hadoop, fb-hadoop, \
             google, fb-web, fb-cache, websearch, alistorage, or give the path of a .csv file"
        );
        let missing = find("nowhere.csv", &Path::new("/nonexistent")).unwrap_err();
        assert!(missing.starts_with("cannot read the size table /nonexistent/nowhere.csv: "));
    }
}
