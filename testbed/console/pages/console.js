"use strict";
// Everything works without this file; with it pages stay up to date, and forms
// are sent without leaving the page.
(() => {
  const $ = id => document.getElementById(id), body = document.body;

  // The address that doorlab prints on a terminal signs in. The token is behind the #, so it was never sent, and doesn't
  // stay in the address.
  if (location.hash.startsWith("#token=")) {
    const token = location.hash.slice("#token=".length), f = document.querySelector("form[action='/login']");
    history.replaceState(null, "", location.pathname + location.search);
    if (f) {
      try { f.elements.token.value = decodeURIComponent(token); f.submit(); } catch { /* cut while copying: the form asks for it */ }
    }
  }

  // Parts: what the server renders again replaces what is shown, unless somebody
  // is typing in it, or presses a button in it: half a click would be none.
  const waiting = new Map();
  let pressed = null;
  const busy = el => {
    const a = document.activeElement;
    return el.contains(pressed) || a && el.contains(a) && a.matches("input:not([type=hidden]),select,textarea");
  };
  // What can have the focus, and what tells one of them from the others: its row, its form, and its address or text.
  const keys = "a,button,summary,[tabindex]";
  const form = f => f ? [...f.querySelectorAll("input[type=hidden]")].map(i => i.name + "=" + i.value).join("&") : "";
  const row = el => [...(el.closest("[data-row]")?.querySelectorAll("a[href]") || [])].map(a => a.getAttribute("href")).join(" ");
  const key = el => [row(el), form(el.form), el.closest("details[id]")?.id, el.getAttribute("href") || el.textContent].join("|");
  const field = el => form(el.form) + "|" + el.name;
  const fields = el => [...el.querySelectorAll("input:not([type=hidden]),textarea")];
  const put = (id, text) => {
    const el = $(id);
    if (!el) return;
    if (!("live" in el.dataset)) return void el.dispatchEvent(new CustomEvent("data", {detail: text}));
    if (busy(el)) return void waiting.set(id, text);
    waiting.delete(id);
    const a = document.activeElement, had = el !== a && el.contains(a) && key(a);
    const open = [...el.querySelectorAll("details[open][id]")].map(d => d.id);
    const typed = new Map(fields(el).filter(i => i.value !== i.defaultValue).map(i => [field(i), i.value]));
    el.innerHTML = text;
    open.forEach(id => $(id) && ($(id).open = true));
    fields(el).forEach(i => typed.has(field(i)) && (i.value = typed.get(field(i))));
    if (!had) return;
    const same = [...el.querySelectorAll(keys)].find(b => key(b) === had);
    if (!same) el.tabIndex = -1; // gone: Enter must not press its neighbour
    (same || el).focus({preventScroll: true});
  };
  const late = () => setTimeout(() => waiting.forEach((text, id) => put(id, text)));
  document.addEventListener("focusout", late);
  addEventListener("pointerdown", e => { pressed = e.target; }, true);
  const released = () => setTimeout(() => { pressed = null; late(); });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, released, true);
  addEventListener("blur", released); // the window's own

  if ("stream" in body.dataset) {
    let source = null;
    const say = on => { $("stream").textContent = on ? body.dataset.alive : body.dataset.lost; $("stream").dataset.state = on ? "on" : "off"; };
    const connect = () => {
      source = new EventSource(location.href);
      source.addEventListener("open", () => say(true));
      source.addEventListener("part", e => { const m = JSON.parse(e.data); m.id ? put(m.id, m.text) : say(m.text === "on"); });
      source.addEventListener("error", () => { say(false); if (source?.readyState === EventSource.CLOSED) setTimeout(again, 3000); });
    };
    // A browser gives up on any answer but 200: signed out and what is gone show on the page itself, all else may pass.
    const again = async () => {
      if (!source || source.readyState !== EventSource.CLOSED) return;
      try {
        const r = await fetch(location.href);
        if (r.redirected || r.status === 403 || r.status === 404) return void location.reload();
      } catch { /* not there yet */ }
      if (source?.readyState === EventSource.CLOSED) connect();
    };
    const stop = () => { source?.close(); source = null; };
    document.addEventListener("visibilitychange", () => document.hidden ? stop() : source || connect()); // a browser has six connections
    addEventListener("pagehide", stop);
    addEventListener("pageshow", e => e.persisted && location.reload());
    if (!document.hidden) connect();
  }

  // The map: a letter per square comes, and the squares that changed take it as
  // their class. When it has other boards than those shown, the page is asked.
  const map = $("boards.data");
  if (map) {
    let asked = 0, timer = 0, latest = "";
    const squares = () => map.querySelectorAll(".squares a");
    const stop = () => squares()[0]?.setAttribute("tabindex", "0");
    const ask = async () => {
      asked = Date.now();
      try {
        const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html").getElementById("boards.data");
        map.className = page.className; map.dataset.squares = page.dataset.squares; map.innerHTML = page.innerHTML;
        stop();
        timer = 0;
        show();
      } catch {
        timer = setTimeout(ask, 2000);
      }
    };
    const show = () => {
      const [sum, letters] = latest.split(":");
      if (sum !== map.dataset.squares) timer ||= setTimeout(ask, Math.max(0, asked + 2000 - Date.now()));
      else squares().forEach((a, i) => { if (a.className !== letters[i]) a.className = letters[i]; });
    };
    map.addEventListener("data", e => { latest = e.detail; show(); });
    stop();
    map.addEventListener("keydown", e => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
      if (!step || !e.target.matches("a")) return;
      const all = [...squares()], next = all[all.indexOf(e.target) + step];
      if (next) { e.preventDefault(); next.tabIndex = 0; e.target.tabIndex = -1; next.focus(); }
    });
  }

  // Forms that do something.
  const toast = (text, bad, keep) => {
    const p = document.createElement("p");
    p.textContent = text;
    p.className = bad ? "bad" : "";
    $("toast").append(p);
    if (keep) {
      const b = document.createElement("button");
      b.textContent = "✕";
      b.setAttribute("aria-label", body.dataset.close);
      b.addEventListener("click", () => p.remove());
      p.dataset.keep = "";
      p.append(" ", b);
    } else setTimeout(() => p.remove(), bad ? 10000 : 4000);
  };
  document.addEventListener("submit", async e => {
    const f = e.target, b = e.submitter;
    if (f.method !== "post" || !f.elements.do || f.getAttribute("action") === "/logout" || "page" in f.dataset) return;
    e.preventDefault();
    if (b?.getAttribute("aria-busy")) return;
    const data = new URLSearchParams(new FormData(f, b));
    b?.setAttribute("aria-busy", "true");
    try {
      const r = await fetch(f.getAttribute("action") || location.href, {method: "POST", body: data, headers: {"X-Doorlab-Console": "1"}});
      const m = await r.json();
      toast(m.text, m.bad, m.keep);
      const shown = f.isConnected ? f : [...document.forms].find(x => form(x) === form(f)); // its part was updated meanwhile
      if (!m.bad && shown?.closest("[data-live]")) shown.reset();
    } catch (err) {
      toast(String(err), true);
    } finally {
      b?.removeAttribute("aria-busy");
    }
  });

  // Keys: / goes to the filter, j and k move through rows, Enter opens, Esc closes.
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const a = document.activeElement;
    if (e.key === "Escape") {
      $("toast").querySelectorAll("p:not([data-keep])").forEach(p => p.remove());
      const open = a?.closest("details[open]") || document.querySelector("details[open]");
      if (a?.matches("input,select,textarea")) a.blur();
      else if (open) { open.open = false; open.querySelector("summary")?.focus(); }
      return;
    }
    if (a?.matches("input,select,textarea")) return;
    if (e.key === "/") {
      const f = document.querySelector("[data-filter]");
      if (f) { e.preventDefault(); f.focus(); f.select?.(); }
    } else if (e.key === "j" || e.key === "k") {
      const rows = [...document.querySelectorAll("[data-row]")].filter(r => r.offsetParent);
      const at = rows.findIndex(r => r.contains(a));
      const next = rows[e.key === "j" ? at + 1 : Math.max(at - 1, 0)];
      if (next) (next.matches("a,button,summary") ? next : next.querySelector("[data-open]") || next.querySelector("a,button,summary"))?.focus();
    }
  });

  // What is typed beside a radio button chooses it.
  document.addEventListener("input", e => {
    const radio = e.target.closest("label")?.querySelector("input[type=radio]");
    if (radio) radio.checked = true;
  });

  // Copy buttons.
  document.addEventListener("click", async e => {
    const b = e.target.closest("[data-copy]");
    if (!b) return;
    const el = $(b.dataset.copy);
    try {
      await navigator.clipboard.writeText(el.textContent);
      b.dataset.done = "yes";
      toast(b.textContent + " ✓");
    } catch {
      getSelection().selectAllChildren(el); // without the permission: selected, to be copied by hand
    }
  });
})();
