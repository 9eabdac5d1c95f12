// The table of calls, as rows or in groups, and the tables that share its first columns.

// Names of communicators, a different one for each.
const communicatorNames = new WeakMap();
function nameOf(summary, place) {
  let names = communicatorNames.get(summary);
  if (!names) {
    const title = row => (row.name ?? row.identity).replace(/^MPI_COMM_/, "");
    const predefined = row => !row.made_by && ["world", "self"].includes(row.identity);
    // The program may have given one of its own a name that looks like one of MPI's.
    const tells = row => predefined(row) || title(row) === row.identity || (numbers.get(title(row)) === 1 && title(row) === row.name);
    const numbers = new Map();
    for (const row of summary.communicators) numbers.set(title(row), (numbers.get(title(row)) ?? 0) + 1);
    names = summary.communicators.map(row => tells(row) ? title(row) : `${title(row)} (${row.identity})`);
    communicatorNames.set(summary, names);
  }
  return names[place];
}
const sizes = row => row.bytes_to === 0 ? "0 B" : row.bytes_from === row.bytes_to ? bytes(row.bytes_from) : `${bytes(row.bytes_from)} – < ${bytes(row.bytes_to + 1)}`;

function operationColumns(summary) {
  return [
    { head: "Function", of: row => row.function, kind: "function" },
    { head: "Communicator", of: row => nameOf(summary, row.communicator), kind: "long" },
    { head: "Bytes per call", of: row => row.bytes_from, show: (_, row) => sizes(row), kind: "number", title: "signature bytes that one rank contributes" },
  ];
}

function cellColumns(summary) {
  const most = summary.rows.reduce((most, row) => Math.max(most, row.share), 1e-12);
  const time = (head, of, title) => ({ head, of, show: duration, kind: "number", title });
  return [
    ...operationColumns(summary),
    { head: "Algorithm", of: row => row.algorithm, kind: "long" },
    { head: "Decided by", of: row => row.decided_by, kind: "long" },
    { head: "Calls", of: row => row.calls, show: count, kind: "number", title: "per rank, the most over ranks" },
    { head: "Share of run", of: row => row.share, show: percent, kind: "share", most, title: "of the run time of the communicator's ranks" },
    time("Total", row => row.total_seconds.mean, "of a rank, mean over the ranks that made such calls"),
    time("Max rank", row => row.total_seconds.max, "of the rank with the most"),
    ...(summary.sync ? [time("Waiting", row => row.waiting_seconds, "for the last rank to arrive, mean over ranks"),
      time("Working", row => row.waiting_seconds === undefined ? undefined : row.total_seconds.mean - row.waiting_seconds, "the rest of the total")] : []),
    time("Mean", row => row.mean_seconds), time("Min", row => row.min_seconds), time("p50", row => row.p50_seconds),
    time("p90", row => row.p90_seconds), time("p99", row => row.p99_seconds), time("Max", row => row.max_seconds),
    { head: "Volume", of: row => row.bytes, show: bytes, kind: "number", title: "signature bytes of all calls of all ranks" },
  ];
}

function cellTable(summary) {
  const columns = cellColumns(summary), ranks = known(summary), run = wholeOf(summary) * ranks || 1;
  const groups = new Map([["function", row => row.function], ["communicator", row => nameOf(summary, row.communicator)],
    ["size", row => sizes(row)], ["algorithm", row => row.algorithm], ["what decided", row => row.decided_by]]);
  const sums = rows => {
    const [sum] = totals(rows, () => "");
    return sum ? `${duration(sum.seconds / ranks)} per rank, ${percent(sum.seconds / run)} of the run · ${several(sum.calls, "call")} on all ranks · ${bytes(sum.bytes)}` : "";
  };
  const holder = element("div"), below = element("div", { style: "margin-top:14px" });
  let matching = summary.rows, only = null, opened = summary.rows[0];
  const group = element("select", { "aria-label": "group rows", onchange: () => { only = null; fill(); } },
    element("option", { value: "" }, "every row"), ...[...groups.keys()].map(name => element("option", { value: name }, `grouped by ${name}`)));
  const back = element("button", { type: "button", hidden: "", onclick: () => { group.value = only.group; only = null; fill(); } });
  const words = wordBox(columns, summary.rows, rows => { matching = rows; fill(); }, sums, group, back);
  function fill() {
    const name = only ? "" : group.value;
    back.hidden = !only;
    back.textContent = only ? `‹ only ${only.key}` : "";
    holder.replaceChildren(name ? groupTable(name) : rowTable());
    below.hidden = name !== "";
    if (!below.hidden) draw();
  }
  const rowTable = () => sortable(columns, only ? matching.filter(row => groups.get(only.group)(row) === only.key) : matching,
    { sortBy: 7, open: row => { opened = row; draw(); } });
  function groupTable(name) {
    const found = totals(matching, groups.get(name));
    const column = { head: name[0].toUpperCase() + name.slice(1), of: sum => sum.key, kind: name === "function" ? "function" : undefined };
    return sortable([column, { head: "Rows", of: sum => sum.rows, show: count, kind: "number" }, ...totalColumns(summary, mostOf(summary, found))], found,
      { sortBy: 4, open: sum => { only = { group: name, key: sum.key }; group.value = ""; fill(); } });
  }
  const draw = () => below.replaceChildren(...durationChart(opened, below.clientWidth || 720));
  fill();
  return { table: element("div", {}, words, holder, below), draw };
}

function lateTable(summary) {
  const calls = row => summary.communicators[row.communicator].compared_calls ?? row.calls;
  const others = row => Math.max(1, summary.communicators[row.communicator].size - 1);
  const waited = new Map();
  for (const row of summary.late) waited.set(row.communicator, (waited.get(row.communicator) ?? 0) + row.waited_seconds);
  return sortable([
    { head: "Communicator", of: row => nameOf(summary, row.communicator), kind: "long" },
    { head: "Rank", of: row => row.rank, kind: "number" },
    { head: "Others waited for it", of: row => row.waited_seconds, show: duration, kind: "number", title: "the sum over the other ranks and all calls; where they waited for several ranks, its part" },
    { head: "Each of them", of: row => row.waited_seconds / others(row), show: duration, kind: "number", title: "mean over the other ranks of the communicator" },
    { head: "Share of the waiting", of: row => row.waited_seconds / (waited.get(row.communicator) || 1), show: percent, kind: "share", most: 1, title: "of all waiting on the communicator" },
    { head: "Arrived last in", of: row => row.calls, show: value => several(value, "call"), kind: "number", title: "how often, which says nothing about how long" },
    { head: "Share of calls", of: row => row.calls / calls(row), show: percent, kind: "share", most: 1 },
  ], summary.late, { sortBy: 2, search: summary.late.length > 12 });
}

const verdicts = { faster: "Collie faster", slower: "Collie slower", no_difference: "no difference", too_few_epochs: "too few epochs" };
function comparisonTable(summary) {
  const mark = row => row.verdict === "faster" || row.verdict === "slower" ? row.verdict : "";
  const decimals = row => mark(row) ? decimalsApart(row.ratio_low, row.ratio, row.ratio_high) : 2;
  return sortable([
    ...operationColumns(summary),
    ...(summary.comparisons.some(row => row.commutative === false || row.reduce_local) ? [{ head: "Operation", of: row => row.commutative === false ? "non-commutative" : row.reduce_local ? "user-defined" : "", title: "of reductions; those by other operations than MPI's own are compared by themselves" }] : []),
    { head: "Verdict", of: row => verdicts[row.verdict], mark },
    { head: "Native", of: row => row.native_median_seconds, show: duration, kind: "number", title: "median over epochs of the slowest rank's mean time per call" },
    { head: "Collie", of: row => row.collie_median_seconds, show: duration, kind: "number", title: "median over epochs of the slowest rank's mean time per call" },
    { head: "Native / Collie by pairs", of: row => row.ratio, show: (value, row) => value.toFixed(decimals(row)) + " ×", kind: "number", mark, title: "of neighbouring epochs, the median of the means of any two pairs; not the ratio of the medians" },
    { head: "95 % interval", of: row => row.ratio_low, show: (low, row) => low === undefined ? "–" : `${low.toFixed(decimals(row))} – ${row.ratio_high.toFixed(decimals(row))}`, kind: "number" },
    { head: "p", of: row => row.p_value, show: value => value < 0.001 ? "< 0.001" : value.toFixed(3), kind: "number", title: "two-sided Wilcoxon signed-rank, over pairs" },
    { head: "Pairs", of: row => row.pairs, show: count, kind: "number", title: "of an epoch of native calls and a neighbouring one of Collie's" },
    { head: "Calls", of: row => row.calls, show: count, kind: "number", title: "per rank" },
    { head: "Would save", of: row => row.saved_seconds, show: duration, kind: "number", title: "per rank, if Collie ran all of these calls instead of the MPI library, by the differences of pairs, in which waiting for late ranks cancels; only where the test finds a difference" },
  ], summary.comparisons, { search: summary.comparisons.length > 12 });
}

function learnedTable(summary) {
  const tried = (row, of) => row.candidates.filter(of).map(candidate =>
    `${candidate.algorithm} ${candidate.seconds === undefined ? "–" : duration(candidate.seconds)} (${count(candidate.calls)})`).join(", ");
  return sortable([
    { head: "Function", of: row => row.function },
    { head: "Bytes from", of: row => row.bytes_from, show: bytes, kind: "number" },
    { head: "Ranks", of: row => row.ranks, kind: "number" },
    { head: "Nodes", of: row => row.nodes, kind: "number" },
    { head: "Carried out by", of: row => tried(row, candidate => candidate.algorithm === row.algorithm), kind: "long", title: "time per call when it was last measured, and calls" },
    { head: "State", of: row => row.won ? "found" : "still trying" },
    { head: "Others", of: row => tried(row, candidate => candidate.algorithm !== row.algorithm), kind: "long" },
    { head: "Calls", of: row => row.calls, show: count, kind: "number", title: "on all communicators of that shape, each counted once" },
    { head: "Trying cost", of: row => row.spent_seconds, show: duration, kind: "number", title: "of one rank of each communicator" },
    { head: "Saved", of: row => row.saved_seconds, show: duration, kind: "number", title: "of one rank of each communicator, over the default, by the times of the slowest rank" },
    { head: "Least", of: row => row.saved_seconds_between?.[0] ?? row.saved_seconds, show: duration, kind: "number", title: "the same by the times of the slowest or of the fastest rank, whichever says less: a slow one may wait for a late one, whoever carries out the call" },
  ], summary.learned.cells);
}

function differenceTable(summary) {
  return sortable([
    { head: "Rank", of: row => row.rank, kind: "number" },
    { head: "Function", of: row => row.function, kind: "function" },
    { head: "Communicator", of: row => nameOf(summary, row.communicator), kind: "long" },
    { head: "Algorithm", of: row => row.algorithm, kind: "long" },
    { head: "Call", of: row => row.call, show: count, kind: "number" },
    { head: "Passed", of: row => row.passed ?? "", kind: "long", title: "by this rank" },
    { head: "Element", of: row => row.element, show: count, kind: "number" },
    { head: "Native", of: row => row.native, kind: "number" },
    { head: "Collie", of: row => row.ours, kind: "number", mark: () => "differs" },
  ], summary.verification.differences);
}
