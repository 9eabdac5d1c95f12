// Two runs side by side, or several of each kind.
const changes = { faster: "B faster", slower: "B slower", noise: "noise", gone: "only A", new: "only B" };

function differenceSide(name, side) {
  const known = side.known_ranks, ranks = several(side.ranks, "rank");
  return [`${name}${side.runs > 1 ? `, mean of ${side.runs} runs` : ""}`, known ? `PARTIAL: ${known.length} of ${ranks} (${ranges(known)})` : ranks, side.command,
    `mode ${side.mode}`, oneLine(side.mpi_library), side.recorded_seconds === undefined ? "" : `${duration(side.recorded_seconds)} of ${duration(side.run_seconds)} recorded (MPI_Pcontrol)`].filter(Boolean).join("  ·  ");
}

function showDifference(difference) {
  themed();
  const { a, b, rows } = difference;
  document.title = `Collie: ${a.command} against ${b.command}`;
  document.getElementById("job").append(differenceSide("A", a), element("br"), differenceSide("B", b));
  const signed = seconds => seconds > 0 ? "+" + duration(seconds) : duration(seconds);
  const tile = (title, of, change) => [`${signed(of(b) - of(a))}`, `${title}: ${duration(of(a))} → ${duration(of(b))}` + (of(a) ? ` (${((of(b) / of(a) - 1) * 100).toFixed(1)} %)` : "") + (change ? `, ${changes[change]}` : "")];
  const numbers = Object.keys(changes).map(change => [change, rows.filter(row => row.change === change).length]);
  const entries = [tile("run time", side => side.run_seconds, difference.run_change), tile("in collectives, per rank", side => side.collective_seconds, difference.collective_change),
    ...numbers.filter(([, number]) => number).map(([change, number]) => [count(number), `rows: ${changes[change]}`])];
  document.getElementById("tiles").append(...entries.map(([value, text]) => element("div", { class: "tile" }, element("b", {}, value), element("span", {}, text))));
  const time = new Map();
  for (const row of rows) time.set(row.function, (time.get(row.function) ?? 0) + (row.a_mean_seconds ?? 0) * row.a_calls + (row.b_mean_seconds ?? 0) * row.b_calls);
  lookAlike([...time].sort((left, right) => right[1] - left[1]).map(([name]) => name));
  const most = rows.reduce((most, row) => Math.max(most, Math.abs(row.more_seconds)), 1e-12);
  const algorithms = names => names.join(" + ") || "–";
  const mark = row => row.change === "faster" || row.change === "slower" ? row.change : "";
  const columns = [
    { head: "Function", of: row => row.function, kind: "function" },
    { head: "Communicator", of: row => row.communicator_title, kind: "long" },
    { head: "Bytes per call", of: row => row.bytes_from, show: (_, row) => sizes(row), kind: "number" },
    { head: "A ran", of: row => algorithms(row.a_algorithms), kind: "long" },
    { head: "B ran", of: row => algorithms(row.b_algorithms), kind: "long" },
    { head: "Calls A", of: row => row.a_calls, show: value => count(Math.round(value)), kind: "number", title: "per rank and run" },
    { head: "Calls B", of: row => row.b_calls, show: value => count(Math.round(value)), kind: "number", title: "per rank and run" },
    { head: "Mean A", of: row => row.a_mean_seconds, show: duration, kind: "number", title: "of a call, over all calls of all runs" },
    { head: "Mean B", of: row => row.b_mean_seconds, show: duration, kind: "number", title: "of a call, over all calls of all runs" },
    { head: "A / B", of: row => row.ratio, show: (value, row) => value === undefined || value === null ? "–" : value.toFixed(mark(row) ? decimalsApart(value) : 2) + " ×", kind: "number", title: "above 1: calls of B are faster" },
    { head: "Verdict", of: row => changes[row.change], mark },
    { head: "B − A", of: row => row.more_seconds, show: signed, kind: "number", title: "time per rank and run that B takes more, by slower calls or by more of them" },
    { head: "", of: row => Math.abs(row.more_seconds) / most, show: () => "", kind: "share", most: 1, title: "B − A, without its sign" },
  ];
  const sums = rows => `B takes ${signed(rows.reduce((sum, row) => sum + row.more_seconds, 0))} per rank more`;
  const telling = rows.filter(row => row.change !== "noise");
  const sentence = text => text ? ` ${text[0].toUpperCase()}${text.slice(1)}.` : "";
  section("changes", "What changed", `Largest change of time first.${sentence(difference.recorded)}${sentence(difference.in_no_row)}${sentence(difference.told_apart_by)}`,
    telling.length ? sortable(columns, telling, { search: telling.length > 12, sums }) : rows.length ? "Only noise." : "Neither has calls of collectives.");
  if (telling.length < rows.length) section("all", "All calls", "Including those without a certain difference.", sortable(columns, rows, { search: true, sums }));
}
