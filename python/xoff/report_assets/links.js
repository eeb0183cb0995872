// Utilisation of links.
(function (xoff) {
  "use strict";
  const { el, panel, choice, distinct, table } = xoff.dom;

  xoff.panels.links = function links() {
    const section = panel(
      "links", "Link utilisation",
      "Bytes sent by a port over what its link carries in the measured time. A link has two ports."
    );
    let data = null;
    const draw = () => data && show();
    const kinds = choice("Kind of link", draw);
    const runs = choice("Busiest ports of", draw);
    const cdf = el("div");
    const busiest = el("div");
    section.controls.append(kinds.root, runs.root);
    section.body.classList.add("pair");
    section.body.append(cdf, busiest);

    function show() {
      xoff.chart(cdf, {
        label: `Distribution of the utilisation of ${kinds.value} ports`,
        x: { label: "Utilisation of a port", max: 1.02, format: xoff.format.percent, tick: xoff.format.percent },
        y: { label: `Share of ${kinds.value} ports`, max: 1.02, format: xoff.format.percent },
        series: data.runs.map((run, look) => {
          const own = run.links.kinds.find((one) => one.link === kinds.value);
          return { look, label: run.label, stepped: true, x: own ? own.cdf.used : [], y: own ? own.cdf.ports : [] };
        }),
      });
      const run = data.runs.find((one) => one.label === runs.value) || data.runs[0];
      busiest.replaceChildren(table(
        ["port", "utilisation", "paused", "lost packets"],
        run.links.busiest.map((port) => [
          `${port.from} → ${port.to}`, xoff.bar(port.used),
          xoff.format.percent(port.paused), xoff.format.count(port.drops),
        ]),
        `Busiest ports of ${run.label}`
      ));
    }

    return {
      section,
      update(next) {
        data = next;
        kinds.show(distinct(data.runs.flatMap((run) => run.links.kinds.map((one) => one.link))));
        runs.show(data.runs.map((run) => run.label));
        show();
      },
    };
  };
})(window.xoff = window.xoff || {});
