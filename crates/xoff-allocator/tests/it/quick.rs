#[test]
fn q() {
    let load = xoff_allocator::load::Load {
        endpoints: 384,
        flowlets: 3072,
        events_per_second: 20_000,
        iteration: 1_000_000,
        polls: false,
        time: std::time::Duration::from_secs(3),
    };
    println!("{:#?}", xoff_allocator::load::measure(&load).unwrap());
}
