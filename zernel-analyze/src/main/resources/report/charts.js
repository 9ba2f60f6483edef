// What the server's page and the HTML report draw alike: charts as SVG, bars of shares, and what a finding loses.
// A chart draws points {t, values: {key: number}} as lines from 0, as shares stacked to 1, or as bars, one for each t.

const POINTS = 600;
const WIDTH = 1000, HEIGHT = 100;
const MOST_GAPS = 120; // more bars stand without gaps, which would be thinner than a pixel

/// All of the time since the first point: when there are too many, every other is forgotten, and points are kept half as often.
export class History {
  points = [];
  least = 0; // time from one to the next

  /// Begins with these points.
  load(points) {
    this.points = points;
    this.least = 0;
  }

  /// Adds a point; time that went back means that a replay started over.
  add(point) {
    const [before, last] = [this.points.at(-2), this.points.at(-1)];
    if (last && point.t < last.t) this.load(this.points.filter(p => p.t < point.t));
    // The latest is always there, and makes room for the next where it is too near to the one before it.
    else if (last && (point.t === last.t || before && last.t - before.t < this.least)) this.points.pop();
    this.points.push(point);
    if (this.points.length < POINTS) return;
    this.least = 1.8 * (point.t - this.points[0].t) / POINTS; // so that every other stays, although they are not all as far apart
    this.points = this.points.filter((p, i) => i % 2 === 0 || p === point);
  }
}

export class Chart {
  /// `lines(focus)` gives [{key, label, color}], one with `outline` is drawn as a line above bars; `format` writes a value.
  /// Further: `stacked` on each other, `bars`, with `gaps` where they are few, `top` the value that is highest,
  /// `at(point, pointed)` what the axis says of a point, `rest(line)` what the key says while nobody points at anything, `limit` {value, label} a dashed line,
  /// `after` a text for the time after the last point, `most` how many lines are drawn; the key says how many more there are.
  constructor(parent, title, {lines, format, stacked = false, bars = false, gaps = false, top, at = clock, rest, limit, after, most, heading = "h2"}) {
    Object.assign(this, {title, lines, format, stacked, bars, gaps, highest: top, at, rest, limit, after, most, hover: null});
    this.box = element("section", "card chart");
    this.plot = element("div", "plot");
    this.svg = svgElement("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img"});
    this.top = element("small");
    this.span = element("div", "span");
    this.key = element("ul", "key");
    const head = element(heading, "", title);
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
    const all = this.lines(focus).filter(line => points.some(p => Number.isFinite(p.values[line.key])));
    const shown = all.slice(0, this.most);
    this.box.hidden = shown.length === 0;
    if (this.box.hidden) return;
    const first = points[0].t, span = points.at(-1).t - first + (this.bars ? 1 : 0);
    const length = Math.max(1, this.after ? span + Math.max(1, span / 8) : span);
    const width = WIDTH / length;
    const x = p => points.length === 1 && !this.bars ? WIDTH : (p.t - first) / length * WIDTH;
    const top = this.highest ?? 1.05 * Math.max(1e-9, ...shown.flatMap(l => points.map(p => p.values[l.key] ?? 0)));
    this.svg.replaceChildren(...(this.bars ? this.blocks(points, shown, x, width, top)
        : this.stacked ? areas(points, shown, x) : polylines(points, shown, x, top)));
    if (this.limit) {
      const y = HEIGHT * (1 - this.limit.value / top);
      this.svg.append(titled(svgElement("line", {class: "limit", x1: 0, x2: WIDTH, y1: y, y2: y}), this.limit.label));
    }
    if (this.after) {
      this.svg.append(titled(svgElement("rect", {class: "after", x: span * width, y: 0, width: WIDTH - span * width, height: HEIGHT}),
          this.after));
    }
    this.top.textContent = this.highest ? `top ${this.format(top)}` : this.stacked ? "" : `up to ${this.format(top / 1.05)}`;
    const pointed = this.hover === null ? null : this.nearest(points, x, width);
    const chosen = pointed ?? points.at(-1);
    if (pointed) {
      this.svg.append(this.bars ? svgElement("rect", {class: "pointed", x: x(pointed), y: 0, width, height: HEIGHT})
          : svgElement("line", {x1: x(pointed), x2: x(pointed), y1: 0, y2: HEIGHT}));
    }
    this.span.replaceChildren(element("span", "", this.at(points[0], false)), element("span", "", this.at(chosen, pointed !== null)));
    this.key.replaceChildren(...shown.map(l => {
      const value = chosen.values[l.key];
      const item = element("li", "", !pointed && this.rest ? this.rest(l) : `${l.label} ${Number.isFinite(value) ? this.format(value) : "–"}`);
      item.style.setProperty("--key", l.color);
      return item;
    }), ...(all.length > shown.length ? [element("li", "more", `${all.length - shown.length} more`)] : []));
    this.svg.setAttribute("aria-label", `${this.title}: ` + [...this.key.children].map(i => i.textContent).join(", "));
  }

  nearest(points, x, width) {
    const distance = p => Math.abs(x(p) + (this.bars ? width / 2 : 0) - this.hover * WIDTH);
    return points.reduce((a, b) => distance(b) < distance(a) ? b : a);
  }

  /// One path for each line, however many bars there are.
  blocks(points, lines, x, width, top) {
    const bar = this.gaps && points.length <= MOST_GAPS ? 0.9 * width : width;
    const below = points.map(() => 0);
    return lines.map(line => {
      const cut = value => (HEIGHT * (1 - Math.min(1, value / top))).toFixed(1);
      const path = points.map((p, i) => {
        const value = p.values[line.key] ?? 0;
        if (line.outline) return `${i ? "L" : "M"}${x(p).toFixed(2)} ${cut(value)}h${width.toFixed(2)}`;
        const [from, to] = [cut(below[i]), cut(below[i] + value)];
        if (this.stacked) below[i] += value;
        return from === to ? "" : `M${x(p).toFixed(2)} ${from}h${bar.toFixed(2)}V${to}h-${bar.toFixed(2)}z`;
      });
      const drawn = svgElement("path", {d: path.join(""), class: line.outline ? "outline" : bar === width ? "whole" : "apart"});
      drawn.style.setProperty(line.outline ? "stroke" : "fill", line.color);
      return drawn;
    });
  }

  redraw() { if (this.last) this.draw(...this.last); }
}

const clock = point => new Date(point.t).toLocaleTimeString();

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

/// A bar of shares, [{label, share, color}]; a label holds its number.
export function shareBar(shares) {
  const bar = element("div", "bar");
  for (const {label, share, color} of shares) {
    const part = element("i");
    part.style.cssText = `width: ${100 * share}%; background: ${color}`;
    part.title = label;
    bar.append(part);
  }
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", shares.map(part => part.label).join(", "));
  return bar;
}

/// Halves go up, as where Java writes them, although most of them are a little less in binary.
export const up = value => value * (1 + 1e-12);

/// What a finding says that a step loses, and what fixing it gains at most; empty where neither is known.
export function gain(finding, millis) {
  const {lost_ms_per_step: lost, max_speedup: speedup} = finding;
  const least = finding.more?.least_lost_ms_per_step ?? lost;
  const step = finding.more?.step_is ?? "step";
  const loses = lost === null ? "" : `loses ${millis(lost)} per ${step}` + (least < lost ? ` (at least ${millis(least)})` : "");
  return [loses, speedup === null ? "" : `fixing it gains at most ${up(speedup).toFixed(2)}x, all else as it is`].filter(text => text).join("; ");
}

/// An element with a text, which is never read as HTML.
export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

export function svgElement(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/// The same drawing with a text that is shown where it is pointed at.
export function titled(drawn, text) {
  const title = svgElement("title", {});
  title.textContent = text;
  drawn.append(title);
  return drawn;
}
