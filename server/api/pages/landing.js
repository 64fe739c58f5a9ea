"use strict";
// Copy buttons: without a clipboard, the text is selected, to be copied by hand.
document.querySelectorAll("[data-copy]").forEach(b => {
  const pre = document.getElementById(b.dataset.copy), word = b.textContent;
  b.hidden = false;
  b.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      b.textContent = b.dataset.copied;
      setTimeout(() => { b.textContent = word; }, 2000);
    } catch {
      getSelection().selectAllChildren(pre);
    }
  });
});
// The minute's try from the page itself: the same three calls as below.
(() => {
  const b = document.getElementById("try"), said = document.getElementById("said");
  if (!b) return;
  b.hidden = false;
  const post = async (path, body, header) => {
    const r = await fetch(path, {method: "POST", body: JSON.stringify(body), headers: {"Content-Type": "application/json", ...header}});
    const m = await r.json();
    if (!r.ok) throw Object.assign(new Error(m.message || r.status), {code: m.error});
    return m;
  };
  b.addEventListener("click", async () => {
    if (b.getAttribute("aria-busy")) return;
    b.setAttribute("aria-busy", "true");
    said.textContent = "";
    let pressed = false;
    try {
      const t = await post("/core/v1/auth/apikey/token", {key: b.dataset.key});
      pressed = true;
      await post("/device/v1/devices/" + b.dataset.door + "/commands", {capability: "door", command: "open"},
        {Authorization: "Bearer " + (t.data || t).accessToken, "Idempotency-Key": "try-" + Date.now() + Math.random()});
      said.textContent = b.dataset.done;
    } catch (e) {
      const unknown = !e.code || ["device_no_response", "storage_unavailable", "internal_error"].includes(e.code);
      said.textContent = (pressed && unknown ? b.dataset.unknown : b.dataset.failed) + " " + e.message;
    }
    b.removeAttribute("aria-busy");
  });
})();
