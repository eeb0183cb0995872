# %% [markdown]
# # Two schemes with intervals
#
# Does BFC keep flows faster than DCTCP on a small loaded fabric? One seed is one draw of the
# traffic, so each scheme runs with three.

# %%
import xoff

base = xoff.scenario(
    "dctcp",
    leaf_spine={"leaves": 2, "spines": 2, "hosts_per_leaf": 4},
    run={"warmup": "100us", "measure": "500us", "batches": 20},
    load=0.7,
)
runs = [
    base.with_(scheme=scheme, seed=seed).run() for scheme in ("dctcp", "bfc") for seed in (1, 2, 3)
]

# %% [markdown]
# `compare` puts runs that differ only in their seed together. Numbers are over all seeds, with 95
# % intervals in parentheses: from batches of the measured time (`run.batches`), or else from the
# spread of the seeds. Below them are the settings that differ: two presets differ in more than
# their names.

# %%
measures = {
    "mean": {"statistic": "mean"},
    "p99": {"statistic": "p99"},
    "p99 of short flows": {"statistic": "p99", "range": "short"},
}
compared = xoff.compare(runs, measures)
compared

# %%
compared.plot("p95")

# %% [markdown]
# `compared.table` and `compared.differences` are Arrow tables.

# %%
compared.table.select(["run", "p99", "p99_low", "p99_high"]).to_pylist()
