//! Fair queueing is processor sharing: with Poisson arrivals of whole flows at load rho, the number
//! of active flows is geometric with mean rho / (1 - rho), whatever the sizes (BFC §2.3).

use xoff_core::Rng;
use xoff_core::rng::Purpose;
use xoff_net::packet::{Kind, Packet, Pool};
use xoff_net::sched::{PerFlow, Scheduler};

/// Time in packets: a flow of n packets keeps the link busy for n.
fn share_of_time_by_active_flows(
    rho: f64,
    mean: f64,
    size: impl Fn(&mut Rng) -> u64,
    flows: u32,
) -> Vec<f64> {
    let mut rng = Rng::stream(7, Purpose::Traffic, 0);
    let mut pool = Pool::default();
    let mut port = PerFlow::new(1000);
    let mut time_with = vec![0.0; 400];
    let (mut now, mut next_arrival, mut service_end) = (0.0, 0.0, f64::INFINITY);
    let mut begun = 0;
    while begun < flows {
        let next = service_end.min(next_arrival);
        time_with[port.active() as usize] += next - now;
        now = next;
        if service_end <= next_arrival {
            // A packet stays in its queue until it has been served: its flow is active until then.
            let id = port.pop(&mut pool).expect("a busy port has a packet");
            pool.remove(id);
        } else {
            for _ in 0..size(&mut rng) {
                let mut packet = Packet::new(Kind::Data, 1000);
                packet.flow = begun;
                let id = pool.insert(packet);
                port.push(&mut pool, id);
            }
            begun += 1;
            next_arrival += rng.exponential() * mean / rho;
        }
        if port.active() == 0 {
            service_end = f64::INFINITY;
        } else if service_end <= now || service_end.is_infinite() {
            service_end = now + 1.0;
        }
    }
    time_with.iter().map(|time| time / now).collect()
}

fn check(rho: f64, shares: &[f64]) {
    let mean: f64 = shares.iter().enumerate().map(|(n, share)| n as f64 * share).sum();
    let expected = rho / (1.0 - rho);
    assert!((mean / expected - 1.0).abs() < 0.05, "rho = {rho}: mean {mean} against {expected}");
    let (mut simulated, mut geometric, mut apart) = (0.0, 0.0, 0.0f64);
    for (n, share) in shares.iter().enumerate() {
        simulated += share;
        geometric += (1.0 - rho) * rho.powi(n as i32);
        apart = apart.max((simulated - geometric).abs());
    }
    assert!(apart < 0.02, "rho = {rho}: Kolmogorov distance {apart}");
}

#[test]
fn active_flows_are_geometric_whatever_the_sizes() {
    let exponential = |rng: &mut Rng| (rng.exponential() * 40.0) as u64 + 1;
    let exponential_mean = 1.0 + 1.0 / ((1.0f64 / 40.0).exp() - 1.0);
    // Two kinds of flow, 20 and 200 packets, half of the bytes in each.
    let mixed = |rng: &mut Rng| if rng.below(11) == 0 { 200 } else { 20 };
    let mixed_mean = 400.0 / 11.0;
    for (rho, flows) in [(0.5, 50_000), (0.8, 200_000), (0.9, 800_000)] {
        check(rho, &share_of_time_by_active_flows(rho, exponential_mean, exponential, flows));
        check(rho, &share_of_time_by_active_flows(rho, mixed_mean, mixed, flows * 2));
    }
}
