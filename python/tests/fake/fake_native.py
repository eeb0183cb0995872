"""A fake of the Rust engine with the same interface and no simulation.

Scenario keys: `name`, `scheme`, `seed`, `run.slices` (number of steps), `run.sleep_ms`
(wall time a step), `run.fail` (step that raises), `run.degree`,
`run.capture` (bytes a step), `run.flow_series`, `run.port_samples`, `run.queries` and
`run.requests` (rows a step).
"""

import hashlib
import json
import time

import pyarrow as pa

version = "0.1.0"
DEFAULTS = {
    "name": "fake",
    "scheme": "dctcp",
    "seed": 1,
    "run.slices": 3,
    "run.sleep_ms": 0,
    "run.fail": 0,
    "run.degree": 10,
    "run.capture": 0,
    "run.flow_series": 0,
    "run.port_samples": 0,
    "run.queries": 0,
    "run.requests": 0,
    "run.batches": 0,
}
COLUMNS = (
    ("flow_series", "flow", pa.uint64()),
    ("port_samples", "port", pa.uint16()),
    ("queries", "query", pa.uint64()),
    ("requests", "request", pa.uint64()),
)
OPTIONAL = dict.fromkeys(("queries", "requests"), "add queries")
MOST_THREADS = 4
TAIL = {"bfc": 1.5, "dctcp": 6.0, "hpcc": 3.0}


class ScenarioError(ValueError):
    pass


class RunError(RuntimeError):
    pass


class InvariantError(RunError):
    """An invariant does not hold."""


def _parse(text, file, overrides):
    found = dict(DEFAULTS)
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for number, line in enumerate([*lines, *overrides], 1):
        key, _, value = (part.strip().strip('"') for part in line.partition("="))
        if key not in found:
            raise ScenarioError(f"error: unknown key `{key}`\n --> {file}:{number}\n")
        found[key] = type(found[key])(value)
    return found


def check(text, file, overrides, max_memory=None):
    found = _parse(text, file, overrides)
    return "".join(
        f'{key} = "{value}"\n' if isinstance(value, str) else f"{key} = {value}\n"
        for key, value in found.items()
    )


def backpressure(text, file, overrides, any_link, max_memory=None):
    found = _parse(text, file, overrides)
    if found.get("scheme") != "pfc":
        return None
    return "# Backpressure of PFC" + (", any link\n" if any_link else "\n")


def network(text, file, overrides, max_memory=None):
    found = _parse(text, file, overrides)
    if found["scheme"] == "none":
        return None
    nodes = [{"name": name, "layer": "host"} for name in "01"]
    link = {"rate_bps": 10**11, "delay_ps": 10**6, "speed": "100Gbps, 1us", "faults": []}
    links = [{"ends": [end, 2], **link} for end in (0, 1)]
    nodes.append({"name": "leaf:0", "layer": "leaf"})
    return json.dumps({"name": found["name"], "nodes": nodes, "links": links, "grid": None})


def explain(text, file, overrides, max_memory=None):
    _parse(text, file, overrides)
    return "# Load offered\n", '{"thresholds": {}, "warnings": ["a setting cannot matter"]}'


class Run:
    def __init__(self, text, file, overrides, threads, max_memory=None, delay_seed=None):
        self.threads = min(threads, MOST_THREADS)
        self.threads_note = f"{MOST_THREADS} threads are used" if threads > MOST_THREADS else None
        self.found = _parse(text, file, overrides)
        self.text = check(text, file, overrides)
        self.at = 0
        self.given = 0

    def step(self, wall_ms):
        time.sleep(self.found["run.sleep_ms"] / 1000)
        self.at += 1
        if self.at == self.found["run.fail"]:
            raise RunError("no progress for 1 s: flow 7, queue 3 of port leaf0:2")
        return self.at < self.found["run.slices"]

    def step_once(self):
        return self.step(0)

    def progress(self):
        return {
            "sim_ps": self.at * 10**9,
            "end_ps": self.found["run.slices"] * 10**9,
            "flows_started": 2 * self.at,
            "flows_finished": 2 * self.given,
            "packet_hops": 1000 * self.at,
            "phase": "measure",
            "drain_end_ps": (self.found["run.slices"] + 1) * 10**9,
            "measured_flows": 2 * self.at,
            "missing_flows": 2 * (self.at - self.given),
            "measured_requests": 0,
            "missing_requests": 0,
        }

    def take_tables(self):
        found = []
        if self.given < self.at:
            first, self.given = 2 * self.given, self.at
            found.append(("flows", _flows(list(range(first, 2 * self.at)))))
        for table, column, kind in COLUMNS:
            if rows := self.found[f"run.{table}"]:
                found.append((table, _column(column, rows, kind)))
        if self.at >= self.found["run.slices"]:
            found.append(("ports", _column("port", 2, pa.uint32())))
        return found

    def take_files(self):
        size = self.found["run.capture"]
        return [("trace.pcapng", bytes([self.at]) * size)] if size else []

    def summary(self):
        return json.dumps(summary_of(self.found, self.digest()))

    def effective(self):
        return self.text

    def digest(self):
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


open_run = Run


def _flows(ids):
    n = len(ids)
    return pa.record_batch(
        {
            "flow": pa.array(ids, pa.uint64()),
            "src": pa.array([0] * n, pa.uint32()),
            "dst": pa.array([1] * n, pa.uint32()),
            "size_bytes": pa.array([1000] * n, pa.uint64()),
            "start_ps": pa.array(ids, pa.uint64()),
            "fct_ps": pa.array([2_000_000] * n, pa.uint64()),
            "rx_fct_ps": pa.array([1_900_000] * n, pa.uint64()),
            "ideal_fct_ps": pa.array([1_000_000] * n, pa.uint64()),
            "slowdown": pa.array([2.0] * n, pa.float64()),
            "class": pa.array([0] * n, pa.uint16()),
        }
    )


def _column(name, rows, kind):
    return pa.record_batch({name: pa.array(range(rows), kind)})


def tables():
    return [
        _declared("flows", _flows([])),
        _declared("samples", _column("time_ps", 0, pa.uint64())),
        _declared("samples", _column("iteration", 0, pa.uint32())),
        _declared("ports", _column("port", 0, pa.uint32())),
        *(
            _declared(table, _column(column, 0, kind), OPTIONAL.get(table, f"set run.{table}"))
            for table, column, kind in COLUMNS
        ),
    ]


def _declared(name, empty, optional=None):
    return {"name": name, "optional": optional, "empty": empty}


def group(flows, tail, **more):
    few = flows < 1000
    return {
        "flows": flows,
        "mean": tail / 2,
        "p50": 1.1,
        "p95": tail * 0.8,
        "p99": None if few else tail,
        **more,
    }


def summary_of(found, digest):
    tail = TAIL.get(found["scheme"], 10.0) * (1 + 0.1 * found["seed"])
    bins = [
        group(5000, tail, low_bytes=0, high_bytes=1000),
        group(2000, tail * 2, low_bytes=1000, high_bytes=100_000),
        group(100, tail * 3, low_bytes=100_000, high_bytes=1_000_000),
    ]
    ranges = {
        "short": group(5000, tail),
        "medium": group(2000, 2 * tail),
        "long": group(100, 3 * tail),
    }
    return {
        "name": found["name"],
        "scheme": found["scheme"],
        "seed": found["seed"],
        "digest": digest,
        "flows_started": 2,
        "flows_finished": 2,
        "classes": [
            {"class": "incast", "flows": 0, "finished": 0, "unfinished": 0, "bins": []},
            {
                "class": "normal",
                "flows": 7100,
                "finished": 7100,
                "unfinished": 0,
                "bins": bins,
                "ranges": ranges,
                "all": group(7100, tail),
            },
        ],
        "buffer": {"p50_bytes": 1e5, "p99_bytes": 2e6, "cdf": [[0, 0.5], [2e6, 0.99], [3e6, 1]]},
        "active_flows": {"cdf": [[0, 0.3], [10, 0.9], [40, 1.0]]},
        "pfc": {
            "pause_frames": 0,
            "pause_time_share": 0.01,
            "pause_time_share_by_link": {"host-leaf": 0.01, "leaf-spine": 0.0},
        },
        "bfc": None,
        "drops_packets": 0,
        "dropped": {"packets": 0},
        "utilisation": {"core": 0.6, "hosts": 0.3},
        "load": {"nominal": 0.6, "payload": 0.59, "wire": 0.65},
        "monitors": [{"name": "long", "utilisation": 0.373, "delay_p99_ps": 1_200_000}],
        "frame": {"payload_bytes": 1000, "overhead_bytes": 48},
        "packet_hops": 3000,
        "sim_ps": 3 * 10**9,
        "warmup_ps": 10**9,
        "measured_ps": 2 * 10**9,
        "warnings": ["realised load is 7 % below nominal"],
    }


def schema():
    return "{}"


def presets():
    return [("bfc", "Backpressure Flow Control"), ("dctcp", "DCTCP")]


def preset_text(name):
    return {"bfc": '# Backpressure Flow Control\n[switch]\nhop = "bfc"\n'}.get(name)


def size_table(name):
    if name != "google":
        raise ValueError(f'no size table is called "{name}"')
    return [(0.0, 0.0), (1000.0, 0.5), (9000.0, 1.0)]


def bench_cases():
    return ["bfc-google-128", "dctcp-hadoop-128"]


def stress_shapes():
    return [("queue", "bytes in a queue"), ("rtt", "round-trip time")], [1, 10, 100]


def bench_alloc(nodes, flows, blocks, threads, iterations):
    mean = 10.0 * nodes / threads
    return threads, mean, 0.9 * mean, 5 * mean, nodes + blocks


def bench_control(endpoints, flowlets, events_per_second, iteration, polls, seconds):
    counts = ("events_per_second", "received_per_second", "sent_per_second", "rates_per_second")
    times = ("latency_p50_us", "latency_p99_us", "latency_p999_us")
    found = dict.fromkeys((*counts, *times), 1234.5)
    found |= {"endpoints": endpoints, "flowlets": flowlets, "resends": 0, "cpu_share": 0.25}
    found |= {"intended_events_per_second": events_per_second, "events_per_cpu_second": 4000}
    return json.dumps(found)


class AgentError(RuntimeError):
    pass


def run_agent(config):
    raise AgentError(f"{config}: No such file or directory (os error 2)")


def clean_up_agents():
    return []


def agent_planes():
    return ["sockets"]


def allocator(path, only_check):
    if not only_check:
        raise KeyboardInterrupt


def bench(case, threads, estimate):
    if case not in bench_cases():
        raise ValueError(f"no bench case `{case}`")
    found = {"case": case, "packet_hops": 10, "flows": 2, "build_s": 0.5, "digest": "00"}
    return json.dumps({**found, "wall_s": 1.0, "ns_per_packet_hop": 1e8, "threads": threads})
