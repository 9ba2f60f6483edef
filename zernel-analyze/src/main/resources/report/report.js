// Draws what `report --json` printed, which is in the page. Texts of a recording only become text.

import {Chart, element, gain, shareBar, svgElement, titled, up} from "./charts.js";
import {data} from "./data.js";
import {FlameGraph} from "./flame.js";
import {count, millis, number, percent, scaled, size, time} from "./numbers.js";

const MOST_PICTURES = 16, MOST_OPEN = 4, MOST_ROWS = 100, MOST_RANKS = 64, MOST_COMMUNICATORS = 4, RANK_POINTS = 60;
const MOST_LINES = 5, LEAST_SHARE = 0.05; // lines of a finding
const LEAST_OF_CAPACITY = 0.2; // the capacity is drawn where the curve still shows below it

const PHASES = {data_loading: "DataLoading", gpu_compute: "GpuCompute", nccl_collective: "NcclCollective",
  optimizer_step: "OptimizerStep", unknown: "Unknown"};
const WORK = [
  {key: "compute_ns", label: "compute", color: "var(--gpu_compute)"},
  {key: "communication_ns", label: "communication that nothing hides", color: "var(--nccl_collective)"},
  {key: "copy_ns", label: "copies alone", color: "var(--optimizer_step)"}];
const TABLES = {
  percentiles: "Durations: percentiles, times on the CPU side",
  phase_parts: "Phases and their parts",
  hangs: "What stands still",
  data_wait_by_epoch: "Waits for data",
  gpu_limit: "Whether the GPU is the limit",
  processes_without_steps: "Processes on a GPU in which no steps were found",
  programs_without_steps: "Programs that loaded no training framework, and what was seen of them",
  step_lines: "In which lines steps spend their time",
  lines_without_steps: "In which lines processes without steps spend their time",
  gpu_usage: "GPUs, as the driver saw them",
  gpu_time: "GPU activity, GPU execution time",
  gpu_idle_causes: "GPU idle, and why",
  gpu_kernels: "Kernels and copies, GPU execution time",
  gpu_traces: "Traces of the GPU and their clocks",
  launches: "Kernel launches, time to enqueue",
  copies: "Copies, time of the call",
  syncs: "Waits for the GPU, blocked time",
  memory_use: "GPU memory by process",
  collectives: "Collectives, time to enqueue",
  late_ranks: "Ranks that came last",
  critical_ranks: "Ranks that the ends of steps rested on",
  dist_waits: "Calls that wait for other ranks",
  preemption: "Runnable, waiting for a CPU",
  marks: "Marks",
  kinds: "What was probed",
  losses: "Lost events",
  detail_cost: "What recording cost",
  detail_windows: "When detail was recorded",
  overhead: "Probed calls and what they cost, predicted",
  processes: "Processes"};

// ---- the data

const report = data;
const sentences = (about, row) => report.sentences.filter(one => one.about === about && (!row || ofThread(one, row)));
const ofProcess = (a, b) => a.recording === b.recording && a.pid === b.pid;
const ofThread = (a, b) => ofProcess(a, b) && a.tid === b.tid;

/// The rows of each, by what `name` says of them.
const grouped = (rows, name) => [...Map.groupBy(rows, name)];

const highest = (rows, column) => rows.reduce((most, row) => Math.max(most, row[column] ?? 0), 0);

function processName(row) {
  const rank = report.processes.find(process => ofProcess(process, row))?.rank ?? null;
  return (report.recordings.length > 1 ? `recording ${row.recording} ` : "") + (rank === null ? "" : `rank ${rank} `) + `pid ${row.pid}`;
}

// ---- numbers as people read them, three significant digits

const FIRST_MOMENT_NS = 1e17; // nanoseconds above this are a point in time since the epoch

/// By the unit that the name of the column says, or that the row says itself, as those of the driver do.
function quantity(column, value, row) {
  if (column.endsWith("_value") && row.unit) return ofUnit(value, row.unit);
  if (column.endsWith("_ns")) return value > FIRST_MOMENT_NS ? new Date(value / 1e6).toISOString().slice(11, 23) : time(value);
  if (/(^|_)bytes$/.test(column)) return size(value);
  return /(^|_)share$/.test(column) ? percent(value) : number(value);
}
function ofUnit(value, unit) {
  switch (unit) {
    case "bytes": return size(value);
    case "bytes/s": return size(value) + "/s";
    case "mW": return scaled(value, "mW", "W", "kW");
    case "mJ": return scaled(value, "mJ", "J", "kJ", "MJ");
    case "percent": return `${up(value).toFixed(0)} %`;
    default: return (Number.isInteger(value) ? count(value) : number(value)) + (unit === "bits" ? "" : ` ${unit}`);
  }
}

/// With percentages of one decimal that add up to 100.0: rounded down, the missing tenths to the largest remainders.
function percentages(parts) {
  const total = parts.reduce((sum, part) => sum + part, 0) || 1;
  const exact = parts.map(part => part * 1000 / total), tenths = exact.map(Math.floor);
  const byRemainder = exact.map((_, i) => i).sort((a, b) => tenths[a] - exact[a] - (tenths[b] - exact[b]));
  const missing = Math.round(exact.reduce((sum, one) => sum + one, 0)) - tenths.reduce((sum, one) => sum + one, 0);
  byRemainder.slice(0, missing).forEach(i => tenths[i]++);
  return tenths.map(tenth => `${(tenth / 10).toFixed(1)} %`);
}

/// In which no line ends between a number and its unit.
const glued = text => text.replace(/(\d) (?=(?:ns|us|ms|s|m|B|kB|MB|GB|TB|KiB|MiB|GiB|mW|W|kW|mJ|J|kJ|MJ|MHz|C)\b|%)/g, "$1\u00A0");

/// When, by the clock on the wall of the reader, with the offset of the time zone.
function moment(ns) {
  const at = new Date(ns / 1e6), zone = -at.getTimezoneOffset(), pad = n => String(Math.floor(n)).padStart(2, "0");
  return `${at.toLocaleString("sv")} ${zone < 0 ? "-" : "+"}${pad(Math.abs(zone) / 60)}:${pad(Math.abs(zone) % 60)}`;
}

// ---- pieces

const main = document.querySelector("main");

function add(parent, tag, className, text) {
  const made = element(tag, className, text === undefined ? text : glued(text));
  parent.append(made);
  return made;
}
function folded(parent, summary, tag = "span") {
  const details = add(parent, "details");
  add(add(details, "summary"), tag, "", summary);
  return details;
}
function definitions(parent, entries) {
  const list = add(parent, "dl");
  for (const [term, text, tag] of entries) {
    add(list, "dt", "", term);
    add(tag ? add(list, "dd") : list, tag ?? "dd", "", text);
  }
}

/// A picture for each: the first few, the others folded, those after them not at all; gives how many those are.
function pictures(all, draw, more) {
  all.slice(0, MOST_OPEN).forEach(one => draw(main, one));
  if (all.length > MOST_OPEN) {
    const others = folded(main, more(all.length - MOST_OPEN));
    all.slice(MOST_OPEN, MOST_PICTURES).forEach(one => draw(others, one));
  }
  return Math.max(0, all.length - MOST_PICTURES);
}

/// A table that scrolls by itself where it is too wide; columns without any value are left out.
function table(parent, rows, columns = Object.keys(rows[0])) {
  const shown = columns.filter(column => rows.some(row => row[column] !== null && (column !== "recording" || row.recording !== 0)));
  const made = add(add(parent, "div", "scroll"), "table"), numbers = shown.filter(column => rows.some(row => typeof row[column] === "number"));
  const head = add(made, "tr"), classOf = (column, text) => numbers.includes(column) ? "number" : text.length > 30 ? "name" : "";
  for (const column of shown) add(head, "th", classOf(column, ""), column.replace(/_(ns|bytes)$/, "").replaceAll("_", " "));
  for (const row of rows.slice(0, MOST_ROWS)) {
    const line = add(made, "tr");
    for (const column of shown) {
      const value = row[column];
      const text = value === null ? "" : typeof value === "number" ? quantity(column, value, row)
          : typeof value === "object" ? JSON.stringify(value) : String(value);
      line.append(element("td", classOf(column, text), text));
    }
  }
  if (rows.length > MOST_ROWS) add(parent, "p", "soft", `and ${count(rows.length - MOST_ROWS)} more rows`);
}

// ---- the report, from top to bottom

function recording(row) {
  add(main, "h1", "", row.path);
  const facts = add(main, "p", "soft");
  add(facts, row.complete ? "span" : "b", "", row.complete ? "complete" : "INCOMPLETE");
  facts.append(glued([row.simulated ? ", simulated: not a real job" : "", `, ${count(row.events)} events`,
    row.ended_ns === null ? "" : ` in ${time(row.ended_ns - row.started_ns)}`,
    row.host === null || row.simulated ? "" : ` on ${row.host}`,
    row.started_ns === null || row.simulated ? "" : `, recorded ${moment(row.started_ns)}`].join("")));
  for (const text of [row.command, row.note, row.incomplete_because]) {
    if (text) add(add(main, "p", "soft"), "code", "", text);
  }
  report.detail_cost.filter(cost => cost.recording === row.recording)
      .forEach(cost => add(main, "p", "soft", `Recording cost: ${cost.text}.`));
}

function verdict({kind, sentence, reason}) {
  const section = add(main, "section", `verdict ${kind}`);
  add(section, "p", "", sentence);
  if (reason) add(section, "p", "", reason);
}

function findings(found, skipped) {
  add(main, "h2", "", "Findings, by what they lose at least");
  if (found.length === 0) add(main, "p", "", "No finding of the library applies. That is no proof of health.");
  grouped(found, finding => finding.finding).forEach(([name, same]) => finding(name, same));
  const reasons = Object.entries(skipped).map(([name, reason]) => reason.split("\n")[0] || name);
  if (reasons.length > 0) add(main, "p", "", `skipped ${reasons.length} of the findings: ${reasons.join("; ")}`);
}

/// The worst of a kind in full, the rest of its evidence and its SQL folded.
function finding(name, same) {
  const worst = same[0], card = add(main, "article", `card ${worst.severity}`);
  const title = add(card, "h3"), who = add(card, "p");
  add(title, "span", `tag ${worst.severity}`, worst.severity);
  title.append(` ${worst.title}`);
  const amount = worst.value === null ? "" : Number.isInteger(worst.value) ? count(worst.value) : up(worst.value).toFixed(1);
  add(who, "b", "", worst.subject);
  who.append(glued(`: ${[`${amount} ${worst.unit}`.trim(), gain(worst, millis)].filter(text => text).join("; ")}`));
  const lines = worst.lines.filter(line => line.share >= LEAST_SHARE);
  definitions(card, [["why", worst.evidence], ...lines.slice(0, MOST_LINES).map((line, i) => [i ? "" : "line", lineText(line)]),
    ["try", worst.advice], ["next", worst.next_command, "code"]]);
  if (same.length > 1) {
    table(folded(card, `Evidence of all ${same.length}`), same,
        ["subject", "value", "unit", "severity", "lost_ms_per_step", "max_speedup", "evidence"]);
  }
  if (report.finding_sql[name]) folded(card, `SQL of ${name}`).append(element("pre", "", report.finding_sql[name]));
}

/// Which line holds how much of what a finding tells of.
const lineText = ({share, of, line, calls}) => `${Math.round(100 * share)} % of ${of}: ${line}` + (calls === null ? "" : ` -> ${calls}`);

function steps(threads) {
  if (threads.length === 0) return;
  add(main, "h2", "", "Steps");
  const left = pictures(threads, stepsOf, more => `Steps of ${more} more training threads`);
  if (left > 0) add(main, "p", "soft", `and ${left} more, without pictures: zernel-analyze steps`);
}

/// The mean step as a bar of 100 %, and the steps over time with their phases stacked.
function stepsOf(parent, thread) {
  const points = report.step_timeline.filter(row => ofThread(row, thread));
  const mean = report.step_mean.find(row => ofThread(row, thread));
  const words = phase => report.phase_words.find(row => ofProcess(row, thread) && row.phase === phase)?.label ?? phase;
  const phases = Object.entries(PHASES).map(([column, phase]) =>
      ({key: `${column}_ns`, label: words(phase), color: `var(--${column})`}));
  const shares = percentages(phases.map(phase => mean?.[phase.key] ?? 0));
  const legend = phase => !mean ? phase.label : `${phase.label} ${shares[phases.indexOf(phase)]} ${time(mean[phase.key])}`;
  const card = points.length > 0 ? stepChart(parent, thread, points, phases, legend) : add(parent, "section", "card chart");
  if (points.length === 0) add(card, "h3", "", threadName(thread));
  if (mean) {
    const bar = shareBar(phases.map(phase => ({label: legend(phase), share: mean[phase.key] / mean.step_ns, color: phase.color})));
    card.firstChild ? card.firstChild.after(bar) : card.append(bar);
  }
  const cut = highest(points, "max_ns") > slowestOf(points) ? " Warm-up is cut off." : "";
  const joined = points.at(-1)?.steps > 1 ? " Bars are means of neighbours, the line is the slowest of them." : "";
  sentences("standstill", thread).forEach(one => add(card, "p", "tag high", one.text));
  sentences("mean step", thread).forEach(one => add(card, "p", "soft", one.text));
  sentences("steps", thread).forEach(one => add(card, "p", "soft", one.text + cut + joined));
  ["requests", "evaluation"].flatMap(about => sentences(about, thread)).forEach(one => add(card, "p", "soft", one.text));
}
const threadName = thread => sentences("steps", thread)[0].label;

/// The slowest step that is none of warm-up: start-up would flatten all others.
function slowestOf(points) {
  const warm = points.filter(point => point.first_step > 1 && point.step_kind !== "warmup");
  return Math.max(1, highest(warm.length === 0 ? points : warm, "max_ns"));
}

function stepChart(parent, thread, points, phases, legend) {
  const slowest = {key: "max_ns", label: "slowest", color: "var(--ink)", outline: true};
  const stands = sentences("standstill", thread)[0];
  const drawn = phases.filter(phase => points.some(point => point[phase.key] > 0));
  const chart = new Chart(parent, threadName(thread), {
    bars: true, stacked: true, gaps: true, heading: "h3", format: time, top: slowestOf(points), after: stands?.text,
    lines: () => points.some(point => point.steps > 1) ? [...drawn, slowest] : drawn,
    rest: line => line === slowest ? "slowest of each bar" : legend(line),
    at: ({row}, pointed) => {
      const last = row.first_step + row.steps - 1;
      if (pointed) return glued(`step ${row.first_step}${row.steps > 1 ? ` to ${last}` : ` (${row.step_kind})`}, ${time(row.max_ns)}`);
      return row === points[0] ? "step 1" : `step ${count(thread.steps)}${stands ? ", then nothing" : ""}`;
    }});
  chart.draw({points: points.map((row, t) => ({t, row, values: row}))});
  return chart.box;
}

/// Where the time went by stack; `#stack=TEXT` in the page's address looks for a text and zooms to where it holds most time.
function stacks(rows) {
  if (rows.length === 0) return;
  add(main, "h2", "", "Stacks");
  add(main, "p", "soft", "Time blocked in calls and time on a CPU, by samples, of all threads but those that wait for work; in training steps, where there are any. "
      + "Each frame is as wide as its time; what it called is below it. Click a frame to zoom, the first row to zoom out.");
  const graph = new FlameGraph(main, rows);
  const wanted = decodeURIComponent(location.hash.match(/^#stack=(.+)/)?.[1] ?? "");
  if (wanted) {
    graph.search.value = wanted;
    graph.find(wanted);
    graph.zoom(graph.widest());
  }
}

/// Which rank held up the others when: a row per rank, a column per time bucket, darker where it took longer.
function ranks(delays) {
  const communicators = grouped(delays, row => row.comm_id);
  if (communicators.length === 0) return;
  add(main, "h2", "", "Ranks that held up the others");
  sentences("critical path").forEach(one => add(main, "p", "", `${one.label}: ${one.text}.`));
  communicators.slice(0, MOST_COMMUNICATORS).forEach(([, rows]) => communicator(rows));
  if (communicators.length > MOST_COMMUNICATORS) {
    add(main, "p", "soft", `and ${communicators.length - MOST_COMMUNICATORS} more communicators`);
  }
}

function communicator(rows) {
  // The first collectives wait for start-up and would pale all others.
  const later = rows.filter(row => row.point > 0), all = rows[0].nranks;
  const longest = later.length === 0 ? 1 : highest(later, "delay_ns");
  const card = add(main, "section", "card"), heat = add(card, "div", "heat");
  for (let rank = 0; rank < Math.min(MOST_RANKS, all); rank++) {
    add(heat, "span", "", `rank ${rank}`);
    const cells = svgElement("svg", {viewBox: `0 0 ${RANK_POINTS} 1`, preserveAspectRatio: "none", role: "img", "aria-label": `delays of rank ${rank}`});
    for (const row of rows.filter(row => row.rank === rank)) {
      cells.append(titled(svgElement("rect", {x: row.point, y: 0, width: 1, height: 1,
        "fill-opacity": (longest === 0 ? 0 : Math.min(1, row.delay_ns / longest)).toFixed(2)}),
          `last to ${row.times_last} of ${row.collectives} collectives from number ${row.first_number} on, by ${time(row.delay_ns)} on average`));
    }
    heat.append(cells);
  }
  add(card, "p", "soft", `One row per rank of a communicator of ${all}, from its first collective to its last. The stronger the colour, `
      + `the longer the others waited for this rank alone: at most ${time(longest)} for each collective, but for the first of all.`
      + (all > MOST_RANKS ? ` The first ${MOST_RANKS} ranks are shown.` : ""));
}

function gpuActivity(facts) {
  if (facts.length === 0) return;
  add(main, "h2", "", "GPU activity");
  definitions(main, facts.map(fact => [fact.label, fact.text]));
  grouped(report.gpu_curve, row => `${processName(row)}, GPU ${row.device}`).slice(0, MOST_PICTURES).forEach(([label, rows]) => {
    const length = rows.at(-1).at_ns + rows.at(-1).point_ns - rows[0].at_ns;
    const share = (row, part) => row[part.key] / row.point_ns;
    const shown = WORK.filter(part => rows.some(row => row[part.key] > 0));
    new Chart(main, label, {
      bars: true, stacked: true, top: 1, heading: "h3", format: percent,
      lines: () => [...shown, {key: "idle", label: "idle", color: "transparent"}],
      rest: line => line.key === "idle" ? "empty: idle" : line.label,
      at: ({row}, pointed) => pointed ? `from ${time(row.at_ns - rows[0].at_ns)} on` : row === rows[0] ? "0" : time(length),
    }).draw({points: rows.map(row => {
      const values = Object.fromEntries(shown.map(part => [part.key, share(row, part)]));
      return {t: row.point, row, values: {...values, idle: Math.max(0, 1 - Object.values(values).reduce((a, b) => a + b, 0))}};
    })});
  });
}

function memory(rows) {
  const curves = grouped(rows, row => processName(row) + (row.device === null ? "" : `, GPU ${row.device}`))
      .map(([label, points]) => ({label, points, allocated: highest(points, "live_bytes"), handed: highest(points, "allocated_bytes")}))
      .sort((a, b) => Math.max(b.allocated, b.handed) - Math.max(a.allocated, a.handed));
  if (curves.length === 0) return;
  add(main, "h2", "", "GPU memory");
  add(main, "p", "soft", "From the first allocation to the last. Pale: allocated from the driver. Strong: of it, handed out by PyTorch.");
  pictures(curves, memoryOf, more => `Memory of ${more} more`);
}

function memoryOf(parent, {label, points, allocated, handed}) {
  const capacity = capacityOf(points[0]), peak = Math.max(allocated, handed);
  const drawn = capacity > 0 && peak >= LEAST_OF_CAPACITY * capacity;
  const chart = new Chart(parent, label, {
    bars: true, heading: "h3", format: size, top: drawn ? 1.05 * Math.max(peak, capacity) : Math.max(1, peak),
    limit: drawn ? {value: capacity, label: "capacity"} : undefined,
    lines: () => [{key: "live_bytes", label: "allocated", color: "var(--reserved)"},
      {key: "allocated_bytes", label: "handed out", color: "var(--handed)"}],
    rest: line => line.label,
    at: ({row}, pointed) => pointed || row !== points[0] ? time(row.at_ns - points[0].at_ns) : "0"});
  chart.draw({points: points.map((row, t) => ({t, row, values: row}))});
  const device = capacity === 0 ? "" : `; the device has ${size(capacity)}${drawn ? " (dashed)" : ", above the picture"}`;
  add(chart.box, "p", "soft", `Allocated at most ${size(allocated)}, handed out at most ${size(handed)}${device}.`);
}

/// Bytes of the device, 0 when not known. A process may count devices otherwise than the driver; where all have the same
/// memory that does not matter.
function capacityOf(point) {
  const sizes = new Set(report.gpus.filter(gpu => gpu.recording === point.recording && gpu.memory_bytes !== null).map(gpu => gpu.memory_bytes));
  return sizes.size === 1 ? [...sizes][0] : 0;
}

function unknowns(facts) {
  if (facts.length === 0) return;
  add(main, "h2", "", "Unknown without a GPU trace");
  definitions(main, facts.map(fact => [fact.label, fact.text]));
}

document.title = `Zernel: ${report.recordings[0].path}`;
report.recordings.forEach(recording);
verdict(report.verdict);
findings(report.findings, report.skipped_findings);
steps(report.training_threads);
stacks(report.flame_graph);
ranks(report.rank_delays);
gpuActivity(sentences("GPU activity"));
memory(report.memory_curve);
unknowns(sentences("unknown"));
add(main, "h2", "", "Tables");
for (const [section, heading] of Object.entries(TABLES)) {
  if (report[section].length > 0) table(folded(main, heading, "h3"), report[section]);
}
document.getElementById("undrawn").remove();
