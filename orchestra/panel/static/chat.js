// The chat: the answer as it arrives, what is being written, and the keys that send it.
"use strict";

(() => {
  const body = document.body;

  // What carries the same `data-kept` as before stays as it is, with all that was typed into it or opened in it.
  const callbacks = Idiomorph.defaults.callbacks;
  const before = callbacks.beforeNodeMorphed;
  const keptOf = (node) => (node instanceof Element ? node.dataset.kept : undefined);
  callbacks.beforeNodeMorphed = (old, fresh) =>
    before(old, fresh) !== false && !(keptOf(old) && old.id === fresh.id && keptOf(old) === keptOf(fresh));

  // The answer as it arrives. What the server has put there already is not appended again.
  const watched = () => new URL(body.dataset.live || "", location.href).searchParams.get("run");
  body.addEventListener("run-delta", (event) => {
    const { seq, node, attempt, text } = event.detail;
    document.querySelectorAll("[data-stream-of]").forEach((place) => {
      if (!text || seq <= Number(place.dataset.seq) || place.dataset.streamOf !== watched()) return;
      const stream = `${node}:${attempt ?? 1}`;
      if (place.dataset.kept !== stream) place.textContent = ""; // another attempt begins anew
      place.dataset.kept = stream;
      place.dataset.seq = seq;
      const isAtEnd = isScrolledToEnd();
      place.append(text);
      if (isAtEnd) scrollToEnd();
    });
  });

  const scroller = () => document.querySelector("[data-scrolls-to-end]");
  const isScrolledToEnd = () => {
    const place = scroller();
    return place !== null && place.scrollHeight - place.scrollTop - place.clientHeight < 80;
  };
  const scrollToEnd = () => {
    const place = scroller();
    if (place) place.scrollTop = place.scrollHeight;
  };

  let isNew = true;
  body.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "chat" || !isNew) return;
    isNew = false;
    recallChoices();
    scrollToEnd();
    if (sessionStorage.getItem(SENT)) document.getElementById("task")?.focus();
    sessionStorage.removeItem(SENT);
  });

  // Whoever has sent a task can type the next one at once.
  const SENT = "orchestra.sent";
  body.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt.id === "task-box") sessionStorage.setItem(SENT, "yes");
  });

  // Where the panel stands below the chat, a source that was asked for is brought into view.
  body.addEventListener("htmx:afterSwap", (event) => {
    const asked = event.detail.requestConfig?.elt;
    if (!asked?.closest(".turn") || event.detail.target.id !== "panel-body") return;
    if (matchMedia("(max-width: 900px)").matches) document.getElementById("panel").scrollIntoView({ block: "start" });
  });

  body.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !event.target.matches("[data-submits]")) return;
    event.preventDefault();
    event.target.form.requestSubmit();
  });

  // Strategy, model and mode stay as they were chosen, in this session and for as long as the tab lives.
  const keyOf = (field) => `orchestra.${location.pathname}.${field.dataset.remembered}`;
  const recallChoices = () => {
    document.querySelectorAll("[data-remembered]").forEach((field) => {
      const kept = sessionStorage.getItem(keyOf(field));
      if (kept) field.value = kept;
    });
  };
  body.addEventListener("change", (event) => {
    if (event.target.matches("[data-remembered]")) sessionStorage.setItem(keyOf(event.target), event.target.value);
  });
})();
