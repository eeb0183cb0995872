// Builds the page from its data.
(function (xoff) {
  "use strict";
  const { el } = xoff.dom;

  const FORMAT = 1;
  const ORDER = ["overview", "slowdown", "completion", "fabric", "buffers", "pauses", "links", "rates"];

  const data = JSON.parse(document.getElementById("data").textContent);
  if (data.format !== FORMAT) throw new Error(`data of form ${data.format}, expected ${FORMAT}`);
  xoff.theme.start();

  const panels = ORDER.map((name) => xoff.panels[name]());
  document.getElementById("panels").append(...panels.map((one) => one.section.root));
  document.getElementById("contents").append(
    ...panels.map((one) => el("a", { href: `#${one.section.root.id}` }, one.section.title))
  );
  document.getElementById("footer").textContent =
    `Made by xoff ${data.xoff}. Charts: uPlot 1.6.32 (MIT licence).`;

  function show(next) {
    const title = xoff.dom.distinct(next.runs.map((run) => run.name)).join(", ");
    document.getElementById("title").textContent = title;
    document.title = `${title} – xoff report`;
    panels.forEach((one) => one.update(next));
  }

  function repaint() {
    xoff.repaintCharts();
    document.querySelectorAll("canvas.swatch").forEach((swatch) => swatch.repaint());
    panels.forEach((one) => one.repaint && one.repaint());
  }

  show(data);
  xoff.theme.onChange(repaint);
  let waiting = null;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => panels.forEach((one) => one.repaint && one.repaint()), 120);
  });
  if (data.live) xoff.live(data, show);
})(window.xoff = window.xoff || {});
