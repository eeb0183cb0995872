//! Named benchmark cases: scheme-traffic-hosts on BFC's fabric, 60 % load, 10 ms of arrivals.

use std::time::Instant;

use crate::run::Run;

/// Schemes and traffics of the cases.
const SCHEMES: [&str; 6] = ["dctcp", "dcqcn", "hpcc", "bfc", "pfc", "ideal-fq"];
const TRAFFICS: [&str; 2] = ["hadoop", "google"];

/// All cases, such as `bfc-google-128`.
#[must_use]
pub fn bench_cases() -> Vec<String> {
    SCHEMES
        .iter()
        .flat_map(|scheme| TRAFFICS.iter().map(move |traffic| format!("{scheme}-{traffic}-128")))
        .collect()
}

/// The scenario of a case with so long a time of arrivals (such as `10ms`).
#[must_use]
pub fn scenario(case: &str, arrivals: &str) -> Option<String> {
    if !bench_cases().iter().any(|known| known == case) {
        return None;
    }
    let (rest, _) = case.rsplit_once('-')?;
    let (scheme, sizes) = rest.rsplit_once('-')?;
    Some(format!(
        "name = \"{case}\"\nscheme = \"{scheme}\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"{arrivals}\"\nflows = \"none\"\n\
         [[traffic]]\nkind = \"open-loop\"\nsizes = \"{sizes}\"\nload = 0.6\n\
         arrivals = \"lognormal\"\nstop = \"{arrivals}\"\n"
    ))
}

/// Runs a case and returns its figures as JSON. A packet-hop is one packet of any kind put on one
/// link.
///
/// # Errors
/// If there is no such case, or its run is stuck.
pub fn bench(case: &str, threads: usize) -> Result<String, String> {
    let text = scenario(case, "10ms").ok_or_else(|| {
        format!("unknown case {case:?}; the cases are {}", bench_cases().join(", "))
    })?;
    if threads != 1 {
        return Err(format!("{threads} threads were asked for, but a run uses one"));
    }
    let mut run = Run::open(&text, case, &[]).map_err(|problems| problems.to_string())?;
    let begin = Instant::now();
    while run.step()? {}
    let wall_s = begin.elapsed().as_secs_f64();
    let progress = run.progress();
    let per = |count: u64| wall_s * 1e9 / count as f64;
    let peak = peak_rss_bytes().map_or_else(|| "null".into(), |bytes| bytes.to_string());
    Ok(format!(
        "{{\"case\": \"{case}\", \"packet_hops\": {}, \"flows\": {}, \"wall_s\": {wall_s:.6}, \
         \"ns_per_packet_hop\": {:.2}, \"ns_per_flow\": {:.1}, \"peak_rss_bytes\": {peak}, \
         \"threads\": {threads}, \"digest\": \"{:016x}\"}}",
        progress.packet_hops,
        progress.flows_finished,
        per(progress.packet_hops),
        per(progress.flows_finished),
        run.digest(),
    ))
}

/// The most memory this process has had resident, where the system tells (Linux).
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
