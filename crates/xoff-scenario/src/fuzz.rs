//! What no text may do to the readers of scenarios and of other simulators' cases: functions for
//! fuzzers, which panic where a rule is broken, and return why a text is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use xoff_core::Bytes;
use xoff_sim::Threads;

use crate::diagnostic::Problems;
use crate::resolve::{Resolved, engine, resolve_numerical};
use crate::resources::{Memory, Resources};
use crate::scalars::EngineKind;

/// Memory for a run, in bytes. Larger networks are refused.
const MEMORY: u64 = 20_000_000;

/// Begins a line of a scenario that is an override, too.
const OVERRIDE: &str = "#--set ";

fn resources() -> Resources {
    Resources { threads: Threads::ONE, memory: Memory::given(Bytes(MEMORY)) }
}

/// Reads a scenario for the engine that it names. Files that it names are in the folder of `file`.
///
/// # Errors
/// All problems.
///
/// # Panics
/// If its effective scenario reads differently, or a problem has no message or a place outside
/// of the text.
pub fn scenario(file: &str, text: &str) -> Result<(), String> {
    let overrides: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix(OVERRIDE)).map(Into::into).collect();
    let read = |text: &str, overrides: &[String]| match engine(text, file, overrides) {
        EngineKind::Packets => effective(crate::read(text, file, overrides, resources())),
        engine => {
            resolve_numerical(engine, text, file, overrides, resources()).map(|it| it.effective)
        }
    };
    let effective = read(text, &overrides).map_err(|problems| refusal(&problems, file))?;
    let again = read(&effective, &[]).unwrap_or_else(|refused| panic!("{refused}\n{effective}"));
    assert_eq!(again, effective);
    Ok(())
}

fn effective(resolved: Result<Resolved, Problems>) -> Result<String, Problems> {
    resolved.map(|resolved| resolved.effective)
}

/// The text of problems. Each has a place, says what to do, or names its section or a file of
/// `folder`.
fn refusal(problems: &Problems, folder: &str) -> String {
    assert!(!problems.0.is_empty(), "it is refused without a reason");
    for problem in &problems.0 {
        assert!(!problem.message.is_empty(), "{problem:?}");
        let message = &problem.message;
        let is_named = message.starts_with('[') || message.contains(folder);
        let is_placed = problem.place.is_some() || problem.help.is_some();
        assert!(is_placed || is_named, "no place: {problem:?}");
        let Some(place) = &problem.place else { continue };
        let span = &place.span;
        assert!(span.start <= span.end && span.end <= place.text.len(), "{problem:?}");
    }
    problems.to_string()
}

/// A folder of files, which is deleted in the end.
struct Folder(PathBuf);

impl Folder {
    /// From a text with lines `=== NAME`, each above the contents of a file.
    fn of(text: &str) -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("xoff-fuzz-{}-{number}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).map_err(|error| error.to_string())?;
        for part in text.split("=== ").skip(1) {
            let (name, contents) = part.split_once('\n').unwrap_or((part, ""));
            // A name is not a path.
            if !name.is_empty() && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'.') {
                let _ = fs::write(folder.0.join(name), contents);
            }
        }
        Ok(folder)
    }

    fn read(&self, name: &str, overrides: &[String]) -> Result<Resolved, String> {
        let path = self.0.join(name);
        let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let folder = self.0.to_string_lossy();
        crate::read(&text, &path.to_string_lossy(), overrides, resources())
            .map_err(|problems| refusal(&problems, &folder).replace(&*folder, ""))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Reads a case of the HPCC ns-3 simulator: `=== config.txt`, `=== topology.txt` and so on, each
/// above the contents of that file.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If it is another case when it is read a second time.
pub fn hpcc_case(text: &str) -> Result<(), String> {
    let folder = Folder::of(text)?;
    let first = folder.read("config.txt", &[])?;
    let second = folder.read("config.txt", &[])?;
    assert_eq!(first.effective, second.effective);
    Ok(())
}

/// Reads a connection matrix `=== in.cm` of htsim, on the network `=== in.topo` if there is one.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If its effective scenario reads differently.
pub fn htsim_case(text: &str) -> Result<(), String> {
    let folder = Folder::of(text)?;
    let topology = folder.0.join("in.topo");
    let mut overrides = vec!["scheme=htsim-ndp".to_owned()];
    if topology.exists() {
        overrides.push(format!("topology={}", topology.display()));
    }
    let found = folder.read("in.cm", &overrides)?;
    let scenario = folder.0.join("scenario.toml");
    let again = again(&scenario, &found.effective);
    assert_eq!(again, found.effective);
    Ok(())
}

fn again(file: &Path, text: &str) -> String {
    let read = crate::read(text, &file.to_string_lossy(), &[], resources());
    effective(read).unwrap_or_else(|refused| panic!("{refused}\n{text}"))
}
