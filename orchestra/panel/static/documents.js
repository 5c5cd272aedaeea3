// Outlines and folders are fetched when they are opened; an upload that would be refused is not sent.
"use strict";

// heard on the way down, for this event does not bubble
document.addEventListener("toggle", (event) => {
  const place = event.target.open && event.target.querySelector(":scope > [data-fetch]");
  if (!place || place.dataset.fetched) return;
  place.dataset.fetched = "yes";
  htmx.ajax("GET", place.dataset.fetch, { target: place, swap: "innerHTML" });
}, true);

// a browser that sends too much may not hear why it was refused
document.body.addEventListener("change", (event) => {
  const input = event.target;
  if (!input.matches("input[type=file][data-limit]")) return;
  const limit = Number(input.dataset.limit);
  const size = [...input.files].reduce((sum, file) => sum + file.size, 0);
  const shown = Math.round(limit / 1048576).toLocaleString("en");
  input.setCustomValidity(size > limit ? `Together these files are larger than ${shown} MB: send fewer, or smaller ones.` : "");
  input.reportValidity();
});
