// The head of the report: key figures by run, how the scenarios differ, warnings.
(function (xoff) {
  "use strict";
  const { el, panel, table, distinct } = xoff.dom;

  /** Build the panel; returns a function that shows data. */
  xoff.panels = { overview };

  function overview() {
    const section = panel(
      "overview", "Runs",
      "Key figures of each run. Slowdown is the completion time of a flow over that of the same flow alone; 1 is ideal."
    );
    const figures = el("div");
    const differing = el("div");
    section.body.append(figures, differing);
    const update = (data) => {
      const runs = data.runs;
      figures.replaceChildren(figureTable(runs));
      differing.replaceChildren(...(runs.length > 1 ? differences(data) : []));
      section.remark(runs.flatMap((run) => run.warnings.map((text) => `${run.label}: ${text}`)));
    };
    return { section, update };
  }

  function figureTable(runs) {
    const names = distinct(runs.flatMap((run) => run.figures.map(([name]) => name)));
    const known = runs.map((run) => new Map(run.figures));
    const rows = names
      .map((name) => [name, ...known.map((figures) => figures.get(name) ?? "-")])
      .filter(([, ...values]) => values.some((value) => value !== "-"));
    rows.push(["digest", ...runs.map((run) => el("span", { className: "digest" }, run.digest))]);
    const heads = runs.map((run, at) => el("span", { className: "run" }, xoff.series.swatch(at), run.label));
    const shown = table(["", ...heads], rows, "Key figures");
    for (const row of shown.querySelectorAll("tbody tr")) {
      const values = [...row.cells].slice(1).map((cell) => cell.textContent);
      if (new Set(values).size > 1) row.classList.add("differs");
    }
    return shown;
  }

  function differences(data) {
    const rows = data.differences;
    if (!rows.length) return [el("p", { className: "empty" }, "All scenarios have the same settings.")];
    const shown = table(
      ["setting", ...data.runs.map((run) => run.label)],
      rows.map((row) => [el("code", {}, row.key), ...row.values]),
      "Settings that differ"
    );
    const details = el("details", {},
      el("summary", {}, `Settings that differ between the scenarios (${rows.length})`), shown);
    details.open = rows.length <= 12;
    return [details];
  }
})(window.xoff = window.xoff || {});
