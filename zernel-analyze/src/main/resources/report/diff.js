// Draws what `diff` says of two recordings, which is in the page. Texts of a recording only become text.

import {element} from "./charts.js";
import {data} from "./data.js";
import {FlameGraph, byChange} from "./flame.js";

const diff = data;
const main = document.querySelector("main");

function add(parent, tag, className, text) {
  const made = element(tag, className, text);
  parent.append(made);
  return made;
}

function table(heading, drawn) {
  if (!drawn || drawn.rows.length === 0) return;
  const {columns, rows} = drawn;
  add(main, "h2", "", heading);
  const made = add(add(main, "div", "scroll"), "table"), head = add(made, "tr");
  for (const {name, number} of columns) add(head, "th", number ? "number" : "", name);
  for (const row of rows) {
    const line = add(made, "tr");
    row.forEach((cell, i) => add(line, "td", columns[i].number ? "number" : "name", cell));
  }
}

/// Two buttons: frames that one side does not have are seen on the other.
function stacks(rows) {
  if (rows.length === 0) return;
  add(main, "h2", "", "Stacks");
  add(main, "p", "soft", `Time per ${diff.per}, blocked in calls and on a CPU by samples, of all threads but those that wait for work. `
      + "Each frame is as wide as its time on one side; what it called is below it. Click a frame to zoom, the first row to zoom out.");
  const sides = add(main, "p");
  const graph = new FlameGraph(main, rows, byChange("after"));
  for (const side of ["after", "before"]) {
    const button = add(sides, "button", "", `as wide as ${side}`);
    button.setAttribute("aria-pressed", side === "after");
    button.addEventListener("click", () => {
      graph.show(byChange(side));
      for (const one of sides.children) one.setAttribute("aria-pressed", one === button);
    });
  }
  if (location.hash === "#before") sides.lastChild.click();
}

document.title = `Zernel: ${diff.verdict}`;
add(main, "p", "soft", `before: ${diff.before}`);
add(main, "p", "soft", `after: ${diff.after}`);
add(add(main, "section", "verdict"), "p", "", diff.verdict);
for (const {rule, broken, why} of diff.rules) add(main, "p", "", `${broken ? "BROKEN" : "ok"} ${rule}: ${why}`);
table("Steps", diff.steps);
if (diff.explanation) add(main, "p", "soft", diff.explanation);
table("Lines", diff.lines);
stacks(diff.stacks);
table("Calls", diff.calls);
document.getElementById("undrawn").remove();
