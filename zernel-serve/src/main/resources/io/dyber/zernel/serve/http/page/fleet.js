// The page of a fleet: asks for /api/fleet again and again, and shows what it says.
const POLL = 2000;
const PATIENCE = 10000;
const MOST_MACHINES = 2000;

const $ = (id) => document.getElementById(id);
const token = () => sessionStorage.getItem("zernel-token");
const authorization = () => token() ? {Authorization: `Bearer ${token()}`} : {};

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function row(...cells) {
  const made = element("tr");
  cells.forEach((cell) => made.append(element("td", cell)));
  return made;
}

const time = (ms) => ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(1)} ms`;
const age = (seconds) => seconds < 120 ? `${Math.round(seconds)} s` : seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

function state(text, off) {
  $("link").textContent = text;
  $("link").classList.toggle("off", off);
}

function show(fleet) {
  const silent = fleet.machines.filter((machine) => machine.state === "silent");
  const sending = fleet.machines.filter((machine) => machine.state !== "silent");
  $("source").textContent = fleet.folder;
  $("verdict").className = `card ${fleet.verdict.kind}`;
  $("sentence").textContent = fleet.verdict.sentence;
  $("reason").textContent = [fleet.verdict.reason, fleet.evaluated_ms && fleet.trouble ? `Nothing newer: ${fleet.trouble}` : ""].filter(Boolean).join(" ");
  $("machines").textContent = sending.length;
  $("silent").textContent = silent.length ? `; ${silent.length} silent` : "";
  $("ranks").textContent = fleet.ranks;
  $("missing").textContent = fleet.missing_ranks ? `; ${fleet.missing_ranks} not recorded` : "";
  $("step").textContent = fleet.ranks ? time(1000 * fleet.mean_step_seconds) : "–";
  $("longest").textContent = fleet.ranks ? `; longest ${time(1000 * fleet.longest_step_seconds)}` : "";
  const ages = sending.map((machine) => machine.age_seconds);
  $("age").textContent = ages.length ? age(Math.min(...ages)) : "–";
  $("oldest").textContent = ages.length ? `; oldest ${age(Math.max(...ages))}` : "";
  map(fleet.machines);
  alerts(fleet.alerts);
  findings(fleet);
  $("latest-card").hidden = fleet.latest.length === 0;
  $("latest").replaceChildren(...fleet.latest.map((rank) =>
    row(rank.name, rank.host, time(1000 * rank.late_seconds), time(1000 * rank.step_seconds), rank.cause ?? "")));
  $("silent-card").hidden = silent.length === 0;
  $("silent-machines").replaceChildren(...silent.map((machine) => row(machine.host, machine.digest, `${age(machine.age_seconds)} ago`)));
  $("left-card").hidden = fleet.left_out.length === 0;
  const left = Object.entries(fleet.digests).filter(([fate, times]) => fate !== "read" && times > 0);
  $("left-of").textContent = left.map(([fate, times]) => `${times} ${fate.replace("_", " ")}`).join(", ");
  $("left").replaceChildren(...fleet.left_out.toReversed().map((one) =>
    row(one.name, one.fate, one.why, `${age((fleet.now_ms - one.at_ms) / 1000)} ago`)));
}

function map(machines) {
  const shown = machines.slice(0, MOST_MACHINES);
  $("map-of").textContent = "a column for each machine, a cell for each rank"
    + (machines.length > shown.length ? `; the first ${shown.length} of ${machines.length}` : "");
  $("map").replaceChildren(...shown.map((machine) => {
    const column = element("div", undefined, `machine ${machine.state}`);
    column.title = `${machine.host}: ${count(machine.ranks.length, "rank")}, ${machine.state}, ${age(machine.age_seconds)} ago`;
    column.classList.toggle("named", machine.ranks.some((rank) => rank.named));
    machine.ranks.forEach((rank) => {
      const cell = element("i", undefined, rank.level + (rank.named ? " named" : ""));
      cell.title = `${rank.name}, ${machine.host}: step ${time(rank.step_ms)}, ${time(rank.late_ms)} after the middle rank`;
      column.append(cell);
    });
    return column;
  }));
}

function alerts(raised) {
  $("alerts").replaceChildren(...raised.map((alert) => {
    const line = element("li", undefined, alert.state);
    line.append(element("b", `${alert.severity} ${alert.state}`), alert.sentence);
    return line;
  }));
}

function findings(fleet) {
  $("findings-of").textContent = fleet.evaluated_ms
    ? `as of ${age((fleet.now_ms - fleet.evaluated_ms) / 1000)} ago; looking took ${fleet.took_seconds.toFixed(1)} s` : "";
  $("no-finding").hidden = fleet.findings.length > 0;
  $("no-finding").textContent = fleet.evaluated_ms ? "Nothing was found." : "Not analyzed yet.";
  $("findings").replaceChildren(...fleet.findings.map(({rounds, found}) => {
    const one = element("li", undefined, found.severity);
    one.append(element("b", found.title));
    const lost = found.lost_ms_per_step == null ? "" : `; loses ${time(found.lost_ms_per_step)} per step`;
    one.append(element("p", `${found.subject}${lost}; in ${count(rounds, "round")} of digests`));
    const more = element("details");
    more.append(element("summary", "why, and what to try"), element("p", found.evidence), element("p", found.advice));
    one.append(more);
    return one;
  }));
}

async function ask() {
  try {
    const answer = await fetch("/api/fleet", {headers: authorization(), signal: AbortSignal.timeout(PATIENCE)});
    $("login").hidden = answer.status !== 401;
    if (answer.status === 401) {
      state("the token is needed", true);
    } else if (answer.ok) {
      show(await answer.json());
      state("live", false);
    } else {
      state(`status ${answer.status}`, true);
    }
  } catch (_) {
    state("no answer", true);
  }
}

$("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("zernel-token", $("token").value.trim());
  ask();
});

for (;;) {
  await ask();
  await new Promise((done) => setTimeout(done, POLL));
}
