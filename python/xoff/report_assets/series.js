// The look of curves: each has a colour, a dash pattern and a marker, so that grey is enough.
(function (xoff) {
  "use strict";

  const COLOURS = 8;
  const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2], [9, 3, 2, 3, 2, 3], [1, 2]];
  const MARKERS = ["circle", "square", "triangle", "diamond", "cross", "plus", "ring", "bar"];

  const PATHS = {
    circle: (c, r) => c.arc(0, 0, r, 0, 2 * Math.PI),
    ring: (c, r) => c.arc(0, 0, r, 0, 2 * Math.PI),
    square: (c, r) => c.rect(-0.9 * r, -0.9 * r, 1.8 * r, 1.8 * r),
    triangle: (c, r) => polygon(c, [[0, -1.2 * r], [1.1 * r, 0.8 * r], [-1.1 * r, 0.8 * r]]),
    diamond: (c, r) => polygon(c, [[0, -1.3 * r], [1.3 * r, 0], [0, 1.3 * r], [-1.3 * r, 0]]),
    cross: (c, r) => strokes(c, [[-r, -r, r, r], [-r, r, r, -r]]),
    plus: (c, r) => strokes(c, [[-1.2 * r, 0, 1.2 * r, 0], [0, -1.2 * r, 0, 1.2 * r]]),
    bar: (c, r) => strokes(c, [[0, -1.2 * r, 0, 1.2 * r]]),
  };

  function polygon(c, points) {
    points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath();
  }

  function strokes(c, lines) {
    lines.forEach(([x0, y0, x1, y1]) => {
      c.moveTo(x0, y0);
      c.lineTo(x1, y1);
    });
  }

  /** Draw the marker of curve `index` at a place of a canvas. */
  function marker(context, index, x, y, radius) {
    const shape = MARKERS[index % MARKERS.length];
    context.save();
    context.translate(x, y);
    context.beginPath();
    PATHS[shape](context, radius);
    context.setLineDash([]);
    context.lineWidth = Math.max(1, radius / 2.2);
    context.strokeStyle = context.fillStyle = colour(index);
    if (["ring", "cross", "plus", "bar"].includes(shape)) context.stroke();
    else context.fill();
    context.restore();
  }

  function colour(index) {
    return xoff.theme.colour(`series-${index % COLOURS}`);
  }

  /** A small drawing of curve `index` for legends. */
  function swatch(index) {
    const canvas = xoff.dom.el("canvas", { width: 68, height: 24, className: "swatch" });
    canvas.setAttribute("aria-hidden", "true");
    const paint = () => {
      const context = canvas.getContext("2d");
      context.clearRect(0, 0, 68, 24);
      context.beginPath();
      context.setLineDash(DASHES[index % DASHES.length].map((length) => 2 * length));
      context.lineWidth = 3;
      context.strokeStyle = colour(index);
      context.moveTo(2, 12);
      context.lineTo(66, 12);
      context.stroke();
      marker(context, index, 34, 12, 7);
    };
    paint();
    canvas.repaint = paint;
    return canvas;
  }

  xoff.series = {
    colour,
    marker,
    swatch,
    dash: (index) => DASHES[index % DASHES.length],
  };
})(window.xoff = window.xoff || {});
