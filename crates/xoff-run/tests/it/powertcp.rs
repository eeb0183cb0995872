//! PowerTCP and theta-PowerTCP in whole networks: queues settle where the paper's theorems say.

use crate::common::{open, over_hosts};

/// The two forms, and the size of a full packet of each on the wire (bytes): with INT, and without.
const FORMS: [(&str, f64); 2] = [("powertcp", 1090.0), ("theta-powertcp", 1048.0)];

/// Hosts of 100 Gb/s that send to one of 25 Gb/s.
const STAR: &str = "[network]\ntopology = \"star\"\n\
                    [star]\nhosts = 16\nrate = \"100Gbps\"\nfirst_rate = \"25Gbps\"\n\
                    delay = \"5us\"\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"4ms\"\ndrain = \"0us\"\ngrid = \"1us\"\n";

/// Endless flows to the slow host, all at once.
fn incast(scheme: &str, senders: u32, flows_per_sender: u32) -> String {
    format!(
        "scheme = \"{scheme}\"\n{STAR}[[traffic]]\nkind = \"incast\"\nvictims = \"0\"\n\
         degree = {senders}\nflows_per_sender = {flows_per_sender}\nbytes = \"10GB\"\nevents = 1\n"
    )
}

/// Bytes in the switch at each microsecond.
fn held(text: &str, overrides: &[&str]) -> Vec<f64> {
    let mut run = open(text, overrides);
    let mut held = Vec::new();
    while run.step().unwrap_or_else(|message| panic!("{message}")) {
        held.extend(run.rows().samples.drain(..).map(|row| row.bytes as f64));
    }
    assert_eq!(over_hosts(&run, |stats| stats.retransmitted), 0);
    held
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Theorem 1: the unique equilibrium has the window b tau + beta and the queue beta, where beta is
/// the sum over all flows. A window counts payload, a queue counts bytes on the wire.
fn queue(flows: f64, expected_flows: f64, packet: f64) -> f64 {
    // Four times 5 us, and a full packet over both links.
    let tau = 20e-6 + packet * 8.0 / 100e9 + packet * 8.0 / 25e9;
    flows * 100e9 / 8.0 * tau / expected_flows * packet / 1000.0
}

#[test]
fn the_queue_settles_at_the_sum_of_all_increases() {
    for (scheme, packet) in FORMS {
        for (senders, flows_per_sender) in [(1, 1), (1, 4), (2, 1), (4, 1), (10, 1)] {
            for (expected_flows, setting) in [(10.0, None), (40.0, Some("expected_flows=40.0"))] {
                let section = scheme.replace('-', "_");
                let setting = setting.map(|setting| format!("{section}.{setting}"));
                let overrides: Vec<&str> = setting.as_deref().into_iter().collect();
                let held = held(&incast(scheme, senders, flows_per_sender), &overrides);
                let flows = f64::from(senders * flows_per_sender);
                let (found, expected) = (mean(&held[3000..]), queue(flows, expected_flows, packet));
                // A flow sends whole packets, so its window is exceeded by up to one.
                assert!(
                    (found - expected).abs() < flows * packet,
                    "{scheme}, {flows} flows, N = {expected_flows}: {found} B, not {expected} B"
                );
                let idle = held[3000..].contains(&0.0);
                assert!(!idle || expected < 10.0 * packet, "{scheme}, {flows} flows: idle");
            }
        }
    }
}

/// Theorem 3: flows of equal beta get equal shares, also flows that come later.
#[test]
fn flows_that_come_later_get_an_equal_share() {
    for (scheme, _) in FORMS {
        let flow = |number: u32| {
            format!(
                "[[traffic]]\nkind = \"long\"\nsrc = {number}\ndst = {}\nstart = \"{number}ms\"\n",
                number + 4
            )
        };
        let flows: String = (0..4).map(flow).collect();
        let text = format!(
            "scheme = \"{scheme}\"\n[network]\ntopology = \"dumbbell\"\n\
             [dumbbell]\nleft_hosts = 4\nright_hosts = 4\nhost_rate = \"100Gbps\"\n\
             trunk_rate = \"25Gbps\"\n[run]\nwarmup = \"0us\"\nmeasure = \"8ms\"\n\
             drain = \"0us\"\ngrid = \"1ms\"\n{flows}"
        );
        let mut run = open(&text, &[]);
        let mut by_time = Vec::new();
        loop {
            let more = run.step().unwrap_or_else(|message| panic!("{message}"));
            let nics = run.simulation().partitions()[0].hosts().nics();
            by_time.push(nics.iter().map(|nic| nic.received_bytes as f64).collect::<Vec<_>>());
            if !more {
                break;
            }
        }
        // The shares in a millisecond that begins one, or three, after the last flow.
        for (present, begin) in [(2, 1), (3, 2), (4, 6)] {
            let grown = |host: usize| by_time[begin + 1][host] - by_time[begin][host];
            let shares: Vec<f64> = (4..4 + present).map(grown).collect();
            let sum: f64 = shares.iter().sum();
            let squares: f64 = shares.iter().map(|share| share * share).sum();
            let jain = sum * sum / squares / present as f64;
            assert!(jain > 0.999, "{scheme}: {shares:?}");
        }
    }
}

/// Without a least current, an idle moment gives every flow the rate of its link: the senders of an
/// incast stop when their windows fall, so that the current is zero.
#[test]
fn without_a_least_current_an_incast_does_not_settle() {
    let text = incast("theta-powertcp", 10, 1);
    let expected = queue(10.0, 10.0, 1048.0);
    let unbounded = held(&text, &["theta_powertcp.min_current=0.0"]);
    assert!(mean(&unbounded[3000..]) > 4.0 * expected, "{}", mean(&unbounded[3000..]));
    let text = incast("powertcp", 10, 1);
    let settled = |held: &[f64]| held.iter().rposition(|&bytes| bytes > 2.0 * expected);
    let bounded = settled(&held(&text, &[])).unwrap();
    let unbounded = settled(&held(&text, &["powertcp.min_current=0.0"])).unwrap();
    assert!(unbounded > 2 * bounded, "{unbounded} us against {bounded} us");
}

/// The paper's 10:1 incast, as in the authors' simulator (`script-burst.sh`): ten hosts send to the
/// receiver of a long flow. The queue is drained at once, and the flow gets the whole link back.
#[test]
fn an_incast_is_drained_with_little_loss_of_throughput() {
    for ((scheme, packet), most_idle_us) in FORMS.into_iter().zip([25, 150]) {
        let text = format!(
            "scheme = \"{scheme}\"\n{STAR}[[traffic]]\nkind = \"long\"\nsrc = 1\ndst = 0\n\
             [[traffic]]\nkind = \"incast\"\nvictims = \"0\"\ndegree = 10\nbytes = \"1MB\"\n\
             start = \"1ms\"\nevents = 1\n"
        );
        let held = held(&text, &[]);
        // A base RTT is 20 us, and the bytes of the incast take 350 us.
        let peak = held.iter().fold(0.0, |most: f64, &bytes| most.max(bytes));
        assert!(peak > 900e3, "{scheme}: {peak}");
        let idle = held[1000..].iter().filter(|&&bytes| bytes == 0.0).count();
        assert!(idle <= most_idle_us, "{scheme}: {idle} us");
        let off = mean(&held[2000..]) - queue(1.0, 10.0, packet);
        assert!(off.abs() < packet, "{scheme}: {off}");
    }
}
