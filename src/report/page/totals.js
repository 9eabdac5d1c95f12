// Rows summed up.

// By what `key` says of a row: { key, rows, calls, bytes, seconds, waiting }, times of all ranks; most time first.
function totals(rows, key) {
  const sums = new Map();
  for (const row of rows) {
    const of = key(row);
    let sum = sums.get(of);
    if (!sum) sums.set(of, sum = { key: of, rows: 0, calls: 0, bytes: 0, seconds: 0, waiting: undefined });
    sum.rows += 1;
    sum.calls += row.calls_all_ranks;
    sum.bytes += row.bytes;
    sum.seconds += row.total_seconds.mean * row.ranks;
    if (row.waiting_seconds !== undefined) sum.waiting = (sum.waiting ?? 0) + row.waiting_seconds * row.ranks;
  }
  return [...sums.values()].sort((left, right) => right.seconds - left.seconds);
}

// The calls that are in no row, as a sum, or none: memory had no room for it on their ranks, or on rank 0.
const NO_ROW = "not in any row";

function inNoRow(summary) {
  if (!summary.beyond && !summary.left_out?.rows) return [];
  const sum = (rows, of) => rows.reduce((sum, row) => sum + of(row), 0);
  const beside = (ofRank, ofRow) => Math.max(0, sum(summary.per_rank, ofRank) - sum(summary.rows, ofRow));
  return [{ key: NO_ROW, rows: 0, waiting: undefined,
    calls: beside(rank => rank.calls, row => row.calls_all_ranks),
    bytes: beside(rank => rank.bytes, row => row.bytes),
    seconds: beside(rank => rank.collective_seconds, row => row.total_seconds.mean * row.ranks) }];
}

const known = summary => Math.max(1, summary.per_rank.length);

// The columns of a sum; times of a rank, mean over all ranks.
function totalColumns(summary, most) {
  const ranks = known(summary), all = summary.collective_seconds.mean * ranks || 1;
  return [
    { head: "Calls", of: sum => sum.calls, show: count, kind: "number", title: "of all ranks" },
    { head: "Volume", of: sum => sum.bytes, show: bytes, kind: "number", title: "signature bytes of all calls of all ranks" },
    { head: "Time per rank", of: sum => sum.seconds / ranks, show: duration, kind: "number", title: "mean over all ranks" },
    { head: "Of the run", of: sum => sum.seconds / ranks / (wholeOf(summary) || 1), show: percent, kind: "number" },
    { head: "Of collectives", of: sum => sum.seconds / all, show: percent, kind: "share", most },
    { head: "Mean", of: sum => sum.seconds / (sum.calls || 1), show: duration, kind: "number", title: "of a call" },
    ...(summary.sync ? [{ head: "Waiting", of: sum => sum.waiting === undefined ? undefined : sum.waiting / ranks, show: duration, kind: "number", title: "for the last rank to arrive; of a rank, mean over all ranks" }] : []),
  ];
}
const mostOf = (summary, sums) => Math.max(...sums.map(sum => sum.seconds), 1e-12) / (summary.collective_seconds.mean * known(summary) || 1);

function functionTotals(summary) {
  const sums = [...totals(summary.rows, row => row.function), ...inNoRow(summary)];
  return sortable([{ head: "Function", of: sum => sum.key, kind: "function" }, ...totalColumns(summary, mostOf(summary, sums))], sums, { sortBy: 3 });
}

// Who ran the calls: Collie, or the MPI library for one reason or another.
function carriedOut(summary) {
  const reason = row => row.algorithm === "native" ? row.decided_by.replace(/^fallback: /, "") : "Collie";
  const kind = row => row.algorithm !== "native" ? "Collie" : row.decided_by.startsWith("fallback: ") ? "the MPI library, in Collie's place" : "the MPI library";
  const kinds = new Map(summary.rows.map(row => [reason(row), kind(row)]));
  const sums = [...totals(summary.rows, reason), ...inNoRow(summary)];
  const calls = sums.reduce((all, sum) => all + sum.calls, 0) || 1;
  return sortable([
    { head: "Run by", of: sum => kinds.get(sum.key) ?? "–" },
    { head: "Because", of: sum => sum.key === "Collie" ? "its algorithm was chosen" : sum.key },
    { head: "Of calls", of: sum => sum.calls / calls, show: percent, kind: "share", most: 1 },
    ...totalColumns(summary, 1),
  ], sums, { sortBy: 5 });
}

// Calls beside collectives, which are only counted.
function messageTable(summary) {
  const ranks = known(summary), all = summary.messages.reduce((sum, row) => sum + row.all_ranks_seconds, 0) || 1;
  const most = summary.messages.reduce((most, row) => Math.max(most, row.all_ranks_seconds), 0) / all;
  return sortable([
    { head: "Function", of: row => row.function },
    ...(areasOf(summary).length > 1 ? [{ head: "Kind", of: row => row.area ?? "point-to-point" }] : []),
    { head: "Calls", of: row => row.calls_all_ranks, show: count, kind: "number", title: "of all ranks" },
    { head: "Bytes", of: row => row.bytes, show: bytes, kind: "number", title: "sent, or moved to or from windows and files, by all ranks" },
    { head: "Time per rank", of: row => row.all_ranks_seconds / ranks, show: duration, kind: "number", title: "mean over all ranks" },
    { head: "Of the run", of: row => row.all_ranks_seconds / ranks / (wholeOf(summary) || 1), show: percent, kind: "number" },
    { head: "Of these", of: row => row.all_ranks_seconds / all, show: percent, kind: "share", most },
    { head: "Mean", of: row => row.all_ranks_seconds / (row.calls_all_ranks || 1), show: duration, kind: "number", title: "of a call" },
    { head: "Max rank", of: row => row.max_seconds, show: duration, kind: "number", title: "of the rank with the most" },
    { head: "It is", of: row => row.max_rank, kind: "number" },
  ], summary.messages, { sortBy: areasOf(summary).length > 1 ? 4 : 3 });
}

function regionTable(summary) {
  const most = summary.regions.reduce((most, row) => Math.max(most, row.total_seconds.mean), 0) / (wholeOf(summary) || 1);
  const part = of => row => row.total_seconds.mean ? of(row) / row.total_seconds.mean : 0;
  return sortable([
    { head: "Region", of: row => row.name, kind: "long" },
    { head: "Ranks", of: row => row.ranks, show: count, kind: "number" },
    { head: "Times", of: row => row.entries_all_ranks, show: count, kind: "number", title: "on all ranks" },
    { head: "Time per rank", of: row => row.total_seconds.mean, show: duration, kind: "number", title: "mean over its ranks" },
    { head: "Of the run", of: row => row.total_seconds.mean / (wholeOf(summary) || 1), show: percent, kind: "share", most },
    { head: "Min rank", of: row => row.total_seconds.min, show: duration, kind: "number", title: "of the rank with the least" },
    { head: "Max rank", of: row => row.total_seconds.max, show: duration, kind: "number", title: "of the rank with the most" },
    { head: "Collectives", of: part(row => row.collective_seconds), show: percent, kind: "share", most: 1, title: "of the region" },
    ...(summary.message_seconds ? [{ head: "Messages", of: part(row => row.message_seconds), show: percent, kind: "share", most: 1, title: "point-to-point calls, of the region" }] : []),
    { head: "Collective calls", of: row => row.calls_all_ranks, show: count, kind: "number", title: "of all ranks" },
  ], summary.regions, { sortBy: 3, search: summary.regions.length > 12 });
}

function siteTable(summary) {
  const seconds = row => row.total_seconds.mean * row.ranks, ranks = known(summary);
  const all = summary.collective_seconds.mean * ranks || 1;
  const title = row => row.place ?? `${row.module.split("/").pop()}+0x${row.address.toString(16)}`;
  // A line may make several calls, as where a loop is unrolled.
  const alike = new Map(), key = row => JSON.stringify([row.function, title(row)]);
  for (const row of summary.sites) alike.set(key(row), (alike.get(key(row)) ?? 0) + 1);
  const place = row => row.place && alike.get(key(row)) > 1 ? `${title(row)} at 0x${row.address.toString(16)}` : title(row);
  return sortable([
    { head: "Function", of: row => row.function, kind: "function" },
    { head: "Called from", of: place },
    { head: "Calls", of: row => row.calls_all_ranks, show: count, kind: "number", title: "of all ranks" },
    { head: "Volume", of: row => row.bytes, show: bytes, kind: "number", title: "signature bytes of all calls of all ranks" },
    { head: "Time per rank", of: row => seconds(row) / ranks, show: duration, kind: "number", title: "mean over all ranks" },
    { head: "Of collectives", of: row => seconds(row) / all, show: percent, kind: "share", most: summary.sites.reduce((most, row) => Math.max(most, seconds(row)), 0) / all },
    { head: "Mean", of: row => seconds(row) / (row.calls_all_ranks || 1), show: duration, kind: "number", title: "of a call" },
    { head: "Max", of: row => row.max_seconds, show: duration, kind: "number", title: "the longest call" },
    { head: "Max rank", of: row => row.total_seconds.max, show: duration, kind: "number", title: "of the rank with the most" },
    { head: "File", of: row => row.module, kind: "long" },
  ], summary.sites, { sortBy: 4, search: summary.sites.length > 12 });
}

// Which part of the time in collectives no site has.
function noSiteNote(summary) {
  const all = summary.collective_seconds.mean * known(summary);
  const share = all ? 1 - summary.sites.reduce((sum, row) => sum + row.total_seconds.mean * row.ranks, 0) / all : 0;
  return share < 0.0005 ? "" : ` ${percent(share)} of the time in collectives has no site: waits and tests of nonblocking ones${summary.left_out?.sites ? ", and sites left out" : ""}.`;
}

// Calls that ranks were in the middle of, each with those ranks: who is in another one than the rest has a row of its own.
function underWayTable(summary) {
  const calls = new Map();
  for (const row of summary.under_way) {
    const key = JSON.stringify([row.function, row.communicator]);
    if (!calls.has(key)) calls.set(key, { ...row, ranks: new Set(), least: Infinity, most: 0 });
    const call = calls.get(key);
    call.ranks.add(row.rank);
    [call.least, call.most] = [Math.min(call.least, row.seconds), Math.max(call.most, row.seconds)];
  }
  const rows = [...calls.values()].map(call => ({ ...call, ranks: [...call.ranks].sort((one, other) => one - other) }));
  const span = (_, row) => [...new Set([row.least, row.most].map(duration))].join(" to ");
  return sortable([
    { head: "Under way", of: row => row.function || "a call" },
    { head: "Communicator", of: row => row.communicator, kind: "long" },
    { head: "Ranks", of: row => row.ranks.length, show: count, kind: "number" },
    { head: "World ranks", of: row => row.ranks[0], show: (_, row) => ranges(row.ranks), kind: "long" },
    { head: "For", of: row => row.most, show: span, kind: "number", title: "until the ranks wrote their records" },
  ], rows, { sortBy: 4, search: rows.length > 12 });
}

function communicatorTable(summary) {
  const sums = new Map(totals(summary.rows, row => row.communicator).map(sum => [sum.key, sum]));
  const ofCommunicators = summary.communicators.map((communicator, place) => ({ place, communicator, calls: 0, bytes: 0, seconds: 0, ...sums.get(place) }));
  const none = { identity: "–", size: 0, members: [] };
  const rows = [...ofCommunicators, ...inNoRow(summary).map(sum => ({ ...sum, communicator: none }))];
  return sortable([
    { head: "Communicator", of: row => row.key === NO_ROW ? NO_ROW : nameOf(summary, row.place), kind: "long" },
    { head: "Identity", of: row => row.communicator.identity },
    { head: "Made by", of: row => row.communicator.made_by || "–" },
    { head: "From", of: row => row.communicator.parent || "–" },
    { head: "Ranks", of: row => row.communicator.size, show: value => value ? count(value) : "–", kind: "number" },
    { head: "World ranks", of: row => row.communicator.members[0] ?? -1, show: (_, row) => ranges(row.communicator.members) || "–", kind: "long" },
    ...totalColumns(summary, mostOf(summary, rows)),
  ], rows, { sortBy: 8, search: rows.length > 12 });
}
