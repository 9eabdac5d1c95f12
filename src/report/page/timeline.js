const elementsOf = (summary, call) => {
  const elements = summary.elements?.[call.elements];
  return elements ? ["", elements.datatype, elements.operation].filter((text, place) => place === 0 || text).join(", ") : "";
};

// Lanes per rank and thread; the wheel zooms, dragging moves, a double click shows all.
function timeline(summary) {
  const rows = summary.timeline;
  const lanes = [...new Map(rows.map(row => [`${row.rank}/${row.thread}`, row])).values()]
    .sort((left, right) => left.rank - right.rank || left.thread - right.thread);
  const threaded = lanes.some(lane => lane.thread !== lanes[0].thread);
  const laneOf = new Map(lanes.map((lane, place) => [`${lane.rank}/${lane.thread}`, place]));
  const functions = [...new Set(rows.map(row => summary.rows[row.row].function))];
  const colourOf = new Map(functions.map((name, place) => [name, `--c${place % 8}`]));
  // From MPI_Init to MPI_Finalize of the last rank.
  const end = rows.reduce((end, row) => Math.max(end, row.enter_seconds + row.seconds), summary.per_rank.reduce((end, rank) => Math.max(end, rank.run_seconds), 1e-9));
  const gapOf = new Map((summary.timeline_gaps ?? []).map(gap => [gap.rank, gap]));
  const [left, top] = [threaded ? 92 : 64, 22], tall = Math.max(6, Math.min(22, 480 / lanes.length));
  let from = 0, to = end, width = 0;
  const canvas = element("canvas");
  const at = seconds => left + (width - left) * (seconds - from) / (to - from);

  function draw() {
    width = canvas.parentElement?.clientWidth || 900;
    const height = top + lanes.length * tall + 4;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    canvas.style.height = height + "px";
    const paint = canvas.getContext("2d");
    paint.scale(devicePixelRatio, devicePixelRatio);
    paint.font = "11px system-ui, sans-serif";
    axis(paint, height);
    const colours = new Map([...colourOf].map(([name, colour]) => [name, style(colour)]));
    paint.save();
    paint.beginPath();
    paint.rect(left, top, width - left, height);
    paint.clip();
    paint.fillStyle = style("--line");
    lanes.forEach((lane, place) => {
      const gap = gapOf.get(lane.rank);
      if (gap) paint.fillRect(at(gap.from_seconds), top + place * tall + tall / 3, at(gap.to_seconds) - at(gap.from_seconds), tall / 3);
    });
    for (const row of rows) {
      const [x, right] = [at(row.enter_seconds), at(row.enter_seconds + row.seconds)];
      if (right < left || x > width) continue;
      paint.fillStyle = colours.get(summary.rows[row.row].function);
      paint.fillRect(x, top + laneOf.get(`${row.rank}/${row.thread}`) * tall + 1, Math.max(right - x, 0.7), tall - 2);
    }
    paint.restore();
    paint.fillStyle = style("--quiet");
    paint.textAlign = "right";
    const every = Math.ceil(13 / tall);
    lanes.forEach((lane, place) => {
      const name = threaded ? `rank ${lane.rank}.${lane.thread}` : `rank ${lane.rank}`;
      if (place % every === 0) paint.fillText(name, left - 8, top + (place + 0.5) * tall + 4);
    });
  }
  function axis(paint, height) {
    const raw = (to - from) / Math.max(2, (width - left) / 110), ten = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(times => times * ten).find(step => step >= raw);
    paint.strokeStyle = style("--line");
    paint.fillStyle = style("--quiet");
    paint.textAlign = "center";
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
      paint.beginPath();
      paint.moveTo(at(tick), top - 4);
      paint.lineTo(at(tick), height);
      paint.stroke();
      if (at(tick) > left + 18 && at(tick) < width - 24) paint.fillText(duration(Math.round(tick / step) * step), at(tick), 12);
    }
  }
  function show(first, last) {
    const span = Math.max(Math.min(last - first, end), 1e-8);
    from = Math.max(0, Math.min(first, end - span));
    to = from + span;
    draw();
  }
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    const centre = from + (to - from) * Math.max(0, (event.clientX - box.left - left) / (width - left));
    const factor = event.deltaY > 0 ? 1.25 : 0.8;
    show(centre - (centre - from) * factor, centre + (to - centre) * factor);
  }, { passive: false });
  canvas.addEventListener("dblclick", () => show(0, end));
  canvas.addEventListener("mousemove", event => {
    if (event.buttons & 1) {
      const moved = event.movementX * (to - from) / (width - left);
      return show(from - moved, to - moved);
    }
    const box = canvas.getBoundingClientRect();
    const [x, lane] = [event.clientX - box.left, Math.floor((event.clientY - box.top - top) / tall)];
    const hit = rows.findLast(row => laneOf.get(`${row.rank}/${row.thread}`) === lane
      && x >= at(row.enter_seconds) - 1 && x <= Math.max(at(row.enter_seconds + row.seconds), at(row.enter_seconds) + 1));
    const gap = gapOf.get(lanes[lane]?.rank);
    if (!hit && gap && x >= Math.max(left, at(gap.from_seconds)) && x <= at(gap.to_seconds)) {
      return showTip(event, `${count(gap.calls)} calls of rank ${gap.rank} from ${duration(gap.from_seconds)} to ${duration(gap.to_seconds)} are not shown;\nthe slowest of that time are`);
    }
    if (!hit || x < left) return hideTip();
    const cell = summary.rows[hit.row];
    showTip(event, `${cell.function} on ${titleOf(summary.communicators[cell.communicator])}\n${bytes(hit.bytes)}${hit.root === undefined ? "" : `, root ${hit.root}`}${elementsOf(summary, hit)}\n${cell.algorithm} (${cell.decided_by})\nenters at ${duration(hit.enter_seconds)}, takes ${duration(hit.seconds)}\nrank ${hit.rank}, thread ${hit.thread}`);
  });
  canvas.addEventListener("mouseleave", hideTip);
  const entries = functions.map(name => [`var(${colourOf.get(name)})`, name]);
  if (gapOf.size) entries.push(["var(--line)", "calls not shown, but for the slowest"]);
  const buttons = element("div", { class: "bar" },
    element("button", { type: "button", onclick: () => show(from + (to - from) * 0.25, to - (to - from) * 0.25) }, "zoom in"),
    element("button", { type: "button", onclick: () => show(from - (to - from) * 0.5, to + (to - from) * 0.5) }, "zoom out"),
    element("button", { type: "button", onclick: () => show(0, end) }, "all"));
  return { chart: element("div", {}, buttons, legend(entries), element("div", {}, canvas)), draw };
}
