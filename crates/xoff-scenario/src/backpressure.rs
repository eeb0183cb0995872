//! A report of cycles of pauses in a scenario, as text for people: the backpressure graph at each
//! time of the run, its cycles, and the pairs of ports to leave out (BFC App. B).

use xoff_net::arch::Scope;
use xoff_net::topo::{Backpressure, Topology, bounces};
use xoff_sim::Setup;
use xoff_sim::deadlock::{self, When};

use crate::resources::Memory;

/// The most pairs that are listed one by one. Of more, only the number is given.
const PAIRS_SHOWN: usize = 24;

/// The text, each line a comment of TOML; `None` if switches do not pause each other. With
/// `any_link` also for each case of one link down. If a graph does not fit into memory, the text
/// says so.
///
/// # Errors
/// If faults cut hosts off from each other.
pub(crate) fn report(
    setup: &Setup,
    any_link: bool,
    memory: Memory,
) -> Result<Option<String>, String> {
    let Some(control) = backpressure(setup) else { return Ok(None) };
    if let Err(why) = memory.check("its graph", Backpressure::bytes(&setup.topology)) {
        return Ok(Some(format!("# Backpressure of {control} was not checked: {why}\n")));
    }
    let mut stages = deadlock::stages(setup)?;
    stages.extend(any_link.then(|| deadlock::any_link_down(setup)));
    let mut text = format!(
        "# Backpressure of {control}: {} egress ports of switches. An edge leads from one port to \
         another\n# if packets waiting at the first can hold back the second.\n",
        stages[0].1.nodes()
    );
    let mut all: Option<Backpressure<'_>> = None;
    for (when, graph) in &stages {
        text += &stage(&setup.topology, *when, graph);
        match &mut all {
            None => all = Some(graph.clone()),
            Some(all) => all.extend(graph),
        }
    }
    text += &all.map_or_else(String::new, |all| elision(setup, &all));
    Ok(Some(text))
}

/// The backpressure of this scenario.
fn backpressure(setup: &Setup) -> Option<&'static str> {
    let pause = setup.switch.architecture.pause();
    let of_ingresses = pause.is_some_and(|pause| pause.scope != Scope::None);
    setup.switch.hop.backpressure().or(of_ingresses.then_some("ingress queues"))
}

/// Edges and cycles at a time of the run.
fn stage(topology: &Topology, when: When, graph: &Backpressure<'_>) -> String {
    let knots = graph.knots();
    let verdict = match knots.len() {
        0 => "no cycle".to_owned(),
        1 => "cycles".to_owned(),
        several => format!("cycles in {several} places"),
    };
    let when = match when {
        When::Start => "at the start".to_owned(),
        When::Change(at) => format!("when routes change at {at}, for packets under way"),
        When::From(at) => format!("from {at} on"),
        When::AnyLinkDown { cut_off: 0 } => "with any one link between switches down".to_owned(),
        When::AnyLinkDown { cut_off } => format!(
            "with any one link between switches down (except {cut_off} without which hosts are cut \
             off)"
        ),
    };
    let mut text = format!("#   {when}: {} edges, {verdict}\n", graph.turns().len());
    for knot in &knots {
        let cycle = topology.cycle_of_switches(&knot.shortest);
        text += &format!("#     {} ports, such as {cycle}\n", knot.ports);
    }
    text
}

/// The pairs that break all cycles, and whether the scenario leaves them out.
fn elision(setup: &Setup, all: &Backpressure<'_>) -> String {
    let pairs = all.to_elide();
    if pairs.is_empty() {
        return String::new();
    }
    let done = setup
        .switch
        .elided
        .as_ref()
        .is_some_and(|elided| all.clone().without(elided).knots().is_empty());
    let may = setup.switch.hop.can_elide().is_ok();
    let advice = match (done, may) {
        (true, _) => "; switch.elide leaves out enough pairs",
        (false, true) if bounces(&setup.topology).is_err() => "; set switch.elide = \"cycles\"",
        (false, true) => "; set switch.elide = \"cycles\" or \"bounces\"",
        (false, false) => "",
    };
    let mut text = format!(
        "#   without backpressure for {} pairs of ports there are no cycles{advice}:\n",
        pairs.len()
    );
    for (ingress, egress) in pairs.pairs().take(PAIRS_SHOWN) {
        text += &format!("#     {}\n", setup.topology.turn(ingress, egress));
    }
    if pairs.len() > PAIRS_SHOWN {
        text += &format!("#     and {} more\n", pairs.len() - PAIRS_SHOWN);
    }
    text
}
