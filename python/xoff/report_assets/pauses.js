// Time in which ports are paused, by kind of link.
(function (xoff) {
  "use strict";
  const { el, panel, distinct } = xoff.dom;

  xoff.panels.pauses = function pauses() {
    const section = panel(
      "pauses", "Pause time",
      "Share of the measured time in which a port has at least one queue paused by its neighbour: mean over ports, and the port paused longest. A link is named from the port that is paused."
    );
    const place = el("div");
    section.body.append(place);
    return {
      section,
      update(data) {
        const kinds = distinct(data.runs.flatMap((run) => run.links.kinds.map((one) => one.link)));
        const rows = kinds.flatMap((kind) => data.runs.map((run, look) => row(kind, run, look)));
        place.replaceChildren(xoff.dom.table(
          ["link", "run", "mean", "longest", "pauses"], rows.filter((one) => one), "Pause time by kind of link"
        ));
        section.remark(data.runs.some((run) => run.links.kinds.some((one) => one.pauses)) ? [
          "PFC pauses a whole priority, BFC a single queue: under BFC the other queues of the port go on sending.",
        ] : ["No port was paused in the measured time."]);
      },
    };
  };

  function row(kind, run, look) {
    const own = run.links.kinds.find((one) => one.link === kind);
    if (!own) return null;
    return [
      kind, el("span", { className: "run" }, xoff.series.swatch(look), run.label),
      bar(own.paused.mean), bar(own.paused.max), xoff.format.count(own.pauses),
    ];
  }

  /** A share as a number and as the length of a bar. */
  function bar(share) {
    const fill = el("span", { className: "fill" });
    fill.style.width = `${Math.min(1, share) * 100}%`;
    return el("span", { className: "bar" },
      el("span", { className: "track" }, fill), el("span", { className: "number" }, xoff.format.percent(share)));
  }

  xoff.bar = bar;
})(window.xoff = window.xoff || {});
