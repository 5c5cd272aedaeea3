// Says before anything is sent that it would be refused: a browser that sends too much may not hear why.
"use strict";

document.body.addEventListener("change", (event) => {
  const input = event.target;
  if (!input.matches("input[type=file][data-limit]")) return;
  const limit = Number(input.dataset.limit);
  const size = [...input.files].reduce((sum, file) => sum + file.size, 0);
  const shown = Math.round(limit / 1048576).toLocaleString("en");
  input.setCustomValidity(size > limit ? `Together these files are larger than ${shown} MB: send fewer, or smaller ones.` : "");
  input.reportValidity();
});
