//! The page `docs/settings.md`: the implementations of every seam, and every setting.

use std::fmt::Write as _;

use xoff_core::knobs::{Field, Knob as _};
use xoff_core::seam::{Seam, SectionDoc};
use xoff_host::cc::ControlConfig;
use xoff_host::onramp::FlowControlConfig;
use xoff_host::receiver_driven::DriverConfig;
use xoff_host::recovery::RecoveryConfig;
use xoff_net::arch::ArchitectureConfig;
use xoff_net::balance::BalanceConfig;
use xoff_net::hop::HopConfig;
use xoff_net::sched::SchedulerConfig;
use xoff_net::topo::TopologyConfig;
use xoff_net::trim::OverflowConfig;
use xoff_sim::faults::FaultConfig;
use xoff_workload::TrafficConfig;

use super::docs::prose;
use super::paragraphs;

const HEAD: &str = "# Settings

<!-- `make declared` writes this page from the declarations of the engine. -->

A scenario chooses one implementation of each part, and sets what differs from the defaults.
[scenario.md](scenario.md) explains the format. `xoff check FILE` prints the settings in effect, and
`xoff check --schema` prints all of this as a JSON schema for editors.

## Parts

";

/// The whole page.
pub(super) fn page() -> String {
    let seams = [
        seam::<TopologyConfig>("network.topology"),
        seam::<ArchitectureConfig>("switch.architecture"),
        seam::<HopConfig>("switch.hop"),
        seam::<SchedulerConfig>("switch.scheduler"),
        seam::<BalanceConfig>("switch.balance"),
        seam::<OverflowConfig>("switch.overflow"),
        seam::<DriverConfig>("transport.kind"),
        seam::<ControlConfig>("transport.congestion"),
        seam::<RecoveryConfig>("transport.recovery"),
        seam::<FlowControlConfig>("transport.flow_control"),
        seam::<TrafficConfig>("[[traffic]] kind"),
        seam::<FaultConfig>("[[fault]] kind"),
    ];
    let single = xoff_scenario::resolve::sections();
    let sections = single.iter().map(|section| table(&format!("[{}]", section.name), section));
    let entries = entries::<TrafficConfig>("traffic").chain(entries::<FaultConfig>("fault"));
    let sections: Vec<String> = sections.chain(entries).collect();
    format!("{HEAD}{}\n## Sections\n\n{}", seams.join("\n"), sections.join("\n"))
}

/// The implementations that a setting chooses from.
fn seam<S: Seam>(setting: &str) -> String {
    let mut text = format!("### `{setting}`\n\n| value | description |\n|---|---|\n");
    for kind in S::kinds() {
        let _ = writeln!(text, "| `{}` | {} |", kind.show(), cell(S::doc(kind)));
    }
    text
}

/// A table for each kind of entry of a list.
fn entries<S: Seam>(list: &'static str) -> impl Iterator<Item = String> {
    S::kinds().into_iter().flat_map(move |kind| {
        let title = format!("[[{list}]] kind = {}", kind.show());
        S::sections(kind).into_iter().map(move |section| table(&title, &section))
    })
}

/// The settings of a section.
fn table(title: &str, section: &SectionDoc) -> String {
    let mut text = format!("### `{title}`\n\n{}", prose(&section.doc));
    text.push_str("| key | default | values | meaning |\n|---|---|---|---|\n");
    for field in &section.fields {
        let default = if field.default.is_empty() { "" } else { &format!("`{}`", field.default) };
        let (name, values, doc) = (field.name, values(field), cell(&field.doc));
        let _ = writeln!(text, "| `{name}` | {default} | {values} | {doc} |");
    }
    text
}

/// The valid values of a setting, without the range of its integer type. scenario.md lists units.
fn values(field: &Field) -> String {
    if !field.choices.is_empty() {
        let quoted = field.choices.iter().map(|name| format!("`\"{name}\"`"));
        return quoted.collect::<Vec<_>>().join(", ");
    }
    let kind = field.expects.split(" with its unit").next().unwrap_or_default();
    let ranges = [format!(" from 0 to {}", u32::MAX), format!(" from 0 to {}", i64::MAX)];
    cell(&ranges.iter().fold(kind.to_owned(), |text, range| text.replace(range, "")))
}

/// A text as the cell of a table.
fn cell(text: &str) -> String {
    paragraphs(text).join(" ").replace('|', "\\|")
}
