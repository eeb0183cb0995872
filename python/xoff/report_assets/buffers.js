// Bytes in the buffers of switches: their distribution, and over time.
(function (xoff) {
  "use strict";
  const { el, panel, choice } = xoff.dom;

  const TRACES = { "fullest switch": "most", "mean over switches": "mean" };

  xoff.panels.buffers = function buffers() {
    const section = panel(
      "buffers", "Buffer occupancy",
      "Bytes in data queues of a switch: the distribution over all switches and times, and the course over time."
    );
    let data = null;
    const kinds = choice("Over time", () => data && show(), "fullest switch");
    const cdf = el("div");
    const trace = el("div");
    section.controls.append(kinds.root);
    section.body.classList.add("pair");
    section.body.append(cdf, trace);

    function show() {
      const key = TRACES[kinds.value];
      xoff.chart(cdf, {
        label: "Distribution of the buffer occupancy of a switch",
        x: { label: "Buffer occupancy of a switch (bytes)", format: xoff.format.bytes, tick: xoff.format.bytes },
        y: { label: "Share of time", max: 1.02, format: xoff.format.percent },
        series: data.runs.map((run, look) => (
          { look, label: run.label, stepped: true, x: run.buffer.bytes, y: run.buffer.share }
        )),
      });
      xoff.chart(trace, {
        label: `Buffer occupancy over time, ${kinds.value}`,
        x: { label: "Simulated time (ms)", low: start(data), max: end(data), format: xoff.format.milliseconds },
        y: { label: `Bytes, ${kinds.value}`, format: xoff.format.bytes, tick: xoff.format.bytes },
        series: data.runs.map((run, look) => ({ look, label: run.label, x: run.trace.ms, y: run.trace[key] })),
      });
    }

    return {
      section,
      update(next) {
        data = next;
        kinds.show(Object.keys(TRACES));
        show();
      },
    };
  };

  function start(data) {
    return Math.min(...data.runs.filter((run) => run.trace.ms.length).map((run) => run.trace.ms[0]), Infinity);
  }

  function end(data) {
    return Math.max(...data.runs.map((run) => run.trace.ms[run.trace.ms.length - 1] ?? 0));
  }
})(window.xoff = window.xoff || {});
