// Charts over event time, as SVG: lines from 0, or shares stacked to 1. A point is {t: milliseconds, values: {key: number}}.

const POINTS = 600;
const WIDTH = 1000, HEIGHT = 100;

export class History {
  points = [];

  /// Adds a point; time that went back means that a replay started over.
  add(point) {
    const last = this.points.at(-1);
    if (last && point.t < last.t) this.points = this.points.filter(p => p.t < point.t);
    else if (last && point.t === last.t) this.points.pop();
    this.points.push(point);
    if (this.points.length > POINTS) this.points.shift();
  }
}

export class Chart {
  /// `lines(focus)` gives [{key, label, color}], `format` writes a value.
  constructor(parent, title, {lines, format, stacked = false}) {
    Object.assign(this, {title, lines, format, stacked, hover: null});
    this.box = element("section", "card chart");
    this.plot = element("div", "plot");
    this.svg = svgElement("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img"});
    this.top = element("small");
    this.span = element("div", "span");
    this.key = element("ul", "key");
    const head = element("h2", "", title);
    head.append(this.top);
    this.plot.append(this.svg);
    this.box.append(head, this.plot, this.span, this.key);
    this.plot.addEventListener("pointermove", e => {
      const area = this.plot.getBoundingClientRect();
      this.hover = (e.clientX - area.left) / area.width;
      this.redraw();
    });
    this.plot.addEventListener("pointerleave", () => { this.hover = null; this.redraw(); });
    parent.append(this.box);
  }

  draw(history, focus) {
    this.last = [history, focus];
    const points = history.points;
    const shown = this.lines(focus).filter(line => points.some(p => Number.isFinite(p.values[line.key])));
    this.box.hidden = shown.length === 0;
    if (this.box.hidden) return;
    const first = points[0].t, length = Math.max(1, points.at(-1).t - first);
    const x = p => points.length === 1 ? WIDTH : (p.t - first) / length * WIDTH;
    const top = this.stacked ? 1 : 1.05 * Math.max(1e-9, ...shown.flatMap(l => points.map(p => p.values[l.key] ?? 0)));
    this.svg.replaceChildren(...(this.stacked ? areas(points, shown, x) : polylines(points, shown, x, top)));
    this.top.textContent = this.stacked ? "" : `up to ${this.format(top / 1.05)}`;
    const chosen = this.hover === null ? points.at(-1)
        : points.reduce((a, b) => Math.abs(x(b) - this.hover * WIDTH) < Math.abs(x(a) - this.hover * WIDTH) ? b : a);
    if (this.hover !== null) {
      this.svg.append(svgElement("line", {x1: x(chosen), x2: x(chosen), y1: 0, y2: HEIGHT}));
    }
    const time = t => new Date(t).toLocaleTimeString();
    this.span.replaceChildren(element("span", "", time(first)), element("span", "", time(chosen.t)));
    this.key.replaceChildren(...shown.map(l => {
      const value = chosen.values[l.key];
      const item = element("li", "", `${l.label} ${Number.isFinite(value) ? this.format(value) : "–"}`);
      item.style.setProperty("--key", l.color);
      return item;
    }));
    this.svg.setAttribute("aria-label", `${this.title}: ` + [...this.key.children].map(i => i.textContent).join(", "));
  }

  redraw() { if (this.last) this.draw(...this.last); }
}

function polylines(points, lines, x, top) {
  return lines.map(line => {
    const known = points.filter(p => Number.isFinite(p.values[line.key]));
    // One point alone is a short line, not nothing.
    const path = known.map(p => `${x(p).toFixed(1)},${(HEIGHT - HEIGHT * p.values[line.key] / top).toFixed(1)}`);
    if (known.length === 1) path.unshift(path[0].replace(/^[^,]+/, WIDTH - 20));
    const drawn = svgElement("polyline", {points: path.join(" ")});
    drawn.style.stroke = line.color;
    return drawn;
  });
}

function areas(points, lines, x) {
  const known = points.filter(p => lines.some(l => Number.isFinite(p.values[l.key])));
  let below = known.map(() => 0);
  return lines.map(line => {
    const above = below.map((sum, i) => sum + (known[i].values[line.key] ?? 0));
    const at = (sum, i) => `${x(known[i]).toFixed(1)},${(HEIGHT * (1 - sum)).toFixed(1)}`;
    const left = known.length === 1 ? [`${WIDTH - 20},${HEIGHT * (1 - below[0])}`, `${WIDTH - 20},${HEIGHT * (1 - above[0])}`] : [];
    const path = [...left, ...above.map(at), ...below.map(at).reverse()];
    below = above;
    const drawn = svgElement("polygon", {points: path.join(" ")});
    drawn.style.fill = line.color;
    return drawn;
  });
}

export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function svgElement(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
