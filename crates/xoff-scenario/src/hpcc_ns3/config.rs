//! `config.txt`: a key and its values on each line.

use xoff_core::{BitRate, Bytes, Ps};

use crate::nearest::suggestion;

/// Congestion controls of that simulator that are modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Dcqcn,
    Hpcc,
    Timely,
    Dctcp,
}

impl Control {
    pub(super) fn name(self) -> &'static str {
        match self {
            Control::Dcqcn => "dcqcn",
            Control::Hpcc => "hpcc",
            Control::Timely => "timely",
            Control::Dctcp => "dctcp",
        }
    }
}

/// The values of a configuration. The defaults are that simulator's own.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) topology_file: String,
    pub(super) flow_file: String,
    pub(super) control: Control,
    pub(super) payload: u64,
    pub(super) stop_time: Ps,
    pub(super) ecn: bool,
    pub(super) buffer: Bytes,
    pub(super) has_window: bool,
    pub(super) window_follows_rate: bool,
    pub(super) ack_high_priority: bool,
    pub(super) gain: f64,
    pub(super) alpha_interval: Ps,
    pub(super) decrease_interval: Ps,
    pub(super) increase_interval: Ps,
    pub(super) fast_recovery_steps: u32,
    pub(super) clamp_target: bool,
    pub(super) rate_ai: BitRate,
    pub(super) rate_hai: BitRate,
    pub(super) min_rate: BitRate,
    pub(super) dctcp_ai: BitRate,
    pub(super) target_utilisation: f64,
    pub(super) max_stage: u32,
    pub(super) int_multi: u64,
    pub(super) kmin: Vec<(BitRate, u64)>,
    pub(super) kmax: Vec<(BitRate, u64)>,
    pub(super) pmax: Vec<(BitRate, f64)>,
    pub(super) link_down: Option<LinkDown>,
}

/// A link that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkDown {
    pub(super) at: Ps,
    /// The numbers of its ends.
    pub(super) ends: [u32; 2],
}

impl Default for Config {
    fn default() -> Self {
        Self {
            topology_file: String::new(),
            flow_file: String::new(),
            control: Control::Dcqcn,
            payload: 1000,
            stop_time: Ps(3_010_000_000_000),
            ecn: true,
            buffer: Bytes(16 << 20),
            has_window: false,
            window_follows_rate: false,
            ack_high_priority: false,
            gain: 1.0 / 16.0,
            alpha_interval: Ps::from_us(55),
            decrease_interval: Ps::from_us(4),
            increase_interval: Ps::from_us(300),
            fast_recovery_steps: 5,
            clamp_target: false,
            rate_ai: BitRate(5_000_000),
            rate_hai: BitRate(50_000_000),
            min_rate: BitRate(100_000_000),
            dctcp_ai: BitRate(1_000_000_000),
            target_utilisation: 0.95,
            max_stage: 5,
            int_multi: 1,
            kmin: Vec::new(),
            kmax: Vec::new(),
            pmax: Vec::new(),
            link_down: None,
        }
    }
}

/// Keys that only choose output files.
const OUTPUT: [&str; 8] = [
    "ENABLE_TRACE",
    "TRACE_FILE",
    "TRACE_OUTPUT_FILE",
    "FCT_OUTPUT_FILE",
    "PFC_OUTPUT_FILE",
    "QLEN_MON_FILE",
    "QLEN_MON_START",
    "QLEN_MON_END",
];

/// Keys with a single modelled value.
const FIXED: [(&str, f64); 9] = [
    ("USE_DYNAMIC_PFC_THRESHOLD", 1.0),
    ("ERROR_RATE_PER_LINK", 0.0),
    ("L2_ACK_INTERVAL", 1.0),
    ("L2_BACK_TO_ZERO", 0.0),
    ("GLOBAL_T", 1.0),
    ("MULTI_RATE", 0.0),
    ("SAMPLE_FEEDBACK", 0.0),
    ("RATE_BOUND", 1.0),
    ("PINT_PROB", 1.0),
];

/// Keys of modes that are refused elsewhere, or that nothing modelled reads.
const UNREAD: [&str; 2] = ["PINT_LOG_BASE", "L2_CHUNK_SIZE"];

const READ: [&str; 27] = [
    "ENABLE_QCN",
    "PACKET_PAYLOAD_SIZE",
    "TOPOLOGY_FILE",
    "FLOW_FILE",
    "SIMULATOR_STOP_TIME",
    "CC_MODE",
    "ALPHA_RESUME_INTERVAL",
    "RATE_DECREASE_INTERVAL",
    "CLAMP_TARGET_RATE",
    "RP_TIMER",
    "EWMA_GAIN",
    "FAST_RECOVERY_TIMES",
    "RATE_AI",
    "RATE_HAI",
    "MIN_RATE",
    "DCTCP_RATE_AI",
    "HAS_WIN",
    "VAR_WIN",
    "FAST_REACT",
    "U_TARGET",
    "MI_THRESH",
    "INT_MULTI",
    "ACK_HIGH_PRIO",
    "KMAX_MAP",
    "KMIN_MAP",
    "PMAX_MAP",
    "LINK_DOWN",
];

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// File, line and key of the first value that is wrong or not modelled.
    pub(super) fn parse(text: &str, file: &str) -> Result<Self, String> {
        let mut config = Self::default();
        let mut fast_react = true;
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            let Some(key) = words.next() else { continue };
            let values: Vec<&str> = words.collect();
            let entry = Entry { key, values: &values };
            if key == "FAST_REACT" {
                fast_react = entry.flag().map_err(|what| at(file, index, &what))?;
            } else {
                config.set(&entry).map_err(|what| at(file, index, &what))?;
            }
        }
        for (name, value) in
            [("TOPOLOGY_FILE", &config.topology_file), ("FLOW_FILE", &config.flow_file)]
        {
            if value.is_empty() {
                return Err(format!("{file}: {name} is missing"));
            }
        }
        if config.control == Control::Hpcc && !(fast_react && config.has_window) {
            return Err(format!("{file}: HPCC is modelled with FAST_REACT 1 and HAS_WIN 1 only"));
        }
        Ok(config)
    }

    fn set(&mut self, entry: &Entry<'_>) -> Result<(), String> {
        match entry.key {
            "TOPOLOGY_FILE" => self.topology_file = entry.word()?.into(),
            "FLOW_FILE" => self.flow_file = entry.word()?.into(),
            "CC_MODE" => self.control = entry.control()?,
            "PACKET_PAYLOAD_SIZE" => self.payload = entry.positive()?,
            "SIMULATOR_STOP_TIME" => self.stop_time = seconds(entry.word()?)?,
            "ENABLE_QCN" => self.ecn = entry.flag()?,
            "BUFFER_SIZE" => self.buffer = Bytes(entry.positive()? << 20),
            "HAS_WIN" => self.has_window = entry.flag()?,
            "VAR_WIN" => self.window_follows_rate = entry.flag()?,
            "ACK_HIGH_PRIO" => self.ack_high_priority = entry.flag()?,
            "EWMA_GAIN" => self.gain = entry.number()?,
            "ALPHA_RESUME_INTERVAL" => self.alpha_interval = entry.microseconds()?,
            "RATE_DECREASE_INTERVAL" => self.decrease_interval = entry.microseconds()?,
            "RP_TIMER" => self.increase_interval = entry.microseconds()?,
            "FAST_RECOVERY_TIMES" => self.fast_recovery_steps = entry.whole()? as u32,
            "CLAMP_TARGET_RATE" => self.clamp_target = entry.flag()?,
            "RATE_AI" => self.rate_ai = rate(entry.word()?)?,
            "RATE_HAI" => self.rate_hai = rate(entry.word()?)?,
            "MIN_RATE" => self.min_rate = entry.positive_rate()?,
            "DCTCP_RATE_AI" => self.dctcp_ai = rate(entry.word()?)?,
            "U_TARGET" => self.target_utilisation = entry.number()?,
            "MI_THRESH" => self.max_stage = entry.whole()? as u32,
            "INT_MULTI" => self.int_multi = entry.positive()?,
            "KMAX_MAP" => self.kmax = entry.map(|value| whole(entry.key, value))?,
            "KMIN_MAP" => self.kmin = entry.map(|value| whole(entry.key, value))?,
            "PMAX_MAP" => self.pmax = entry.map(|value| number(entry.key, value))?,
            "LINK_DOWN" => self.link_down = entry.link_down()?,
            key if OUTPUT.contains(&key) || UNREAD.contains(&key) => {}
            key => return entry.fixed(key),
        }
        Ok(())
    }
}

fn at(file: &str, index: usize, what: &str) -> String {
    format!("{file}:{}: {what}", index + 1)
}

struct Entry<'a> {
    key: &'a str,
    values: &'a [&'a str],
}

impl Entry<'_> {
    fn word(&self) -> Result<&str, String> {
        self.values.first().copied().ok_or_else(|| format!("{} has no value", self.key))
    }

    fn whole(&self) -> Result<u64, String> {
        whole(self.key, self.word()?)
    }

    fn positive(&self) -> Result<u64, String> {
        match self.whole()? {
            0 => Err(format!("{} must be more than zero", self.key)),
            value => Ok(value),
        }
    }

    fn positive_rate(&self) -> Result<BitRate, String> {
        match rate(self.word()?)? {
            BitRate(0) => Err(format!("{} must be more than zero", self.key)),
            rate => Ok(rate),
        }
    }

    fn number(&self) -> Result<f64, String> {
        number(self.key, self.word()?)
    }

    fn flag(&self) -> Result<bool, String> {
        Ok(self.whole()? != 0)
    }

    /// Whole microseconds: that simulator drops the fraction.
    fn microseconds(&self) -> Result<Ps, String> {
        let us = self.number()? as u64;
        if us == 0 {
            return Err(format!("{} must be at least one microsecond", self.key));
        }
        Ok(Ps::from_us(us))
    }

    fn control(&self) -> Result<Control, String> {
        match self.word()? {
            "1" => Ok(Control::Dcqcn),
            "3" => Ok(Control::Hpcc),
            "7" => Ok(Control::Timely),
            "8" => Ok(Control::Dctcp),
            other => Err(format!(
                "CC_MODE {other} is not modelled: only 1 (DCQCN), 3 (HPCC), 7 (TIMELY) and 8 \
                 (DCTCP) are"
            )),
        }
    }

    /// Microseconds after 2 s, and the ends of the link; none at time 0.
    fn link_down(&self) -> Result<Option<LinkDown>, String> {
        let number = |value: &&str| whole(self.key, value);
        let values: Vec<u64> = self.values.iter().map(number).collect::<Result<_, _>>()?;
        let [after, a, b] = values[..] else {
            return Err(format!(
                "{} needs a time in microseconds and the numbers of two nodes",
                self.key
            ));
        };
        let end = |number: u64| {
            u32::try_from(number).map_err(|_| format!("{}: there is no node {number}", self.key))
        };
        let at = Ps(after.saturating_mul(1_000_000).saturating_add(2_000_000_000_000));
        let ends = [end(a)?, end(b)?];
        Ok((after > 0).then_some(LinkDown { at, ends }))
    }

    /// `n rate value rate value ...`
    fn map<T>(
        &self,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Vec<(BitRate, T)>, String> {
        let count = self.whole()? as usize;
        let pairs = &self.values[1..];
        if pairs.len() != 2 * count {
            return Err(format!(
                "{} announces {count} pairs but has {} values",
                self.key,
                pairs.len()
            ));
        }
        pairs
            .chunks(2)
            .map(|pair| Ok((BitRate(whole(self.key, pair[0])?), read(pair[1])?)))
            .collect()
    }

    fn fixed(&self, key: &str) -> Result<(), String> {
        let Some(&(_, only)) = FIXED.iter().find(|fixed| fixed.0 == key) else {
            let fixed = FIXED.iter().map(|fixed| fixed.0);
            let known: Vec<&str> =
                READ.into_iter().chain(OUTPUT).chain(fixed).chain(["BUFFER_SIZE"]).collect();
            let help = suggestion(key, &known).filter(|help| help.starts_with("did"));
            let help = help.map_or_else(String::new, |help| format!(": {help}"));
            return Err(format!("unknown key {key}{help}"));
        };
        for value in self.values {
            if number(key, value)? != only {
                return Err(format!("{key} {value} is not modelled: only {only} is"));
            }
        }
        Ok(())
    }
}

fn whole(key: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{key}: expected a whole number, found {text:?}"))
}

fn number(key: &str, text: &str) -> Result<f64, String> {
    let value: f64 =
        text.parse().map_err(|_| format!("{key}: expected a number, found {text:?}"))?;
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(format!("{key}: expected a number that is not negative, found {text:?}"))
    }
}

/// A rate such as `100Gbps`, `50Mb/s` or `25000000000`.
pub(super) fn rate(text: &str) -> Result<BitRate, String> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let factor = match text[end..].trim_end_matches("ps").trim_end_matches("/s") {
        "" | "b" => 1.0,
        "Kb" | "kb" => 1e3,
        "Mb" => 1e6,
        "Gb" => 1e9,
        "Tb" => 1e12,
        _ => return Err(format!("expected a rate such as 100Gbps or 50Mb/s, found {text:?}")),
    };
    let value: f64 = text[..end]
        .parse()
        .map_err(|_| format!("expected a rate such as 100Gbps or 50Mb/s, found {text:?}"))?;
    if value < 0.0 || !value.is_finite() {
        return Err(format!("a rate cannot be negative: {text:?}"));
    }
    Ok(BitRate((value * factor) as u64))
}

/// A time in seconds, truncated to whole nanoseconds of the binary number nearest to the text, as
/// that simulator does.
pub(super) fn seconds(text: &str) -> Result<Ps, String> {
    let value: f64 =
        text.parse().map_err(|_| format!("expected a time in seconds, found {text:?}"))?;
    if !value.is_finite() || !(0.0..1e6).contains(&value) {
        return Err(format!("expected a time in seconds from 0 to 1000000, found {text:?}"));
    }
    // value = mantissa x 2^exponent exactly.
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i32 - 1075;
    let mantissa = u128::from(bits & ((1 << 52) - 1) | u64::from(bits >> 52 != 0) << 52);
    let ns = mantissa * 1_000_000_000;
    let ns =
        if exponent >= 0 { ns << exponent } else { ns.checked_shr(-exponent as u32).unwrap_or(0) };
    Ok(Ps(ns as u64 * 1000))
}
