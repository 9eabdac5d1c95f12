// Traffic from sender to receiver; more ranks than fit are drawn as groups of neighbours.
const MOST_CELLS = 256;

function heatMap(summary, rows) {
  const ranks = summary.ranks, group = Math.ceil(ranks / MOST_CELLS), cells = Math.ceil(ranks / group), edge = 40;
  const canvas = element("canvas", { tabindex: 0, role: "img", "aria-label": "traffic from rank to rank; arrow keys move from cell to cell" });
  const scale = element("div", { class: "legend" });
  let what = "bytes", shades = "linear", side, sum, at = null;
  const sums = () => {
    const sum = new Float64Array(cells * cells);
    for (const row of rows) if (row.to < ranks) sum[Math.floor(row.from / group) * cells + Math.floor(row.to / group)] += row[what];
    return sum;
  };
  const show = value => what === "bytes" ? bytes(value) : several(value, "message");
  function draw() {
    sum = sums();
    const most = sum.reduce((most, value) => Math.max(most, value), 1);
    side = Math.max(Math.min(canvas.parentElement?.clientWidth || 560, 640), 240);
    canvas.width = canvas.height = side * devicePixelRatio;
    canvas.style.height = canvas.style.width = side + "px";
    const paint = canvas.getContext("2d");
    paint.scale(devicePixelRatio, devicePixelRatio);
    const step = (side - edge) / cells, heat = style("--heat").split(" ").join(",");
    // Both begin at 0. A ring beside a broadcast differs by orders of magnitude, which only the logarithm shows.
    const shade = value => shades === "linear" ? value / most : Math.log1p(value) / Math.log1p(most);
    paint.fillStyle = style("--soft");
    paint.fillRect(edge, edge, side - edge, side - edge);
    const gap = step > 8 ? 1 : 0;
    sum.forEach((value, place) => {
      if (!value) return;
      // What is there at all can be seen.
      paint.fillStyle = `rgba(${heat},${Math.max(shade(value), 0.04)})`;
      paint.fillRect(edge + (place % cells) * step, edge + Math.floor(place / cells) * step, Math.max(step - gap, 1), Math.max(step - gap, 1));
    });
    nodeBorders(paint, step);
    labels(paint, step);
    scale.replaceChildren(element("span", { class: "scale" }, "0", element("i", { style: `background:linear-gradient(to right, var(--soft), rgb(${heat}))` }), show(most)));
  }
  function nodeBorders(paint, step) {
    if (summary.nodes < 2) return;
    const host = new Map(summary.per_rank.map(rank => [rank.rank, rank.host]));
    paint.strokeStyle = style("--wait");
    for (let first = 0; first < ranks;) {
      let end = first + 1;
      while (end < ranks && host.get(end) === host.get(first)) end += 1;
      paint.strokeRect(edge + first / group * step, edge + first / group * step, (end - first) / group * step, (end - first) / group * step);
      first = end;
    }
  }
  function labels(paint, step) {
    paint.fillStyle = style("--quiet");
    paint.font = "11px system-ui, sans-serif";
    const every = Math.ceil(28 / step);
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
  const name = cell => group === 1 ? `rank ${cell}` : `ranks ${cell * group} to ${Math.min(ranks, (cell + 1) * group) - 1}`;
  const words = (from, to) => `${name(from)} → ${name(to)}\n${show(sum[from * cells + to])}`;
  canvas.addEventListener("mousemove", event => {
    const box = canvas.getBoundingClientRect(), step = (side - edge) / cells;
    const [to, from] = [event.clientX - box.left, event.clientY - box.top].map(place => Math.floor((place - edge) / step));
    if (to < 0 || from < 0 || to >= cells || from >= cells) return hideTip();
    showTip(event, words(from, to));
  });
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("blur", hideTip);
  canvas.addEventListener("keydown", event => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!move) return;
    event.preventDefault();
    at = at ? at.map((place, axis) => Math.max(0, Math.min(cells - 1, place + move[axis]))) : [0, 0];
    const box = canvas.getBoundingClientRect(), step = (side - edge) / cells;
    showTipAt(box.left + edge + (at[1] + 0.5) * step, box.top + edge + (at[0] + 0.5) * step, words(...at));
  });
  const redraw = () => { if (canvas.isConnected) draw(); };
  const quantity = switches(["bytes", "messages"], name => { what = name; redraw(); });
  const shading = switches(["linear", "logarithmic"], name => { shades = name; redraw(); });
  quantity.turn("bytes");
  shading.turn("linear");
  const bar = element("div", { class: "bar" }, ...quantity.buttons, element("span", { class: "apart" }), ...shading.buttons, scale);
  const chart = element("div", { class: "heat" }, element("div", {}, bar, canvas), trafficTotals(rows));
  return { chart, draw };
}

// Pairs of ranks in the table beside the picture.
const HEAVIEST = 1000;

function trafficTotals(rows) {
  const total = name => ({ name, messages: 0, bytes: 0 });
  const sums = { on: total("on node"), off: total("off node"), all: total("all") };
  for (const row of rows) {
    for (const sum of [row.on_node ? sums.on : sums.off, sums.all]) {
      sum.messages += row.messages;
      sum.bytes += row.bytes;
    }
  }
  const columns = [{ head: "Traffic", of: row => row.name }, { head: "Messages", of: row => row.messages, show: count, kind: "number" }, { head: "Bytes", of: row => row.bytes, show: bytes, kind: "number" }];
  const pairs = [{ head: "From", of: row => row.from, kind: "number" }, { head: "To", of: row => row.to, kind: "number" }, ...columns.slice(1), { head: "", of: row => row.on_node ? "on node" : "off node" }];
  const heaviest = rows.length > HEAVIEST ? [...rows].sort((left, right) => right.bytes - left.bytes).slice(0, HEAVIEST) : rows;
  return element("div", {}, sortable(columns, [sums.on, sums.off, sums.all]),
    element("h3", { style: "margin-top:18px" }, heaviest === rows ? "Pairs of ranks" : `The ${count(HEAVIEST)} heaviest of ${count(rows.length)} pairs of ranks`),
    element("div", { class: "low" }, sortable(pairs, heaviest, { sortBy: 3 })));
}
