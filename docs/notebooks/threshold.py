# %% [markdown]
# # Find a threshold
#
# At which load does the 99th percentile of slowdowns pass 2? A sweep runs every combination of
# settings on all cores. A run is found by its content, so a sweep that was stopped or extended
# runs only what is new.

# %%
import xoff

one_switch = xoff.Scenario(
    name="one-switch",
    network={"topology": "star"},
    star={"hosts": 8},
    run={"warmup": "100us", "measure": "400us"},
    traffic=[{"kind": "open-loop", "load_on": "hosts"}],
)
swept = one_switch.sweep(
    {"scheme": ["dctcp", "bfc"], "load": [0.3, 0.6, 0.9]},
    measures={"p99": {"statistic": "p99", "level": 2}, "buffer p99": "buffer.p99_bytes"},
)
swept

# %% [markdown]
# A measure with a `level` says where it passes the level, with a 95 % interval of that place.
# Numbers have 95 % intervals in parentheses, from batches of the measured time. `seeds=5` narrows
# intervals; `levels={"p99": 2}` asks for a level without a dict.

# %%
ax = swept.plot("p99")
ax.set_title("One switch, Google sizes")

# %%
swept.table.select(["scheme", "load", "p99", "p99_low", "p99_high"]).to_pylist()
