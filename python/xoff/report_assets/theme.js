// Light and dark: the system's preference, until the switch is used.
(function (xoff) {
  "use strict";

  const listeners = [];
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;

  function isDark() {
    return chosen === null ? dark.matches : chosen === "dark";
  }

  function apply() {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    const button = document.getElementById("theme");
    button.textContent = isDark() ? "Light theme" : "Dark theme";
    listeners.forEach((listener) => listener());
  }

  xoff.theme = {
    isDark,
    /** Call `listener` after each change of the theme. */
    onChange: (listener) => listeners.push(listener),
    /** The colour with this name in the style sheet. */
    colour: (name) =>
      getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(),
    start() {
      document.getElementById("theme").addEventListener("click", () => {
        chosen = isDark() ? "light" : "dark";
        apply();
      });
      dark.addEventListener("change", apply);
      apply();
    },
  };
})(window.xoff = window.xoff || {});
