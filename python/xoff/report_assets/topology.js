// The network on a canvas: nodes by layer, and each port as a wedge that is broad at its own node and
// narrow at the other end of its link.
(function (xoff) {
  "use strict";

  const METRICS = {
    "queue depth": { key: "queue", root: true },
    "bytes held by pauses": { key: "held", root: true },
    utilisation: { key: "used" },
    "time paused": { key: "paused" },
  };
  const LAYERS = ["hosts", "leaves", "spines", "core", "gateways", "allocator"];
  const RAMP = {
    light: [[226, 231, 236], [243, 190, 84], [214, 88, 60], [92, 16, 54]],
    dark: [[52, 60, 70], [120, 66, 126], [228, 106, 78], [255, 222, 140]],
  };
  const SIDE = 18;

  /** The states of all links, decoded once. */
  function decoded(fabric) {
    fabric.states ??= {};
    return (key) => (fabric.states[key] ??= Uint8Array.from(atob(fabric[key]), (c) => c.charCodeAt(0)));
  }

  /** A state of a link in a frame: bytes, or a share. */
  function value(fabric, key, frame, link) {
    const share = decoded(fabric)(key)[frame * fabric.links.length + link] / 255;
    return key === "queue" || key === "held" ? share * share * fabric.most_bytes : share;
  }

  /** A colour between the ends of the ramp, for a level from 0 to 1. */
  function ramp(level) {
    const stops = RAMP[xoff.theme.isDark() ? "dark" : "light"];
    const at = Math.min(0.9999, Math.max(0, level)) * (stops.length - 1);
    const [low, high] = [stops[Math.floor(at)], stops[Math.floor(at) + 1]];
    const mix = low.map((part, i) => Math.round(part + (high[i] - part) * (at % 1)));
    return `rgb(${mix.join(" ")})`;
  }

  /** The places of nodes on a canvas of this width; `height` is what the layers need. */
  function layout(fabric, width) {
    const tiers = [...new Set(fabric.nodes.map((node) => node[1]))].sort((a, b) => a - b);
    const gap = width < 500 ? 84 : 112;
    const left = width < 500 ? SIDE : 62;
    const places = fabric.nodes.map(([, tier, x]) => ({ x: left + x * (width - left - SIDE), tier }));
    const top = tiers[tiers.length - 1];
    const arcs = fabric.links.map(([from, to]) => (places[from].tier === top ? bow(places[from], places[to]) : 0));
    const height = 68 + gap * (tiers.length - 1) + arcs.reduce((a, b) => Math.max(a, b), 0);
    places.forEach((place) => {
      place.y = height - 24 - tiers.indexOf(place.tier) * gap;
    });
    const spacing = tiers.map((tier) => least(places.filter((place) => place.tier === tier)));
    return { tiers, height, left, places, spacing: (tier) => spacing[tiers.indexOf(tier)] };
  }

  function least(places) {
    const xs = places.map((place) => place.x).sort((a, b) => a - b);
    return xs.slice(1).reduce((found, x, i) => Math.min(found, x - xs[i]), 80);
  }

  /** The height of the arc that joins two nodes of one layer. */
  function bow(start, end) {
    return start.tier === end.tier ? Math.min(70, 14 + Math.abs(end.x - start.x) / 5) : 0;
  }

  /** A point of a link, from its start (0) to its end (1). Links of one layer are arcs. */
  function path({ places }, link) {
    const [start, end] = [places[link[0]], places[link[1]]];
    const arc = bow(start, end);
    const lane = (link[3] - (link[4] - 1) / 2) * 5;
    const at = (t) => ({
      x: start.x + (end.x - start.x) * t + lane,
      y: start.y + (end.y - start.y) * t - arc * 4 * t * (1 - t),
    });
    at.bent = arc > 0;
    return at;
  }

  /** Draw a frame: the levels of all links, thickest last, the links of a flow, then the nodes. */
  function draw(canvas, fabric, frame, metric, most, route) {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(280, canvas.parentElement.clientWidth);
    const plan = layout(fabric, width);
    canvas.width = width * ratio;
    canvas.height = plan.height * ratio;
    canvas.style.height = `${plan.height}px`;
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    const { key, root } = METRICS[metric];
    const levels = fabric.links.map((_, link) => {
      const found = value(fabric, key, frame, link);
      return root ? Math.sqrt(found / most) : found;
    });
    const order = levels.map((_, link) => link).sort((a, b) => levels[a] - levels[b]);
    order.forEach((link) => wedge(c, plan, fabric.links[link], levels[link]));
    order.forEach((link) => {
      if (isStopped(fabric, frame, link)) bar(c, plan, fabric.links[link]);
    });
    route.forEach((link) => line(c, plan, fabric.links[link]));
    nodes(c, plan, fabric, frame, most);
    return plan;
  }

  /** The direction across a link at a point of it. */
  function across(at, t) {
    const [from, to] = [at(t), at(t + 0.02)];
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    return { x: -(to.y - from.y) / length, y: (to.x - from.x) / length };
  }

  /** A port: its wedge is beside the middle of the link, to leave room for that of the other end. */
  function wedge(c, plan, link, level) {
    const at = path(plan, link);
    const width = level > 0.02 ? 1 + 6 * level : 0.5;
    const steps = at.bent ? 16 : 1;
    const outer = [];
    const inner = [];
    for (let i = 0; i <= steps; i++) {
      const t = i / steps;
      const [point, side] = [at(t), across(at, t)];
      const reach = width * (1 - 0.85 * t);
      outer.push([point.x + side.x * reach, point.y + side.y * reach]);
      inner.unshift([point.x, point.y]);
    }
    c.beginPath();
    [...outer, ...inner].forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath();
    c.fillStyle = ramp(level);
    c.fill();
  }

  /** Whether pauses hold back at least half of what waits at a port, or keep a host from sending. */
  function isStopped(fabric, frame, link) {
    const is = (key) => value(fabric, key, frame, link);
    if (fabric.nodes[fabric.links[link][0]][1] === 0) return is("paused") >= 0.5 && is("used") < 0.05;
    return is("held") > 0 && is("held") >= is("queue") / 2;
  }

  /** A bar across a link near its start: the port is stopped. */
  function bar(c, plan, link) {
    const at = path(plan, link);
    const from = at(0.2);
    const { x, y } = across(at, 0.2);
    const reach = Math.min(5, plan.spacing(plan.places[link[0]].tier) * 0.45);
    c.beginPath();
    c.moveTo(from.x - reach * x, from.y - reach * y);
    c.lineTo(from.x + reach * x, from.y + reach * y);
    c.strokeStyle = xoff.theme.colour("ink");
    c.lineWidth = 2;
    c.stroke();
  }

  /** A line along a whole link: a flow takes it. */
  function line(c, plan, link) {
    const at = path(plan, link);
    c.beginPath();
    for (let i = 0; i <= 16; i++) c.lineTo(at(i / 16).x, at(i / 16).y);
    c.strokeStyle = xoff.theme.colour("accent");
    c.lineWidth = 3;
    c.stroke();
  }

  /** A text, cut to a width. */
  function fitting(c, text, width) {
    let shown = text;
    for (let n = text.length - 1; n > 0 && c.measureText(shown).width > width; n--) shown = `${text.slice(0, n)}…`;
    return shown;
  }

  function nodes(c, plan, fabric, frame, most) {
    const sums = fabric.nodes.map(() => 0);
    fabric.links.forEach((link, i) => {
      sums[link[0]] = Math.max(sums[link[0]], value(fabric, "queue", frame, i));
    });
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "center";
    c.textBaseline = "middle";
    fabric.nodes.forEach(([, tier, , , mark], i) => {
      const { x, y } = plan.places[i];
      const space = plan.spacing(tier);
      const host = tier === 0;
      const wanted = Math.max(46, c.measureText(mark).width + 10);
      const w = host ? Math.min(10, Math.max(2, space * 0.7)) : Math.min(wanted, Math.max(6, space * 0.75));
      const h = host ? Math.min(10, Math.max(4, w)) : 20;
      c.fillStyle = host ? xoff.theme.colour("ink-2") : xoff.theme.colour("surface");
      c.strokeStyle = xoff.theme.colour("ink-2");
      c.lineWidth = 1.2;
      c.beginPath();
      c.rect(x - w / 2, y - h / 2 + (host ? h / 2 : 0), w, h);
      c.fill();
      if (host) return;
      c.stroke();
      // The level of the fullest port, from the left of the switch to its right.
      c.fillStyle = ramp(Math.sqrt(sums[i] / most));
      c.fillRect(x - w / 2 + 1.5, y + h / 2 - 5, (w - 3) * Math.sqrt(sums[i] / most), 3.5);
      c.fillStyle = xoff.theme.colour("ink");
      if (w >= 16) c.fillText(fitting(c, mark, w - 6), x, y - 2);
    });
    c.textAlign = "left";
    c.fillStyle = xoff.theme.colour("ink-2");
    if (plan.left > 40) plan.tiers.forEach((tier) => {
      c.fillText(LAYERS[tier] ?? "", 4, plan.places.find((place) => place.tier === tier).y);
    });
  }

  /** The link whose half is nearest to a point, if it is near enough. */
  function linkAt(plan, fabric, x, y) {
    let best = { distance: 7, link: null };
    fabric.links.forEach((link, i) => {
      const at = path(plan, link);
      for (let t = 0.04; t < 0.5; t += 0.06) {
        const point = at(t);
        const distance = Math.hypot(point.x - x, point.y - y);
        if (distance < best.distance) best = { distance, link: i };
      }
    });
    return best.link;
  }

  xoff.topology = { METRICS, draw, ramp, value, linkAt };
})(window.xoff = window.xoff || {});
