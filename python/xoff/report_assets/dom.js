// Elements of the page. Text is always set as text, never parsed as HTML.
(function (xoff) {
  "use strict";

  /** Create an element with properties and children; strings become text. */
  function el(tag, properties, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
      if (name.startsWith("aria-") || name === "role" || name === "for" || name === "scope") {
        element.setAttribute(name, value);
      } else {
        element[name] = value;
      }
    }
    element.append(...children);
    return element;
  }

  let labels = 0;

  /**
   * A choice among names, with a label. `show(names)` replaces the names and keeps the chosen one
   * if it is still there; `value` is the chosen name.
   */
  function choice(label, onChange, first) {
    const id = `choice-${++labels}`;
    const select = el("select", { id });
    select.addEventListener("change", onChange);
    const root = el("span", { className: "choice" }, el("label", { for: id }, label), select);
    let wanted = first;
    return {
      root,
      get value() {
        return select.value;
      },
      show(names) {
        root.hidden = names.length < 2;
        // An unchanged list stays, since replacing it would close it while it is open.
        if (names.join("\n") === [...select.options].map((one) => one.value).join("\n")) return;
        const before = select.value || wanted;
        select.replaceChildren(...names.map((name) => el("option", { value: name }, name)));
        if (names.includes(before)) select.value = before;
      },
    };
  }

  /** A field for a whole number, with a label. `value` is null while it is empty. */
  function numberField(label, onInput) {
    const id = `choice-${++labels}`;
    const input = el("input", { id, type: "number", min: "0", step: "1", inputMode: "numeric" });
    input.addEventListener("input", onInput);
    return {
      root: el("span", { className: "choice" }, el("label", { for: id }, label), input),
      get value() {
        return input.value === "" ? null : Number(input.value);
      },
    };
  }

  /** A section of the page: heading, one sentence, controls and a body. */
  function panel(id, title, sentence) {
    const controls = el("div", { className: "controls" });
    const body = el("div", { className: "body" });
    const note = el("p", { className: "note", hidden: true });
    const heading = el("h2", { id: `${id}-title` }, title);
    const root = el(
      "section", { id, "aria-labelledby": heading.id },
      heading, el("p", { className: "about" }, sentence), controls, body, note
    );
    return {
      root, title, controls, body,
      /** Show remarks below the charts, or none. */
      remark(lines) {
        note.replaceChildren(...lines.flatMap((line) => [line, el("br")]));
        note.hidden = !lines.length;
      },
    };
  }

  /** A table; the cells of `rows` are text or elements, the first of each row is its heading. */
  function table(head, rows, caption) {
    const cell = (content) => el("td", {}, content);
    return el(
      "div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
      el(
        "table", {},
        el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, ...rows.map(([first, ...rest]) =>
          el("tr", {}, el("th", { scope: "row" }, first), ...rest.map(cell))))
      )
    );
  }

  /** Names in the order in which they first occur. */
  function distinct(names) {
    return [...new Set(names)];
  }

  xoff.dom = { el, choice, numberField, panel, table, distinct };
})(window.xoff = window.xoff || {});
