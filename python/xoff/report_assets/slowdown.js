// FCT slowdown by flow size.
(function (xoff) {
  "use strict";
  const { el, panel, choice, distinct } = xoff.dom;

  const STATISTICS = { mean: "mean", median: "p50", p95: "p95", p99: "p99", "p99.9": "p999" };

  function running(data) {
    return data.live && data.live.state === "running";
  }

  xoff.panels.slowdown = function slowdown() {
    const section = panel(
      "slowdown", "FCT slowdown by flow size",
      "Each point is one bin of flow sizes. Ideal is 1. A percentile needs ten flows beyond it."
    );
    let data = null;
    const draw = () => data && show();
    const statistic = choice("Statistic", draw, "p99");
    const classes = choice("Class", draw);
    const place = el("div");
    section.controls.append(statistic.root, classes.root);
    section.body.append(place);

    function show() {
      const key = STATISTICS[statistic.value];
      const left = [];
      const series = data.runs.map((run, look) => {
        const own = run.slowdown.find((one) => one.class === classes.value) || { bins: [], unfinished: 0 };
        if (own.unfinished) {
          left.push(`${run.label}: ${xoff.format.count(own.unfinished)} flows `
            + `${running(data) ? "are under way" : "did not finish"}. `
            + "They count as infinitely slow; a bin whose value they determine has no point.");
        }
        const known = own.bins.filter((bin) => bin[key] != null);
        return { look, label: run.label, x: known.map((bin) => bin.bytes), y: known.map((bin) => bin[key]) };
      });
      xoff.chart(place, {
        label: `FCT slowdown by flow size, ${statistic.value}`,
        x: { label: "Flow size (bytes)", log: true, format: xoff.format.bytes, tick: xoff.format.bytes },
        y: { label: `FCT slowdown, ${statistic.value} (ideal = 1)`, log: true },
        series,
        empty: `Too few flows for the ${statistic.value} in any bin of sizes.`,
      });
      section.remark(left);
    }

    return {
      section,
      update(next) {
        data = next;
        statistic.show(Object.keys(STATISTICS));
        classes.show(distinct(data.runs.flatMap((run) => run.slowdown.map((one) => one.class))));
        show();
      },
    };
  };
})(window.xoff = window.xoff || {});
