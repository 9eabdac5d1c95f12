// Time and calls by size, one picture per function.
function sizeCharts(summary) {
  const functions = [...new Set(summary.rows.map(row => row.function))];
  const per = functions.map(name => {
    const classes = new Map();
    for (const row of summary.rows.filter(row => row.function === name)) {
      const entry = classes.get(row.bytes_from) ?? { row, seconds: 0, calls: 0 };
      entry.seconds += row.total_seconds.mean * row.ranks / summary.ranks;
      entry.calls += row.calls_all_ranks;
      classes.set(row.bytes_from, entry);
    }
    const entries = [...classes.values()].sort((left, right) => left.row.bytes_from - right.row.bytes_from);
    return { name, entries, seconds: entries.reduce((sum, entry) => sum + entry.seconds, 0) };
  }).sort((left, right) => right.seconds - left.seconds);
  const grid = element("div", { class: "grid" });
  let what = "time";
  function draw() {
    grid.replaceChildren(...per.map(({ name, entries, seconds }, place) => element("div", {},
      element("h3", {}, `${name} · ${duration(seconds)} per rank`),
      bars(entries.map(entry => ({
        label: bytes(entry.row.bytes_from), value: what === "time" ? entry.seconds : entry.calls,
        tip: `${name}, ${sizes(entry.row)}\n${duration(entry.seconds)} per rank\n${count(entry.calls)} calls on all ranks`,
      })), { colour: `var(--c${place % 8})`, show: what === "time" ? duration : count }))));
  }
  const { buttons, turn } = switches(["time", "calls"], name => { what = name; draw(); });
  turn("time");
  return element("div", {}, element("div", { class: "bar" }, ...buttons), grid);
}

// How long the calls of one row took, all ranks.
function durationChart(row) {
  const entries = row.durations.map(([seconds, calls]) => ({
    label: duration(seconds), value: calls, tip: `${duration(seconds / 2)} – ${duration(seconds)}\n${count(calls)} calls on all ranks`,
  }));
  return [element("h3", {}, `How long ${row.function}, ${sizes(row)}, ${row.algorithm} took: calls on all ranks, by time of at most`),
    element("div", { style: "max-width:720px" }, bars(entries, { colour: "var(--work)", show: count, width: 720 }))];
}

// Upright bars with a label under each (or under every few) and the scale at the left.
function bars(entries, { colour, show, width = 320, height = 130 }) {
  const [left, bottom, top] = [56, 18, 6];
  const most = Math.max(...entries.map(entry => entry.value), 1e-12);
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
    svg.append(element("rect", { x: x - wide / 2, y: height - bottom - Math.max(tall, 1), width: wide, height: Math.max(tall, 1), rx: Math.min(3, wide / 4), fill: colour, tip: entry.tip }));
    if (place % every === 0) svg.append(element("text", { x, y: height - 4, "text-anchor": "middle" }, entry.label));
  });
  return svg;
}

// Per rank: in collectives (waiting apart), and the rest of the run.
function rankChart(summary) {
  const ranks = summary.per_rank;
  const holder = element("div");
  const [left, bottom, top, height] = [64, 20, 8, 240];
  function draw() {
    const width = Math.max(holder.clientWidth, 480);
    const most = Math.max(...ranks.map(rank => rank.collective_seconds), 1e-12);
    const tall = seconds => (height - top - bottom) * seconds / most;
    const step = (width - left) / ranks.length;
    const wide = Math.max(Math.min(step * 0.8, 60), 0.5);
    const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img" });
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const y = height - bottom - tall(most * part);
      svg.append(element("line", { class: "axis", x1: left, x2: width, y1: y, y2: y }),
        element("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, part ? duration(most * part) : "0"));
    }
    const every = Math.ceil(ranks.length * 34 / (width - left));
    ranks.forEach((rank, place) => {
      const x = left + step * (place + 0.5);
      const waiting = rank.waiting_seconds ?? 0;
      const text = `rank ${rank.rank} on ${rank.host}\nrun ${duration(rank.run_seconds)}\nin collectives ${duration(rank.collective_seconds)} = ${percent(rank.run_seconds ? rank.collective_seconds / rank.run_seconds : 0)}`
        + (summary.sync ? `\nof it waiting ${duration(waiting)}` : "") + `\n${count(rank.calls)} calls, ${bytes(rank.bytes)}`;
      const part = (seconds, from, fill) => svg.append(element("rect", { x: x - wide / 2, width: wide, y: height - bottom - tall(from + seconds), height: tall(seconds), fill, tip: text }));
      part(rank.collective_seconds - waiting, 0, "var(--work)");
      if (waiting) part(waiting, rank.collective_seconds - waiting, "var(--wait)");
      if (place % every === 0) svg.append(element("text", { x, y: height - 5, "text-anchor": "middle" }, String(rank.rank)));
    });
    const mean = summary.collective_seconds.mean, y = height - bottom - tall(mean);
    svg.append(element("line", { x1: left, x2: width, y1: y, y2: y, stroke: "var(--ink)", "stroke-dasharray": "4 4", tip: `mean ${duration(mean)}` }));
    holder.replaceChildren(svg);
  }
  const entries = [["var(--work)", "in collectives" + (summary.sync ? ", working" : "")]];
  if (summary.sync) entries.push(["var(--wait)", "waiting for the last rank"]);
  const chart = element("div", {}, legend([...entries, ["var(--ink)", "mean (dashed)"]]), holder);
  return { chart, draw };
}

const lateOf = (summary, row, of) => summary.late.filter(late => late.rank === row.rank).reduce((sum, late) => sum + of(late), 0);

function rankTable(summary) {
  return sortable([
    { head: "Rank", of: row => row.rank, kind: "number" },
    { head: "Node", of: row => row.host },
    { head: "Run time", of: row => row.run_seconds, show: duration, kind: "number" },
    { head: "In collectives", of: row => row.collective_seconds, show: duration, kind: "number" },
    { head: "Share", of: row => row.run_seconds ? row.collective_seconds / row.run_seconds : 0, show: percent, kind: "share", most: 1 },
    ...(summary.sync ? [{ head: "Waiting", of: row => row.waiting_seconds, show: duration, kind: "number" }] : []),
    ...(summary.late?.length ? [{ head: "Others waited for it", of: row => lateOf(summary, row, late => late.waited_seconds), show: duration, kind: "number", title: "the sum over the other ranks" },
      { head: "Arrived last in", of: row => lateOf(summary, row, late => late.calls), show: value => count(value) + " calls", kind: "number" }] : []),
    { head: "Calls", of: row => row.calls, show: count, kind: "number" },
    { head: "Volume", of: row => row.bytes, show: bytes, kind: "number" },
  ], summary.per_rank, { sortBy: 0, descending: false });
}

// Sender → receiver; more ranks than fit are drawn as groups of neighbours.
function heatMap(summary, rows) {
  const ranks = summary.ranks, group = Math.ceil(ranks / 256), cells = Math.ceil(ranks / group);
  const canvas = element("canvas"), scale = element("div", { class: "legend" });
  let what = "bytes";
  const sums = () => {
    const sum = new Float64Array(cells * cells);
    for (const row of rows) if (row.to < ranks) sum[Math.floor(row.from / group) * cells + Math.floor(row.to / group)] += row[what];
    return sum;
  };
  const show = value => what === "bytes" ? bytes(value) : count(value) + " messages";
  let sum, side, edge = 34;
  function draw() {
    sum = sums();
    const most = Math.max(...sum, 1), least = Math.min(...sum.filter(value => value > 0), most);
    side = Math.max(Math.min(canvas.parentElement?.clientWidth || 560, 640), 240);
    canvas.width = canvas.height = side * devicePixelRatio;
    canvas.style.height = canvas.style.width = side + "px";
    const paint = canvas.getContext("2d");
    paint.scale(devicePixelRatio, devicePixelRatio);
    const step = (side - edge) / cells, heat = style("--heat").split(" ").join(",");
    // Logarithmic: a ring beside a broadcast differs by orders of magnitude.
    const shade = value => value === 0 ? 0 : most === least ? 1 : 0.2 + 0.8 * Math.log(value / least) / Math.log(most / least);
    paint.fillStyle = style("--soft");
    paint.fillRect(edge, edge, side - edge, side - edge);
    const gap = step > 8 ? 1 : 0;
    sum.forEach((value, place) => {
      if (!value) return;
      paint.fillStyle = `rgba(${heat},${shade(value)})`;
      paint.fillRect(edge + (place % cells) * step, edge + Math.floor(place / cells) * step, step - gap, step - gap);
    });
    nodeBorders(paint, step);
    labels(paint, step);
    scale.replaceChildren(element("span", {}, element("i", { style: `background:rgba(${heat},.2)` }), show(least)),
      element("span", {}, element("i", { style: `background:rgb(${heat})` }), `${show(most)} (logarithmic)`));
  }
  function nodeBorders(paint, step) {
    paint.strokeStyle = style("--wait");
    for (let first = 0; first < ranks && summary.nodes > 1;) {
      let end = first;
      while (end < ranks && summary.per_rank[end]?.host === summary.per_rank[first]?.host) end += 1;
      if (end === first) end += 1;
      paint.strokeRect(edge + first / group * step, edge + first / group * step, (end - first) / group * step, (end - first) / group * step);
      first = end;
    }
  }
  function labels(paint, step) {
    paint.fillStyle = style("--quiet");
    paint.font = "11px system-ui, sans-serif";
    const every = Math.ceil(24 / step);
    for (let cell = 0; cell < cells; cell += every) {
      paint.textAlign = "center";
      paint.fillText(cell * group, edge + (cell + 0.5) * step, edge - 6);
      paint.textAlign = "right";
      paint.fillText(cell * group, edge - 6, edge + (cell + 0.5) * step + 4);
    }
    paint.textAlign = "left";
    paint.fillText("to →", 2, 10);
    paint.fillText("from ↓", 0, 24);
  }
  canvas.addEventListener("mousemove", event => {
    const box = canvas.getBoundingClientRect(), step = (side - edge) / cells;
    const [to, from] = [event.clientX - box.left, event.clientY - box.top].map(at => Math.floor((at - edge) / step));
    if (to < 0 || from < 0 || to >= cells || from >= cells) return hideTip();
    const name = cell => group === 1 ? `rank ${cell}` : `ranks ${cell * group} to ${Math.min(ranks, (cell + 1) * group) - 1}`;
    showTip(event, `${name(from)} → ${name(to)}\n${show(sum[from * cells + to])}`);
  });
  canvas.addEventListener("mouseleave", hideTip);
  const { buttons, turn } = switches(["bytes", "messages"], name => { what = name; if (canvas.isConnected) draw(); });
  turn("bytes");
  const chart = element("div", { class: "heat" }, element("div", {}, element("div", { class: "bar" }, ...buttons, scale), canvas), trafficTotals(summary, rows));
  return { chart, draw };
}

function trafficTotals(summary, rows) {
  const total = (name, chosen) => ({ name, messages: chosen.reduce((sum, row) => sum + row.messages, 0), bytes: chosen.reduce((sum, row) => sum + row.bytes, 0) });
  const totals = [total("on node", rows.filter(row => row.on_node)), total("off node", rows.filter(row => !row.on_node)), total("all", rows)];
  const columns = [{ head: "Traffic", of: row => row.name }, { head: "Messages", of: row => row.messages, show: count, kind: "number" }, { head: "Bytes", of: row => row.bytes, show: bytes, kind: "number" }];
  const pairs = [{ head: "From", of: row => row.from, kind: "number" }, { head: "To", of: row => row.to, kind: "number" }, ...columns.slice(1), { head: "", of: row => row.on_node ? "on node" : "off node" }];
  const heaviest = [...rows].sort((left, right) => right.bytes - left.bytes).slice(0, 12);
  return element("div", {}, sortable(columns, totals), element("h3", { style: "margin-top:18px" }, "Heaviest pairs"), sortable(pairs, heaviest, { sortBy: 3 }));
}
