// A page of a run in progress: asks its server for newer data until the run has ended.
(function (xoff) {
  "use strict";

  const PERIOD_MS = 1000;
  const FAILURES = 5;

  /** Show the state of a live run, and call `onData` with each newer state. */
  xoff.live = function live(first, onData) {
    const line = document.getElementById("live");
    let version = first.live.version;
    let failures = 0;
    line.hidden = false;
    say(first.live);

    function say(state) {
      line.dataset.state = state.state;
      // Read aloud at the end of the run only.
      line.setAttribute("aria-live", state.state === "running" ? "off" : "polite");
      line.textContent = state.text;
    }

    async function ask() {
      try {
        const answer = await fetch(`data?after=${version}`, { cache: "no-store" });
        failures = 0;
        if (answer.status === 200) {
          const data = await answer.json();
          version = data.live.version;
          say(data.live);
          onData(data);
          if (data.live.state !== "running") return;
        }
      } catch (error) {
        failures += 1;
        if (failures >= FAILURES) {
          say({ state: "lost", text: "The run's server does not answer any more. This is its last state." });
          return;
        }
      }
      setTimeout(ask, PERIOD_MS);
    }
    if (first.live.state === "running") setTimeout(ask, PERIOD_MS);
  };
})(window.xoff = window.xoff || {});
