// A table that sorts by its heads and shows the rows that hold a text.
// `open` is called with a row that was clicked.
// columns: { head, of: row => value to sort by, show: value, row => text, kind: "number" | "long" | "share", mark: row => class }
function sortable(columns, rows, { search = false, sortBy = null, descending = true, open = null } = {}) {
  const body = element("tbody");
  let sorted = sortBy, down = descending, wanted = "";
  const heads = columns.map((column, place) => element("th", {
    class: column.kind === "number" || column.kind === "share" ? "number" : "",
    title: column.title ?? "",
    onclick: () => {
      down = sorted === place ? !down : column.kind === "number" || column.kind === "share";
      sorted = place;
      fill();
    },
  }));
  const text = (column, row) => column.show ? column.show(column.of(row), row) : String(column.of(row) ?? "–");

  function order(left, right) {
    const [a, b] = [columns[sorted].of(left) ?? -Infinity, columns[sorted].of(right) ?? -Infinity];
    const sign = typeof a === "string" || typeof b === "string" ? String(a).localeCompare(String(b), "en", { numeric: true }) : a - b;
    return down ? -sign : sign;
  }
  function cell(column, row) {
    const shown = text(column, row);
    const node = element("td", { class: [column.kind === "share" ? "share number" : column.kind ?? "", column.mark?.(row) ?? ""].join(" ").trim() }, shown);
    if (column.kind === "share") node.style.setProperty("--part", (100 * Math.min(1, column.of(row) / column.most)) + "%");
    if (column.kind === "long") node.title = shown;
    return node;
  }
  function fill() {
    heads.forEach((head, place) => {
      head.textContent = columns[place].head + (place === sorted ? (down ? " ▾" : " ▴") : "");
      head.classList.toggle("sorted", place === sorted);
    });
    const shown = rows.filter(row => !wanted || columns.some(column => text(column, row).toLowerCase().includes(wanted)));
    if (sorted !== null) shown.sort(order);
    body.replaceChildren(...shown.map(line));
  }
  function line(row) {
    const node = element("tr", {}, ...columns.map(column => cell(column, row)));
    if (!open) return node;
    node.classList.add("opens");
    node.addEventListener("click", () => {
      body.querySelectorAll(".opened").forEach(other => other.classList.remove("opened"));
      node.classList.add("opened");
      open(row);
    });
    return node;
  }
  fill();
  const table = element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
  if (!search) return table;
  const box = element("input", { type: "search", placeholder: "show rows that contain …", oninput: event => { wanted = event.target.value.toLowerCase(); fill(); } });
  return element("div", {}, element("div", { class: "bar" }, box), table);
}

const titleOf = communicator => (communicator.name ?? communicator.identity).replace(/^MPI_COMM_/, "");
const sizes = row => row.bytes_to === 0 ? "0 B" : row.bytes_from === row.bytes_to ? bytes(row.bytes_from) : `${bytes(row.bytes_from)} – < ${bytes(row.bytes_to + 1)}`;

function operationColumns(summary) {
  return [
    { head: "Function", of: row => row.function },
    { head: "Communicator", of: row => titleOf(summary.communicators[row.communicator]), kind: "long" },
    { head: "Bytes per call", of: row => row.bytes_from, show: (_, row) => sizes(row), kind: "number", title: "signature bytes that one rank contributes" },
  ];
}

function cellTable(summary) {
  const most = Math.max(...summary.rows.map(row => row.share), 1e-12);
  const time = (head, of, title) => ({ head, of, show: duration, kind: "number", title });
  const below = element("div", { style: "margin-top:14px" });
  const table = sortable([
    ...operationColumns(summary),
    { head: "Algorithm", of: row => row.algorithm, kind: "long" },
    { head: "Decided by", of: row => row.decided_by, kind: "long" },
    { head: "Calls", of: row => row.calls, show: count, kind: "number", title: "per rank, the most over ranks" },
    { head: "Share of run", of: row => row.share, show: percent, kind: "share", most, title: "of the run time of the communicator's ranks" },
    time("Total", row => row.total_seconds.mean, "of a rank, mean over ranks"),
    time("Max rank", row => row.total_seconds.max, "of the rank with the most"),
    ...(summary.sync ? [time("Waiting", row => row.waiting_seconds, "for the last rank to arrive, mean over ranks"),
      time("Working", row => row.waiting_seconds === undefined ? undefined : row.total_seconds.mean - row.waiting_seconds, "the rest of the total")] : []),
    time("Mean", row => row.mean_seconds), time("Min", row => row.min_seconds), time("p50", row => row.p50_seconds),
    time("p90", row => row.p90_seconds), time("p99", row => row.p99_seconds), time("Max", row => row.max_seconds),
    { head: "Volume", of: row => row.bytes, show: bytes, kind: "number", title: "signature bytes of all calls of all ranks" },
  ], summary.rows, { search: true, sortBy: 7, open: row => below.replaceChildren(...durationChart(row)) });
  below.replaceChildren(...durationChart(summary.rows[0]));
  return element("div", {}, table, below);
}

function lateTable(summary) {
  const calls = row => summary.communicators[row.communicator].compared_calls ?? row.calls;
  const others = row => Math.max(1, summary.communicators[row.communicator].size - 1);
  const waited = new Map();
  for (const row of summary.late) waited.set(row.communicator, (waited.get(row.communicator) ?? 0) + row.waited_seconds);
  return sortable([
    { head: "Communicator", of: row => titleOf(summary.communicators[row.communicator]), kind: "long" },
    { head: "Rank", of: row => row.rank, kind: "number" },
    { head: "Others waited for it", of: row => row.waited_seconds, show: duration, kind: "number", title: "the sum over the other ranks and all calls; where they waited for several ranks, its part" },
    { head: "Each of them", of: row => row.waited_seconds / others(row), show: duration, kind: "number", title: "mean over the other ranks of the communicator" },
    { head: "Share of the waiting", of: row => row.waited_seconds / (waited.get(row.communicator) || 1), show: percent, kind: "share", most: 1, title: "of all waiting on the communicator" },
    { head: "Arrived last in", of: row => row.calls, show: value => count(value) + " calls", kind: "number", title: "how often says nothing of how long" },
    { head: "Share of calls", of: row => row.calls / calls(row), show: percent, kind: "share", most: 1 },
  ], summary.late, { sortBy: 2, search: summary.late.length > 12 });
}

const verdicts = { faster: "Collie faster", slower: "Collie slower", no_difference: "no difference", too_few_epochs: "too few epochs" };
function comparisonTable(summary) {
  const mark = row => row.verdict === "faster" || row.verdict === "slower" ? row.verdict : "";
  return sortable([
    ...operationColumns(summary),
    { head: "Verdict", of: row => verdicts[row.verdict], mark },
    { head: "Native", of: row => row.native_median_seconds, show: duration, kind: "number", title: "median over epochs of the slowest rank's mean time per call" },
    { head: "Collie", of: row => row.collie_median_seconds, show: duration, kind: "number", title: "median over epochs of the slowest rank's mean time per call" },
    { head: "Native / Collie by pairs", of: row => row.ratio, show: value => value.toFixed(2) + " ×", kind: "number", mark, title: "of neighbouring epochs, the median of the means of any two pairs; not the ratio of the medians" },
    { head: "95 % interval", of: row => row.ratio_low, show: (low, row) => low === undefined ? "–" : `${low.toFixed(2)} – ${row.ratio_high.toFixed(2)}`, kind: "number" },
    { head: "p", of: row => row.p_value, show: value => value < 0.001 ? "< 0.001" : value.toFixed(3), kind: "number", title: "two-sided Wilcoxon signed-rank, over pairs" },
    { head: "Pairs", of: row => row.pairs, show: count, kind: "number", title: "of an epoch of native calls and a neighbouring one of Collie's" },
    { head: "Calls", of: row => row.calls, show: count, kind: "number", title: "per rank" },
    { head: "Would save", of: row => row.saved_seconds, show: duration, kind: "number", title: "per rank, if Collie ran all of these calls instead of the MPI library; only where they are told apart" },
  ], summary.comparisons, { search: summary.comparisons.length > 12 });
}

function differenceTable(summary) {
  return sortable([
    { head: "Rank", of: row => row.rank, kind: "number" },
    { head: "Function", of: row => row.function },
    { head: "Communicator", of: row => titleOf(summary.communicators[row.communicator]), kind: "long" },
    { head: "Algorithm", of: row => row.algorithm, kind: "long" },
    { head: "Call", of: row => row.call, show: count, kind: "number" },
    { head: "Element", of: row => row.element, show: count, kind: "number" },
    { head: "Native", of: row => row.native, kind: "number" },
    { head: "Collie", of: row => row.ours, kind: "number", mark: () => "differs" },
  ], summary.verification.differences);
}

function communicatorTable(summary) {
  const seconds = summary.communicators.map((_, place) => summary.rows.filter(row => row.communicator === place)
    .reduce((sum, row) => sum + row.total_seconds.mean * row.ranks, 0));
  const rows = summary.communicators.map((communicator, place) => ({ ...communicator, seconds: seconds[place] / communicator.size }));
  return sortable([
    { head: "Communicator", of: row => titleOf(row), kind: "long" },
    { head: "Identity", of: row => row.identity },
    { head: "Made by", of: row => row.made_by || "–" },
    { head: "From", of: row => row.parent || "–" },
    { head: "Ranks", of: row => row.size, kind: "number" },
    { head: "World ranks", of: row => row.members.join(" ") || "–", kind: "long" },
    { head: "Time per rank", of: row => row.seconds, show: duration, kind: "number" },
  ], rows, { sortBy: 6, search: rows.length > 12 });
}
