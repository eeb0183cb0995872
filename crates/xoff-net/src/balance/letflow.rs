//! LetFlow (Vanini, Pan, Alizadeh, Taheri and Edsall, "Let It Flow: Resilient Asymmetric Load
//! Balancing with Flowlet Switching", NSDI 2017): each flowlet takes a random port.
//!
//! Flowlets are elastic: a flow on a slow path sends shorter bursts, so it changes its path more
//! often than one on a fast path. Load moves to fast paths, and switches measure nothing.

use xoff_core::Rng;
use xoff_core::seam::{Need, SectionDoc, Sections, Settings};

use super::flowlets::{Flowlet, FlowletConfig, Flowlets};
use super::{
    AnyBalancer, Arrival, BalanceSettings, Balancer, PathPer, Place, needs_of_several_paths,
};

/// LetFlow's settings.
#[derive(Clone, Debug, Default)]
pub struct LetFlowConfig {
    flowlets: FlowletConfig,
}

impl Settings for LetFlowConfig {
    fn read(sections: &mut impl Sections) -> Self {
        Self { flowlets: sections.read() }
    }

    fn sections() -> Vec<SectionDoc> {
        vec![SectionDoc::of::<FlowletConfig>()]
    }
}

impl BalanceSettings for LetFlowConfig {
    fn flowlets(&self) -> Option<&FlowletConfig> {
        Some(&self.flowlets)
    }

    fn needs(&self) -> Vec<Need> {
        needs_of_several_paths()
    }

    fn path_per(&self) -> PathPer {
        PathPer::Flowlet
    }

    fn balancer(&self, place: Place) -> Option<AnyBalancer> {
        Some(AnyBalancer::LetFlow(LetFlow::new(&self.flowlets, place.rng)))
    }
}

/// LetFlow at one switch.
#[derive(Debug)]
pub struct LetFlow {
    flowlets: Flowlets,
    rng: Rng,
}

impl LetFlow {
    fn new(config: &FlowletConfig, mut rng: Rng) -> Self {
        Self { flowlets: Flowlets::new(config, rng.u64() as u32), rng }
    }
}

impl Balancer for LetFlow {
    fn choose(&mut self, arrival: &Arrival<'_>) -> Option<u32> {
        let count = arrival.ports.len();
        if count <= 1 {
            return Some(0);
        }
        let entry = self.flowlets.entry(arrival.packet);
        // Routes may have changed since the flowlet began.
        if let Flowlet::Same(port) = self.flowlets.arrive(entry, arrival.now)
            && let Some(choice) = arrival.choice_of(port)
        {
            return Some(choice);
        }
        let choice = self.rng.below(count as u64) as u32;
        self.flowlets.set_port(entry, arrival.ports[choice as usize]);
        Some(choice)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xoff_core::rng::Purpose;
    use xoff_core::{Ps, Rng};

    use super::super::flowlets::Gaps;
    use super::*;
    use crate::packet::{Kind, Packet};

    const PORTS: [u16; 4] = [4, 5, 6, 7];

    fn letflow(timeout: u64) -> LetFlow {
        let gaps = Gaps::Timestamp;
        let config = FlowletConfig { timeout: Ps(timeout), gaps, ..FlowletConfig::default() };
        LetFlow::new(&config, Rng::stream(1, Purpose::Spraying, 0))
    }

    fn choose(letflow: &mut LetFlow, now: u64, label: u32, ports: &[u16]) -> u16 {
        let mut packet = Packet::new(Kind::Data, 1000);
        packet.label = label;
        let arrival = Arrival { now, id: 0, packet: &packet, ingress: 0, to: 1, ports, hosts: &[] };
        ports[letflow.choose(&arrival).unwrap() as usize]
    }

    #[test]
    fn a_flow_changes_its_path_after_gaps_and_never_without() {
        let mut letflow = letflow(1000);
        let port = choose(&mut letflow, 0, 1, &PORTS);
        assert!((1..500).all(|n| choose(&mut letflow, n * 1000, 1, &PORTS) == port));
        let mut counts = [0u32; 8];
        for n in 1..4001 {
            counts[choose(&mut letflow, 1_000_000 + n * 1001, 1, &PORTS) as usize] += 1;
        }
        assert!(counts[4..].iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_flowlet_leaves_a_port_that_is_no_choice_any_more() {
        let mut letflow = letflow(1000);
        let port = choose(&mut letflow, 0, 1, &PORTS);
        let left: Vec<u16> = PORTS.into_iter().filter(|&other| other != port).collect();
        let other = choose(&mut letflow, 1, 1, &left);
        assert_ne!(other, port);
        assert_eq!(choose(&mut letflow, 2, 1, &PORTS), other);
    }

    proptest! {
        /// Where a gap is longer than the difference between the slowest and the fastest path, a
        /// flow's packets arrive in the order in which they left. With shorter gaps they may not.
        #[test]
        fn long_gaps_keep_order(
            gaps in prop::collection::vec(1u64..2000, 1..200),
            delays in prop::array::uniform4(0u64..1000),
        ) {
            let mut letflow = letflow(1000);
            let (mut now, mut latest) = (0, 0);
            for gap in gaps {
                now += gap;
                let port = choose(&mut letflow, now, 9, &PORTS);
                let arrives = now + delays[usize::from(port) - 4];
                prop_assert!(arrives >= latest, "a packet of {} overtakes", now);
                latest = arrives;
            }
        }
    }

    #[test]
    fn short_gaps_lose_order() {
        let mut letflow = letflow(10);
        let (mut latest, mut overtakes) = (0, 0);
        for n in 0..1000 {
            let port = choose(&mut letflow, n * 11, 9, &PORTS);
            let arrives = n * 11 + u64::from(port - 4) * 300;
            overtakes += u32::from(arrives < latest);
            latest = latest.max(arrives);
        }
        assert!(overtakes > 100, "{overtakes}");
    }
}
