// Numbers with units, as text.
(function (xoff) {
  "use strict";

  /** A number with three significant digits, without trailing zeros. */
  function short(value) {
    if (!Number.isFinite(value)) return "–";
    if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(1);
    return String(Number(value.toPrecision(3)));
  }

  /** Scale a value by the largest unit that it reaches. */
  function scaled(value, units) {
    const [factor, name] = units.find(([size]) => Math.abs(value) >= size) || units[units.length - 1];
    return `${short(value / factor)} ${name}`;
  }

  const BYTES = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
  const MICROSECONDS = [[1e6, "s"], [1e3, "ms"], [1, "µs"], [1e-3, "ns"]];

  xoff.format = {
    short,
    count: (value) => value.toLocaleString("en"),
    bytes: (value) => (value === 0 ? "0 B" : scaled(value, BYTES)),
    microseconds: (value) => (value === 0 ? "0 µs" : scaled(value, MICROSECONDS)),
    milliseconds: (value) => (value === 0 ? "0 ms" : scaled(value * 1e3, MICROSECONDS)),
    percent: (share) => `${short(share * 100)} %`,
    gbps: (value) => `${short(value)} Gb/s`,
  };
})(window.xoff = window.xoff || {});
