//! Settings of switches with ingress queues that lose packets or have no meaning.

use super::*;

/// Invalid settings of a crossbar, and settings without effect under one.
#[test]
fn crossbars_that_lose_packets_or_mean_nothing_are_refused() {
    for (scheme, setting, said) in [
        ("detail-fc", "pause.xoff=126KB", "up to 40860B arrive after a pause was requested"),
        ("detail-fc", "pause.xon=100KB", "xon = 100KB must not be more than xoff"),
        ("detail-fc", "pause.generation_delay=48us", "leaves no room below a threshold"),
        ("detail-fc", "pause.outstanding=200KB", "ingress_size = 131072B leaves no room"),
        ("detail-pfc", "pause.xoff=0B", "fewer classes"),
        ("detail-pfc", "pause.xoff=12KB", "set crossbar.ingress_size = \"422880B\" or more"),
        ("detail-pfc", "pause.xoff=12KB", "at this delay it fits links of up to 1Gbps"),
        ("detail-fc", "pause.xoff=126KB", "it may be 88619B at most"),
        ("detail-baseline", "pause.xoff=50KB", "pause.scope = \"none\""),
        ("detail-baseline", "alb.second=0B", "switch.balance = \"ecmp\""),
        ("detail-baseline", "switch.balance=adaptive", "take for losses"),
        ("detail-baseline", "switch.hop=pfc", "section pause is its flow control"),
        ("detail-baseline", "switch.scheduler=drr", "it serves classes by strict priority"),
        ("detail-baseline", "switch.quantum=1530B", "serves its queues without turns"),
        ("detail-baseline", "switch.overflow=trim", "a full ingress queue drops"),
        ("detail-baseline", "buffer.size=1MB", "ingress_size and egress_size"),
        ("detail-baseline", "transport.ack_class=control", "only its own frames go ahead"),
        (
            "detail-baseline",
            "transport.allocator=flowtune",
            "requires transport.allocator = \"none\"",
        ),
        ("detail-baseline", "crossbar.classes=9", "classes are 1 to 8"),
        ("detail-baseline", "crossbar.classes=0", "classes are 1 to 8"),
        ("detail-baseline", "crossbar.speedup=0.9", "speedup is 1 to 1000"),
        ("detail-baseline", "crossbar.iterations=0", "takes at least one iteration"),
        ("detail-baseline", "crossbar.rate_limit=1.1", "a share of the line rate"),
        ("detail-baseline", "crossbar.egress_size=1000B", "must hold a packet of 1530B: 1530B"),
        ("detail-priority", "crossbar.egress_size=1000B", "must hold a packet of 1530B: 1530B"),
        ("detail-pfc", "crossbar.egress_size=12KB", "a packet of 1530B of each class: 12240B"),
        ("detail-baseline", "crossbar.egress_overflow=push-out", "are dropped alike"),
        ("detail-fc", "crossbar.egress_overflow=partition", "are dropped alike"),
        ("detail-baseline", "crossbar.egress_overflow=stop", "expected one of hold, drop"),
        ("detail-baseline", "crossbar.ingress_size=1000B", "must hold a packet of 1530B"),
        ("detail-fc", "nic.pfc=false", "hosts must obey the pauses of their switches"),
        ("detail-baseline", "nic.receive_rate=1Gbps", "obeys no pauses without an end"),
        ("detail-baseline", "transport.congestion=hpcc", "does not write the headers that"),
        ("tcp-newreno", "crossbar.classes=2", "switch.architecture = \"output-queued\""),
        (
            "tcp-newreno",
            "switch.balance=adaptive",
            "requires switch.architecture = \"crossbar\" or \"pipelined\"",
        ),
    ] {
        assert_refused(scheme, setting, said);
    }
}

/// Invalid settings of a pipelined switch and CaPFC, and settings without effect under them.
#[test]
fn pipelined_switches_that_lose_packets_or_mean_nothing_are_refused() {
    for (scheme, setting, said) in [
        ("capfc-max", "capfc.xon=26KB", "xon (26KB) must not be larger than xoff (25KB)"),
        ("capfc-max", "capfc.warn=19KB", "warn (19KB) must not be less than xon (20KB)"),
        ("capfc-cal", "capfc.warn=25KB", "warn (25KB) must be less than xoff (25KB)"),
        ("capfc-cal", "capfc.xoff=60KB", "an egress queue holds 60KB at most"),
        ("capfc-cal", "capfc.cut=0", "more than 0 and up to 1"),
        ("capfc-cal", "capfc.cut=1.01", "more than 0 and up to 1"),
        ("capfc-max", "capfc.cut=0.5", "capfc.policy = \"stop-max\""),
        ("pfc-wdrop", "capfc.xoff=30KB", "capfc.policy = \"none\""),
        ("capfc-max", "pause.scope=none", "set pause.scope = \"class\""),
        ("pfc-wdrop", "pause.scope=port", "it pauses classes"),
        ("pfc-wdrop", "pause.xon=51KB", "xon = 51KB must not be more than xoff = 50KB"),
        ("pfc-wdrop", "pause.xoff=59KB", "loses packets: up to"),
        ("pfc-wdrop", "pause.response=1ms", "loses packets: up to"),
        ("pfc-wdrop", "pipeline.pool=1MB", "pipeline.memory = \"dedicated\""),
        ("pfc-wdrop-shared", "pipeline.egress_size=60KB", "pipeline.memory = \"shared\""),
        ("pfc-wdrop-shared", "pipeline.pool=79KB", "(80KB) is more than the size of the pool"),
        ("pfc-wdrop-shared", "pipeline.port_max=70KB", "queue_max (80KB) is more than port_max"),
        ("pfc-wdrop", "pipeline.packet_rate=0", "packet_rate must be from 1"),
        ("pfc-wdrop", "pipeline.egress_size=1KB", "must hold a packet of 1530B"),
        ("pfc-wdrop", "buffer.size=1MB", "in section pipeline"),
        ("pfc-wdrop", "crossbar.classes=2", "switch.architecture = \"pipelined\""),
        ("pfc-wdrop", "switch.scheduler=drr", "requires switch.scheduler = \"ets\" or \"fifo\""),
        ("pfc-wdrop", "switch.hop=pfc", "section pause is its flow control"),
        ("pfc-wdrop", "ets.strict=0,0", "each once"),
        ("pfc-wdrop", "ets.weights=1,1", "give eight whole numbers"),
        ("pfc-wdrop", "switch.ecn=false", "needs ECN marks"),
        ("pfc-wdrop", "tcp.ecn=false", "or tcp.ecn = true"),
        ("pfc-wdrop", "tcp.duplicate_acks=3", "take for losses"),
        ("pfc-wdrop", "nic.pfc=false", "hosts must obey the pauses of their switches"),
        ("tcp-cubic", "tcp.ecn=true", "transport.congestion = \"cubic\""),
        ("tcp-newreno", "ets.strict=0", "switch.scheduler = \"fifo\""),
        ("tcp-newreno", "capfc.policy=stop-max", "switch.architecture = \"output-queued\""),
    ] {
        let text = problems_of(SLOW, scheme, setting);
        assert!(text.contains(said), "{setting}:\n{text}");
    }
}
