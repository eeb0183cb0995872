//! Settings that are accepted and cannot matter in this scenario, as far as that can be known
//! before it runs.

use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam as _;
use xoff_core::{Bytes, Ps};
use xoff_net::packet::CLASSES;
use xoff_sim::Setup;
use xoff_sim::setup::EcnSetup;
use xoff_sim::simulation::Plan;

/// All of them, each with its reason.
pub(super) fn warnings(setup: &Setup, plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(marks(setup));
    found.extend(timeout(setup, plan));
    found.extend(faults(setup, plan));
    found.extend(balance(setup));
    found.extend(setup.short_headrooms());
    found
}

fn marks(setup: &Setup) -> Option<String> {
    let EcnSetup::Uniform(ecn) = &setup.switch.ecn else { return None };
    let own = |class| ecn.by_class.iter().any(|(of, _)| of == class);
    let key = |class| if own(class) { "ecn.by_class" } else { "ecn.kmin" };
    let of_class = |class| Some((ecn.of_class(class)?.0, key(class)));
    let (kmin, key) = (0..CLASSES as u8).filter_map(of_class).min_by_key(|(kmin, _)| *kmin)?;
    // Switches with ingress queues have their own memory.
    if setup.switch.architecture.has_ingress_queues() {
        return None;
    }
    // Gateways may have more memory than others. An unlimited queue can hold any threshold.
    let nodes = setup.topology.switch_ids();
    let limit = |node| setup.switch.buffer.of(setup.topology.is_gateway(node)).queue_limit();
    let limits: Option<Vec<Bytes>> = nodes.map(limit).collect();
    let limit = limits?.into_iter().max()?;
    (kmin >= limit).then(|| {
        format!(
            "{key} = {kmin} is not below what a queue can hold ({limit}), so no packet is ever \
             marked: set a lower {key} or a larger buffer.size"
        )
    })
}

fn timeout(setup: &Setup, plan: &Plan) -> Option<String> {
    let timeout = setup.transport().timeout;
    let end = plan.measured_until() + plan.drain;
    let before = if timeout > plan.watchdog {
        format!("run.watchdog = {} ends a run that waits for it", plan.watchdog)
    } else if timeout > end {
        format!("the run ends at {end} at the latest")
    } else {
        return None;
    };
    Some(format!("transport.timeout = {timeout} cannot act: {before}"))
}

fn faults(setup: &Setup, plan: &Plan) -> Vec<String> {
    let end = plan.measured_until() + plan.drain;
    let warning = |fault: &xoff_sim::faults::Fault| {
        let number = fault.entry;
        if fault.at >= end {
            let at = fault.at;
            return Some(format!("fault.{number} begins at {at}, but the run ends by {end}"));
        }
        let changes = fault.avoided().is_some() || fault.repaired().is_some();
        let unnoticed = fault.outage().is_some() && !changes;
        unnoticed.then(|| {
            format!(
                "fault.{number}: the link is back at {} before any switch detects that it is down, \
                 so no route changes",
                fault.until
            )
        })
    };
    let mut found: Vec<Warned> = Vec::new();
    for fault in &setup.faults {
        let Some(text) = warning(fault) else { continue };
        match found.last_mut().filter(|warned| warned.entry == fault.entry) {
            // Hosts that go down with their switch have faults of their own.
            Some(warned) if warned.latest == fault.at => {}
            Some(warned) => (warned.more, warned.latest) = (warned.more + 1, fault.at),
            None => found.push(Warned { entry: fault.entry, text, more: 0, latest: fault.at }),
        }
    }
    found.into_iter().map(Warned::text).collect()
}

/// What is wrong with the first period of an entry of faults, and with how many later ones.
struct Warned {
    entry: u32,
    text: String,
    more: u32,
    latest: Ps,
}

impl Warned {
    fn text(self) -> String {
        match self.more {
            0 => self.text,
            1 => format!("{}; likewise a later period", self.text),
            more => format!("{}; likewise {more} later periods", self.text),
        }
    }
}

/// Load balancers choose among equal-cost ports.
fn balance(setup: &Setup) -> Option<String> {
    let (balance, symmetric) = (&setup.switch.balance, setup.switch.symmetric_ecmp);
    let routes = setup.routes.by_switch.iter().flatten();
    let choice = routes.map(|route| route.count).max().unwrap_or(0) > 1;
    if choice || balance.hashes() && !symmetric {
        return None;
    }
    let setting = if symmetric {
        "switch.symmetric_ecmp = true".to_owned()
    } else {
        format!("switch.balance = {}", balance.kind().show())
    };
    Some(format!("{setting} cannot matter: every pair of hosts has one path only"))
}

#[cfg(test)]
mod tests {
    use xoff_scenario::read;
    use xoff_sim::Threads;

    fn warned(scheme: &str, more: &str, sets: &[&str]) -> Vec<String> {
        let text = format!(
            "scheme = \"{scheme}\"\n[run]\nwarmup = \"0us\"\nmeasure = \"100us\"\n\
             [[traffic]]\nkind = \"open-loop\"\nload = 0.2\n{more}"
        );
        let sets: Vec<String> = sets.iter().map(|set| (*set).into()).collect();
        let resolved = read(&text, "test.toml", &sets, Threads::ONE.into())
            .unwrap_or_else(|problems| panic!("{problems}"));
        super::warnings(&resolved.setup, &resolved.plan)
    }

    fn one(scheme: &str, more: &str, sets: &[&str]) -> String {
        let found = warned(scheme, more, sets);
        assert_eq!(found.len(), 1, "{found:?}");
        found.into_iter().next().unwrap()
    }

    /// Later periods of one entry are counted.
    #[test]
    fn a_link_that_flaps_is_one_warning() {
        let flap = "[[fault]]\nkind = \"flap\"\nlink = \"leaf:0,spine:1\"\nat = \"10us\"\n\
                    period = \"20us\"\ndown = \"5us\"\nuntil = \"91us\"\ndetection = \"20us\"\n";
        let flap = one("bfc", flap, &[]);
        assert!(flap.starts_with("fault.0: the link is back at 15us before"), "{flap}");
        assert!(flap.ends_with("no route changes; likewise 4 later periods"), "{flap}");
    }

    /// Queues of gateways hold 14 MB, of other switches 6 MB.
    #[test]
    fn marks_of_gateways_and_classes_are_known() {
        let high = ["switch.hop=none", "ecn.kmin=7MB", "ecn.kmax=8MB", "transport.timeout=10ms"];
        let gateways = ["network.topology=two-dc", "buffer.size=12MB", "buffer.gateway_size=28MB"];
        assert_eq!(warned("dctcp", "", &[&gateways[..], &high].concat()), Vec::<String>::new());
        let classes = ["0", "1", "2", "3", "4", "5", "6", "7"];
        let by_class = classes.map(|class| format!("{class}: 7MB-8MB 1")).join(", ");
        let by_class = format!("ecn.by_class={by_class}");
        let own = one("dctcp", "", &["switch.hop=none", "transport.timeout=1ms", &by_class]);
        assert!(own.contains("set a lower ecn.by_class"), "{own}");
    }

    #[test]
    fn settings_that_cannot_matter_are_named_with_their_reason() {
        assert_eq!(warned("dctcp", "", &[]), Vec::<String>::new());
        let high = ["switch.hop=none", "ecn.kmin=7MB", "ecn.kmax=8MB", "transport.timeout=1ms"];
        assert!(one("dctcp", "", &high).contains("what a queue can hold (6MB)"));
        let late = one("bfc", "", &["transport.timeout=60ms"]);
        assert!(late.contains("run.watchdog = 50ms ends a run"), "{late}");
        let late = one("bfc", "", &["run.drain=1ms"]);
        assert!(late.contains("the run ends at 1100us at the latest"), "{late}");
        let fault = "[[fault]]\nkind = \"link-down\"\nlink = \"leaf:0,spine:1\"\n";
        // A switch goes down with its hosts: its entry is one, and the next one is the second.
        let leaf = "[[fault]]\nkind = \"switch-down\"\nswitch = \"leaf:0\"\nat = \"60ms\"\n";
        let both = warned("bfc", &format!("{leaf}{fault}at = \"70ms\"\n"), &[]);
        assert!(both[0].starts_with("fault.0 begins at 60ms"), "{both:?}");
        assert!(both[1].starts_with("fault.1 begins at 70ms") && both.len() == 2, "{both:?}");
        let never = one("bfc", &format!("{fault}at = \"60ms\"\n"), &[]);
        assert!(never.starts_with("fault.0 begins at 60ms"), "{never}");
        let times = "at = \"10us\"\nuntil = \"30us\"\ndetection = \"20us\"\n";
        let short = one("bfc", &format!("{fault}{times}"), &[]);
        assert!(short.contains("no route changes"), "{short}");
        let at_once = warned("bfc", &format!("{fault}{times}local_repair = true\n"), &[]);
        assert_eq!(at_once, Vec::<String>::new(), "both ends change their routes");
        let classes = "traffic.0.priority=3";
        let little = "buffer.by_class=3: headroom 20KB, 0: lossy";
        let sets = ["switch.scheduler=ets", "transport.timeout=10ms", classes, little];
        let little = one("pfc", "", &sets);
        assert!(
            little.starts_with("class 3 of buffer.by_class has a headroom of 20KB"),
            "{little}"
        );
        assert!(little.contains("over a link of 100Gbps with a delay of"), "{little}");
        let sets = ["network.topology=star", "star.rate=1Gbps", "traffic.0.load_on=hosts"];
        let little = one("pfc", "", &[&sets[..], &["run.measure=10ms"]].concat());
        assert!(little.starts_with("pfc.headroom_factor gives a headroom of 375B"), "{little}");
        let enough = [&sets[..], &["run.measure=10ms", "pfc.headroom_factor=40"]].concat();
        assert_eq!(warned("pfc", "", &enough), Vec::<String>::new());
        let star = one("homa", "", &["network.topology=star", "traffic.0.load_on=hosts"]);
        assert!(star.contains("switch.balance = \"spray\" cannot matter"), "{star}");
    }
}
