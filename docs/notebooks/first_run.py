# %% [markdown]
# # A first run
#
# Twelve hosts send to one host at the same time. How long do their flows take, and how long is the
# queue? The run takes a fraction of a second.

# %%
import xoff

incast = xoff.Scenario(
    name="incast",
    scheme="dctcp",
    network={"topology": "star"},
    star={"hosts": 16},
    run={"warmup": "200us", "measure": "2ms", "monitor": 0},
    traffic=[{"kind": "incast", "victims": 0, "degree": 12, "bytes": "1200KB", "period": "200us"}],
)
incast

# %% [markdown]
# Editors complete sections, settings and names of schemes. A scenario never changes; `with_`
# returns another one. A setting may be named by its last part where the scenario has only one
# place for it.

# %%
longer = incast.with_(measure="4ms", degree=14)
longer == incast, longer.tables["traffic"]

# %% [markdown]
# `check` validates a scenario and says what follows from its settings.

# %%
incast.check().derived

# %% [markdown]
# `run` simulates it. The result shows the summary that `xoff run` prints.

# %%
result = incast.run()
result

# %% [markdown]
# Tables are Arrow tables, which other libraries take as they are:
# `polars.from_arrow(result.flows)`, `result.flows.to_pandas()`, or with `flows = result.flows`,
# `duckdb.sql("select avg(slowdown) from flows")`.

# %%
result.flows.select(["src", "class", "size_bytes", "slowdown"]).slice(0, 2).to_pylist()

# %% [markdown]
# `result.summary` has types: editors complete its keys.

# %%
f"{result.summary['buffer']['p99_bytes']} bytes in the switch, at the 99th percentile of time"

# %% [markdown]
# Plots return Matplotlib axes, and take `ax=` to draw into a figure of your own.

# %%
from xoff import plots

ax = plots.buffer_cdf({"DCTCP": result, "BFC": incast.with_(scheme="bfc").run()})
ax.set_title("Buffer occupancy during incasts")
