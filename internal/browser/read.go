package browser

import "strconv"

// Wide names what makes the page wider than the screen; "" if it fits. The screen's width is the one that was
// requested: on a phone, innerWidth grows with the page.
func (p *Page) Wide() (who string) {
	p.b.tb.Helper()
	p.Eval(`(() => {
	const width = `+strconv.Itoa(p.width)+`, over = document.documentElement.scrollWidth - width;
	if (over <= 0) return "";
	const scrolls = e => { for (e = e.parentElement; e && e !== document.body; e = e.parentElement) if (/auto|scroll|hidden|clip/.test(getComputedStyle(e).overflowX)) return true; return false };
	return over + " px: " + [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 1 && !scrolls(e)).slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join("\n");
})()`, &who)
	return who
}

// Faint lists texts that are hard to read: their contrast to what is behind them is under 4.5:1, or 3:1 if they are
// large (WCAG 2.2, 1.4.3). Translucent backgrounds and placeholders count; texts on pictures don't.
func (p *Page) Faint() (texts []string) {
	p.b.tb.Helper()
	p.Eval(`(() => {
	const rgba = c => { const m = (c.match(/[\d.]+/g) || []).map(Number); return /^rgb/.test(c) ? [m[0], m[1], m[2], m[3] ?? 1] : /^color\(srgb/.test(c) ? [m[0]*255, m[1]*255, m[2]*255, m[3] ?? 1] : [0, 0, 0, 0] };
	const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
	const dark = matchMedia("(prefers-color-scheme: dark)").matches;
	const behind = e => {
		const layers = [];
		for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); layers.push(c); if (c[3] === 1) break }
		return layers.reverse().reduce((b, c) => over(c, b), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
	};
	const faint = [];
	const look = (e, style, text) => {
		const color = rgba(e instanceof SVGElement ? style.fill : style.color), b = behind(e);
		for (let x = e; x; x = x.parentElement) color[3] *= getComputedStyle(x).opacity;
		const [hi, lo] = [light(over(color, b)), light(b)].sort((x, y) => y - x), ratio = (hi + .05) / (lo + .05);
		const px = parseFloat(style.fontSize), large = px >= 24 || px >= 18.66 && style.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) faint.push(ratio.toFixed(2) + " " + e.tagName.toLowerCase() + "." + (e.getAttribute("class") || "") + " " + text.trim().slice(0, 40));
	};
	for (const e of document.querySelectorAll("body, body *")) {
		if (/^(SCRIPT|STYLE|NOSCRIPT|OPTION)$/.test(e.tagName) || e.disabled || !e.checkVisibility({visibilityProperty: true}) || getComputedStyle(e).clipPath !== "none") continue;
		const text = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join("");
		if (text.trim()) look(e, getComputedStyle(e), text);
		if (e.placeholder && !e.value) look(e, getComputedStyle(e, "::placeholder"), e.placeholder);
	}
	return [...new Set(faint)].slice(0, 8);
})()`, &texts)
	return texts
}
