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
    HpccPint,
}

impl Control {
    pub(super) fn name(self) -> &'static str {
        match self {
            Control::Dcqcn => "dcqcn",
            Control::Hpcc => "hpcc",
            Control::Timely => "timely",
            Control::Dctcp => "dctcp",
            Control::HpccPint => "hpcc-pint",
        }
    }
}

/// The values of a configuration. The defaults are that simulator's own, except those with which
/// it does nothing: without `L2_ACK_INTERVAL` no flow ends, without rates it stops at once, and
/// without `RP_TIMER` DCQCN never gets past the first mark.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) topology_file: String,
    pub(super) flow_file: String,
    pub(super) fct_file: String,
    pub(super) pfc_file: String,
    /// No file if empty.
    pub(super) queue_file: String,
    pub(super) queues_from: Ps,
    pub(super) queues_until: Ps,
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
    /// Thresholds by rate. The last one of a rate counts.
    pub(super) kmin: Vec<(BitRate, u64)>,
    pub(super) kmax: Vec<(BitRate, u64)>,
    pub(super) pmax: Vec<(BitRate, f64)>,
    pub(super) link_down: Option<LinkDown>,
    pub(super) ack_interval: u64,
    pub(super) chunk: u64,
    pub(super) back_to_zero: bool,
    pub(super) global_t: bool,
    pub(super) rate_bound: bool,
    pub(super) multi_rate: bool,
    pub(super) fast_react: bool,
    pub(super) sample_feedback: bool,
    pub(super) error_rate: f64,
    /// Whether that simulator writes a file of packets, and its name.
    pub(super) traces: bool,
    pub(super) trace_file: String,
    pub(super) pint_base: f64,
    pub(super) pint_share: f64,
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
            fct_file: "fct.txt".into(),
            pfc_file: "pfc.txt".into(),
            queue_file: String::new(),
            queues_from: Ps(2_000_000_000_000),
            queues_until: Ps(2_100_000_000_000),
            control: Control::Dcqcn,
            payload: 1000,
            stop_time: Ps(3_010_000_000_000),
            ecn: true,
            buffer: Bytes(16 << 20),
            has_window: true,
            window_follows_rate: false,
            ack_high_priority: false,
            // Its `1 / 16` is a division of whole numbers.
            gain: 0.0,
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
            ack_interval: 1,
            chunk: 0,
            back_to_zero: false,
            global_t: true,
            rate_bound: true,
            multi_rate: true,
            fast_react: true,
            sample_feedback: false,
            error_rate: 0.0,
            traces: true,
            trace_file: String::new(),
            pint_base: 1.05,
            pint_share: 1.0,
        }
    }
}

/// Keys that only choose output files, and keys that nothing modelled uses.
const UNREAD: [&str; 4] = ["TRACE_FILE", "USE_DYNAMIC_PFC_THRESHOLD", "DATA_RATE", "LINK_DELAY"];

const READ: [&str; 46] = [
    "ENABLE_TRACE",
    "TRACE_OUTPUT_FILE",
    "PINT_LOG_BASE",
    "PINT_PROB",
    "FCT_OUTPUT_FILE",
    "PFC_OUTPUT_FILE",
    "QLEN_MON_FILE",
    "QLEN_MON_START",
    "QLEN_MON_END",
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
    "BUFFER_SIZE",
    "L2_ACK_INTERVAL",
    "L2_CHUNK_SIZE",
    "L2_BACK_TO_ZERO",
    "GLOBAL_T",
    "RATE_BOUND",
    "MULTI_RATE",
    "SAMPLE_FEEDBACK",
    "ERROR_RATE_PER_LINK",
    "PAUSE_TIME",
];

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// File, line and key of the first value that is wrong or not modelled.
    pub(super) fn parse(text: &str, file: &str) -> Result<Self, String> {
        let mut config = Self::default();
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            let Some(key) = words.next() else { continue };
            let values: Vec<&str> = words.collect();
            let entry = Entry { key, values: &values };
            config.set(&entry).map_err(|what| at(file, index, &what))?;
        }
        config.check().map_err(|what| format!("{file}: {what}"))?;
        Ok(config)
    }

    /// Checks the values together.
    fn check(&self) -> Result<(), String> {
        for (name, value) in
            [("TOPOLOGY_FILE", &self.topology_file), ("FLOW_FILE", &self.flow_file)]
        {
            if value.is_empty() {
                return Err(format!("{name} is missing"));
            }
        }
        if self.control == Control::Hpcc && !self.has_window {
            return Err(
                "CC_MODE 3 needs HAS_WIN 1: that simulator divides queues by the window".into()
            );
        }
        let bits = xoff_net::pint::Code::bits(self.pint_base);
        let fits = self.pint_base > 1.0 && (1.0..=16.0).contains(&bits);
        if self.control == Control::HpccPint && !fits {
            return Err(format!(
                "PINT_LOG_BASE {}: expected a base of at least 1.00020 and below 262144",
                self.pint_base
            ));
        }
        if self.chunk == 0 && (self.ack_interval > 1 || self.back_to_zero) {
            return Err("L2_ACK_INTERVAL above 1 and L2_BACK_TO_ZERO need a L2_CHUNK_SIZE: that \
                        simulator divides by it"
                .into());
        }
        Ok(())
    }

    fn set(&mut self, entry: &Entry<'_>) -> Result<(), String> {
        match entry.key {
            "TOPOLOGY_FILE" => self.topology_file = entry.word()?.into(),
            "FLOW_FILE" => self.flow_file = entry.word()?.into(),
            "CC_MODE" => self.control = entry.control()?,
            "PACKET_PAYLOAD_SIZE" => self.payload = entry.payload()?,
            "SIMULATOR_STOP_TIME" => self.stop_time = seconds(entry.word()?)?,
            "ENABLE_QCN" => self.ecn = entry.flag()?,
            "BUFFER_SIZE" => self.buffer = entry.mebibytes()?,
            "HAS_WIN" => self.has_window = entry.flag()?,
            "VAR_WIN" => self.window_follows_rate = entry.flag()?,
            "ACK_HIGH_PRIO" => self.ack_high_priority = entry.flag()?,
            "EWMA_GAIN" => self.gain = entry.number()?,
            "ALPHA_RESUME_INTERVAL" => self.alpha_interval = entry.microseconds()?,
            "RATE_DECREASE_INTERVAL" => self.decrease_interval = entry.microseconds()?,
            "RP_TIMER" => self.increase_interval = entry.microseconds()?,
            "FAST_RECOVERY_TIMES" => self.fast_recovery_steps = entry.word32()?,
            "CLAMP_TARGET_RATE" => self.clamp_target = entry.flag()?,
            "RATE_AI" => self.rate_ai = rate(entry.word()?)?,
            "RATE_HAI" => self.rate_hai = rate(entry.word()?)?,
            "MIN_RATE" => self.min_rate = entry.positive_rate()?,
            "DCTCP_RATE_AI" => self.dctcp_ai = rate(entry.word()?)?,
            "U_TARGET" => self.target_utilisation = entry.number()?,
            "MI_THRESH" => self.max_stage = entry.word32()?,
            "INT_MULTI" => self.int_multi = entry.int_multi()?,
            // Several lines of a map add up.
            "KMAX_MAP" => self.kmax.extend(entry.map(|value| kilobytes(entry.key, value))?),
            "KMIN_MAP" => self.kmin.extend(entry.map(|value| kilobytes(entry.key, value))?),
            "PMAX_MAP" => self.pmax.extend(entry.map(|value| number(entry.key, value))?),
            "LINK_DOWN" => self.link_down = entry.link_down()?,
            _ => return self.set_more(entry),
        }
        Ok(())
    }

    fn set_more(&mut self, entry: &Entry<'_>) -> Result<(), String> {
        match entry.key {
            "ENABLE_TRACE" => self.traces = entry.flag()?,
            "TRACE_OUTPUT_FILE" => self.trace_file = entry.word()?.into(),
            "FCT_OUTPUT_FILE" => self.fct_file = entry.word()?.into(),
            "PFC_OUTPUT_FILE" => self.pfc_file = entry.word()?.into(),
            "QLEN_MON_FILE" => self.queue_file = entry.word()?.into(),
            "QLEN_MON_START" => self.queues_from = entry.nanoseconds()?,
            "QLEN_MON_END" => self.queues_until = entry.nanoseconds()?,
            "L2_ACK_INTERVAL" => self.ack_interval = entry.ack_interval()?,
            "L2_CHUNK_SIZE" => self.chunk = entry.word32()?.into(),
            "L2_BACK_TO_ZERO" => self.back_to_zero = entry.flag()?,
            "GLOBAL_T" => self.global_t = entry.whole()? == 1,
            "RATE_BOUND" => self.rate_bound = entry.flag()?,
            "MULTI_RATE" => self.multi_rate = entry.flag()?,
            "FAST_REACT" => self.fast_react = entry.flag()?,
            "SAMPLE_FEEDBACK" => self.sample_feedback = entry.flag()?,
            "ERROR_RATE_PER_LINK" => self.error_rate = entry.share()?,
            "PINT_LOG_BASE" => self.pint_base = entry.number()?,
            "PINT_PROB" => self.pint_share = entry.number()?,
            "PAUSE_TIME" => entry.pause_time()?,
            key if UNREAD.contains(&key) => {}
            _ => return Err(entry.unknown()),
        }
        Ok(())
    }
}

/// True for a key of that simulator.
pub(super) fn is_key(word: &str) -> bool {
    READ.contains(&word) || UNREAD.contains(&word)
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

    /// A number of that simulator's 32 bits.
    fn word32(&self) -> Result<u32, String> {
        let value = self.whole()?;
        u32::try_from(value)
            .map_err(|_| format!("{} {value} is too large: at most {}", self.key, u32::MAX))
    }

    fn mebibytes(&self) -> Result<Bytes, String> {
        match self.positive()? {
            size @ 1..=4095 => Ok(Bytes(size << 20)),
            _ => Err(format!("{} must be below 4096: that simulator counts 32 bits", self.key)),
        }
    }

    fn payload(&self) -> Result<u64, String> {
        match self.positive()? {
            // A frame's length has 16 bits, headers included.
            size @ 1..=65_000 => Ok(size),
            size => Err(format!("{} {size}: at most 65000 bytes fit into a frame", self.key)),
        }
    }

    fn int_multi(&self) -> Result<u64, String> {
        match self.positive()? {
            multi @ 1..=1_000_000 => Ok(multi),
            multi => Err(format!("{} {multi} is too large: at most 1000000", self.key)),
        }
    }

    fn ack_interval(&self) -> Result<u64, String> {
        match self.word32()? {
            0 => Err(format!(
                "{} 0: senders of that simulator then ignore acknowledgements, and no flow ends",
                self.key
            )),
            value => Ok(value.into()),
        }
    }

    fn share(&self) -> Result<f64, String> {
        match self.number()? {
            share if share <= 1.0 => Ok(share),
            share => Err(format!("{} {share}: expected a share from 0 to 1", self.key)),
        }
    }

    /// A pause lasts until its resume. Its time only counts where it is 0.
    fn pause_time(&self) -> Result<(), String> {
        if self.number()? < 1.0 {
            return Err(format!(
                "{} below 1: pause frames of that simulator then resume, and nothing is lossless",
                self.key
            ));
        }
        Ok(())
    }

    fn nanoseconds(&self) -> Result<Ps, String> {
        match self.whole()?.checked_mul(1000) {
            Some(time) => Ok(Ps(time)),
            None => Err(format!("{} {} is too large", self.key, self.word()?)),
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
        if !(1..=1_000_000_000).contains(&us) {
            return Err(format!("{} must be 1 to 1000000000 microseconds", self.key));
        }
        Ok(Ps::from_us(us))
    }

    fn control(&self) -> Result<Control, String> {
        match self.word()? {
            "1" => Ok(Control::Dcqcn),
            "3" => Ok(Control::Hpcc),
            "7" => Ok(Control::Timely),
            "8" => Ok(Control::Dctcp),
            "10" => Ok(Control::HpccPint),
            other => Err(format!(
                "CC_MODE {other} is not modelled: only 1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP) \
                 and 10 (HPCC-PINT) are"
            )),
        }
    }

    /// Microseconds after 2 s, and the ends of the link; none at time 0.
    fn link_down(&self) -> Result<Option<LinkDown>, String> {
        let number = |value: &&str| whole(self.key, value);
        let values = self.values.iter().take(3).map(number);
        let values: Vec<u64> = values.collect::<Result<_, _>>()?;
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
        let values = &self.values[1..];
        // What follows is a comment.
        let Some(pairs) = count.checked_mul(2).and_then(|count| values.get(..count)) else {
            return Err(format!(
                "{} announces {count} pairs but has {} values",
                self.key,
                values.len()
            ));
        };
        pairs
            .chunks(2)
            .map(|pair| Ok((BitRate(whole(self.key, pair[0])?), read(pair[1])?)))
            .collect()
    }

    fn unknown(&self) -> String {
        let known: Vec<&str> = READ.into_iter().chain(UNREAD).collect();
        let help = suggestion(self.key, &known).filter(|help| help.starts_with("did"));
        let help = help.map_or_else(String::new, |help| format!(": {help}"));
        format!("unknown key {}{help}", self.key)
    }
}

/// A threshold in kB, whose bytes that simulator counts in 32 bits.
fn kilobytes(key: &str, text: &str) -> Result<u64, String> {
    match whole(key, text)? {
        value @ 0..=4_294_967 => Ok(value),
        value => Err(format!("{key} {value} is too large: at most 4294967 kB")),
    }
}

fn whole(key: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| match text.bytes().all(|digit| digit.is_ascii_digit()) {
        true if !text.is_empty() => format!("{key} {text} is too large"),
        _ => format!("{key}: expected a whole number, found {text:?}"),
    })
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
    let bits = value.abs().to_bits();
    let exponent = (bits >> 52) as i32 - 1075;
    let mantissa = u128::from(bits & ((1 << 52) - 1) | u64::from(bits >> 52 != 0) << 52);
    let ns = mantissa * 1_000_000_000;
    let ns =
        if exponent >= 0 { ns << exponent } else { ns.checked_shr(-exponent as u32).unwrap_or(0) };
    Ok(Ps(ns as u64 * 1000))
}
