// The frame of the page: the stream of the run, what is shown and hidden, and widths that hold.
"use strict";

(() => {
  const body = document.body;
  const EVERY_MS = 400; // at most so often the parts of the page ask for what changed

  Idiomorph.defaults.ignoreActiveValue = true; // what is being typed stays
  const has = (node, name) => node instanceof Element && node.hasAttribute(name);
  Object.assign(Idiomorph.defaults.callbacks, {
    // what a reader has opened stays open
    beforeAttributeUpdated: (name, node) => !(name === "open" && has(node, "data-keeps-open")),
    // what was fetched into a placeholder stays there
    beforeNodeMorphed: (old, fresh) => !(has(fresh, "data-placeholder") && old.id === fresh.id),
  });

  body.addEventListener("htmx:configRequest", (event) => {
    event.detail.headers["X-Token"] = body.dataset.token;
  });

  const tell = (name, detail) => body.dispatchEvent(new CustomEvent(name, { detail: detail || {}, bubbles: true }));
  window.orchestra = { tell };

  // The stream. It is closed while nobody looks at the tab, since a browser opens few connections to one server.

  const state = document.querySelector("[data-live-state]");
  let source = null;
  let lastId = "";
  let timer = 0;
  const due = new Set();

  const say = (text) => {
    if (state && state.textContent !== text) state.textContent = text;
  };

  const soon = (name) => {
    due.add(name);
    timer = timer || setTimeout(() => {
      timer = 0;
      const names = [...due];
      due.clear();
      names.forEach((each) => tell(each));
    }, EVERY_MS);
  };

  const address = () => {
    const url = new URL(body.dataset.live, location.href);
    if (lastId) url.searchParams.set("after", lastId.split(":").pop());
    return url;
  };

  const open = () => {
    if (source || !body.dataset.live || document.hidden) return;
    source = new EventSource(address());
    source.addEventListener("open", letIn);
    source.addEventListener("error", lost);
    source.addEventListener("run", (event) => {
      lastId = event.lastEventId || lastId;
      const told = JSON.parse(event.data);
      if (told.type === "answer-delta") tell("run-delta", told);
      else soon("run-changed");
    });
    source.addEventListener("ended", () => soon("run-ended"));
    source.addEventListener("runs", () => soon("runs-changed"));
  };

  const close = () => {
    if (source) source.close();
    source = null;
  };

  // A browser connects anew by itself, but not after an answer that is no stream.

  const AGAIN_MS = 3000;
  const LET_OUT_MS = 15000; // until it is tried again where the panel does not let this page in any more
  const GONE_MS = 10000; // after which a panel that does not answer is told of in words
  let lostAt = 0;

  const lost = async () => {
    say("reconnecting");
    lostAt = lostAt || Date.now();
    if (Date.now() - lostAt > GONE_MS) tellFault("gone");
    if (source.readyState !== EventSource.CLOSED) return;
    close();
    const isLetOut = await fetch(location.href, { method: "HEAD" }).then((answer) => answer.status === 403, () => false);
    if (isLetOut) letOut();
    setTimeout(open, isLetOut ? LET_OUT_MS : AGAIN_MS);
  };

  const tellFault = (name) =>
    document.querySelectorAll("[data-fault]").forEach((each) => (each.hidden = each.dataset.fault !== name));

  const letIn = () => {
    say("live");
    lostAt = 0;
    tellFault("");
  };

  // A panel that was started again has another secret: its refusal takes the place of nothing that is shown.

  const letOut = () => {
    say("refused");
    tellFault("let-out");
  };

  body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status !== 403 || event.detail.requestConfig.verb !== "get") return;
    event.detail.shouldSwap = false;
    letOut();
  });

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  open();

  // A page without a run takes up the first one that the chat tells of, wherever that was begun.

  const takeUp = async () => {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [panel, others] = [document.getElementById("panel"), fresh.getElementById("panel")];
    if (!others?.querySelector("#panel-body") || panel.querySelector("#panel-body")) return;
    panel.replaceChildren(...others.childNodes);
    htmx.process(panel);
    body.dataset.live = fresh.body.dataset.live;
    document.title = fresh.title;
    lastId = "";
    close();
    open();
  };

  body.addEventListener("htmx:afterSwap", (event) => {
    const isEmpty = !document.querySelector("#panel #panel-body");
    if (event.detail.target.id === "chat" && isEmpty && document.querySelector("#chat .turn")) takeUp();
  });

  // Whoever has no session yet gets one, by the form that a click would send.

  document.querySelector("form[data-sends-itself]")?.requestSubmit();

  // Tabs: the one that is open says so, and another one leaves what was chosen in it behind.

  body.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-tab]");
    if (tab && !event.ctrlKey && !event.metaKey) currentTab(tab.dataset.tab);
  });

  const currentTab = (name) => {
    document.querySelectorAll("[data-tab]").forEach((each) => {
      each.toggleAttribute("aria-current", false);
      if (each.dataset.tab === name) {
        each.setAttribute("aria-current", "page");
        each.hidden = false;
        const place = document.getElementById("panel-body");
        if (place) place.setAttribute("aria-label", each.textContent.trim());
      }
    });
  };

  body.addEventListener("change", (event) => {
    if (!event.target.matches("[data-advanced]")) return;
    const isOn = event.target.checked;
    document.cookie = `orchestra-advanced=${isOn ? 1 : 0}; path=/; SameSite=Strict; max-age=31536000`;
    document.querySelectorAll('[data-tab="logs"]').forEach((each) => (each.hidden = !isOn));
  });

  // What can be shown and hidden, and dragged to a width: remembered, unless the settings say otherwise.

  const remember = (name, value) => localStorage.setItem(`orchestra.${name}`, value);
  const recall = (name) => localStorage.getItem(`orchestra.${name}`);

  const show = (name, isShown) => {
    const place = document.getElementById(name);
    if (place) place.hidden = !isShown;
    document.querySelectorAll(`[data-splitter="${name}"]`).forEach((each) => (each.hidden = !isShown));
    document.querySelectorAll(`[data-toggles="${name}"]`).forEach((each) => each.setAttribute("aria-expanded", isShown));
  };

  const isKept = () => body.dataset.persist !== "no";

  document.querySelectorAll("[data-toggles]").forEach((button) => {
    const name = button.dataset.toggles;
    const isNarrow = matchMedia("(max-width: 900px)").matches;
    const kept = isKept() ? recall(`${name}.shown`) : null;
    const isAsked = name === "panel" && new URLSearchParams(location.search).has("tab");
    show(name, isAsked || (kept === null ? !(isNarrow && name === "sessions") : kept === "yes"));
    if (isAsked && isNarrow) document.getElementById(name)?.scrollIntoView({ block: "start" });
    button.addEventListener("click", () => {
      const isShown = button.getAttribute("aria-expanded") !== "true";
      show(name, isShown);
      if (isKept()) remember(`${name}.shown`, isShown ? "yes" : "no");
    });
  });

  const openPanel = () => {
    show("panel", true);
    if (isKept()) remember("panel.shown", "yes");
  };
  body.addEventListener("htmx:afterSwap", (event) => {
    const isAsked = event.detail.requestConfig?.elt.id !== "panel-body"; // which asks by itself when the page loads
    if (event.detail.target.id === "panel-body" && isAsked && document.getElementById("panel").hidden) openPanel();
  });

  const widthOf = (splitter) => document.getElementById(splitter.dataset.sizes).getBoundingClientRect().width;

  const resize = (splitter, width) => {
    const name = splitter.dataset.splitter;
    const bounded = Math.round(Math.max(140, Math.min(width, innerWidth * 0.75)));
    document.documentElement.style.setProperty(`--${name}-width`, `${bounded}px`);
    splitter.setAttribute("aria-valuenow", bounded);
    splitter.setAttribute("aria-valuemin", 140);
    splitter.setAttribute("aria-valuemax", Math.round(innerWidth * 0.75));
    remember(`${name}.width`, bounded);
  };

  // The element that a splitter sizes stands before it or behind it: dragging to the right widens the one, narrows the other.
  const direction = (splitter) => {
    const sized = document.getElementById(splitter.dataset.sizes);
    return sized.compareDocumentPosition(splitter) & Node.DOCUMENT_POSITION_FOLLOWING ? 1 : -1;
  };

  const readySplitter = (splitter) => {
    if (splitter.dataset.ready) return;
    splitter.dataset.ready = "yes";
    const kept = Number(recall(`${splitter.dataset.splitter}.width`));
    if (kept) resize(splitter, kept);
    else splitter.setAttribute("aria-valuenow", Math.round(widthOf(splitter)));
    splitter.addEventListener("pointerdown", (down) => {
      const before = widthOf(splitter);
      splitter.setPointerCapture(down.pointerId);
      const move = (event) => resize(splitter, before + direction(splitter) * (event.clientX - down.clientX));
      splitter.addEventListener("pointermove", move);
      splitter.addEventListener("pointerup", () => splitter.removeEventListener("pointermove", move), { once: true });
    });
    splitter.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
      if (!step) return;
      event.preventDefault();
      resize(splitter, widthOf(splitter) + direction(splitter) * step);
    });
  };

  const readySplitters = () => document.querySelectorAll("[data-splitter]").forEach(readySplitter);
  readySplitters();
  body.addEventListener("htmx:afterSettle", readySplitters);
})();
