//! From a spec to hosts, switches and a plan. No step here can fail.

use std::sync::Arc;

use xoff_core::Ps;
use xoff_host::hosts::{BaseRtts, FlowtuneHostSetup, HostSetup};
use xoff_host::transport::AckClass;
use xoff_net::buffer::BufferConfig;
use xoff_net::credit::CreditShape;
use xoff_sim::flowtune::FlowtuneSetup;
use xoff_sim::setup::{EcnSetup, MarkDraws, SwitchSetup};
use xoff_sim::simulation::Plan;

use super::spec::Spec;
use crate::sections::{Departure, FlowRows, RunConfig};

/// Base RTTs of a network.
pub(crate) struct NetworkRtts {
    /// Of the longest path.
    pub(crate) longest: Ps,
    /// Of all pairs of hosts, if flows use the RTT of their own path.
    pub(crate) pairs: Option<Arc<BaseRtts>>,
}

/// When and what to measure.
pub(crate) fn plan(run: &RunConfig) -> Plan {
    Plan {
        warmup: run.warmup,
        measure: run.measure,
        drain: run.drain,
        grid: run.grid,
        watchdog: run.watchdog,
        row_every: match run.flows {
            FlowRows::All => 1,
            FlowRows::Sample => 100,
            FlowRows::None => 0,
        },
        flow_series: run.flow_series,
        port_samples: run.port_samples,
        link_delays: run.link_delays,
        paths: run.paths,
        batches: run.batches,
        partitions: usize::from(run.partitions),
        check_invariants: run.check_invariants,
    }
}

/// Every switch.
pub(crate) fn switches(
    spec: Spec,
    buffer: BufferConfig,
    credits: Option<CreditShape>,
) -> SwitchSetup {
    SwitchSetup {
        architecture: spec.architecture,
        balance: spec.balance,
        scheduler: spec.scheduler,
        quantum_bytes: u32::try_from(spec.switch.quantum.0).unwrap_or(u32::MAX),
        buffer,
        keeps: spec.switch.departure == Departure::End,
        overflow: spec.overflow,
        credits,
        hop: spec.hop,
        elided: None,
        ecn: spec.ecn.map_or(EcnSetup::None, EcnSetup::Uniform),
        mark_draws: MarkDraws::Own,
        control_loss: spec.faults.control_loss,
        hash_by_node: false,
        nic_rate: None,
        symmetric_ecmp: spec.switch.symmetric_ecmp,
    }
}

/// Every host. `labelled`: whether the flows of each traffic source are labelled.
pub(crate) fn hosts(
    spec: &Spec,
    flowtune: Option<&FlowtuneSetup>,
    labelled: &[bool],
    rtts: NetworkRtts,
    seed: u64,
) -> HostSetup {
    HostSetup {
        acks_obey_pauses: spec.transport.ack_class == AckClass::Data,
        literal: false,
        frame: spec.frame.clone(),
        transport: spec.transport.clone(),
        recovery: spec.recovery.clone(),
        tcp: spec.control.recovery(rtts.longest).unwrap_or_else(|| spec.tcp()),
        control: spec.control.clone(),
        onramp: spec.flow_control.onramp().cloned(),
        driver: spec.driver.clone(),
        flowtune: flowtune.map(|flowtune| FlowtuneHostSetup {
            agent: flowtune.config.agent(flowtune.sites[0].server_ids().len() as u32),
            stream: flowtune.config.stream(),
            endpoint: flowtune.config.endpoint(spec.frame.payload),
        }),
        queues: spec.hop.nic_queues(spec.architecture.classes()),
        labelled: labelled.to_vec(),
        obey_pauses: spec.hop.nics_obey(spec.nic.pfc),
        pause_response: spec.architecture.pause().map_or(0, |pause| pause.response.0),
        nic: spec.nic.clone(),
        base_rtt: rtts.longest.0,
        base_rtts: rtts.pairs,
        given_paths: None,
        seed,
    }
}
