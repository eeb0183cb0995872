//! The resources of the machine that a run may use: threads and memory.

use std::fs::read_to_string;
use std::path::Path;

use xoff_core::Bytes;
use xoff_core::knobs::{Knob, Value};
use xoff_sim::Threads;

/// Memory of a machine that does not report it.
const UNKNOWN_BYTES: u64 = 16_000_000_000;

/// Threads and memory.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// Threads to use at most.
    pub threads: Threads,
    /// Memory to use at most.
    pub memory: Memory,
}

impl From<Threads> for Resources {
    /// These threads, and the memory of the machine.
    fn from(threads: Threads) -> Self {
        Self { threads, memory: Memory::of_machine() }
    }
}

/// An amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    bytes: u64,
    /// Whether the user set it.
    given: bool,
}

impl Memory {
    /// The amount set by the user.
    #[must_use]
    pub fn given(bytes: Bytes) -> Self {
        Self { bytes: bytes.0, given: true }
    }

    /// The amount in `text`, such as `24GB`; without a text, the memory of the machine.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn read(text: Option<&str>) -> Result<Self, String> {
        let Some(text) = text else { return Ok(Self::of_machine()) };
        match Bytes::read(&Value::Text(text.to_owned()))? {
            Bytes(0) => Err("it must be more than zero, such as 24GB".into()),
            bytes => Ok(Self::given(bytes)),
        }
    }

    /// The memory that this process may still use: the least of the machine's free memory, and of
    /// the limits on its control group and on its address space.
    #[must_use]
    pub fn of_machine() -> Self {
        Self { bytes: available(Path::new("/")).unwrap_or(UNKNOWN_BYTES), given: false }
    }

    /// Whether `bytes` fit.
    #[must_use]
    pub fn holds(self, bytes: u128) -> bool {
        bytes <= self.bytes.into()
    }

    /// Checks that `bytes` for `what` fit.
    ///
    /// # Errors
    /// The bytes needed and the bytes available.
    pub fn check(self, what: &str, bytes: u128) -> Result<(), String> {
        if self.holds(bytes) {
            return Ok(());
        }
        Err(format!("{what} needs about {} of memory; {}", human(bytes), self.describe()))
    }

    /// The amount in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// The amount, as the end of a sentence.
    #[must_use]
    pub fn describe(self) -> String {
        let size = human(self.bytes.into());
        if self.given {
            format!("the limit is {size} (--max-memory)")
        } else {
            format!("this process may use {size} (--max-memory sets another limit)")
        }
    }
}

/// A number of bytes in a suitable unit, with two digits.
#[must_use]
pub fn human(bytes: u128) -> String {
    const UNITS: [&str; 9] = ["B", "KB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    let digits = usize::from(value < 9.95 && unit > 0);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// The least of all limits below a root folder; `None` if there is none.
fn available(root: &Path) -> Option<u64> {
    let limits = [of_system(root), of_address_space(root), of_control_group(root)];
    limits.into_iter().flatten().min()
}

/// The number after a name in a text of lines such as `VmSize:  1234 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

fn of_system(root: &Path) -> Option<u64> {
    kilobytes(&read_to_string(root.join("proc/meminfo")).ok()?, "MemAvailable:")
}

/// The rest of the address space under `ulimit -v`.
fn of_address_space(root: &Path) -> Option<u64> {
    let limits = read_to_string(root.join("proc/self/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = read_to_string(root.join("proc/self/status")).ok()?;
    Some(most.saturating_sub(kilobytes(&status, "VmSize:")?))
}

/// The rest of the memory of this process's control group and its parents, of version 2 or of
/// version 1.
fn of_control_group(root: &Path) -> Option<u64> {
    let groups = read_to_string(root.join("proc/self/cgroup")).ok()?;
    let left = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        let (mount, most, used) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max", "memory.current"),
            "memory" => {
                let files = ("memory.limit_in_bytes", "memory.usage_in_bytes");
                ("sys/fs/cgroup/memory", files.0, files.1)
            }
            _ => return None,
        };
        let mount = root.join(mount);
        let own = mount.join(path);
        let all = own.ancestors().take_while(|group| group.starts_with(&mount));
        all.filter_map(|group| left_in(group, most, used)).min()
    });
    left.min()
}

/// The rest of a control group's limit. Cached pages of files do not count.
fn left_in(group: &Path, most: &str, used: &str) -> Option<u64> {
    let number = |file: &str| read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    let (most, used) = (number(most)?, number(used)?);
    let statistics = read_to_string(group.join("memory.stat")).unwrap_or_default();
    let cached = statistics.lines().find_map(|line| line.strip_prefix("inactive_file "));
    let cached = cached.and_then(|number| number.trim().parse().ok()).unwrap_or(0);
    Some(most.saturating_sub(used.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A folder that looks like a machine's root, with these files.
    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("xoff-{name}-{}", std::process::id()));
            for (file, text) in files {
                let path = root.join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    8000 kB\n");

    #[test]
    fn the_least_of_all_limits_counts() {
        let none = Machine::new("none", &[]);
        assert_eq!(available(&none.0), None);
        let system = Machine::new("system", &[MEMINFO]);
        assert_eq!(available(&system.0), Some(8_192_000));
        let limits = "Limit   Soft Limit  Hard Limit  Units\n\
                      Max address space   6000000  unlimited  bytes\n";
        let status = ("proc/self/status", "Name: x\nVmSize:\t    1000 kB\n");
        let files = [MEMINFO, ("proc/self/limits", limits), status];
        assert_eq!(available(&Machine::new("ulimit", &files).0), Some(6_000_000 - 1_024_000));
        let free = limits.replace("6000000", "unlimited");
        let files = [MEMINFO, ("proc/self/limits", &free), status];
        assert_eq!(available(&Machine::new("free", &files).0), Some(8_192_000));
    }

    #[test]
    fn control_groups_of_both_versions_count_with_those_above_them() {
        let two = [
            MEMINFO,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/memory.max", "5000000\n"),
            ("sys/fs/cgroup/a/memory.current", "3000000\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 1000000\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "3000000\n"),
        ];
        assert_eq!(available(&Machine::new("two", &two).0), Some(3_000_000));
        let one = [
            MEMINFO,
            ("proc/self/cgroup", "5:cpu:/x\n4:memory:/c\n"),
            ("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "4000000\n"),
            ("sys/fs/cgroup/memory/c/memory.usage_in_bytes", "1500000\n"),
        ];
        assert_eq!(available(&Machine::new("one", &one).0), Some(2_500_000));
    }

    #[test]
    fn sizes_are_shown_with_two_digits() {
        let shown = [999, 1_000, 9_940, 9_960, 24_300_000_000, 3_140_000_000_000, u128::MAX];
        let expected = ["999 B", "1.0 KB", "9.9 KB", "10 KB", "24 GB", "3.1 TB"];
        assert_eq!(shown.map(human)[..6], expected);
        assert!(human(u128::MAX).ends_with(" YB"));
    }

    #[test]
    fn a_limit_is_read_as_sizes_are() {
        assert_eq!(Memory::read(Some("2GB")), Ok(Memory::given(Bytes(2_000_000_000))));
        assert!(Memory::read(Some("0B")).unwrap_err().contains("more than zero"));
        assert!(Memory::read(Some("much")).is_err());
        assert!(Memory::read(None).unwrap().holds(1));
    }
}
