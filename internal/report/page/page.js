(() => {
  const rows = [...document.querySelectorAll("[data-row]")];
  const box = document.getElementById("filter"), left = document.getElementById("left");
  box.closest("p").hidden = false;
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const r of rows) {
      const text = r.textContent.toLowerCase();
      const fits = words.every(w => text.includes(w));
      r.hidden = !fits;
      n += fits;
    }
    left.textContent = words.length ? n + " of " + rows.length + " entries" : "";
  };
  box.addEventListener("input", filter);
  const failures = [...document.querySelectorAll(".failure")];
  let at = -1;
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape" && document.activeElement === box) {
      box.value = "";
      filter();
      box.blur();
      return;
    }
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
    if (e.key === "/") {
      e.preventDefault();
      box.focus();
    }
    const shown = failures.filter(f => !f.hidden);
    if ((e.key === "j" || e.key === "k") && shown.length) {
      at = Math.min(Math.max(at + (e.key === "j" ? 1 : -1), 0), shown.length - 1);
      shown[at].scrollIntoView();
      shown[at].focus({preventScroll: true});
    }
  });
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const closed = target && target.closest("details:not([open])");
    if (closed) closed.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
