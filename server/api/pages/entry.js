"use strict";
// One press is one opening: the button says that it is under way.
document.addEventListener("submit", e => {
  const b = e.target.querySelector("button"), act = b.querySelector("[data-busy]");
  if (b.getAttribute("aria-busy")) return e.preventDefault();
  b.setAttribute("aria-busy", "true");
  act.dataset.idle = act.textContent;
  act.textContent = act.dataset.busy;
  b.late = setTimeout(idle, 30000, b); // nothing tells that the reader stopped a request without an answer
});
const idle = b => {
  clearTimeout(b.late);
  b.removeAttribute("aria-busy");
  const act = b.querySelector("[data-busy]");
  act.textContent = act.dataset.idle;
};
addEventListener("pageshow", () => document.querySelectorAll("button[aria-busy]").forEach(idle));
