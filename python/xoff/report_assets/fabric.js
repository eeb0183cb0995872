// The fabric over time: the network of one or two runs, with one time slider.
(function (xoff) {
  "use strict";
  const { el, panel, choice, numberField, table } = xoff.dom;

  const FULLEST = 5;
  const HELP = "This run recorded no states of ports. Set run.port_samples, for example --set run.port_samples=10us, and run it again.";
  const LARGE = "This network has too many links to be drawn.";

  xoff.panels.fabric = function fabric() {
    const section = panel(
      "fabric", "The fabric over time",
      "Each port is a wedge, broad at its own node and narrow at the other end of the link. Broader and stronger means more. A bar across it: a pause stops the port."
    );
    let data = null;
    const draw = () => data && show();
    const metric = choice("Show", draw, "queue depth");
    metric.show(Object.keys(xoff.topology.METRICS));
    const sides = [choice("Run", draw), choice("Next to it", draw)];
    const flow = numberField("Path of flow", () => data && show());
    const views = [view(), view()];
    const player = xoff.player(paint, describe);
    const scale = el("div", { className: "scale" });
    const totals = el("div");
    const pair = el("div", { className: "pair" }, ...views.map((one) => one.root));
    section.controls.append(metric.root, ...sides.map((side) => side.root), flow.root);
    section.body.append(player.root, scale, pair, totals);

    const shown = () => {
      const names = data.runs.length > 1 ? sides.map((side) => side.value) : [data.runs[0].label];
      return names.map((name) => data.runs.find((run) => run.label === name));
    };
    /** The run whose times the slider has: the longest record. */
    const clock = () => shown().filter((run) => run.fabric)
      .reduce((a, b) => (a && a.fabric.ms.length >= b.fabric.ms.length ? a : b), null);
    const most = () => Math.max(1, ...shown().map((run) => (run.fabric ? run.fabric.most_bytes || 1 : 1)));
    const now = (frame) => {
      const run = clock();
      return run && run.fabric.ms.length ? run.fabric.ms[Math.min(frame, run.fabric.ms.length - 1)] : 0;
    };

    function describe(frame) {
      return `${now(frame).toFixed(3)} ms`;
    }

    function paint(frame) {
      views.forEach((one, at) => one.paint(shown()[at], now(frame), metric.value, most(), flow.value));
      if (totals.chart) totals.chart.u.redraw(false);
    }

    function show() {
      const runs = shown();
      views[1].root.hidden = runs.length < 2;
      flow.root.hidden = !data.runs.some((run) => run.paths);
      const frames = clock() ? clock().fabric.ms.length : 0;
      player.root.hidden = scale.hidden = !frames;
      legend(scale, metric.value, most());
      drawTotals(runs);
      player.show(frames, frames ? start(clock().fabric, data.live) : 0);
    }

    function drawTotals(runs) {
      const known = runs.filter((run) => run.fabric && run.fabric.ms.length);
      xoff.chart(totals, {
        label: "Bytes queued in all switches over time",
        x: {
          label: "Simulated time (ms)", format: xoff.format.milliseconds,
          low: Math.min(...known.map((run) => run.fabric.ms[0])),
          max: Math.max(...known.map((run) => run.fabric.ms[run.fabric.ms.length - 1])),
        },
        y: { label: "Bytes queued in all switches", format: xoff.format.bytes, tick: xoff.format.bytes },
        series: known.map((run) => ({
          look: data.runs.indexOf(run), label: run.label, x: run.fabric.ms, y: run.fabric.total_bytes,
        })),
        mark: () => now(player.frame),
        empty: "",
      });
    }

    return {
      section,
      repaint: draw,
      update(next) {
        data = next;
        const names = data.runs.map((run) => run.label);
        sides[0].show(names);
        sides[1].show([...names.slice(1), names[0]]);
        show();
      },
    };
  };

  /** The first frame to show: the newest one of a live page, else that with most bytes in queues. */
  function start(fabric, live) {
    const totals = fabric.total_bytes;
    return live ? totals.length - 1 : totals.indexOf(Math.max(...totals));
  }

  /** One network with its fullest ports. */
  function view() {
    const title = el("h3");
    const canvas = el("canvas", { className: "fabric", role: "img" });
    const hint = el("p", { className: "hint" });
    const place = el("div", { className: "canvas" }, canvas);
    const path = el("p", { className: "hint path" });
    const missing = el("p", { className: "empty" });
    const ports = el("div");
    let last = null;

    canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const box = canvas.getBoundingClientRect();
      const link = xoff.topology.linkAt(last.plan, last.fabric, event.clientX - box.left, event.clientY - box.top);
      hint.textContent = link === null ? last.line : cells(last.fabric, last.frame, link).join(", ");
    });

    function paint(run, ms, metric, most, flow) {
      if (!run) return;
      title.textContent = run.label;
      const fabric = run.fabric;
      const usable = fabric && fabric.ms.length;
      missing.hidden = usable;
      path.hidden = !usable || flow === null;
      place.hidden = ports.hidden = hint.hidden = !usable;
      last = null;
      if (!usable) {
        missing.textContent = run.too_large ? LARGE : HELP;
        return;
      }
      const frame = frameAt(fabric.ms, ms);
      const route = flow === null ? [] : routeAt(run, flow, ms);
      path.textContent = flow === null ? "" : described(run, flow, route);
      const plan = xoff.topology.draw(canvas, fabric, frame, metric, most, route);
      const line = `${xoff.format.bytes(fabric.total_bytes[frame])} queued, `
        + `${xoff.format.bytes(fabric.held_bytes[frame])} of it held by pauses at ${fabric.held_ports[frame]} ports`;
      last = { plan, fabric, frame, line };
      hint.textContent = line;
      canvas.setAttribute("aria-label", `Network of ${run.label} at ${ms.toFixed(3)} ms: ${line}`);
      ports.replaceChildren(fullest(fabric, frame, metric));
    }

    return { root: el("div", {}, title, missing, place, path, hint, ports), paint };
  }

  /** The links of a flow at this time; those of its first path before it began. */
  function routeAt(run, flow, ms) {
    const known = (run.paths && run.paths.flows[flow]) || [];
    const begun = known.filter(([since]) => since <= ms);
    const [, links] = begun[begun.length - 1] || known[0] || [0, []];
    return links;
  }

  /** A path by the names of its nodes, or why there is none. */
  function described(run, flow, route) {
    if (!run.paths) return "This run recorded no paths. Set run.paths=true, and run it again.";
    if (route.length) {
      const { links, nodes } = run.fabric;
      const stops = [links[route[0]][0], ...route.map((link) => links[link][1])];
      return `flow ${flow}: ${stops.map((node) => nodes[node][0]).join(" → ")}`;
    }
    const { most } = run.paths;
    if (most === null || flow < most) return `flow ${flow}: no path; it did not begin, or has no rows.`;
    return `flow ${flow}: no path; this page has those of flows 0 to ${xoff.format.count(most - 1)}.`;
  }

  function frameAt(times, ms) {
    let frame = times.findIndex((time) => time >= ms - 1e-9);
    if (frame < 0) frame = times.length - 1;
    return frame;
  }

  function cells(fabric, frame, link) {
    const [from, to] = fabric.links[link];
    const at = (key) => xoff.topology.value(fabric, key, frame, link);
    return [
      `${fabric.nodes[from][0]} → ${fabric.nodes[to][0]}`, xoff.format.bytes(Math.round(at("queue"))),
      xoff.format.bytes(Math.round(at("held"))), `${Math.round(100 * at("used"))} %`,
      `${Math.round(100 * at("paused"))} %`,
    ];
  }

  function fullest(fabric, frame, metric) {
    const { key } = xoff.topology.METRICS[metric];
    const levels = fabric.links.map((_, link) => xoff.topology.value(fabric, key, frame, link));
    const some = levels.map((_, link) => link).filter((link) => levels[link] > 0);
    if (!some.length) return el("p", { className: "empty" }, "No port has any.");
    const top = some.sort((a, b) => levels[b] - levels[a]).slice(0, FULLEST);
    return table(
      ["port", "queue", "held", "used", "paused"],
      top.map((link) => cells(fabric, frame, link)),
      "Ports with the highest level"
    );
  }

  /** The scale of colours and widths. */
  function legend(parent, metric, most) {
    const { key, root } = xoff.topology.METRICS[metric];
    const canvas = el("canvas", { width: 360, height: 16 });
    canvas.setAttribute("aria-hidden", "true");
    const c = canvas.getContext("2d");
    for (let x = 0; x < 360; x++) {
      const level = x / 360;
      const height = level > 0.02 ? 2 + 14 * level : 2;
      c.fillStyle = xoff.topology.ramp(level);
      c.fillRect(x, 8 - height / 2, 1, height);
    }
    const text = (share) => (root ? xoff.format.bytes(share * share * most) : xoff.format.percent(share));
    parent.replaceChildren(
      el("span", {}, `${metric}: ${text(0)}`), canvas, el("span", {}, text(1)),
      el("span", { className: "quiet" }, key === "queue" || key === "held" ? "square-root scale" : "share of the interval")
    );
  }
})(window.xoff = window.xoff || {});
