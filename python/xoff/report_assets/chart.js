// A chart of curves: uPlot with this page's axes, markers, legend and keys.
(function (xoff) {
  "use strict";
  const { el } = xoff.dom;

  const MARKERS = 14;
  const all = new Set();

  /**
   * Draw a chart in `parent`, in place of what is there. Hidden curves stay hidden, and the focus
   * stays.
   *
   * spec.label: what the chart shows, for screen readers.
   * spec.x, spec.y: { label, log, format, max }. `format` writes a value with its unit.
   * spec.series: [{ look, label, x, y, stepped }]. `look` is the number of its colour and dash.
   * spec.mark: a function that returns the place of a vertical line, or null.
   */
  function chart(parent, spec) {
    const shown = spec.series.filter((one) => one.x.length);
    const focused = parent.contains(document.activeElement);
    dispose(parent);
    if (!shown.length) {
      parent.append(el("p", { className: "empty" }, spec.empty || "Nothing to draw."));
      return null;
    }
    const plot = el("div", { className: "plot", tabIndex: 0, role: "img" });
    plot.setAttribute("aria-label", `${spec.label}. Arrow keys read values.`);
    const legend = xoff.legend(spec, shown);
    parent.append(plot, legend.root);
    const data = shown.length > 1
      ? uPlot.join(shown.map((one) => [one.x, one.y]))
      : [shown[0].x, shown[0].y];
    const u = new uPlot(options(spec, shown, data, legend, plot), data, plot);
    parent.hides ??= new Set();
    legend.onToggle((at, visible) => {
      parent.hides[visible ? "delete" : "add"](shown[at].label);
      u.setSeries(at + 1, { show: visible });
    });
    legend.hide(parent.hides);
    if (focused) plot.focus({ preventScroll: true });
    const item = { parent, u, plot, legend };
    all.add(item);
    parent.chart = item;
    keys(item, data[0]);
    return u;
  }

  /** Remove the chart of a parent and all else in it. */
  function dispose(parent) {
    if (parent.chart) {
      parent.chart.u.destroy();
      all.delete(parent.chart);
      parent.chart = null;
    }
    parent.replaceChildren();
  }

  function options(spec, shown, data, legend, plot) {
    return {
      ...size(plot),
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false },
        dataIdx: (u, at, index) => nearest(u.data[at], index),
      },
      scales: {
        x: { ...scale(spec.x, data[0]), range: zoomable(scale(spec.x, data[0]).range, data[0]) },
        y: scale(spec.y, shown.flatMap((one) => one.y)),
      },
      axes: [axis(spec.x, { size: 30, space: 64 }), axis(spec.y, { size: 62, space: 30 })],
      series: [{}, ...shown.map((one) => curve(one))],
      hooks: {
        setCursor: [(u) => legend.read(u)],
        drawSeries: [(u, at) => markers(u, at, shown[at - 1])],
        draw: [(u) => mark(u, spec.mark)],
      },
    };
  }

  function size(plot) {
    const width = Math.max(240, plot.clientWidth || 600);
    return { width, height: Math.round(Math.min(340, Math.max(230, width * 0.5))) };
  }

  /** The next point of a curve at or before the cursor, else the first one. */
  function nearest(values, index) {
    for (let at = index; at >= 0; at--) if (values[at] != null) return at;
    for (let at = index; at < values.length; at++) if (values[at] != null) return at;
    return index;
  }

  function scale(spec, values) {
    const known = values.filter((value) => value != null && (!spec.log || value > 0));
    let low = known.reduce((a, b) => Math.min(a, b), Infinity);
    let high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!known.length) [low, high] = [1, 10];
    const full = spec.log ? [low / 1.15, high * 1.15] : [spec.low ?? 0, spec.max ?? (high * 1.05 || 1)];
    return {
      time: false,
      distr: spec.log ? 3 : 1,
      range: () => full,
    };
  }

  /** The whole range, unless a part of it was dragged over. */
  function zoomable(whole, xs) {
    return (u, from, to) => (from === xs[0] && to === xs[xs.length - 1] ? whole() : [from, to]);
  }

  function axis(spec, { size, space }) {
    const ink = () => xoff.theme.colour("ink-2");
    const line = () => xoff.theme.colour("grid");
    return {
      label: spec.label,
      labelSize: 22,
      labelFont: "12px system-ui, sans-serif",
      font: "12px system-ui, sans-serif",
      size, space,
      stroke: ink,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1, size: 4 },
      ...(spec.log ? { splits: (u, at, low, high) => decades(low, high, room(u, at, space)), filter: (u, splits) => splits } : {}),
      values: (u, splits) => splits.map((v) => (v == null ? "" : spec.tick ? spec.tick(v) : xoff.format.short(v))),
    };
  }

  /** The number of labels that fit on an axis. */
  function room(u, at, space) {
    return (at === 0 ? u.bbox.width : u.bbox.height) / (window.devicePixelRatio || 1) / space;
  }

  /** Places of a logarithmic axis: 1, 2, 5, 10, ..., or only powers of ten if there is no room. */
  function decades(low, high, most) {
    const steps = 3 * Math.log10(high / low) > most ? [1] : [1, 2, 5];
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      found.push(...steps.map((step) => step * 10 ** power));
    }
    return found.filter((value) => value >= low && value <= high);
  }

  function curve(one) {
    return {
      label: one.label,
      stroke: () => xoff.series.colour(one.look),
      width: 1.8,
      dash: xoff.series.dash(one.look),
      paths: one.stepped ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear(),
      points: { show: false },
      spanGaps: false,
    };
  }

  /** Draw a few markers on a curve, at equal distances in points. */
  function markers(u, at, one) {
    if (!u.series[at].show) return;
    const known = [];
    u.data[at].forEach((y, i) => {
      if (y != null) known.push(i);
    });
    const step = Math.max(1, Math.ceil(known.length / MARKERS));
    const ratio = window.devicePixelRatio || 1;
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(u.bbox.left - 6, u.bbox.top - 6, u.bbox.width + 12, u.bbox.height + 12);
    u.ctx.clip();
    known.filter((_, i) => i % step === (step > 1 ? Math.floor(step / 2) : 0)).forEach((i) => {
      const x = u.valToPos(u.data[0][i], "x", true);
      const y = u.valToPos(u.data[at][i], "y", true);
      xoff.series.marker(u.ctx, one.look, x, y, 3.4 * ratio);
    });
    u.ctx.restore();
  }

  /** Draw a vertical line. */
  function mark(u, where) {
    const x = where ? where() : null;
    if (x == null) return;
    const at = u.valToPos(x, "x", true);
    u.ctx.save();
    u.ctx.strokeStyle = xoff.theme.colour("ink");
    u.ctx.setLineDash([]);
    u.ctx.lineWidth = 1.5 * (window.devicePixelRatio || 1);
    u.ctx.beginPath();
    u.ctx.moveTo(at, u.bbox.top);
    u.ctx.lineTo(at, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  }

  /** Arrow keys move the cursor over the points; Home and End go to the ends; Escape hides it. */
  function keys({ u, plot }, xs) {
    const moves = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };
    plot.addEventListener("keydown", (event) => {
      const now = u.cursor.left >= 0 && u.cursor.idx != null ? u.cursor.idx : -1;
      let next = now + (moves[event.key] || 0);
      if (event.key === "Home") next = 0;
      if (event.key === "End") next = xs.length - 1;
      if (event.key === "Escape") u.setCursor({ left: -10, top: -10 });
      if (next === now) return;
      event.preventDefault();
      const at = Math.min(xs.length - 1, Math.max(0, next));
      u.setCursor({ left: u.valToPos(xs[at], "x"), top: u.over.clientHeight / 2 });
    });
  }

  let waiting = null;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => all.forEach(({ u, plot }) => u.setSize(size(plot))), 100);
  });

  xoff.chart = chart;
  /** Paint all charts again, in the colours of the present theme. */
  xoff.repaintCharts = () => all.forEach(({ u, legend }) => {
    u.redraw(true, true);
    legend.repaint();
  });
})(window.xoff = window.xoff || {});
