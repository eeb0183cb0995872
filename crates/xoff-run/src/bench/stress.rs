//! Hard shapes for every preset: one dimension of a scenario is 1, 10 or 100 times as large.
//! They find costs that grow with it. Cases are named `PRESET-SHAPE-xFACTOR`: `bfc-queue-x100`.

use std::fmt::Write as _;

use xoff_sim::Threads;

use super::Size;
use crate::run::Run;

/// The factors of a dimension.
pub const FACTORS: [u64; 3] = [1, 10, 100];

/// A shape: one dimension of a small network.
struct Shape {
    name: &'static str,
    /// What grows.
    dimension: &'static str,
    /// Lines that presets may lack the parts for.
    options: &'static [&'static str],
    /// The other lines of the scenario, without its name and scheme. All factors have about as many
    /// packet-hops.
    lines: fn(Form) -> String,
}

/// The form of a case.
#[derive(Clone, Copy)]
struct Form {
    factor: u64,
    /// Multiple of the shortest run.
    length: u64,
    /// Factor by which links are slower than usual, and times longer.
    slower: u64,
}

impl Form {
    fn rate(self, gbps: u64) -> String {
        format!("\"{}Mbps\"", gbps * 1_000 / self.slower)
    }

    fn star(self, hosts: u64, gbps: u64) -> String {
        let rate = self.rate(gbps);
        format!("network.topology = \"star\"\nstar.hosts = {hosts}\nstar.rate = {rate}\n")
    }

    fn open_loop(self, sizes: &str, load: &str, us: u64) -> String {
        let us = us * self.slower;
        measure(us)
            + &format!(
                "[[traffic]]\nkind = \"open-loop\"\nsizes = \"{sizes}\"\nload = {load}\n\
                 load_on = \"hosts\"\nstop = \"{us}us\"\n"
            )
    }

    /// Incasts to one host, with `bytes_each` from each flow, at a rate that the host's link of
    /// 100 Gb/s can carry.
    fn incasts(self, degree: u64, bytes_each: u64, events: u64) -> String {
        let bytes = degree * bytes_each;
        let period_us = (bytes * 8 / 100_000 * 12 / 10 + 10) * self.slower;
        let us = period_us * events;
        measure(us)
            + &format!(
                "[[traffic]]\nkind = \"incast\"\nvictims = \"0-0\"\ndegree = {degree}\n\
                 bytes = \"{bytes}B\"\nperiod = \"{period_us}us\"\nstop = \"{us}us\"\n"
            )
    }
}

fn measure(us: u64) -> String {
    format!("run.measure = \"{us}us\"\nrun.drain = \"20s\"\n")
}

const SHAPES: [Shape; 8] = [
    Shape {
        name: "rtt",
        dimension: "RTT between two data centres: 100 us, 1 ms, 10 ms",
        options: &[
            "buffer.gateway_size = \"2GB\"\n",
            "transport.timeout = \"100ms\"\n",
            "transport.timeout_low = \"50ms\"\n",
        ],
        lines: |form| {
            let delay_us = 50 * form.factor;
            // Long enough for flows that take several round trips.
            let us = 100 * form.length + 4 * delay_us;
            let rates = ["host", "spine", "gateway", "interconnect"]
                .map(|link| format!("two_dc.{link}_rate = {}\n", form.rate(100)));
            "network.topology = \"two-dc\"\ntwo_dc.leaves = 1\ntwo_dc.spines = 4\n\
             two_dc.hosts_per_leaf = 8\n"
                .to_owned()
                + &rates.concat()
                + &format!("two_dc.interconnect_delay = \"{delay_us}us\"\n")
                + &form.open_loop("google", "0.1", us)
        },
    },
    Shape {
        name: "queue",
        dimension: "bytes sent to one host at once: 1 MB, 10 MB, 100 MB",
        options: &["buffer.size = \"400MB\"\n"],
        lines: |form| {
            let events = (5 * form.length / form.factor).max(1);
            form.star(20, 100) + &form.incasts(16, 62_500 * form.factor, events)
        },
    },
    Shape {
        name: "flows",
        dimension: "flows of one host: 500, 5,000, 50,000",
        options: &[],
        lines: |form| {
            let (count, bytes) = (125 * form.factor, 100_000 * form.length / form.factor);
            (1..=4).fold(form.star(8, 100) + &measure(10), |mut text, dst| {
                let _ = write!(
                    text,
                    "[[traffic]]\nkind = \"long\"\nsrc = 0\ndst = {dst}\ncount = {count}\n\
                     bytes = \"{bytes}B\"\nclass = \"to {dst}\"\n"
                );
                text
            })
        },
    },
    Shape {
        name: "slow",
        dimension: "slowness of links at a load of 95 %: 200 Gb/s, 20 Gb/s, 2 Gb/s",
        options: &[],
        lines: |form| {
            let slower = Form { slower: form.slower * form.factor, ..form };
            form.star(16, 200 / form.factor) + &slower.open_loop("fb-web", "0.95", 20 * form.length)
        },
    },
    Shape {
        name: "small",
        dimension: "packets of a megabyte: 125, 1,250, 12,500",
        options: &[],
        lines: |form| {
            let payload = format!("frame.payload = \"{}B\"\n", 8_000 / form.factor);
            let us = (100 * form.length / form.factor).max(10);
            payload + &form.star(16, 100) + &form.open_loop("hadoop", "0.6", us)
        },
    },
    Shape {
        name: "incast",
        dimension: "degree of incasts: 20, 200, 2,000",
        options: &[],
        lines: |form| {
            let events = (50 * form.length / form.factor).max(1);
            form.star(64, 100) + &form.incasts(20 * form.factor, 10_000, events)
        },
    },
    Shape {
        name: "buffer",
        dimension: "smallness of switch buffers: 12 MB, 1.2 MB, 120 KB",
        options: &[],
        lines: |form| {
            let traffic = form.open_loop("google", "0.8", 100 * form.length);
            let buffer = format!("buffer.size = \"{}KB\"\n", 12_000 / form.factor);
            form.star(8, 100) + &buffer + &traffic
        },
    },
    Shape {
        name: "ports",
        dimension: "ports of a switch, each with a host: 12, 120, 1,200",
        options: &["buffer.size = \"100MB\"\n"],
        lines: |form| {
            let us = (200 * form.length / form.factor).max(10);
            form.star(12 * form.factor, 100) + &form.open_loop("google", "0.6", us)
        },
    },
];

/// The names of all shapes, and what grows in each.
#[must_use]
pub fn shapes() -> Vec<(&'static str, &'static str)> {
    SHAPES.iter().map(|shape| (shape.name, shape.dimension)).collect()
}

/// The scenario of a case; `None` if it is not the name of one. Some presets refuse some shapes.
pub(super) fn scenario(case: &str, size: Size) -> Option<String> {
    let (rest, factor) = case.rsplit_once("-x")?;
    let (preset, name) = rest.rsplit_once('-')?;
    let shape = SHAPES.iter().find(|shape| shape.name == name)?;
    let factor = FACTORS.into_iter().find(|known| known.to_string() == factor)?;
    xoff_scenario::presets().into_iter().find(|(known, _)| known == preset)?;
    let length = if size == Size::Full { 20 } else { 1 };
    let text = |slower, options: &str| {
        let lines = (shape.lines)(Form { factor, length, slower });
        format!(
            "name = \"{case}\"\nscheme = \"{preset}\"\nrun.warmup = \"0us\"\n\
             run.flows = \"none\"\nrun.watchdog = \"200s\"\n{options}{lines}"
        )
    };
    // Some presets are for links of 1 Gb/s.
    let forms = [1, 100].into_iter().flat_map(|slower| {
        subsets(shape.options).into_iter().map(move |options| (slower, options))
    });
    let texts: Vec<String> = forms.map(|(slower, options)| text(slower, &options)).collect();
    let accepted = texts.iter().find(|text| is_accepted(text, case)).unwrap_or(&texts[0]);
    Some(accepted.clone())
}

/// All choices of options, those with the most first.
fn subsets(options: &[&str]) -> Vec<String> {
    let mut choices: Vec<u32> = (0..1 << options.len()).collect();
    choices.sort_by_key(|choice| std::cmp::Reverse(choice.count_ones()));
    let chosen = |choice: u32| {
        options
            .iter()
            .enumerate()
            .filter(move |(at, _)| choice >> at & 1 == 1)
            .map(|(_, line)| *line)
    };
    choices.into_iter().map(|choice| chosen(choice).collect()).collect()
}

fn is_accepted(text: &str, case: &str) -> bool {
    Run::open(text, case, &[], Threads::ONE).is_ok()
}
