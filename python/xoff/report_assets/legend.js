// The legend of a chart: names, values at the cursor, and buttons that hide curves.
(function (xoff) {
  "use strict";
  const { el } = xoff.dom;

  xoff.legend = function legend(spec, shown) {
    const where = el("span", { className: "where" }, "");
    const swatches = shown.map((one) => xoff.series.swatch(one.look));
    const values = shown.map(() => el("span", { className: "value" }));
    let toggled = (_at, _visible) => {};
    const buttons = shown.map((one, at) => {
      const button = el(
        "button", { type: "button", "aria-pressed": "true", title: "Show or hide this curve" },
        swatches[at], el("span", {}, one.label), values[at]
      );
      button.addEventListener("click", () => {
        const visible = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(visible));
        toggled(at, visible);
      });
      return button;
    });
    const format = (axis, value) => (axis.format || xoff.format.short)(value);
    return {
      root: el("div", { className: "legend" }, ...buttons, where),
      onToggle(listener) {
        toggled = listener;
      },
      /** Hide the curves with these names. */
      hide(names) {
        shown.forEach((one, at) => names.has(one.label) && buttons[at].click());
      },
      /** Show the values at the cursor of a chart. */
      read(u) {
        const index = u.cursor.left >= 0 ? u.cursor.idx : null;
        where.textContent = index == null ? "" : `at ${format(spec.x, u.data[0][index])}`;
        values.forEach((value, at) => {
          const own = index == null ? null : u.cursor.idxs[at + 1];
          const y = own == null ? null : u.data[at + 1][own];
          value.textContent = y == null ? "" : format(spec.y, y);
        });
      },
      repaint() {
        swatches.forEach((swatch) => swatch.repaint());
      },
    };
  };
})(window.xoff = window.xoff || {});
