// Rates of single flows over time.
(function (xoff) {
  "use strict";
  const { el, panel, choice } = xoff.dom;

  xoff.panels.rates = function rates() {
    const section = panel(
      "rates", "Flow rates over time",
      "Payload that reaches the receiver, of the eight flows that received most, as a mean over each interval."
    );
    let data = null;
    const runs = choice("Run", () => data && show());
    const place = el("div");
    section.controls.append(runs.root);
    section.body.append(place);

    function show() {
      const run = data.runs.find((one) => one.label === runs.value) || data.runs[0];
      xoff.chart(place, {
        label: `Rates of the largest flows of ${run.label}`,
        x: {
          label: "Simulated time (ms)", format: xoff.format.milliseconds,
          low: Math.min(...run.rates.map((one) => one.ms[0])),
          max: Math.max(...run.rates.map((one) => one.ms[one.ms.length - 1])),
        },
        y: { label: "Rate (Gb/s)", format: xoff.format.gbps },
        series: run.rates.map((one, look) => ({
          look, label: `flow ${one.flow}: host ${one.src} → host ${one.dst}`, x: one.ms, y: one.gbps,
        })),
        empty: "This run recorded no rates. Set run.flow_series, for example --set run.flow_series=100us, and run it again.",
      });
    }

    return {
      section,
      update(next) {
        data = next;
        runs.show(data.runs.map((run) => run.label));
        show();
      },
    };
  };
})(window.xoff = window.xoff || {});
