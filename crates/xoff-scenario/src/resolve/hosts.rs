//! Hosts: frames, transports and their controls, NICs.

use xoff_core::Ps;
use xoff_core::knobs::Knob;
use xoff_host::cc::{
    ControlConfig, DcqcnConfig, DcqcnRdma15Config, DctcpConfig, DctcpStart, DelayWindowConfig,
    HpccConfig, PFabricConfig,
};
use xoff_host::intake::NicConfig;
use xoff_host::nic::NicQueues;
use xoff_host::onramp::OnRampConfig;
use xoff_host::transport::{
    Congestion, FlowControl, FrameConfig, Recovery, TcpConfig, TransportConfig, TransportKind,
    Window,
};
use xoff_net::arch::{PauseConfig, Scope};
use xoff_net::hop::{Assignment, BackpressureKind};
use xoff_net::topo::Topology;
use xoff_sim::setup::HopSetup;

use super::Reader;
use crate::sections::{SchedulerKind, SwitchConfig};

impl Reader<'_> {
    pub(super) fn frame(&mut self) -> FrameConfig {
        const LONGEST: u64 = 60_000;
        let frame = self.section::<FrameConfig>();
        if frame.payload.0 == 0 {
            self.problem("frame", "payload", "payload must be more than zero".into());
        }
        if frame.payload.0 + frame.header.0 > LONGEST
            || frame.ack.0.max(frame.ack_header.0) > LONGEST
        {
            let message = format!("a frame may have up to {LONGEST} bytes with its headers");
            self.problem("frame", "payload", message);
        }
        if frame.ack.0 == 0 || frame.header.0 == 0 {
            self.problem("frame", "header", "headers and acknowledgements take some bytes".into());
        }
        frame
    }

    /// A control whose lowest rate is that of a host's link would never slow down there.
    pub(super) fn check_min_rate(&mut self, control: &ControlConfig, topology: &Topology) {
        let rates = (0..topology.servers()).map(|host| topology.ports_of(host)[0].rate);
        let (Some((section, min_rate)), Some(slowest)) = (control.min_rate(), rates.min()) else {
            return;
        };
        if min_rate >= slowest {
            let message = format!(
                "min_rate = {} leaves nothing to control where a host has {}: set it lower",
                min_rate.show(),
                slowest.show()
            );
            self.problem(section, "min_rate", message);
        }
    }

    /// What is sent again faster than a link sends it piles up without end.
    pub(super) fn check_timeout(
        &mut self,
        transport: &TransportConfig,
        frame: &FrameConfig,
        topology: &Topology,
    ) {
        let Some(slowest) = topology.ports.iter().map(|port| port.rate).min() else { return };
        let packet = slowest.time_for(frame.payload.0 + frame.header.0);
        if transport.timeout > Ps(0) && transport.timeout <= packet {
            let message = format!(
                "timeout = {} is no longer than a packet takes on a link of {} ({packet}): nothing could \
                 be acknowledged in time",
                transport.timeout.show(),
                slowest.show()
            );
            self.problem("transport", "timeout", message);
        }
    }

    pub(super) fn control(
        &mut self,
        transport: &TransportConfig,
        tcp: &TcpConfig,
    ) -> ControlConfig {
        let why = format!("transport.congestion = {}", transport.congestion.show());
        for (congestion, name) in [
            (Congestion::Dctcp, "dctcp"),
            (Congestion::Dcqcn, "dcqcn"),
            (Congestion::DcqcnRdma15, "dcqcn_rdma15"),
            (Congestion::Hpcc, "hpcc"),
            (Congestion::Cubic, "cubic"),
            (Congestion::DctcpTcp, "dctcp_tcp"),
            (Congestion::Xcp, "xcp"),
            (Congestion::PFabric, "pfabric"),
            (Congestion::DelayWindow, "delay_window"),
        ] {
            if congestion != transport.congestion {
                self.layers.unused(name, &why);
            }
        }
        match transport.congestion {
            Congestion::None => ControlConfig::None,
            Congestion::Dctcp => ControlConfig::Dctcp(self.dctcp()),
            Congestion::Dcqcn => {
                let dcqcn = self.section::<DcqcnConfig>();
                let intervals = [
                    ("alpha_interval", dcqcn.alpha_interval.0),
                    ("decrease_interval", dcqcn.decrease_interval.0),
                    ("increase_interval", dcqcn.increase_interval.0),
                ];
                self.check_positive("dcqcn", &intervals);
                ControlConfig::Dcqcn(dcqcn)
            }
            Congestion::DcqcnRdma15 => {
                let dcqcn = self.section::<DcqcnRdma15Config>();
                let intervals = [
                    ("alpha_interval", dcqcn.alpha_interval.0),
                    ("timer", dcqcn.timer.0),
                    ("byte_counter", dcqcn.byte_counter.0),
                ];
                self.check_positive("dcqcn_rdma15", &intervals);
                ControlConfig::DcqcnRdma15(dcqcn)
            }
            Congestion::NewReno => ControlConfig::NewReno(tcp.clone()),
            Congestion::Cubic => ControlConfig::Cubic(self.cubic(), tcp.clone()),
            Congestion::DctcpTcp => ControlConfig::DctcpTcp(self.dctcp_tcp(), tcp.clone()),
            Congestion::PFabric => ControlConfig::PFabric(self.section::<PFabricConfig>()),
            Congestion::DelayWindow => ControlConfig::DelayWindow(self.delay_window()),
            Congestion::Hpcc => {
                if transport.window == Window::Unlimited {
                    let message =
                        "window = \"unlimited\" cannot go with HPCC, which controls a window";
                    self.problem("transport", "window", message.into());
                }
                let hpcc = self.section::<HpccConfig>();
                if hpcc.int_overhead.0 > 4096 {
                    self.problem("hpcc", "int_overhead", "int_overhead may be up to 4096B".into());
                }
                ControlConfig::Hpcc(hpcc)
            }
            Congestion::Xcp => ControlConfig::Xcp(self.xcp(transport)),
        }
    }

    fn dctcp(&mut self) -> DctcpConfig {
        if self.layers.section::<DctcpConfig>().start == DctcpStart::SlowStart {
            let dctcp = self.section::<DctcpConfig>();
            if let Err((key, message)) = dctcp.check() {
                self.problem("dctcp", key, message);
            }
            return dctcp;
        }
        self.section_without(&["initial_window_packets"], "dctcp.start = \"line-rate\"")
    }

    fn delay_window(&mut self) -> DelayWindowConfig {
        let delay_window = self.section::<DelayWindowConfig>();
        if let Err((key, message)) = delay_window.check() {
            self.problem("delay_window", key, message);
        }
        delay_window
    }

    pub(super) fn onramp(&mut self, transport: &TransportConfig) -> Option<OnRampConfig> {
        if transport.flow_control == FlowControl::None {
            self.layers.unused("onramp", "transport.flow_control = \"none\"");
            return None;
        }
        let onramp = self.section::<OnRampConfig>();
        if !(onramp.gain > 0.0 && onramp.gain <= 1.0) {
            let message = "gain is a share: more than 0, up to 1";
            self.problem("onramp", "gain", message.into());
        }
        Some(onramp)
    }

    pub(super) fn transport(&mut self) -> TransportConfig {
        let written = self.layers.section::<TransportConfig>();
        if written.kind != TransportKind::Sender {
            return self.driven_transport(written.kind);
        }
        let (unused, why): (&[&str], _) = match written.recovery {
            Recovery::GoBackN => (
                &["timeout_low", "timeout_low_packets"],
                "transport.recovery = \"go-back-n\" has one timeout",
            ),
            // Its receivers count bytes, so a packet sent again without need would count twice.
            Recovery::Perfect => (
                &["timeout", "timeout_low", "timeout_low_packets", "nack_interval"],
                "transport.recovery = \"perfect\" hears of every loss",
            ),
            Recovery::Sack => (
                &["timeout", "timeout_low", "timeout_low_packets", "nack_interval"],
                "transport.recovery = \"sack\" has the timeouts of section tcp and reports every packet \
                 out of order",
            ),
            Recovery::SelectiveRepeat if written.timeout.0 == 0 => (
                &["timeout_low", "timeout_low_packets", "nack_interval"],
                "transport.timeout = \"0ps\" is never, and selective repeat reports every packet \
                 out of order",
            ),
            Recovery::SelectiveRepeat => (
                &["nack_interval"],
                "transport.recovery = \"selective-repeat\" reports every packet out of order",
            ),
        };
        let (mut unused, mut why) = (unused.to_vec(), why.to_owned());
        if written.window == Window::Fixed {
            if written.window_size.0 == 0 {
                let message = "window = \"fixed\" needs a window_size of more than zero";
                self.problem("transport", "window", message.into());
            }
        } else {
            unused.push("window_size");
            why = format!("transport.window = {}, and {why}", written.window.show());
        }
        let mut transport: TransportConfig = self.section_without(&unused, &why);
        if matches!(transport.recovery, Recovery::Perfect | Recovery::Sack) {
            transport.timeout = Ps(0);
        }
        self.check_pacing(&transport);
        let two_timeouts = !unused.contains(&"timeout_low");
        if two_timeouts && transport.timeout_low > transport.timeout {
            let message = format!(
                "timeout_low = {} must not be longer than timeout = {}",
                transport.timeout_low, transport.timeout
            );
            self.problem("transport", "timeout_low", message);
        }
        transport
    }

    /// Without pacing a rate acts only through the window.
    fn check_pacing(&mut self, transport: &TransportConfig) {
        // XCP sets its window itself.
        if transport.pacing || transport.congestion == Congestion::Xcp {
            return;
        }
        if transport.congestion == Congestion::None {
            let message = "pacing = false has no effect with congestion = \"none\": its rate is the \
                           link's";
            self.problem("transport", "pacing", message.into());
        } else if !transport.window_follows_rate || transport.window == Window::Unlimited {
            let message = "pacing = false needs window_follows_rate = true and window = \"bdp\": \
                           nothing else obeys the rate of the congestion control";
            self.problem("transport", "pacing", message.into());
        }
    }

    pub(super) fn nic(
        &mut self,
        switch: &SwitchConfig,
        hop: &HopSetup,
        pause: Option<&PauseConfig>,
    ) -> NicConfig {
        let written = self.layers.section::<NicConfig>();
        let paused = match (hop, pause) {
            (HopSetup::Pfc(_), _) => true,
            (HopSetup::Sfc(sfc), _) => sfc.to_pfc,
            (HopSetup::None, Some(pause)) => pause.scope != Scope::None,
            (HopSetup::None | HopSetup::Bfc(_), _) => false,
        };
        if let Some(pause) = pause {
            self.check_nic_beside(pause, &written);
        }
        if matches!(hop, HopSetup::Sfc(sfc) if sfc.to_pfc) && !written.pfc {
            let message = "pfc = false leaves nobody to obey the frames of sfc.to_pfc = true";
            self.problem("nic", "pfc", message.into());
        }
        let unlimited = written.receive_rate.0 == 0;
        if !unlimited && switch.scheduler != SchedulerKind::Fifo {
            let message = "a NIC pauses classes, so receive_rate needs scheduler = \"fifo\"";
            self.problem("nic", "receive_rate", message.into());
        }
        self.section_where(&[
            (!paused, "switches send NICs no PFC frames", &["pfc"]),
            (unlimited, "nic.receive_rate = \"0bps\"", &["receive_xoff", "receive_xon"]),
        ])
    }

    fn check_positive(&mut self, section: &str, settings: &[(&str, u64)]) {
        for (key, value) in settings {
            if *value < 2 {
                self.problem(section, key, format!("{key} must be more than zero"));
            }
        }
    }
}

/// "BFC's NIC assigns flows to the same number of queues by the same rule as a switch"; otherwise, and
/// where nobody pauses queues, a queue a class, of as many as switches tell apart.
pub(super) fn nic_queues(hop: &HopSetup, classes: u8) -> NicQueues {
    let HopSetup::Bfc(bfc) = hop else { return NicQueues::Classes(classes) };
    let queues = bfc.data_queues();
    if let Some(division) = bfc.division() {
        return match bfc.assignment {
            Assignment::Dynamic => NicQueues::DynamicByClass(division),
            Assignment::Stochastic | Assignment::Single => NicQueues::HashedByClass(division),
        };
    }
    match (bfc.backpressure, bfc.assignment) {
        (BackpressureKind::None, _) => NicQueues::Classes(classes),
        (_, Assignment::Dynamic) if bfc.incast_queue => NicQueues::DynamicBesideIncast(queues),
        (_, Assignment::Dynamic) => NicQueues::Dynamic(queues),
        (_, Assignment::Stochastic | Assignment::Single) => NicQueues::Hashed(queues),
    }
}
