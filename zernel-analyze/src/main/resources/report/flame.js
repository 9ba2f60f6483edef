// A flame graph of places in a tree, [{node, parent, frame, state, total_ns}], one row for each state: the outermost
// frame on top, as wide as its time, coloured by state, or by what changed between the states `before` and `after`. A click
// zooms, a text marks the frames that have it.

import {element} from "./charts.js";
import {percent, time} from "./numbers.js";

const ROW = 19; // pixels
const LEAST_WIDTH = 0.001; // of the graph, below which a frame is not drawn
const COLORS = {"on-cpu": "gpu_compute", gpu: "optimizer_step", collective: "nccl_collective", storage: "data_loading",
  thread: "bad", gc: "warn", pipe: "second", socket: "second", process: "second"};
const color = state => `var(--${COLORS[state] ?? "unknown"})`;

/// How frames look. A frame is as wide as all of its time, its states side by side in it.
export const BY_STATE = {
  width: ({states}) => Object.values(states).reduce((sum, ns) => sum + ns, 0),
  key: root => Object.entries(root.states).sort((a, b) => b[1] - a[1]).map(([state, ns]) => [`${state} ${time(ns)}`, color(state)]),
  background: node => {
    let at = 0;
    const parts = Object.entries(node.states).sort().map(([state, ns]) => {
      const from = at;
      at += 100 * ns / node.total;
      return `${color(state)} ${from}% ${at}%`;
    });
    return `linear-gradient(to right, ${parts.join(", ")})`;
  },
  title: (node, root) => `${time(node.total)}, ${percent(node.total / root.total)} of all\n`
      + Object.entries(node.states).map(([state, ns]) => `${state} ${time(ns)}`).join(", ")};

const change = ({states}) => (states.after ?? 0) - (states.before ?? 0);
const signed = ns => (ns < 0 ? "-" : "+") + time(Math.abs(ns));

/// As wide as the time on one side, `before` or `after`; the redder the more time it has got, the bluer the less, by what all
/// frames have.
export const byChange = side => ({
  width: ({states}) => states[side] ?? 0,
  key: () => [["more time after", "var(--bad)"], ["less", "var(--optimizer_step)"], ["the same", "var(--unknown)"]],
  background: (node, root) => {
    const most = Math.max(...["before", "after"].map(one => root.states[one] ?? 0));
    // A tenth of all time is a strong colour already.
    const strength = Math.min(100, 1000 * Math.abs(change(node)) / most);
    return `color-mix(in srgb, var(--${change(node) > 0 ? "bad" : "optimizer_step"}) ${strength.toFixed(0)}%, var(--unknown))`;
  },
  title: node => `${time(node.states.before ?? 0)} before, ${time(node.states.after ?? 0)} after: ${signed(change(node))}`});

export class FlameGraph {
  constructor(parent, rows, look = BY_STATE) {
    this.pattern = "";
    this.root = tree(rows);
    this.zoomed = this.root;
    this.box = element("section", "card flame");
    this.search = element("input");
    this.search.type = "search";
    this.search.placeholder = "search: function, file or line";
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.said = element("p", "soft");
    this.graph = element("div", "graph");
    this.key = element("ul", "key");
    const frames = element("div", "frames");
    frames.append(this.graph);
    this.box.append(this.search, this.said, frames, this.key);
    parent.append(this.box);
    this.show(look);
  }

  /// Draws it in another look.
  show(look) {
    this.look = look;
    const weigh = node => {
      node.total = look.width(node);
      node.children.forEach(weigh);
    };
    weigh(this.root);
    this.key.replaceChildren(...look.key(this.root).map(([text, key]) => {
      const item = element("li", "", text);
      item.style.setProperty("--key", key);
      return item;
    }));
    this.draw();
  }

  /// Marks the frames whose text has this in it.
  find(text) {
    this.pattern = text.toLowerCase();
    this.draw();
  }

  has(node) { return this.pattern !== "" && node.frame.toLowerCase().includes(this.pattern); }

  /// The place with this text that holds most time; the whole where there is none.
  widest(node = this.root) {
    if (this.has(node)) return node;
    const found = node.children.map(child => this.widest(child)).filter(child => this.has(child));
    return found.length > 0 ? found.reduce((a, b) => b.total > a.total ? b : a) : this.root;
  }

  zoom(node) {
    this.zoomed = node;
    this.draw();
  }

  /// What holds the zoomed frame is as wide as the graph, and what it called below it.
  draw() {
    const boxes = [];
    const above = [];
    for (let node = this.zoomed; node; node = node.parent) above.unshift(node);
    above.forEach((node, depth) => boxes.push(this.frame(node, 0, 1, depth)));
    const below = (node, left, depth) => {
      let at = left;
      for (const child of node.children) {
        const width = child.total / (this.zoomed.total || 1);
        if (width >= LEAST_WIDTH) {
          boxes.push(this.frame(child, at, width, depth));
          below(child, at, depth + 1);
        }
        at += width;
      }
    };
    below(this.zoomed, 0, above.length);
    this.graph.replaceChildren(...boxes);
    this.graph.style.height = `${ROW * (1 + Math.max(...boxes.map(box => box.depth)))}px`;
    const found = matched(this.zoomed, node => this.has(node));
    this.said.textContent = this.zoomed.frame + ": " + time(this.zoomed.total)
        + (this.pattern ? `; ${percent(found / (this.zoomed.total || 1))} of it in frames with "${this.search.value}"` : "");
  }

  frame(node, left, width, depth) {
    const box = element("button", this.has(node) ? "found" : "", node.frame);
    box.depth = depth;
    box.style.cssText = `left: ${100 * left}%; width: ${100 * width}%; top: ${ROW * depth}px; background: ${this.look.background(node, this.root)}`;
    box.title = `${node.frame}\n${this.look.title(node, this.root)}`;
    box.addEventListener("click", () => this.zoom(node));
    return box;
  }
}

/// The time in frames of which this is true, none of it twice.
function matched(node, has) {
  return has(node) ? node.total : node.children.reduce((sum, child) => sum + matched(child, has), 0);
}

function tree(rows) {
  const root = {frame: "all stacks", states: {}, children: []};
  const nodes = new Map();
  for (const {node, parent, frame, state, total_ns} of rows) {
    const above = nodes.get(parent) ?? root;
    const place = nodes.get(node) ?? {frame, parent: above, states: {}, children: []};
    if (!nodes.has(node)) {
      nodes.set(node, place);
      above.children.push(place);
    }
    for (const one of above === root ? [place, root] : [place]) one.states[state] = (one.states[state] ?? 0) + total_ns;
  }
  return root;
}
