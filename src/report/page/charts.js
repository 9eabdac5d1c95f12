// Time and calls by size, one picture per function.
function sizeCharts(summary) {
  const ranks = known(summary);
  const classOf = new Map(summary.rows.map(row => [row.bytes_from, row]));
  const of = new Map();
  for (const row of summary.rows) of.set(row.function, [...(of.get(row.function) ?? []), row]);
  const per = totals(summary.rows, row => row.function).map(({ key: name, seconds }) => {
    const entries = totals(of.get(name), row => row.bytes_from).sort((left, right) => left.key - right.key);
    return { name, entries, seconds: seconds / ranks };
  });
  const grid = element("div", { class: "grid" });
  let what = "time";
  function draw() {
    grid.replaceChildren(...per.map(({ name, entries, seconds }) => element("div", {},
      element("h3", {}, swatch(name), `${name} · ${duration(seconds)} per rank`),
      bars(entries.map(entry => ({
        label: bytes(entry.key), value: what === "time" ? entry.seconds / ranks : entry.calls,
        tip: `${name}, ${sizes(classOf.get(entry.key))}\n${duration(entry.seconds / ranks)} per rank\n${count(entry.calls)} calls on all ranks`,
      })), { fill: fillOf(name), show: what === "time" ? duration : count }))));
  }
  const { buttons, turn } = switches(["time", "calls"], name => { what = name; draw(); });
  turn("time");
  return element("div", {}, element("div", { class: "bar" }, ...buttons), grid);
}

// How long the calls of one row took, all ranks; as wide as there is room for, so that labels keep their size.
function durationChart(row, room) {
  const width = Math.max(240, Math.min(720, room));
  const entries = row.durations.map(([seconds, calls]) => ({
    label: duration(seconds), value: calls, tip: `${duration(seconds / 2)} – ${duration(seconds)}\n${count(calls)} calls on all ranks`,
  }));
  return [element("h3", {}, swatch(row.function), `How long ${row.function}, ${sizes(row)}, ${row.algorithm} took: calls on all ranks, by time of at most`),
    element("div", { style: `max-width:${width}px` }, bars(entries, { fill: fillOf(row.function), show: count, width }))];
}

// Upright bars with a label under each (or under every few) and the scale at the left.
function bars(entries, { fill, show, width = 320, height = 130 }) {
  const [left, bottom, top] = [56, 18, 6];
  const most = entries.reduce((most, entry) => Math.max(most, entry.value), 1e-12);
  const step = (width - left) / entries.length;
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const part of [0, 0.5, 1]) {
    const y = top + (height - top - bottom) * (1 - part);
    svg.append(element("line", { class: "axis", x1: left, x2: width, y1: y, y2: y }),
      element("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, part === 0 ? "0" : show(show === count ? Math.round(most * part) : most * part)));
  }
  const every = Math.ceil(entries.length * 56 / (width - left));
  entries.forEach((entry, place) => {
    const tall = (height - top - bottom) * entry.value / most;
    const wide = Math.min(step * 0.78, 44);
    const x = left + step * (place + 0.5);
    svg.append(element("rect", { x: x - wide / 2, y: height - bottom - Math.max(tall, 1), width: wide, height: Math.max(tall, 1), rx: Math.min(3, wide / 4), fill, tip: entry.tip }));
    if (place % every === 0) svg.append(element("text", { x, y: height - 4, "text-anchor": "middle" }, entry.label));
  });
  return svg;
}

// Bars of a picture of all ranks; of more ranks each stands for several neighbours.
const MOST_BARS = 256;

// Calls beside collectives: what there is of them, over ranks and of a rank, and how it is called and drawn.
const AREAS = [
  { of: "message_seconds", name: "point-to-point", calls: "point-to-point calls", head: "In messages", fill: "var(--message)" },
  { of: "one_sided_seconds", name: "one-sided", calls: "one-sided calls", head: "One-sided", fill: "var(--window)" },
  { of: "file_seconds", name: "files", calls: "calls on files", head: "In files", fill: "var(--file)" },
];
const areasOf = summary => AREAS.filter(area => summary[area.of]);
const beside = (summary, rank) => areasOf(summary).reduce((sum, area) => sum + (rank[area.of] ?? 0), 0);

// Per rank: in collectives, waiting apart, in messages, windows and files.
function rankChart(summary) {
  const group = Math.ceil(known(summary) / MOST_BARS);
  const groups = [];
  for (let first = 0; first < summary.per_rank.length; first += group) groups.push(summary.per_rank.slice(first, first + group));
  const mean = (ranks, of) => ranks.reduce((sum, rank) => sum + of(rank), 0) / ranks.length;
  const areas = areasOf(summary);
  const holder = element("div", { class: "chart" });
  const [left, bottom, top, height] = [64, 20, 8, 240];
  function told(ranks) {
    const [first, last] = [ranks[0], ranks[ranks.length - 1]], seconds = ranks.map(rank => rank.collective_seconds);
    const run = mean(ranks, wholeOf), collectives = mean(ranks, rank => rank.collective_seconds);
    return [
      ranks.length === 1 ? `rank ${first.rank} on ${first.host}` : `ranks ${first.rank} to ${last.rank}, mean of ${ranks.length}`,
      `${summary.recorded_seconds === undefined ? "run" : "recorded"} ${duration(run)}`, `in collectives ${duration(collectives)} = ${percent(run ? collectives / run : 0)}`,
      ranks.length === 1 ? "" : `from ${duration(Math.min(...seconds))} to ${duration(Math.max(...seconds))}`,
      summary.sync ? `of it waiting ${duration(mean(ranks, rank => rank.waiting_seconds ?? 0))}` : "",
      ...areas.map(area => {
        const seconds = mean(ranks, rank => rank[area.of] ?? 0);
        return `in ${area.calls} ${duration(seconds)} = ${percent(run ? seconds / run : 0)}`;
      }),
      ranks.length === 1 ? `${count(first.calls)} calls, ${bytes(first.bytes)}` : "",
    ].filter(Boolean).join("\n");
  }
  function draw() {
    const width = Math.max(holder.clientWidth, 320);
    const most = summary.per_rank.reduce((most, rank) => Math.max(most, rank.collective_seconds + beside(summary, rank)), 1e-12);
    const tall = seconds => (height - top - bottom) * seconds / most;
    const step = (width - left) / groups.length;
    const wide = Math.max(Math.min(step * 0.8, 60), 0.5);
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img" });
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const y = height - bottom - tall(most * part);
      svg.append(element("line", { class: "axis", x1: left, x2: width, y1: y, y2: y }),
        element("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, part ? duration(most * part) : "0"));
    }
    const every = Math.ceil(groups.length * 38 / (width - left));
    groups.forEach((ranks, place) => {
      const x = left + step * (place + 0.5), text = told(ranks);
      const waiting = mean(ranks, rank => rank.waiting_seconds ?? 0), working = mean(ranks, rank => rank.collective_seconds) - waiting;
      const part = (seconds, from, fill) => svg.append(element("rect", { x: x - wide / 2, width: wide, y: height - bottom - tall(from + seconds), height: tall(seconds), fill, tip: text }));
      part(working, 0, "var(--work)");
      if (waiting) part(waiting, working, "var(--wait)");
      areas.reduce((from, area) => {
        const seconds = mean(ranks, rank => rank[area.of] ?? 0);
        part(seconds, from, area.fill);
        return from + seconds;
      }, working + waiting);
      if (ranks.length > 1) {
        const seconds = ranks.map(rank => rank.collective_seconds);
        svg.append(element("line", { x1: x, x2: x, y1: height - bottom - tall(Math.min(...seconds)), y2: height - bottom - tall(Math.max(...seconds)), stroke: "var(--ink)", "stroke-width": 1 }));
      }
      if (place % every === 0) svg.append(element("text", { x, y: height - 5, "text-anchor": "middle" }, String(ranks[0].rank)));
    });
    const all = summary.collective_seconds.mean, y = height - bottom - tall(all);
    svg.append(element("line", { x1: left, x2: width, y1: y, y2: y, stroke: "var(--ink)", "stroke-dasharray": "4 4", tip: `mean ${duration(all)}` }));
    holder.replaceChildren(svg);
  }
  const entries = [["var(--work)", "in collectives" + (summary.sync ? ", working" : "")]];
  if (summary.sync) entries.push(["var(--wait)", "waiting for the last rank"]);
  entries.push(...areas.map(area => [area.fill, `in ${area.calls}`]));
  entries.push(["var(--ink)", "mean of collectives (dashed)" + (group > 1 ? `; a bar is the mean of ${group} ranks, the line in it from the least to the most of their collectives` : "")]);
  return { chart: element("div", {}, legend(entries), holder), draw };
}

function rankTable(summary) {
  const late = new Map();
  for (const row of summary.late ?? []) {
    const sum = late.get(row.rank) ?? { waited: 0, calls: 0 };
    late.set(row.rank, { waited: sum.waited + row.waited_seconds, calls: sum.calls + row.calls });
  }
  return sortable([
    { head: "Rank", of: row => row.rank, kind: "number" },
    { head: "Node", of: row => row.host },
    { head: "Run time", of: row => row.run_seconds, show: duration, kind: "number" },
    ...(summary.recorded_seconds === undefined ? [] : [{ head: "Recorded", of: wholeOf, show: duration, kind: "number", title: "of the run, without pauses, since it was last forgotten" }]),
    { head: "In collectives", of: row => row.collective_seconds, show: duration, kind: "number" },
    { head: "Share", of: row => wholeOf(row) ? row.collective_seconds / wholeOf(row) : 0, show: percent, kind: "share", most: 1 },
    ...(summary.sync ? [{ head: "Waiting", of: row => row.waiting_seconds, show: duration, kind: "number" }] : []),
    ...areasOf(summary).map(area => ({ head: area.head, of: row => row[area.of], show: duration, kind: "number", title: `${area.calls}, waiting in them included` })),
    ...(areasOf(summary).length ? [{ head: areasOf(summary).length > 1 ? "In all" : "In both", of: row => wholeOf(row) ? (row.collective_seconds + beside(summary, row)) / wholeOf(row) : 0, show: percent, kind: "share", most: 1, title: `collectives and ${areasOf(summary).map(area => area.calls).join(" and ")}, of the run` }] : []),
    ...(late.size ? [{ head: "Others waited for it", of: row => late.get(row.rank)?.waited ?? 0, show: duration, kind: "number", title: "the sum over the other ranks" },
      { head: "Arrived last in", of: row => late.get(row.rank)?.calls ?? 0, show: value => several(value, "call"), kind: "number" }] : []),
    { head: "Calls", of: row => row.calls, show: count, kind: "number" },
    { head: "Volume", of: row => row.bytes, show: bytes, kind: "number" },
  ], summary.per_rank, { sortBy: 0, descending: false, search: summary.per_rank.length > 16 });
}
