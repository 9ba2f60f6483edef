// Draws the snapshots that come over the WebSocket, once per snapshot, and sends what the replay's buttons say.

import {Chart, History, element, gain, shareBar} from "./charts.js";

const WS_PORT = document.querySelector("script[data-ws-port]").dataset.wsPort;
const PHASES = ["data_loading", "gpu_compute", "nccl_collective", "optimizer_step", "unknown"];
const COLORS = ["--accent", "--second", "--gpu_compute", "--nccl_collective", "--bad", "--soft"].map(c => `var(${c})`);
const PROCESSES = 16;
const LONGEST_WAIT = 30000;
const LEAST_SILENCE = 10000;

const $ = id => document.getElementById(id);
const words = name => name.replaceAll("_", " ");
const count = n => Math.round(n).toLocaleString("en");
const percent = share => (100 * share).toFixed(0) + " %";
const millis = ms => ms === null || ms === undefined ? "–"
    : ms < 1 ? (ms * 1000).toFixed(0) + " µs" : ms < 1000 ? ms.toFixed(1) + " ms" : (ms / 1000).toFixed(2) + " s";
function bytes(n) {
  if (n === null || n === undefined) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; Math.abs(n) >= 1024 && unit < 4; unit++) n /= 1024;
  return n.toFixed(unit ? 1 : 0) + " " + units[unit];
}
function clock(seconds) {
  const s = Math.floor(seconds), pad = n => String(n).padStart(2, "0");
  return (s >= 3600 ? Math.floor(s / 3600) + ":" : "") + pad(Math.floor(s / 60) % 60) + ":" + pad(s % 60);
}

// ---- charts

const history = new History();
const percentiles = (metric, focus) => [
  {key: `${metric} p50 ${focus}`, label: "median", color: COLORS[0]},
  {key: `${metric} p99 ${focus}`, label: "99 %", color: COLORS[1]}];
/// First those that there still are.
const ofKeys = prefix => () => {
  const keysOf = points => [...new Set(points.flatMap(p => Object.keys(p.values)))].filter(key => key.startsWith(prefix)).sort(byNumber);
  return [...new Set([...keysOf(history.points.slice(-1)), ...keysOf(history.points)])]
      .map((key, i) => ({key, label: words(key.slice(prefix.length)), color: COLORS[i]}));
};
const charts = [
  new Chart($("charts"), "Step time", {lines: f => percentiles("zernel_step_seconds", f), format: millis}),
  new Chart($("charts"), "Where a step goes", {stacked: true, format: percent,
    lines: f => PHASES.map(p => ({key: `${p} ${f}`, label: words(p), color: `var(--${p})`}))}),
  new Chart($("charts"), "Wait for a batch", {lines: f => percentiles("zernel_dataloader_wait_seconds", f), format: millis}),
  new Chart($("charts"), "Kernel launch call", {lines: f => percentiles("zernel_cuda_launch_latency_seconds", f), format: millis}),
  new Chart($("charts"), "GPU memory, by process : GPU", {lines: ofKeys("memory "), most: COLORS.length, format: bytes}),
  new Chart($("charts"), "NCCL calls, 99 %, by operation", {lines: ofKeys("nccl "), most: COLORS.length, format: millis}),
];

// ---- numbers and tables

let latest = null, focus = null, lastEvents = null;

function timing(metric, pid) {
  return latest.zernel.timings.find(t => t.metric === metric && t.labels.pid === pid);
}

function show(snapshot) {
  latest = snapshot;
  const z = snapshot.zernel, source = z.source;
  if (!z.processes.some(p => p.pid === focus)) focus = z.processes[0]?.pid ?? null;
  const doing = {replay: "replaying", tail: "following", follow: "following"}[source.mode] ?? source.mode;
  // Event time begins with the first event.
  $("source").textContent = [`${doing} ${source.path}`, z.events > 0 ? new Date(z.event_time_ms).toLocaleString() : "", source.note]
      .filter(part => part).join(" · ");
  showTiles(snapshot);
  showProcesses(z.processes, z.process_count);
  showFindings(z.findings);
  showLines(z.findings);
  showGpus(z.gpus ?? [], snapshot.gpu_utilization);
  showTimings(z.timings);
  showReplay(z.replay);
  showAlerts(z.alerts ?? []);
  if (z.events > 0) history.add(z.point);
  for (const chart of charts) chart.draw(history, focus);
}

function showTiles(s) {
  const z = s.zernel, process = z.processes.find(p => p.pid === focus);
  const measured = (name, value) => name in z.measured ? millis(value) : "–";
  const tail = timing => timing?.p99_ms ? `; 99 %: ${millis(timing.p99_ms)}` : "";
  $("step").textContent = millis(process?.step.p50_ms);
  $("step-tail").textContent = tail(process?.step);
  $("wait-tail").textContent = tail(timing("zernel_dataloader_wait_seconds", focus));
  $("wait").textContent = focus === null ? measured("dataloader_wait", s.dataloader_wait_p50_ms)
      : millis(process?.data_wait_p50_ms);
  $("launch").textContent = focus === null ? measured("cuda_latency", s.cuda_latency_p99_us / 1000)
      : millis(process?.launch_p99_ms);
  $("reduce").textContent = measured("nccl_allreduce", s.nccl_allreduce_p99_ms);
  const now = performance.now();
  const rate = lastEvents ? Math.max(0, (z.events - lastEvents.events) / (now - lastEvents.at) * 1000) : 0;
  lastEvents = {events: z.events, at: now};
  $("events").textContent = count(z.events);
  $("lost").textContent = `events, ${count(rate)}/s, ${count(z.lost)} lost`;
  document.title = (process ? millis(process.step.p50_ms) + " · " : "") + "Zernel";
}

const phaseBar = phases => shareBar(PHASES.map(phase => {
  const share = phases[phase] ?? 0;
  return {label: `${words(phase)} ${percent(share)}`, share, color: `var(--${phase})`};
}));

const byNumber = (a, b) => a.localeCompare(b, undefined, {numeric: true});

/// Columns of the table: what they are called, their cell, and what they are ordered by, which is largest first but for names.
const COLUMNS = [
  {id: "rank", title: "rank", cell: p => p.rank ?? "", order: (a, b) => byNumber(a.rank ?? "~", b.rank ?? "~"), ranked: true},
  {id: "process", title: "process", cell: processButton, order: (a, b) => byNumber(`${a.comm} ${a.pid}`, `${b.comm} ${b.pid}`)},
  {id: "steps", title: "steps", value: p => p.steps, text: count},
  {id: "p50", title: "step p50", value: p => p.step.p50_ms, text: millis},
  {id: "p99", title: "p99", value: p => p.step.p99_ms, text: millis},
  {id: "late", title: "late p50", value: p => p.late_p50_ms, text: millis, ranked: true, style: p => p.lateness},
  {id: "wait", title: "data wait p50", value: p => p.data_wait_p50_ms, text: millis},
  {id: "launch", title: "launch p99", value: p => p.launch_p99_ms, text: millis},
  {id: "phases", title: "where a step goes", cell: p => phaseBar(p.phases), style: () => "wide"}];
let orderedBy = "steps", showsAll = false;

function processButton(p) {
  const button = element("button", "", `${p.comm || "process"} ${p.pid}`);
  button.dataset.pid = p.pid;
  button.setAttribute("aria-pressed", p.pid === focus);
  button.title = "show this process in the charts";
  button.onclick = () => { focus = p.pid; show(latest); };
  return button;
}

/// Made again only where it is another one: a click must find the button on which it began.
let shownHead = "";
function showHead(columns) {
  const text = [orderedBy, ...columns.map(column => column.id)].join(" ");
  if (text === shownHead) return;
  shownHead = text;
  $("processes").tHead.rows[0].replaceChildren(...columns.map(column => {
    if (column.id === "phases") return element("th", "wide", column.title);
    const head = element("th"), button = element("button", "", column.title);
    head.setAttribute("aria-sort", column.id !== orderedBy ? "none" : column.order ? "ascending" : "descending");
    button.dataset.column = column.id;
    button.onclick = () => { orderedBy = column.id; show(latest); };
    head.append(button);
    return head;
  }));
}

/// Rows stay while a pointer is down on them, too.
let pointed = false;
$("processes").tBodies[0].onpointerdown = () => { pointed = true; };
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { pointed = false; });

function showProcesses(processes, all) {
  $("no-process").hidden = processes.length > 0;
  $("processes").hidden = processes.length === 0;
  $("process-filter").hidden = processes.length < 2;
  const columns = COLUMNS.filter(c => !c.ranked || processes.some(p => p.rank !== null || p.late_p50_ms !== null));
  const pressed = document.activeElement?.dataset;
  showHead(columns);
  const {order, value} = COLUMNS.find(column => column.id === orderedBy);
  const wanted = $("process-filter").value.toLowerCase();
  const found = processes.filter(p => `${p.rank === null ? "" : `rank ${p.rank} `}${p.comm} ${p.pid}`.toLowerCase().includes(wanted))
      .sort(order ?? ((a, b) => (value(b) ?? -1) - (value(a) ?? -1)));
  const shown = showsAll ? found : found.slice(0, PROCESSES);
  if (!pointed) $("processes").tBodies[0].replaceChildren(...shown.map(p => {
    const line = element("tr");
    for (const {cell, text, value, style} of columns) {
      const td = element("td", style?.(p) ?? "");
      td.append(cell ? cell(p) : text(value(p)));
      line.append(td);
    }
    return line;
  }));
  $("more-processes").hidden = found.length <= PROCESSES;
  $("more-processes").textContent = showsAll ? `only the first ${PROCESSES}` : `${count(found.length - PROCESSES)} more`;
  $("processes-of").textContent = all > processes.length ? `the busiest ${processes.length} of ${count(all)}` : "";
  for (const [key, value] of Object.entries(pressed ?? {})) {
    document.querySelector(`[data-${key}="${CSS.escape(value)}"]`)?.focus({preventScroll: true});
  }
  const shares = processes.find(p => p.pid === focus)?.phases;
  $("phase-key").replaceChildren(...(shares ? PHASES : []).map(phase => {
    const item = element("li", "", `${words(phase)} ${percent(shares[phase] ?? 0)}`);
    item.style.setProperty("--key", `var(--${phase})`);
    return item;
  }));
}
$("process-filter").oninput = () => latest && show(latest);
$("more-processes").onclick = () => { showsAll = !showsAll; show(latest); };

let shownFindings = "";
function showFindings(found) {
  const text = JSON.stringify(found);
  if (text === shownFindings) return; // a reader may have opened one
  shownFindings = text;
  const at = found.as_of_ms ? new Date(found.as_of_ms).toLocaleTimeString() : "";
  $("findings-of").textContent = at ? `in all of the recording as it was at ${at}${found.note ? "; " + found.note : ""}` : "";
  $("no-finding").hidden = found.findings.length > 0;
  $("no-finding").textContent = at ? "Nothing found." : "Not analyzed yet: this takes a moment.";
  $("findings").replaceChildren(...found.findings.map(f => {
    const item = element("li", f.severity), more = element("details");
    const title = element("p");
    title.append(element("b", "", f.title), ` ${f.subject}`);
    const gains = gain(f, millis);
    more.append(element("summary", "", "evidence"), element("p", "", f.evidence), element("code", "", f.next_command));
    item.append(title, ...f.lines.map(line => element("p", "line", line)), element("p", "", (gains ? gains + ". " : "") + f.advice), more);
    return item;
  }));
}

function showLines(found) {
  $("lines-card").hidden = found.lines.length === 0;
  $("lines-of").textContent = found.as_of_ms ? `in training steps, where there are any, of the recording as it was at ${new Date(found.as_of_ms).toLocaleTimeString()}` : "";
  $("lines").replaceChildren(...found.lines.map(l => row([percent(l.share), millis(l.total_ms), l.state, l.line, l.calls ?? "–"])));
}

function showGpus(gpus, memory) {
  const orDash = (value, text) => value === null || value === undefined ? "–" : text(value);
  $("gpus-card").hidden = gpus.length === 0;
  $("gpus").replaceChildren(...gpus.toSorted((a, b) => a.gpu_id.localeCompare(b.gpu_id, undefined, {numeric: true})).map(g => row([g.gpu_id,
    orDash(g.utilization, percent), orDash(g.sm_active, percent), orDash(g.tensor_active, percent), orDash(g.dram_active, percent), bytes(g.memory_used_bytes),
    bytes(g.memory_total_bytes), orDash(g.power_watts, w => w.toFixed(0) + " W"),
    orDash(g.temperature_celsius, c => c.toFixed(0) + " °C")])));
  $("memory-card").hidden = memory.length === 0;
  $("memory").replaceChildren(...memory.toSorted((a, b) => a.key.localeCompare(b.key)).slice(0, 32).map(g => row([g.key, bytes(g.current_bytes), bytes(g.peak_bytes)])));
}

function showTimings(timings) {
  if (!$("timings-card").open) return;
  $("timings").replaceChildren(...timings.map(t => {
    const what = element("span", "", words(t.metric.replace(/^zernel_|_seconds$/g, "")) + " ");
    what.append(element("small", "", Object.entries(t.labels).map(([k, v]) => `${k} ${v}`).join(", ")));
    return row([what, count(t.count), millis(t.p50_ms), millis(t.p99_ms)]);
  }));
}
$("timings-card").ontoggle = () => latest && showTimings(latest.zernel.timings);

function showAlerts(alerts) {
  $("alerts").replaceChildren(...alerts.filter(a => a.state === "firing" || a.state === "pending").slice(0, 20).map(a => {
    const item = element("li", a.state);
    item.append(element("b", "", `${a.state}: ${a.name}`), a.text ?? "");
    return item;
  }));
}

function row(cells) {
  const made = element("tr");
  for (const cell of cells) {
    const td = element("td");
    td.append(cell);
    made.append(td);
  }
  return made;
}

// ---- replay

let dragging = false, jumped = false;

function showReplay(replay) {
  $("replay").hidden = !replay;
  if (!replay) return;
  if (jumped && !replay.seeking) loadCharts(); // what lies between was not shown
  jumped = replay.seeking;
  $("pause").textContent = replay.paused ? "Play" : "Pause";
  $("pause").onclick = () => control({paused: !replay.paused});
  if (document.activeElement !== $("speed")) {
    if (![...$("speed").options].some(o => o.value === replay.speed)) $("speed").add(new Option(replay.speed));
    $("speed").value = replay.speed;
  }
  $("position").max = replay.length_s;
  if (!dragging) $("position").value = replay.position_s;
  $("position").setAttribute("aria-valuetext", clock(replay.position_s));
  $("clock").textContent = `${clock(dragging ? $("position").value : replay.position_s)} / ${clock(replay.length_s)}`
      + (replay.seeking ? " …" : "") + (replay.loop ? " ↻" : "");
}
$("restart").onclick = () => control({position_s: 0});
$("speed").onchange = () => control({speed: $("speed").value});
$("position").oninput = () => { dragging = true; };
$("position").onchange = () => control({position_s: Number($("position").value)}).finally(() => { dragging = false; });

async function control(change) {
  const answer = await fetch("/api/replay", {method: "POST", headers: authorization(), body: JSON.stringify(change)});
  if (answer.ok) showReplay(await answer.json());
  jumped ||= "position_s" in change;
}

// ---- connection

let wait = 1000, silence;
const token = () => sessionStorage.getItem("zernel-token");
const authorization = () => token() ? {Authorization: `Bearer ${token()}`} : {};

async function loadCharts() {
  try {
    const answer = await fetch("/api/charts", {headers: authorization(), signal: AbortSignal.timeout(LEAST_SILENCE)});
    if (answer.ok) history.load((await answer.json()).points);
    return answer;
  } catch {
    return null; // whoever connects hears of it
  }
}

async function connect() {
  const probe = await loadCharts();
  if (probe?.status === 401) {
    $("login").hidden = false;
    state("the token is needed", true);
    return;
  }
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  // A script can send no header with a WebSocket, and an address is kept in logs: the token goes as a subprotocol.
  const protocols = token() ? ["zernel", `zernel.token.${token()}`] : [];
  const socket = new WebSocket(`${scheme}://${location.hostname}:${WS_PORT}/`, protocols);
  /// A connection may also be over without a word, as after a machine slept.
  function again() {
    clearTimeout(silence);
    socket.onmessage = socket.onclose = null;
    socket.close();
    state(`not connected, trying again in ${wait / 1000} s`, true);
    setTimeout(connect, wait);
    wait = Math.min(LONGEST_WAIT, wait * 2);
  }
  socket.onclose = again;
  socket.onmessage = message => {
    wait = 1000;
    const snapshot = JSON.parse(message.data);
    clearTimeout(silence);
    silence = setTimeout(again, Math.max(LEAST_SILENCE, 5 * snapshot.zernel.interval_ms));
    state(snapshot.zernel.source.ended ? "ended" : "live", false);
    show(snapshot);
  };
}

function state(text, off) {
  if ($("link").textContent !== text) $("link").textContent = text;
  $("link").className = off ? "off" : "";
}

$("login").onsubmit = event => {
  event.preventDefault();
  sessionStorage.setItem("zernel-token", $("token").value.trim());
  $("login").hidden = true;
  connect();
};

connect();
