"""Reference simulators' transports: the preset of each, and its parameters as settings."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xoff.errors import RunError

Settings = dict[str, str]
"""Settings by key, such as `star.hosts`, as TOML values."""


MOST = 1e18
"""Numbers are below this."""


class Parameters:
    """Numbers of a case's parameters."""

    def __init__(self, found: dict[str, Any], file: Path) -> None:
        self.found, self.file = found, file

    def inner(self, name: str) -> Parameters:
        """Return the parameters of an object within these."""
        found = self.found.get(name)
        if not isinstance(found, dict):
            raise RunError(f"{self.file}: {name} is missing, or not an object")
        return Parameters(found, self.file)

    def real(self, name: str) -> float:
        """Return a number that is not negative; also one written as a fraction such as 1/16."""
        value = self.found.get(name)
        try:
            above, _, below = str(value).partition("/")
            number = float(above) / float(below or 1)
        except (ValueError, ZeroDivisionError):
            number = -1.0
        if isinstance(value, bool) or not 0 <= number < MOST:
            raise RunError(f"{self.file}: {name} must be a number, found {value!r}")
        return number

    def number(self, *names: str) -> int:
        """Return the first of these parameters that is present, a whole number."""
        for name in names:
            value = self.found.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
                return value
            if value is not None:
                raise RunError(f"{self.file}: {name} must be a whole number, found {value!r}")
        raise RunError(f"{self.file}: {' or '.join(names)} is missing")

    def flag(self, name: str, default: bool) -> bool:
        """Return a parameter that is true or false."""
        value = self.found.get(name, default)
        if not isinstance(value, bool):
            raise RunError(f"{self.file}: {name} must be true or false, found {value!r}")
        return value

    def refuse_others(self, modelled: dict[str, Any]) -> None:
        """Refuse parameters with other values than the preset has."""
        for name, value in modelled.items():
            found = self.found.get(name, value)
            if type(found) is not type(value) or found != value:
                raise RunError(
                    f"{self.file}: {name} = {found!r} is not modelled: only {value!r} is"
                )


def _star(found: Parameters, header: int) -> Settings:
    """Hosts around one switch; the receiver, host 0, may have a slower link."""
    payload = found.number("mss_bytes", "payload_bytes")
    ack = found.number("wire_bytes_pure_ack")
    return {
        "network.topology": '"star"',
        "star.hosts": str(found.number("hosts")),
        "star.rate": f'"{found.number("host_link_bps")}bps"',
        "star.first_rate": f'"{found.number("receiver_link_bps")}bps"',
        "star.delay": f'"{found.number("link_delay_ps")}ps"',
        "frame.payload": f'"{payload}B"',
        "frame.header": f'"{header}B"',
        "frame.ack": f'"{ack}B"',
        "tcp.min_rto": f'"{found.number("min_rto_ps")}ps"',
    }


SYN_BYTES = 52
"""A SYN of ns-3 on the wire: an acknowledgement with 10 B of options (window scale, SACK)."""


NS3_HAS = {
    "delayed_ack_count": 1,
    "limited_transmit": True,
    "loss_recovery": "TcpPrrRecovery",
    "receiver_host": 0,
    "sack": True,
    "switches": 1,
}
"""What the presets of ns-3 have."""


def _ns3(found: Parameters) -> Settings:
    """ns-3: a device's queue counts packets, without the one in service.

    Timestamps only lengthen the headers: without them too, each acknowledgement measures a round
    trip.
    """
    found.refuse_others(NS3_HAS)
    header = found.number("header_bytes_data")
    full = header + found.number("mss_bytes")
    marks = found.found.get("ecn_threshold_pkts") is not None
    waiting = found.number("switch_queue_pkts") + marks
    serialisation = 2 * SYN_BYTES * 8 * 10**12
    links = ("host_link_bps", "receiver_link_bps")
    handshake = 4 * found.number("link_delay_ps")
    handshake += sum(serialisation // max(1, found.number(link)) for link in links)
    settings = _star(found, header) | {
        "buffer.size": f'"{waiting * full}B"',
        "tcp.initial_window_packets": str(found.number("initial_cwnd_segments")),
        "tcp.initial_rto": f'"{found.number("min_rto_ps")}ps"',
        "tcp.max_rto": '"60s"',
        "tcp.duplicate_acks": str(found.number("dupack_threshold")),
        "network.instants": '"as-set"',
        "tcp.handshake_rtt": f'"{handshake}ps"',
    }
    threshold = found.found.get("initial_ssthresh")
    if threshold is not None and not str(threshold).startswith("unlimited"):
        settings["tcp.initial_ssthresh"] = f'"{found.number("initial_ssthresh")}B"'
    if marks:
        # One packet waits in the device's queue, below the discipline that marks.
        threshold = f'"{(found.number("ecn_threshold_pkts") + 1) * full}B"'
        settings |= {"ecn.kmin": threshold, "ecn.kmax": threshold}
    return settings


def _ns3_cubic(found: Parameters) -> Settings:
    hystart = str(found.flag("hystart", default=True)).lower()
    return _ns3(found) | {"ns3_cubic.hystart": hystart}


def _ns2(found: Parameters) -> Settings:
    """ns-2: a queue's limit counts the packet in service."""
    waiting = found.number("switch_queue_limit") - 1
    return _star(found, found.number("header_bytes_data")) | {
        "buffer.size": f'"{waiting * found.number("wire_bytes_data")}B"',
        "tcp.initial_window_packets": str(found.number("initial_cwnd_pkts")),
        "tcp.initial_rto": f'"{found.number("initial_rto_ps")}ps"',
        "tcp.max_rto": '"60s"',
        "tcp.duplicate_acks": str(found.number("dupack_threshold")),
        "network.instants": '"as-set"',
    }


def _ns2_xcp(found: Parameters) -> Settings:
    """XCP: the first window is that of its own section, and its timers have a phase."""
    settings = _ns2(found)
    settings["xcp.initial_window_packets"] = settings.pop("tcp.initial_window_packets")
    xcp = found.inner("xcp")
    idle_us = xcp.real("initial_interval_s") * 1e6
    tick_ps = round(found.real("tcp_tick_s") * 1e12)
    return settings | {
        "xcp.alpha": repr(xcp.real("alpha")),
        "xcp.beta": repr(xcp.real("beta")),
        "xcp.gamma": repr(xcp.real("gamma")),
        "xcp.rtt_tick": f'"{tick_ps}ps"',
        "xcp.first_interval_end": f'"{_first_interval_end(found.file, idle_us)}ps"',
    }


def _first_interval_end(parameters: Path, idle_us: float) -> int:
    """Return the first end of a control interval after time zero (ps), from `intervals.csv`."""
    file = parameters.with_name("intervals.csv")
    try:
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
        ends = [float(row["t_us_after_t0"]) for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, TypeError, ValueError) as error:
        raise RunError(f"cannot read the ends of intervals from {file}: {error}") from None
    if not ends:
        raise RunError(f"{file} has no interval")
    # After the last end, intervals without data follow one another.
    later = [end for end in ends if end >= 0] or [max(ends) + idle_us]
    return round(later[0] * 1e6)


def _leaf_spine(found: Parameters) -> Settings:
    """htsim's network: all links equal."""
    rate, delay = found.number("link_bps"), found.number("link_delay_ps")
    model = found.inner("model")
    payload = model.number("payload_bytes")
    return {
        "network.topology": '"leaf-spine"',
        "network.instants": '"as-set"',
        "leaf_spine.leaves": str(found.number("leaves")),
        "leaf_spine.spines": str(found.number("spines")),
        "leaf_spine.hosts_per_leaf": str(found.number("hosts_per_leaf")),
        "leaf_spine.host_rate": f'"{rate}bps"',
        "leaf_spine.spine_rate": f'"{rate}bps"',
        "leaf_spine.host_delay": f'"{delay}ps"',
        "leaf_spine.spine_delay": f'"{delay}ps"',
        "frame.payload": f'"{payload}B"',
        "frame.header": f'"{model.number("data_wire_bytes") - payload}B"',
        "frame.ack": f'"{model.number("ack_wire_bytes", "control_wire_bytes")}B"',
        "buffer.size": f'"{model.number("queue_limit_bytes", "data_queue_limit_bytes")}B"',
    }


def _htsim_tcp(found: Parameters) -> Settings:
    model = found.inner("model")
    threshold = model.number("initial_ssthresh_packets") * model.number("payload_bytes")
    settings = {
        "tcp.initial_window_packets": str(model.number("initial_cwnd_packets")),
        "tcp.initial_ssthresh": f'"{threshold}B"',
        "tcp.min_rto": f'"{model.number("min_rto_ps")}ps"',
    }
    if "initial_rto_ps" in model.found:
        settings["tcp.initial_rto"] = f'"{model.number("initial_rto_ps")}ps"'
        settings["tcp.max_rto"] = '"60s"'
    if "rto_scan_ps" in model.found:
        settings["tcp.timeout_scan"] = f'"{model.number("rto_scan_ps")}ps"'
    return _leaf_spine(found) | settings


def _htsim_dctcp(found: Parameters) -> Settings:
    model = found.inner("model")
    threshold = f'"{model.number("ecn_threshold_bytes")}B"'
    return _htsim_tcp(found) | {
        "ecn.kmin": threshold,
        "ecn.kmax": threshold,
        "dctcp_htsim.gain": repr(model.real("g")),
    }


def _htsim_swift(found: Parameters) -> Settings:
    model = found.inner("model")
    # Half of the base target is the base RTT, as in the preset.
    half = model.number("base_target_ps") // 2
    rto = max(model.number("min_rto_ps"), model.number("rto_scan_ps"))
    names = ("ai", "beta", "max_mdf", "fs_min_cwnd", "fs_max_cwnd")
    return (
        _leaf_spine(found)
        | {f"swift.{name}": repr(model.real(name)) for name in names}
        | {
            "transport.base_rtt": f'"{half}ps"',
            "swift.queueing": f'"{half}ps"',
            "swift.fs_range": repr(model.real("fs_range_ps") / max(1, half)),
            "swift.initial_cwnd": repr(model.real("initial_cwnd_packets")),
            "tcp.min_rto": f'"{rto}ps"',
            "tcp.initial_rto": f'"{rto}ps"',
        }
    )


def _htsim_ndp(found: Parameters) -> Settings:
    model = found.inner("model")
    window = model.number("initial_window_packets") * model.number("payload_bytes")
    wire_ps = model.number("data_wire_bytes") * 8 * 10**12 / max(1, found.number("link_bps"))
    return _leaf_spine(found) | {
        "trim.header_queue": f'"{model.number("header_queue_limit_bytes")}B"',
        "trim.header_bytes": f'"{model.number("control_wire_bytes")}B"',
        "ndp.initial_window": f'"{window}B"',
        "ndp.pull_rate": repr(round(wire_ps / max(1, model.number("pull_interval_ps")), 6)),
    }


PREAMBLE_AND_GAP = 38
"""Bytes that htsim's EQDS adds to a packet (with its Ethernet header) for the time of a pull."""


def _htsim_eqds(found: Parameters) -> Settings:
    model = found.inner("model")
    pull_bytes = model.number("data_wire_bytes") + PREAMBLE_AND_GAP
    pull_ps = pull_bytes * 8 * 10**12 / max(1, found.number("link_bps"))
    # Half a picosecond more, since the product is truncated.
    spacing = (model.number("pull_interval_ps") + 0.5) / max(1, pull_ps)
    return _leaf_spine(found) | {
        "trim.header_queue": f'"{model.number("header_queue_limit_bytes")}B"',
        "trim.header_bytes": f'"{model.number("control_wire_bytes")}B"',
        "transport.timeout": f'"{model.number("min_rto_ps")}ps"',
        "eqds.window": f'"{model.number("speculative_window_bytes")}B"',
        "eqds.pull_credit": f'"{model.number("credit_per_pull_bytes")}B"',
        "eqds.pull_bytes": f'"{pull_bytes}B"',
        "eqds.pull_spacing": repr(round(spacing, 9)),
    }


FORMS: dict[str, dict[str, tuple[str, Callable[[Parameters], Settings]]]] = {
    "ns-3": {
        "TcpNewReno": ("ns3-newreno", _ns3),
        "TcpCubic": ("ns3-cubic", _ns3_cubic),
        "TcpDctcp": ("ns3-dctcp", _ns3),
    },
    "ns-2": {
        "Agent/TCP/Newreno": ("ns2-newreno", _ns2),
        "Agent/TCP/Sack1": ("ns2-sack1", _ns2),
        "Agent/TCP/Reno/XCP": ("ns2-xcp", _ns2_xcp),
    },
    "htsim": {
        "ndp": ("htsim-ndp", _htsim_ndp),
        "eqds": ("htsim-eqds", _htsim_eqds),
        "swift": ("htsim-swift", _htsim_swift),
        "dctcp": ("htsim-dctcp", _htsim_dctcp),
        "tcp": ("htsim-tcp", _htsim_tcp),
    },
}
"""The preset and the settings of each transport, by simulator."""


def settings_of(simulator: str, transport: str, found: Parameters) -> Settings:
    """Return the settings of a case of a transport, with its preset as `scheme`.

    A transport may be a name with parameters of it in digits, such as `ndp9000`. Raises `RunError`
    if it is not known, or a parameter is missing or wrong.
    """
    for name, transports in FORMS.items():
        if name in simulator:
            form = transports.get(transport) or transports.get(transport.rstrip("0123456789"))
            if form is not None:
                preset, settings = form
                return {"scheme": json.dumps(preset)} | settings(found)
            known = ", ".join(transports)
            raise RunError(
                f"{found.file}: transport {transport!r} of {name} has no preset: known are {known}"
            )
    raise RunError(
        f"{found.file}: simulator {simulator!r} is not known: known are {', '.join(FORMS)}"
    )
