// The time slider with its play button.
(function (xoff) {
  "use strict";
  const { el } = xoff.dom;

  const SECONDS = 12;
  const SPEEDS = { "½×": 0.5, "1×": 1, "2×": 2, "4×": 4 };

  /** `onFrame(frame)` is called for each change; `describe(frame)` names a frame. */
  xoff.player = function player(onFrame, describe) {
    const slider = el("input", { type: "range", min: "0", step: "1", value: "0" });
    slider.setAttribute("aria-label", "Time");
    const play = el("button", { type: "button", className: "play" }, "Play");
    const time = el("output", { className: "time" });
    const speed = xoff.dom.choice("Speed", () => {}, "1×");
    speed.show(Object.keys(SPEEDS));
    let frames = 0;
    let running = null;

    function go(frame) {
      slider.value = String(frame);
      const text = describe(frame);
      time.textContent = text;
      slider.setAttribute("aria-valuetext", text);
      onFrame(frame);
    }

    function stop() {
      cancelAnimationFrame(running);
      running = null;
      play.textContent = "Play";
    }

    function start() {
      play.textContent = "Pause";
      let position = Number(slider.value) >= frames - 1 ? 0 : Number(slider.value);
      let before = null;
      const tick = (now) => {
        const passed = before === null ? 0 : (now - before) / 1000;
        before = now;
        position += (passed * frames * SPEEDS[speed.value]) / SECONDS;
        if (position >= frames - 1) {
          go(frames - 1);
          stop();
          return;
        }
        if (Math.floor(position) !== Number(slider.value)) go(Math.floor(position));
        running = requestAnimationFrame(tick);
      };
      running = requestAnimationFrame(tick);
    }

    play.addEventListener("click", () => (running === null ? start() : stop()));
    slider.addEventListener("input", () => {
      if (running !== null) stop();
      go(Number(slider.value));
    });

    return {
      root: el("div", { className: "player" }, play, slider, time, speed.root),
      get frame() {
        return Number(slider.value);
      },
      /** Set the number of frames. The slider begins at `first`, and follows the end if it is there. */
      show(count, first) {
        const last = Math.max(0, count - 1);
        const before = Number(slider.value);
        const next = !frames ? first : before === frames - 1 ? last : Math.min(before, last);
        frames = count;
        slider.max = String(last);
        go(next);
      },
    };
  };
})(window.xoff = window.xoff || {});
