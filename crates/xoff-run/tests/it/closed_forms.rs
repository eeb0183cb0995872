//! Presets of htsim (Broadcom/csg-htsim): its closed forms for one packet across the spine of a
//! fabric with links of 100 Gb/s (80 ps a byte) and 1 us.

use crate::common::run;

/// Completion times (ps) of a flow of these bytes from host 0 to the host `dst`.
fn fct(scheme: &str, dst: u32, bytes: u64, overrides: &[&str]) -> u64 {
    let text = format!(
        "scheme = \"{scheme}\"\n[run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\n[[traffic]]\n\
         kind = \"long\"\nsrc = 0\ndst = {dst}\nbytes = \"{bytes}B\"\nstart = \"10us\"\n"
    );
    let (_, rows) = run(&text, overrides);
    assert_eq!(rows[0].size_bytes, bytes, "rows have the size without padding");
    rows[0].fct_ps
}

/// 8 us and the data and its acknowledgement at four links.
fn round_trip(data: u64, ack: u64) -> u64 {
    8_000_000 + 4 * 80 * (data + ack)
}

#[test]
fn one_packet_takes_the_time_of_the_closed_form() {
    for instants in ["network.instants=phases", "network.instants=as-set"] {
        for bytes in [1, 1000, 1500] {
            let swift = fct("htsim-swift", 77, bytes, &[instants]);
            assert_eq!((swift, swift), (round_trip(1500, 40), 8_492_800));
            let dctcp = fct("htsim-dctcp", 77, bytes, &[instants]);
            assert_eq!(dctcp, round_trip(1, 40) + round_trip(1500, 40));
            let ndp = fct("htsim-ndp", 77, bytes, &[instants]);
            assert_eq!((ndp, ndp), (round_trip(1564, 64), 8_520_960));
            let eqds = fct("htsim-eqds", 77, bytes, &[instants]);
            assert_eq!(eqds, round_trip(bytes + 64, 64));
        }
    }
}

/// A flow alone sends its window of 15 packets back to back, and its window grows from there.
#[test]
fn a_lone_swift_flow_is_limited_by_its_link() {
    for packets in [2, 10, 15] {
        let expected = round_trip(1500, 40) + (packets - 1) * 1500 * 80;
        assert_eq!(fct("htsim-swift", 77, packets * 1500, &[]), expected);
    }
}

/// A lost SYN is repeated after a timeout.
#[test]
fn an_opening_survives_losses() {
    let text = "scheme = \"htsim-dctcp\"\n[switch]\ndeparture = \"start\"\n[run]\n\
                warmup = \"0us\"\nmeasure = \"1ms\"\ndrain = \"30s\"\nwatchdog = \"30s\"\n\
                [tcp]\nmin_rto = \"100us\"\ninitial_rto = \"100us\"\n\
                [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 77\nbytes = \"15KB\"\n\
                start = \"10us\"\n[[fault]]\nkind = \"loss\"\nshare = 0.2\n";
    let (run, rows) = run(text, &[]);
    assert_eq!(rows.len(), 1);
    assert!(run.simulation().partitions()[0].hosts().stats.timeouts > 0);
}
