// What a section does not show, since so many would not have fitted into the memory of rank 0.
function leftOutNote(summary, kind, what, where = "") {
  const number = summary.left_out?.[kind] ?? 0;
  return number ? ` To save memory on rank 0, ${several(number, what)}${where} ${number === 1 ? "is" : "are"} left out.` : "";
}

// Who makes the others wait: as measured, or else the rank with the least time in collectives, which waits least itself.
function culprit(summary) {
  if (!summary.late?.length) return `least, ${duration(summary.collective_seconds.min)}, on rank ${summary.collective_seconds.min_rank}`;
  const waited = new Map();
  for (const row of summary.late) waited.set(row.rank, (waited.get(row.rank) ?? 0) + row.waited_seconds);
  const [rank, seconds] = [...waited].reduce((worst, entry) => entry[1] > worst[1] ? entry : worst);
  const all = [...waited.values()].reduce((sum, seconds) => sum + seconds, 0);
  return `the others wait for rank ${rank}: ${percent(all ? seconds / all : 0)} of the waiting`;
}

// The last share is of all that is told by then, collectives first.
function areaTiles(summary) {
  const run = wholeOf(summary) || Infinity;
  let told = summary.collective_seconds.mean;
  return areasOf(summary).map((area, place) => {
    const seconds = summary[area.of].mean;
    told += seconds;
    return [percent(seconds / run), `in ${area.calls}: ${duration(seconds)} per rank; ${percent(told / run)} in ${place ? "all" : "both"}`];
  });
}

// What is observed without being in what monitoring costs.
function unmeasured(summary) {
  const others = [...(summary.message_seconds ? ["calls other than collectives"] : []), ...(summary.sites?.length ? ["call sites"] : [])];
  return others.length ? `, without ${others.join(" and ")}` : "";
}

// Whether threads were in calls at the same time; clocks that differ a little do not make it so.
const threadsOverlap = summary => summary.per_rank.some(rank => rank.collective_seconds + beside(summary, rank) > 1.01 * wholeOf(rank));

function tiles(summary) {
  const rows = summary.rows, spread = summary.collective_seconds;
  const sum = (of, name) => rows.reduce((sum, row) => sum + of(row), 0) + inNoRow(summary).reduce((sum, rest) => sum + rest[name], 0);
  const entries = [
    [duration(summary.run_seconds), "run time, from the end of MPI_Init to MPI_Finalize"],
    ...(summary.recorded_seconds === undefined ? [] : [[duration(summary.recorded_seconds), "of it recorded (MPI_Pcontrol); shares are of that"]]),
    [percent(summary.collective_share), `in collectives: ${duration(spread.mean)} per rank` + (threadsOverlap(summary) ? "; times of threads that make calls at once are added up" : "")],
    ...areaTiles(summary),
    ...(summary.ranks > 1 ? [[spread.mean ? (spread.max / spread.mean).toFixed(2) + " ×" : "–", `imbalance: maximum over mean; ${culprit(summary)}`]] : []),
    [count(sum(row => row.calls_all_ranks, "calls")), "collective calls on all ranks"],
    [bytes(sum(row => row.bytes, "bytes")), "contributed by all ranks"],
    [`${summary.overhead.nanoseconds_per_call.toFixed(0)} ns`, `at least, for monitoring a collective; from ${duration(summary.overhead.seconds_per_rank)} per rank${unmeasured(summary)}` + (summary.overhead.init_seconds === undefined ? "" : `, ${duration(summary.overhead.init_seconds)} in MPI_Init`) + (summary.overhead.reports_seconds === undefined ? "" : `, ${duration(summary.overhead.reports_seconds)} in reports before the end`) + (summary.overhead.finalize_seconds === undefined ? "" : `, ${duration(summary.overhead.finalize_seconds)} at the end`)],
  ];
  document.getElementById("tiles").append(...entries.map(([value, text]) =>
    element("div", { class: "tile" }, element("b", {}, value), element("span", {}, text))));
}

function totalsSection(summary) {
  section("totals", "Where the time goes", null, element("div", { class: "pair" },
    ...(summary.rows.length ? [
      element("div", {}, element("h3", {}, "By function"), functionTotals(summary)),
      element("div", {}, element("h3", {}, "By who ran the calls"), carriedOut(summary))] : []),
    summary.messages?.length ? element("div", {}, element("h3", {}, "Calls other than collectives"), messageTable(summary)) : null));
}

function verdictSection(summary) {
  if (!summary.comparisons?.length) return;
  const saved = summary.comparisons.filter(row => row.verdict === "faster").reduce((sum, row) => sum + row.saved_seconds * summary.communicators[row.communicator].size / summary.ranks, 0);
  section("verdicts", "Collie against native",
    (summary.mode === "compare-self" ? "A test of the comparison: both sides are the MPI library's. " : "") + `Short epochs of native calls and of Collie's took turns in this run, in pairs whose order was random. Rows are sorted by the time certain to be saved or lost. Running Collie where it is faster and the MPI library elsewhere would save ${duration(saved)} per rank, in the mean over all ranks, against running the MPI library alone, for these calls.` + leftOutNote(summary, "comparisons", "comparison"),
    comparisonTable(summary));
}

function verificationSection(summary) {
  const verification = summary.verification;
  if (!verification) return;
  const listed = verification.differences.length, differing = Math.max(verification.differing ?? 0, listed);
  const { failed, not_comparable: unknown, judged_loosely: loosely } = verification;
  const rounded = Math.max(verification.within_rounding ?? 0, loosely ?? 0), others = unknown || rounded;
  section("verification", "Results against native",
    `${count(verification.calls)} results were compared on all ranks; ` + (failed ? `${several(failed, "call")} could not be, for an error; ` : "") +
      (unknown ? `${count(unknown)} cannot be judged; ` : "") + (rounded ? `${count(rounded)} are equal within rounding; ` : "") +
      (differing ? `${count(differing)} differed${listed < differing ? `, the first ${count(listed)} of which are listed` : ""}.` + leftOutNote(summary, "differences", "difference") : others ? "all others are equal." : "all are equal.") +
      (loosely ? ` Of the program's own operations, ${count(loosely)} were judged by a bound for the whole vector only.` : "") +
      (verification.seconds ? ` Second calls, copies and comparisons took ${duration(verification.seconds)} per rank, which is a part of the run time.` : ""),
    listed ? differenceTable(summary) : null);
}

function clockNote(clock) {
  if (!clock) return "";
  if (!clock.error_seconds) return " All ranks share one clock.";
  return ` The clocks were synchronised ${clock.points === 1 ? "once" : `${count(clock.points)} times`} and agree within ${duration(clock.error_seconds)}; the slowest pair's fastest ping-pong took ${duration(clock.round_trip_seconds)}.`;
}

function learnedSection(summary) {
  const learned = summary.learned;
  if (!learned) return;
  section("learned", "Learned while the program ran",
    `Several took turns in short epochs, the MPI library among them; the fastest stayed. By these short measurements, ${learnedSaving(learned)} per rank were saved over the defaults, as the fastest or the slowest rank of each call tells it; only two timed runs tell what the program gained. Trying cost ${duration(learned.spent_seconds)} and ${count(learned.tried_calls)} calls.`,
    learnedTable(summary));
}

function learnedSaving({ saved_seconds: saved, saved_seconds_between: between }) {
  const [least, most] = (between ?? [saved, saved]).map(duration);
  return least === most ? most : `${least} to ${most}`;
}

function lateNote(summary) {
  const sum = of => summary.communicators.reduce((sum, row) => sum + (of(row) ?? 0), 0);
  const [compared, comparable] = [sum(row => row.compared_calls), sum(row => row.comparable_calls)];
  return "Which ranks the others waited for. While several had not arrived, each of them is charged an equal share, so that all shares add up to the time waited."
    + (compared < comparable ? ` Arrivals were kept for ${count(compared)} of ${several(comparable, "call")}.` : "")
    + (unmeasuredWaiting(summary) >= 0.02 ? ` Waiting is not measured in ${percent(unmeasuredWaiting(summary))} of the time in collectives: nonblocking, between groups or jobs (MPI_COMM_WORLDs), or in no row.` : "") + leftOutNote(summary, "late", "late rank") + clockNote(summary.clock);
}

// Of the time in collectives, that in no row and that of rows whose waiting is not known.
function unmeasuredWaiting(summary) {
  const time = rows => rows.reduce((sum, row) => sum + row.total_seconds.mean * row.ranks, 0);
  const rest = inNoRow(summary).reduce((sum, rest) => sum + rest.seconds, 0);
  return (time(summary.rows.filter(row => row.waiting_seconds === undefined)) + rest) / (time(summary.rows) + rest || 1);
}

const keptNote = cache => `Call cache: on all ranks ${count(cache.evicted)} entries evicted, ${count(cache.refused)} not stored; peak on a rank ${bytes(cache.most_bytes)} of ${bytes(cache.bound)}, an eighth of COLLIE_MEMORY.`;

// Communicators whose ranks were to share memory within nodes and do not, by the reason.
function unsharedNote(summary) {
  const names = new Map();
  for (const row of summary.communicators) {
    if (row.no_shared_memory) names.set(row.no_shared_memory, [...(names.get(row.no_shared_memory) ?? []), row.name ?? row.identity]);
  }
  return [...names].map(([why, on]) => `No shared memory on ${on.length > 3 ? several(on.length, "communicator") : on.join(", ")}: ${why}; messages go by MPI.`).join(" ");
}

// Ranks that share memory but may not read each other's own.
function unreadableNote(summary) {
  const sharing = summary.communicators.map(row => row.shared_memory).filter(memory => memory && memory.readable < memory.pairs);
  const sum = name => sharing.reduce((sum, memory) => sum + memory[name], 0);
  return sharing.length ? ` In ${count(sum("pairs") - sum("readable"))} of ${several(sum("pairs"), "ordered pair")} of ranks that share memory, one may not read the other's private memory (process_vm_readv): long messages are copied twice.` : "";
}

function trafficSection(summary, rows, id, title, note) {
  if (!rows?.length) return;
  const map = heatMap(summary, rows);
  section(id, title, note + leftOutNote(summary, "traffic", "pair", " of ranks, all kinds of traffic together,"), map.chart);
  drawnAgain(map.draw);
}

function timelineSection(summary) {
  if (!summary.timeline?.length) return;
  const line = timeline(summary);
  const missing = (summary.timeline_gaps ?? []).reduce((sum, gap) => sum + gap.calls, 0), shown = summary.timeline.length;
  // Where there was no room for some, the first may be among them, and who knows which were slowest.
  const lost = summary.dropped_events;
  const which = lost ? `there was no room for ${count(lost)} (COLLIE_SPILL, COLLIE_MEMORY); of those kept, for each rank the slowest, the last and, if they are among them, the first.` : "for each rank the first, the slowest and the last.";
  section("timeline", "Time line", (missing ? `${count(shown)} of ${several(shown + missing, "call")}: ${which}` : "All calls of each rank.")
    + " The axis begins at MPI_Init. Drag or use the arrow keys to move, Ctrl with the wheel or + and − to zoom, a double click or 0 to show all."
    + (new Set(summary.per_rank.map(rank => rank.host)).size > 1 ? clockNote(summary.clock) || " Each node's calls lie where its own system clock puts them, and the clocks of nodes may be milliseconds apart." : ""), line.chart);
  drawnAgain(line.draw);
}

// Drawings are put into the page as they come into sight: a dozen of them are more elements than all else.
function drawingsSection() {
  const drawn = document.getElementById("drawn").content;
  const figures = [...drawn.querySelectorAll("figure")];
  if (!figures.length) return;
  const places = figures.map(figure => {
    const svg = figure.querySelector("svg");
    svg.remove();
    const place = element("div", { style: `aspect-ratio:${svg.getAttribute("width")}/${svg.getAttribute("height")}` });
    place.put = () => { if (!place.firstChild) place.append(document.adoptNode(svg)); };
    figure.append(place);
    return place;
  });
  const grid = element("div", { class: "drawings" });
  grid.append(document.adoptNode(drawn));
  section("drawings", "Algorithms", "Those that ran, most time first: who sends to whom, and the time line as simulated, from an idle start. Point at a line or bar to see what it is.", grid);
  const watch = new IntersectionObserver(entries => entries.filter(entry => entry.isIntersecting).forEach(entry => entry.target.put()), { rootMargin: "800px" });
  places.forEach(place => watch.observe(place));
  addEventListener("beforeprint", () => places.forEach(place => place.put()));
}

function show(summary) {
  themed();
  const when = new Date(summary.started_unix_seconds * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";
  document.getElementById("job").textContent = [summary.command, `${known(summary) < summary.ranks ? `${count(known(summary))} of ` : ""}${several(summary.ranks, "rank")} on ${several(summary.nodes, "node")}`,
    `mode ${summary.mode}${summary.reproducible && ["replace", "best", "learn"].includes(summary.mode) ? ", reproducible" : ""}`, oneLine(summary.mpi_library), `Collie ${summary.collie_version}`, when].filter(Boolean).join("  ·  ");
  document.title = `Collie report: ${summary.command}`;
  if (summary.partial) section("partial", "Partial report", summary.partial, summary.under_way?.length ? underWayTable(summary) : null);
  lookAlike(totals(summary.rows, row => row.function).map(sum => sum.key));
  tiles(summary);
  verificationSection(summary);
  verdictSection(summary);
  learnedSection(summary);
  if (summary.rows.length || summary.messages?.length) totalsSection(summary);
  if (summary.regions?.length) section("regions", "Regions", "Parts of the program that it has named; the time of a region includes the regions inside it." + leftOutNote(summary, "regions", "region"), regionTable(summary));
  if (summary.sites?.length) section("sites", "Where calls come from", "The innermost place of the program on the stack." + noSiteNote(summary) + leftOutNote(summary, "sites", "call site"), siteTable(summary));
  const unshared = unsharedNote(summary);
  const cells = summary.rows.length ? cellTable(summary) : null;
  section("cells", "Calls", "One row per function, communicator, size class, algorithm and what decided it. Click a column head to sort, a row to see its durations below, a group to see its rows." + leftOutNote(summary, "rows", "row"),
    summary.beyond ? element("p", { class: "note" }, `${several(summary.beyond.calls, "call")} on all ranks, ${duration(summary.beyond.seconds)}, not in any row: COLLIE_MEMORY is exhausted.`) : null,
    unshared ? element("p", { class: "note" }, unshared) : null,
    summary.cache ? element("p", { class: "note" }, keptNote(summary.cache)) : null,
    cells ? cells.table : "No collective was called.");
  if (cells) drawnAgain(cells.draw);
  if (summary.rows.length) section("sizes", "Sizes", "By signature bytes per call; a bar is the class from its label to twice that.", sizeCharts(summary));
  const ranks = rankChart(summary);
  section("ranks", "Time per rank", null, ranks.chart, element("div", { style: "height:14px" }), rankTable(summary));
  drawnAgain(ranks.draw);
  if (summary.late?.length) section("late", "Late ranks", lateNote(summary), lateTable(summary));
  trafficSection(summary, summary.traffic, "traffic", "Traffic", "Messages that Collie's algorithms sent, by sender and receiver in MPI_COMM_WORLD." + (summary.nodes > 1 ? " Frames: ranks of one node." : ""));
  trafficSection(summary, summary.shared_traffic, "shared-traffic", "Through shared memory", "Messages that Collie's algorithms sent through memory that the ranks of a node share (COLLIE_TRANSPORT=shared)." + unreadableNote(summary));
  trafficSection(summary, summary.native_traffic, "native-traffic", "Counted by the MPI library", "Every message of point-to-point calls that Open MPI's monitoring counted: the program's, except persistent ones, and Collie's.");
  trafficSection(summary, summary.native_collectives, "native-collectives", "Native collectives", "What the collectives of the MPI library were asked to move, as Open MPI's monitoring counts it, not what they sent: for a broadcast, the whole message from the root to each rank.");
  timelineSection(summary);
  drawingsSection();
  if (summary.communicators.length) section("communicators", "Communicators", leftOutNote(summary, "members", "list", " of a communicator's ranks").trim() || null, communicatorTable(summary));
  drawAll();
}
