// Distribution of flow completion times.
(function (xoff) {
  "use strict";
  const { el, panel, choice, distinct } = xoff.dom;

  xoff.panels.completion = function completion() {
    const section = panel(
      "completion", "Flow completion times",
      "Share of flows that finished within a time, from the start to the acknowledgement of the last byte."
    );
    let data = null;
    const draw = () => data && show();
    const sizes = choice("Flow size", draw, "all sizes");
    const classes = choice("Class", draw);
    const place = el("div");
    section.controls.append(sizes.root, classes.root);
    section.body.append(place);

    function ofClass(run) {
      return run.completion.find((one) => one.class === classes.value);
    }

    function show() {
      const remarks = [];
      const series = data.runs.map((run, look) => {
        const own = ofClass(run);
        const group = own && own.groups.find((one) => one.name === sizes.value);
        if (own && own.rows < own.finished) {
          remarks.push(`${run.label}: drawn from ${xoff.format.count(own.rows)} of `
            + `${xoff.format.count(own.finished)} flows, those with a row (run.flows).`);
        }
        if (!own && run.slowdown.some((one) => one.class === classes.value)) {
          remarks.push(`${run.label}: no finished flow of this class has a row (run.flows).`);
        }
        return { look, label: run.label, stepped: true, x: group ? group.us : [], y: group ? group.share : [] };
      });
      xoff.chart(place, {
        label: `Distribution of completion times, ${sizes.value}`,
        x: { label: "Flow completion time (µs)", log: true, format: xoff.format.microseconds },
        y: { label: "Share of flows", max: 1.02, format: xoff.format.percent },
        series,
        empty: "No row of a flow of this class and size. With run.flows = \"all\" every flow has one.",
      });
      section.remark(remarks);
    }

    return {
      section,
      update(next) {
        data = next;
        classes.show(distinct(data.runs.flatMap((run) => run.completion.map((one) => one.class))));
        const groups = data.runs.flatMap((run) => (ofClass(run) || { groups: [] }).groups);
        sizes.show(distinct(groups.map((group) => group.name)));
        show();
      },
    };
  };
})(window.xoff = window.xoff || {});
