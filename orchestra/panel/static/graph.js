// The call graph: which branches are open, which node is selected, and the keys of a tree grid.
"use strict";

(() => {
  const body = document.body;
  const kept = new Map(); // by run: what was chosen, for as long as the page lives
  let isAnew = false; // all rows that come next are others than those that stand
  let detailsAt = ""; // of which moment the details are
  let focused = null; // the row that had the focus: its key and its place

  const frame = () => document.querySelector("[data-graph]");
  const grid = () => document.getElementById("call-graph");
  const rows = () => [...document.querySelectorAll("#call-graph .row")];
  const rowOf = (key) => document.getElementById(`row-${key}`);
  const keyOf = (row) => row.id.slice(4);
  const nodeRow = (address) => rows().find((row) => row.dataset.id === address);
  const isNode = (row) => row.dataset.id !== undefined;

  const fresh = () => ({ open: new Set(), shut: new Set(), base: "default", sort: "", more: new Map(), node: "", find: false });
  const chosen = (run) => kept.get(run) || kept.set(run, fresh()).get(run);
  const choices = () => chosen(frame().dataset.graph);
  const moment = () => frame().dataset.at ?? ""; // the event that a replay shows, empty for now

  const refetch = () => htmx.trigger("#graph-rows", "graph-changed");

  // What is asked of the server carries the choices; an address that names a node comes from elsewhere and goes before them.

  body.addEventListener("htmx:configRequest", (event) => {
    const [path, query] = event.detail.path.split("?");
    const match = /^\/runs\/([^/]+)\/graph$/.exec(path);
    if (!match) return;
    const state = chosen(decodeURIComponent(match[1]));
    const asked = new URLSearchParams(query || "");
    const parameters = event.detail.parameters;
    if (state.open.size) parameters.open = [...state.open].join(".");
    if (state.shut.size) parameters.shut = [...state.shut].join(".");
    if (state.base !== "default") parameters.base = state.base;
    if (state.sort) parameters.sort = state.sort;
    if (state.more.size) parameters.more = [...state.more].map(([key, pages]) => `${key}x${pages}`).join(".");
    if (asked.has("node")) state.node = asked.get("node");
    else if (state.node) parameters.node = state.node;
    if (state.find) parameters.find = "failure";
    const at = frame()?.dataset.at;
    if (at !== undefined && !asked.has("at") && asked.get("part") === "rows") parameters.at = at;
  });

  // After rows have come: what the server opened to show a node stays open, and the focus stays where it was.

  const adopt = (state) => {
    const tree = grid();
    if (tree.dataset.refused) state.base = "default";
    if (tree.dataset.found === undefined) return;
    const found = tree.dataset.found;
    delete tree.dataset.found;
    if (tree.dataset.reset) Object.assign(state, { open: new Set(), shut: new Set(), base: "none", more: new Map() });
    tree.dataset.revealed.split(".").filter(Boolean).forEach((key) => {
      state.open.add(key);
      state.shut.delete(key);
    });
    const wasAsked = state.find;
    state.find = false;
    const row = nodeRow(found);
    if (!row) return;
    row.scrollIntoView({ block: "nearest" });
    if (!wasAsked) return;
    focus(row);
    select(row);
  };

  const restore = () => {
    const all = rows();
    if (!all.length) return;
    const held = (focused && rowOf(focused.key)) || all.find((row) => row.getAttribute("aria-selected") === "true");
    const current = held || all[Math.min(focused ? focused.place : 0, all.length - 1)];
    current.tabIndex = 0;
    if (focused && focused.hasFocus && !grid().contains(document.activeElement)) current.focus();
  };

  body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "graph-rows") return;
    const active = document.activeElement;
    if (focused) focused.hasFocus = Boolean(active?.closest?.("#call-graph .row"));
    if (!isAnew) return;
    isAnew = false;
    const id = active?.closest?.("#graph-rows") && active.id;
    event.detail.swapOverride = "none"; // rows in another order: replacing them is quicker than moving each
    event.detail.target.innerHTML = event.detail.serverResponse;
    if (id) document.getElementById(id)?.focus();
  });
  body.addEventListener("htmx:afterSettle", (event) => {
    if (!grid() || !["graph-rows", "panel-body"].includes(event.detail.target.id)) return;
    adopt(choices());
    restore();
    if (focused) focused.hasFocus = false;
    if (event.detail.target.id === "panel-body") detailsAt = moment();
    else if (detailsAt !== moment()) replayed();
  });

  body.addEventListener("htmx:responseError", (event) => {
    if (event.detail.target.id === "graph-rows" && frame()) choices().find = false;
  });

  // A replay went to another moment: what the details show is of then, as far as the node had begun.

  const replayed = () => {
    const row = rows().find((each) => each.getAttribute("aria-selected") === "true");
    if (row) showDetails(row.dataset.id);
  };

  // Rows that stay as they are need not be compared bit by bit. What stands in a row or button that has the focus changes
  // like all else: it is only in fields that a reader types.

  const callbacks = Idiomorph.defaults.callbacks;
  const mayMorph = callbacks.beforeNodeMorphed;
  callbacks.beforeNodeMorphed = (before, after) => {
    if (before instanceof Element && after instanceof Element) {
      if (before.matches(".row") && before.isEqualNode(after)) return false;
      if (before === document.activeElement && before.matches(".row, #graph-rows button")) before.innerHTML = after.innerHTML;
    }
    return mayMorph(before, after);
  };

  // Choices

  const toggle = (row, isOpen) => {
    const state = choices();
    const key = keyOf(row);
    state.open.delete(key);
    state.shut.delete(key);
    (isOpen ? state.open : state.shut).add(key);
    row.setAttribute("aria-expanded", isOpen);
    refetch();
  };

  const showMore = (row) => {
    const more = choices().more;
    more.set(row.dataset.more, (more.get(row.dataset.more) || 0) + 1);
    refetch();
  };

  const showDetails = (id) => {
    detailsAt = moment();
    const url = `/runs/${encodeURIComponent(frame().dataset.graph)}/node?id=${id}${detailsAt && `&at=${detailsAt}`}`;
    htmx.ajax("GET", url, { target: "#node-details", swap: "innerHTML" });
  };

  const select = (row) => {
    const id = row.dataset.id; // as addresses carry it
    choices().node = decodeURIComponent(id);
    rows().filter(isNode).forEach((each) => each.setAttribute("aria-selected", each === row));
    showDetails(id);
    const shown = new URL(location.href);
    shown.searchParams.set("tab", "graph");
    shown.searchParams.set("node", choices().node);
    history.replaceState(history.state, "", shown);
  };

  const activate = (row) => {
    if (row.dataset.more !== undefined) showMore(row);
    else if (isNode(row)) select(row);
    else toggle(row, row.getAttribute("aria-expanded") !== "true");
  };

  const focus = (row) => {
    rows().forEach((each) => (each.tabIndex = each === row ? 0 : -1));
    row.focus({ preventScroll: false });
  };

  body.addEventListener("focusin", (event) => {
    const row = event.target.closest("#call-graph .row");
    if (row) focused = { key: keyOf(row), place: rows().indexOf(row), hasFocus: true };
  });

  body.addEventListener("click", (event) => {
    const button = event.target.closest("[data-graph-find], [data-graph-base], [data-graph-sort]");
    if (button && frame()) return press(button);
    const link = event.target.closest("[data-graph-node]");
    if (link && frame()) return follow(event, link);
    const row = event.target.closest("#call-graph .row");
    if (!row) return;
    focus(row);
    if (event.target.closest(".caret") && row.ariaExpanded !== null) toggle(row, row.ariaExpanded !== "true");
    else activate(row);
  });

  const press = (button) => {
    const state = choices();
    isAnew = button.dataset.graphFind === undefined;
    if (button.dataset.graphFind !== undefined) state.find = true;
    else if (button.dataset.graphSort) state.sort = button.dataset.graphSort === "started" ? "" : button.dataset.graphSort;
    else Object.assign(state, { open: new Set(), shut: new Set(), more: new Map(), base: button.dataset.graphBase });
    refetch();
  };

  // A link to another node of the run, in its details.

  const follow = (event, link) => {
    const row = nodeRow(link.dataset.graphNode);
    if (!row || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    focus(row);
    select(row);
  };

  // Keys, as the ARIA practices have them for a tree grid whose rows take the focus.

  const parentOf = (row) => {
    const level = Number(row.ariaLevel);
    let before = row.previousElementSibling;
    while (before && Number(before.ariaLevel) >= level) before = before.previousElementSibling;
    return before;
  };

  const firstInside = (row) => {
    const next = row.nextElementSibling;
    return next && Number(next.ariaLevel) > Number(row.ariaLevel) ? next : null;
  };

  const KEYS = {
    ArrowDown: (row) => row.nextElementSibling,
    ArrowUp: (row) => row.previousElementSibling,
    Home: () => rows()[0],
    End: () => rows().at(-1),
    PageDown: (row) => rows()[Math.min(rows().indexOf(row) + 10, rows().length - 1)],
    PageUp: (row) => rows()[Math.max(rows().indexOf(row) - 10, 0)],
    ArrowRight: (row) => (row.ariaExpanded === "false" ? toggle(row, true) : firstInside(row)),
    ArrowLeft: (row) => (row.ariaExpanded === "true" ? toggle(row, false) : parentOf(row)),
    Enter: (row) => activate(row),
    " ": (row) => activate(row),
  };

  body.addEventListener("keydown", (event) => {
    const row = event.target.matches?.("#call-graph .row") ? event.target : null;
    const move = row && !event.ctrlKey && !event.altKey && !event.metaKey && KEYS[event.key];
    if (!move) return;
    event.preventDefault();
    const next = move(row);
    if (next) focus(next);
  });

  // A letter goes to the next row whose name begins with it.

  const lead = (row) => row.querySelector("b")?.textContent.slice(0, 1).toLowerCase();

  body.addEventListener("keydown", (event) => {
    const row = event.target.matches?.("#call-graph .row") ? event.target : null;
    if (!row || event.ctrlKey || event.altKey || event.metaKey || !/^\S$/u.test(event.key)) return;
    const all = rows();
    const after = all.indexOf(row) + 1;
    const next = [...all.slice(after), ...all.slice(0, after)].find((each) => lead(each) === event.key.toLowerCase());
    if (next) focus(next);
  });

  // How long what is under way has taken.

  setInterval(() => {
    if (document.hidden) return;
    document.querySelectorAll("[data-since]").forEach((place) => {
      const seconds = Math.max(0, Math.floor(Date.now() / 1000 - Number(place.dataset.since)));
      const text = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
      if (place.textContent !== text) place.textContent = text;
    });
  }, 1000);
})();
