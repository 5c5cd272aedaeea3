// Logs: what is copied, and a replay, which shows the whole panel as of an earlier event.
"use strict";

(() => {
  const body = document.body;

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const place = document.createElement("textarea");
      place.value = text;
      place.readOnly = true;
      body.append(place);
      place.select();
      const isCopied = document.execCommand("copy");
      place.remove();
      return isCopied;
    }
  };

  const say = (text) => document.querySelectorAll("[data-logs-said]").forEach((each) => (each.textContent = text));

  const shownLines = async (button) => {
    const answer = await fetch(button.dataset.logsCopy);
    if (!answer.ok) throw new Error(answer.statusText);
    const lines = (await answer.text()).split("\n").filter(Boolean);
    return lines.filter((line) => JSON.parse(line).sequence <= Number(button.dataset.logsLast)).join("\n");
  };

  body.addEventListener("click", async (event) => {
    const one = event.target.closest("[data-logs-copy-text]");
    const all = event.target.closest("[data-logs-copy]");
    if (!one && !all) return;
    try {
      const text = one ? document.getElementById(one.dataset.logsCopyText).textContent : await shownLines(all);
      say((await copy(text)) ? "Copied." : "The browser does not let this page copy: use Export.");
    } catch {
      say("The events could not be fetched: use Export.");
    }
  });

  // The replay. `at` is the event that the panel shows; null is now.

  const player = () => document.querySelector("[data-player]");

  let at = player()?.dataset.at ? Number(player().dataset.at) : null;
  let isPlaying = false;
  let timer = 0;
  let turn = 0; // a press makes what was fetched before it late
  const control = (name) => player().querySelector(`[data-play="${name}"]`);
  const last = () => Number(player().dataset.last);
  const address = (name, query) => `/runs/${encodeURIComponent(player().dataset.player)}/${name}?${new URLSearchParams(query)}`;
  const isOfRun = (path) => player() && path.startsWith(`/runs/${encodeURIComponent(player().dataset.player)}/`);

  // Whatever the panel asks for is asked as of then.

  body.addEventListener("htmx:configRequest", (event) => {
    const { path, parameters, elt } = event.detail;
    if (at === null || !elt.closest("#panel") || !isOfRun(path) || /\/player$/.test(path)) return;
    event.detail.path = path.replace(/([?&])at=\d+&?/, "$1");
    parameters.at = at;
  });

  // The address names the place, so that a page that is loaded again shows it.

  const NOTED_MS = 1000; // while it plays: browsers take only so many changes of an address
  let noting = 0;

  const note = () => {
    clearTimeout(noting);
    noting = 0;
    const shown = new URL(location.href);
    if (at === null) shown.searchParams.delete("at");
    else shown.searchParams.set("at", at);
    if (shown.href !== location.href) history.replaceState(history.state, "", shown);
  };
  const noteSoon = () => (noting = noting || setTimeout(note, NOTED_MS));
  body.addEventListener("htmx:pushedIntoHistory", note); // another view of the same moment

  const refresh = () => {
    const graph = document.querySelector("#panel-body > .graph");
    if (graph) {
      if (at === null) delete graph.dataset.at;
      else graph.dataset.at = at;
      return htmx.trigger("#graph-rows", "graph-changed");
    }
    const tab = document.querySelector("[data-tab][aria-current]");
    return tab && htmx.ajax("GET", tab.getAttribute("hx-get"), { source: "#panel-body", target: "#panel-body", swap: "morph:innerHTML" });
  };

  const show = (place, says) => {
    at = place;
    if (place !== null) {
      control("place").value = place;
      player().querySelector("output").textContent = `event ${place.toLocaleString("en")} of ${last().toLocaleString("en")}${says ? `: ${says}` : ""}`;
    }
    if (isPlaying) noteSoon();
    else note();
    refresh();
  };

  const pause = () => {
    turn += 1;
    isPlaying = false;
    clearTimeout(timer);
    if (!player()) return;
    note();
    player().querySelector("output").setAttribute("aria-live", "polite");
    control("toggle").textContent = "Play";
    control("toggle").setAttribute("aria-pressed", "false");
  };

  const wait = (milliseconds) => new Promise((done) => (timer = setTimeout(done, milliseconds)));

  const play = async () => {
    pause();
    const ours = turn;
    isPlaying = true;
    player().querySelector("output").setAttribute("aria-live", "off");
    control("toggle").textContent = "Pause";
    control("toggle").setAttribute("aria-pressed", "true");
    if (at === null || at >= last()) show(0);
    for (let isAll = false; !isAll; ) {
      const answer = await fetch(address("replay", { after: at, speed: control("speed").value }));
      if (ours !== turn || !answer.ok || !player()) break;
      const told = await answer.json();
      isAll = told.is_all;
      for (const [milliseconds, place] of told.frames) {
        await wait(milliseconds);
        if (ours !== turn || !player()) return;
        show(place);
      }
    }
    if (ours === turn) pause();
  };

  const step = async (isBack) => {
    pause();
    const ours = turn;
    const answer = await fetch(address("step", { at: at ?? last(), back: isBack }));
    if (ours !== turn || !answer.ok) return;
    const told = await answer.json();
    show(told.at, told.says);
  };

  const now = () => {
    pause();
    show(null);
    player().remove();
    document.getElementById("panel-body").focus();
  };

  body.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-play]");
    if (!button) return;
    const press = { toggle: () => (isPlaying ? pause() : play()), back: () => step(true), forth: () => step(false), now };
    press[button.dataset.play]();
  });

  body.addEventListener("change", (event) => {
    if (event.target.matches('[data-play="speed"]') && isPlaying) play();
    if (event.target.matches('[data-play="place"]')) {
      pause();
      show(Number(event.target.value));
    }
  });

  body.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "replay" && player()) control("toggle").focus();
  });
})();
