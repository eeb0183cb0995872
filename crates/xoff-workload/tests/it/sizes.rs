//! Flow-size tables: the shipped ones against their documented moments, any table against its
//! own definition.

use proptest::prelude::*;
use xoff_core::Rng;
use xoff_core::rng::Purpose;
use xoff_workload::{Reading, SizeTable, tables};

fn table(name: &str) -> SizeTable {
    SizeTable::from_csv(tables::builtin(name).expect(name), name).expect(name)
}

fn rng(entity: u64) -> Rng {
    Rng::stream(1, Purpose::Traffic, entity)
}

/// The means in flow-sizes/README.md: name, linear, step.
const MEANS: [(&str, f64, f64); 8] = [
    ("google", 2_892.0, 2_929.0),
    ("hadoop", 121_849.0, 127_797.0),
    ("hadoop-hpcc", 120_421.0, 183_897.0),
    ("websearch", 1_711_250.0, 2_434_900.0),
    ("alistorage", 40_870.0, 67_050.0),
    ("fb-web", 91_343.0, 152_824.0),
    ("fb-cache", 609_883.0, 698_171.0),
    ("fb-hadoop", 568_755.0, 977_600.0),
];

fn cases() -> impl Iterator<Item = (&'static str, Reading, f64)> {
    MEANS.into_iter().flat_map(|(name, linear, step)| {
        [(name, Reading::Linear, linear), (name, Reading::Step, step)]
    })
}

#[test]
fn shipped_tables_have_the_documented_means() {
    assert!(tables::names().eq(MEANS.iter().map(|(name, ..)| *name)));
    for (name, reading, mean) in cases() {
        let found = table(name).mean(reading);
        assert!((found / mean - 1.0).abs() < 0.001, "{name} {reading:?}: {found}");
    }
}

#[test]
fn samples_have_the_mean_of_the_table() {
    for (name, reading, _) in cases() {
        let (table, mut rng, count) = (table(name), rng(0), 400_000);
        let sizes = (0..count).map(|_| table.sample(&mut rng, reading) as f64);
        let (sum, squares) =
            sizes.fold((0.0, 0.0), |(sum, squares), size| (sum + size, squares + size * size));
        let mean = sum / f64::from(count);
        let error = (squares / f64::from(count) - mean * mean).sqrt() / f64::from(count).sqrt();
        let off = (mean - table.mean(reading)).abs() / error;
        assert!(off < 4.0, "{name} {reading:?}: off by {off} standard errors");
    }
}

/// Kolmogorov and Smirnov's bound, transposed: a sample's quantile at `u` lies between the table's
/// at `u - d` and `u + d`. Rounding to whole bytes and jumps therefore do no harm.
#[test]
fn samples_have_the_quantiles_of_the_table() {
    const COUNT: usize = 100_000;
    let d = 1.95 / (COUNT as f64).sqrt();
    for (name, reading, _) in cases() {
        let (table, mut rng) = (table(name), rng(1));
        let mut sizes: Vec<u64> = (0..COUNT).map(|_| table.sample(&mut rng, reading)).collect();
        sizes.sort_unstable();
        for rank in (0..COUNT).step_by(100) {
            let u = (rank as f64 + 0.5) / COUNT as f64;
            let (low, high) = (table.quantile(u - d, reading), table.quantile(u + d, reading));
            let size = sizes[rank];
            assert!((low..=high).contains(&size), "{name} {reading:?} at {u}: {size}");
        }
    }
}

/// Flowtune §5.3.2: "The Web workload, which has the smallest mean flow size".
#[test]
fn of_facebooks_tables_the_web_servers_have_the_smallest_mean() {
    for reading in [Reading::Linear, Reading::Step] {
        let [web, cache, hadoop] =
            ["fb-web", "fb-cache", "fb-hadoop"].map(|name| table(name).mean(reading));
        assert!(web < cache && web < hadoop, "{reading:?}: {web} {cache} {hadoop}");
    }
}

#[test]
fn short_flows_of_google_have_42_percent_of_the_bytes() {
    let google = table("google");
    assert!((google.byte_fraction_below(100_000) - 0.420).abs() < 0.0005);
    assert_eq!(google.byte_fraction_below(0), 0.0);
    assert!((google.byte_fraction_below(u64::MAX) - 1.0).abs() < 1e-12);
}

#[test]
fn a_repeated_first_size_is_a_point_mass() {
    let text = "size_bytes,cdf\n100,0\n100,0.5\n300,1\n";
    let table = SizeTable::from_csv(text, "test").unwrap();
    assert_eq!(table.quantile(0.2, Reading::Linear), 100);
    assert_eq!(table.quantile(0.5, Reading::Linear), 100);
    assert_eq!(table.quantile(0.75, Reading::Linear), 200);
    assert_eq!(table.quantile(0.2, Reading::Step), 100);
    assert_eq!(table.quantile(0.51, Reading::Step), 300);
    assert_eq!((table.mean(Reading::Linear), table.mean(Reading::Step)), (150.0, 200.0));
    // 100 x 0.5 from the mass, 150 x 0.25 from the slope up to 200, of 150.
    assert!((table.byte_fraction_below(200) - 87.5 / 150.0).abs() < 1e-12);
    assert_eq!(table.byte_fraction_below(100), 0.0);
}

#[test]
fn sizes_are_rounded_and_at_least_1() {
    let table = SizeTable::from_csv("size_bytes,cdf\r\n0,0\r\n\r\n10,1\r\n", "test").unwrap();
    assert_eq!(table.quantile(0.0, Reading::Linear), 1);
    assert_eq!(table.quantile(0.26, Reading::Linear), 3);
    assert_eq!(table.quantile(0.0, Reading::Step), 1);
    assert_eq!(table.quantile(0.01, Reading::Step), 10);
}

/// Tables with jumps (growth 0) and gaps (weight 0), and the sizes at their ends.
fn any_table() -> impl Strategy<Value = (SizeTable, u64, u64)> {
    let rows = prop::collection::vec((0u64..100_000, 0u32..1000), 1..30);
    (0u64..1000, rows, 1u64..1_000_000).prop_map(|(first, rows, growth)| {
        // The last row grows in both columns, so that the table is never empty.
        let total: u32 = rows.iter().map(|(_, weight)| weight).sum::<u32>() + 1;
        let (mut text, mut size, mut reached) = (format!("size_bytes,cdf\n{first},0\n"), first, 0);
        for (growth, weight) in rows.into_iter().chain([(growth, 1)]) {
            size += growth;
            reached += weight;
            text += &format!("{size},{}\n", f64::from(reached) / f64::from(total));
        }
        (SizeTable::from_csv(&text, "generated").expect("a valid table"), first, size)
    })
}

fn any_reading() -> impl Strategy<Value = Reading> {
    prop::sample::select(&[Reading::Linear, Reading::Step][..])
}

proptest! {
    #[test]
    fn samples_lie_within_the_table(
        (table, first, last) in any_table(),
        reading in any_reading(),
        seed: u64,
    ) {
        let mut rng = Rng::stream(seed, Purpose::Traffic, 0);
        for _ in 0..100 {
            let size = table.sample(&mut rng, reading);
            prop_assert!((first.max(1)..=last).contains(&size));
        }
    }

    #[test]
    fn quantiles_never_decrease(
        (table, first, last) in any_table(),
        reading in any_reading(),
        mut shares in prop::collection::vec(0.0..=1.0, 2..50),
    ) {
        shares.extend([0.0, 1.0]);
        shares.sort_by(f64::total_cmp);
        let sizes: Vec<u64> = shares.iter().map(|u| table.quantile(*u, reading)).collect();
        prop_assert!(sizes.is_sorted(), "{sizes:?}");
        prop_assert_eq!((sizes[0], sizes[sizes.len() - 1]), (first.max(1), last));
    }

    #[test]
    fn the_step_mean_is_never_below_the_linear_one((table, first, last) in any_table()) {
        let (linear, step) = (table.mean(Reading::Linear), table.mean(Reading::Step));
        let slack = last as f64 * 1e-9;
        prop_assert!(first as f64 - slack <= linear && linear <= step + slack);
        prop_assert!(step <= last as f64 + slack);
    }
}

/// Sizes of 15 digits that differ in the last one are as exact as others.
#[test]
fn neighbouring_sizes_of_many_digits_keep_their_mean() {
    let csv = "size_bytes,cdf\n900719925474091,0\n900719925474092,1\n";
    let table = SizeTable::from_csv(csv, "t.csv").unwrap();
    let mean = table.mean(Reading::Linear);
    let first = |cap| table.mean_of_first(cap, u64::MAX, Reading::Linear);
    assert_eq!(mean, 900_719_925_474_091.5);
    assert_eq!((first(u64::MAX), first(1_000)), (mean, 1_000.0));
    let byte = table.byte_fraction_below(900_719_925_474_092);
    assert!((byte - 1.0).abs() < 1e-12, "{byte}");
}
