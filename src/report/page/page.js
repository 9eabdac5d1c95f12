// Who makes the others wait: as measured, or else the rank with the least time in collectives, which waits least itself.
function culprit(summary) {
  if (!summary.late?.length) return `least, ${duration(summary.collective_seconds.min)}, on rank ${summary.collective_seconds.min_rank}`;
  const waited = new Map();
  for (const row of summary.late) waited.set(row.rank, (waited.get(row.rank) ?? 0) + row.waited_seconds);
  const [rank, seconds] = [...waited].reduce((worst, entry) => entry[1] > worst[1] ? entry : worst);
  const all = [...waited.values()].reduce((sum, seconds) => sum + seconds, 0);
  return `the others wait for rank ${rank}: ${percent(all ? seconds / all : 0)} of the waiting`;
}

function tiles(summary) {
  const rows = summary.rows, spread = summary.collective_seconds;
  const sum = of => rows.reduce((sum, row) => sum + of(row), 0);
  const entries = [
    [duration(summary.run_seconds), "run time, MPI_Init to MPI_Finalize"],
    [percent(summary.collective_share), `in collectives: ${duration(spread.mean)} per rank`],
    [spread.mean ? (spread.max / spread.mean).toFixed(2) + " ×" : "–", `imbalance: most against mean; ${culprit(summary)}`],
    [count(sum(row => row.calls_all_ranks)), "collective calls on all ranks"],
    [bytes(sum(row => row.bytes)), "contributed by all ranks"],
    [`${summary.overhead.nanoseconds_per_call.toFixed(0)} ns`, `monitoring per call; ${duration(summary.overhead.seconds_per_rank)} per rank` + (summary.overhead.finalize_seconds === undefined ? "" : `, ${duration(summary.overhead.finalize_seconds)} at the end`)],
  ];
  document.getElementById("tiles").append(...entries.map(([value, text]) =>
    element("div", { class: "tile" }, element("b", {}, value), element("span", {}, text))));
}

function fallbackTable(summary) {
  const reasons = new Map();
  const calls = summary.rows.reduce((sum, row) => sum + row.calls_all_ranks, 0);
  for (const row of summary.rows.filter(row => row.decided_by.startsWith("fallback: "))) {
    const key = JSON.stringify([row.function, row.decided_by.slice("fallback: ".length)]);
    reasons.set(key, (reasons.get(key) ?? 0) + row.calls_all_ranks);
  }
  const rows = [...reasons].map(([key, part]) => ({ function: JSON.parse(key)[0], reason: JSON.parse(key)[1], calls: part }));
  return rows.length === 0 ? null : sortable([
    { head: "Function", of: row => row.function },
    { head: "Reason", of: row => row.reason },
    { head: "Calls on all ranks", of: row => row.calls, show: count, kind: "number" },
    { head: "Share of calls", of: row => row.calls / calls, show: percent, kind: "share", most: 1 },
  ], rows, { sortBy: 2 });
}

function verdictSection(summary) {
  if (!summary.comparisons?.length) return;
  const saved = summary.comparisons.filter(row => row.verdict === "faster").reduce((sum, row) => sum + row.saved_seconds, 0);
  section("verdicts", "Collie against native",
    (summary.mode === "compare-self" ? "A test of the comparison: both sides are the MPI library's. " : "") + `Short epochs of native calls and of Collie's, in pairs whose order a coin decided, took turns in this run. Most certain to matter first. Running Collie where it is faster and the MPI library elsewhere would save ${duration(saved)} per rank against running the MPI library alone, for these calls.`,
    comparisonTable(summary));
}

function verificationSection(summary) {
  const verification = summary.verification;
  if (!verification) return;
  const differ = verification.differences.length > 0;
  section("verification", "Results against native",
    `${count(verification.calls)} results were compared on all ranks; ` + (differ ? `where they differed: ${count(verification.differences.length)}.` : "all are equal."),
    differ ? differenceTable(summary) : null);
}

function lateNote(summary) {
  const sum = of => summary.communicators.reduce((sum, row) => sum + (of(row) ?? 0), 0);
  const [compared, comparable] = [sum(row => row.compared_calls), sum(row => row.comparable_calls)];
  const clock = summary.clock;
  return "Which ranks the others waited for. While several had not come, each of them is charged an equal part, so all parts together are the time waited."
    + (compared < comparable ? ` Arrivals were kept of ${count(compared)} of ${count(comparable)} calls.` : "")
    + (clock ? ` The clocks were synchronised ${count(clock.points)} times and agree within ${duration(clock.error_seconds)}; the slowest pair's fastest ping-pong took ${duration(clock.round_trip_seconds)}.` : "");
}

const keptNote = cache => `What is kept for calls like earlier ones: on all ranks ${count(cache.evicted)} entries had to go for others, ${count(cache.refused)} found no room; a rank used ${bytes(cache.most_bytes)} of ${bytes(cache.bound)} at most, an eighth of COLLIE_MEMORY.`;

function trafficSection(summary, rows, id, title, note) {
  if (!rows?.length) return;
  const map = heatMap(summary, rows);
  section(id, title, note, map.chart);
  drawnAgain(map.draw);
}

function show(summary) {
  const when = new Date(summary.started_unix_seconds * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";
  document.getElementById("job").textContent = [summary.command, `${summary.ranks} ranks on ${summary.nodes} ${summary.nodes === 1 ? "node" : "nodes"}`,
    `mode ${summary.mode}`, summary.mpi_library, `Collie ${summary.collie_version}`, when].filter(Boolean).join("  ·  ");
  if (summary.partial) section("partial", "Partial report", summary.partial);
  document.title = `Collie report: ${summary.command}`;
  tiles(summary);
  verificationSection(summary);
  verdictSection(summary);
  section("cells", "Calls", "One row per function, communicator, size class, algorithm and what decided it. Click a head to sort, a row to see its durations below.",
    summary.beyond ? element("p", { class: "note" }, `${count(summary.beyond.calls)} calls on all ranks, ${duration(summary.beyond.seconds)}, are in no row: COLLIE_MEMORY is used up.`) : null,
    summary.cache ? element("p", { class: "note" }, keptNote(summary.cache)) : null,
    summary.rows.length ? cellTable(summary) : "No collective was called.");
  const fallbacks = fallbackTable(summary);
  if (fallbacks) section("fallbacks", "Fell back to native", "Calls that Collie was to run but handed to the MPI library.", fallbacks);
  if (summary.rows.length) section("sizes", "Sizes", "By signature bytes per call; a bar is the class from its label to twice that.", sizeCharts(summary));
  const ranks = rankChart(summary);
  section("ranks", "Time per rank", null, ranks.chart, element("div", { style: "height:14px" }), rankTable(summary));
  drawnAgain(ranks.draw);
  if (summary.late?.length) section("late", "Late ranks", lateNote(summary), lateTable(summary));
  trafficSection(summary, summary.traffic, "traffic", "Traffic", "Messages that Collie's algorithms sent, by sender and receiver in MPI_COMM_WORLD." + (summary.nodes > 1 ? " Frames: ranks of one node." : ""));
  trafficSection(summary, summary.native_traffic, "native-traffic", "Counted by the MPI library", "Every message between two ranks that Open MPI's monitoring counted: the program's, those of native collectives, and Collie's.");
  trafficSection(summary, summary.native_collectives, "native-collectives", "Native collectives", "What the collectives of the MPI library meant to move, as Open MPI's monitoring counts it: not what they sent, but for a broadcast the whole message from the root to each rank.");
  if (summary.timeline?.length) {
    const line = timeline(summary);
    const missing = (summary.timeline_gaps ?? []).reduce((sum, gap) => sum + gap.calls, 0), shown = summary.timeline.length;
    section("timeline", "Time line", (missing ? `${count(shown)} of ${count(shown + missing)} calls: of each rank the first, the slowest and the last.` : "All calls of each rank.")
      + " The axis begins at MPI_Init. The wheel zooms, dragging moves, a double click shows all.", line.chart);
    drawnAgain(line.draw);
  }
  const drawn = document.getElementById("drawn").content;
  if (drawn.querySelector("svg")) section("drawings", "Algorithms", "Those that ran, most time first: who sends to whom, and the time line as simulated, from an idle start. Pointing at a line or bar tells what it is.", element("div", { class: "drawings" }, drawn.cloneNode(true)));
  if (summary.communicators.length) section("communicators", "Communicators", null, communicatorTable(summary));
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark", dark);
  document.getElementById("theme").addEventListener("click", () => {
    document.documentElement.classList.toggle("dark");
    drawAll();
  });
  addEventListener("resize", drawAll);
  drawAll();
}
