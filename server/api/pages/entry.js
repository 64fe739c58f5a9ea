"use strict";
document.addEventListener("submit", e => {
  const b = e.target.querySelector("button[data-busy]");
  if (!b) return;
  if (b.getAttribute("aria-busy") === "true") return e.preventDefault();
  b.setAttribute("aria-busy", "true");
  b.dataset.idle = b.textContent;
  b.textContent = b.dataset.busy;
});
addEventListener("pageshow", () => document.querySelectorAll("button[aria-busy]").forEach(b => {
  b.removeAttribute("aria-busy");
  b.textContent = b.dataset.idle;
}));
