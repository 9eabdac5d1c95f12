const elementsOf = (summary, call) => {
  const elements = summary.elements?.[call.elements];
  return elements ? ["", elements.datatype, elements.operation].filter((text, place) => place === 0 || text).join(", ") : "";
};

// Lanes per rank and thread. Time is zoomed and moved; of more lanes than fit those in sight are drawn.
function timeline(summary) {
  const rows = summary.timeline;
  const byLane = new Map();
  for (const row of rows) {
    const key = `${row.rank}/${row.thread}`;
    if (!byLane.has(key)) byLane.set(key, { rank: row.rank, thread: row.thread, calls: [] });
    byLane.get(key).calls.push(row);
  }
  const lanes = [...byLane.values()].sort((left, right) => left.rank - right.rank || left.thread - right.thread);
  const threaded = lanes.some(lane => lane.thread !== lanes[0].thread);
  for (const lane of lanes) {
    lane.calls.sort((left, right) => left.enter_seconds - right.enter_seconds);
    lane.longest = lane.calls.reduce((longest, call) => Math.max(longest, call.seconds), 0);
  }
  const used = new Set(rows.map(row => summary.rows[row.row].function));
  const functions = [...looks.keys()].filter(name => used.has(name));
  // From MPI_Init to MPI_Finalize of the last rank.
  const end = rows.reduce((end, row) => Math.max(end, row.enter_seconds + row.seconds), summary.per_rank.reduce((end, rank) => Math.max(end, rank.run_seconds), 1e-9));
  const gapOf = new Map((summary.timeline_gaps ?? []).map(gap => [gap.rank, gap]));
  const [left, top] = [threaded ? 92 : 64, 22], tall = Math.max(7, Math.min(22, 480 / lanes.length));
  const inSight = Math.min(lanes.length, Math.ceil(480 / tall));
  let from = 0, to = end, width = 0;
  const canvas = element("canvas", { tabindex: 0, role: "img", "aria-label": "time line; arrow keys move, plus and minus zoom, 0 shows all" });
  const high = top + inSight * tall + 4;
  const scroller = element("div", { class: "lanes", style: `max-height:${high}px` },
    element("div", { style: `height:${top + lanes.length * tall + 4}px` }, canvas));
  const at = seconds => left + (width - left) * (seconds - from) / (to - from);
  const firstLane = () => Math.max(0, Math.min(lanes.length - inSight, Math.floor(scroller.scrollTop / tall)));
  // The first call of a lane that may reach beyond a time.
  function firstCall(lane, seconds) {
    let [low, high] = [0, lane.calls.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.calls[middle].enter_seconds < seconds - lane.longest) low = middle + 1; else high = middle;
    }
    return low;
  }

  function draw() {
    width = scroller.clientWidth || 900;
    canvas.width = width * devicePixelRatio;
    canvas.height = high * devicePixelRatio;
    canvas.style.height = high + "px";
    canvas.style.width = width + "px";
    const paint = canvas.getContext("2d");
    paint.scale(devicePixelRatio, devicePixelRatio);
    paint.font = "11px system-ui, sans-serif";
    axis(paint);
    const paints = new Map(functions.map(name => [name, paintOf(name, paint)]));
    const first = firstLane(), shown = lanes.slice(first, first + inSight);
    paint.save();
    paint.beginPath();
    paint.rect(left, top, width - left, high);
    paint.clip();
    shown.forEach((lane, place) => {
      const y = top + place * tall, gap = gapOf.get(lane.rank);
      paint.fillStyle = style("--line");
      if (gap) paint.fillRect(at(gap.from_seconds), y + tall / 3, at(gap.to_seconds) - at(gap.from_seconds), tall / 3);
      let painted = -1;
      for (let call = firstCall(lane, from); call < lane.calls.length; call += 1) {
        const row = lane.calls[call], x = at(row.enter_seconds), right = Math.max(at(row.enter_seconds + row.seconds), x + 0.7);
        if (x > width) break;
        // What another call has painted over already.
        if (right < left || right - painted < 0.3) continue;
        paint.fillStyle = paints.get(summary.rows[row.row].function);
        paint.fillRect(x, y + 1, right - x, tall - 2);
        painted = Math.max(painted, right);
      }
    });
    paint.restore();
    paint.fillStyle = style("--quiet");
    paint.textAlign = "right";
    const every = Math.ceil(13 / tall);
    shown.forEach((lane, place) => {
      const name = threaded ? `rank ${lane.rank}.${lane.thread}` : `rank ${lane.rank}`;
      if ((first + place) % every === 0) paint.fillText(name, left - 8, top + (place + 0.5) * tall + 4);
    });
  }
  function axis(paint) {
    const raw = (to - from) / Math.max(2, (width - left) / 110), ten = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(times => times * ten).find(step => step >= raw);
    paint.strokeStyle = style("--line");
    paint.fillStyle = style("--quiet");
    paint.textAlign = "center";
    for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) {
      paint.beginPath();
      paint.moveTo(at(tick), top - 4);
      paint.lineTo(at(tick), high);
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
  function zoom(factor, centre = (from + to) / 2) { show(centre - (centre - from) * factor, centre + (to - centre) * factor); }
  const move = part => show(from + part * (to - from), to + part * (to - from));
  const all = () => show(0, end);
  // The wheel alone goes on with the page.
  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, from + (to - from) * Math.max(0, (event.clientX - box.left - left) / (width - left)));
  }, { passive: false });
  canvas.addEventListener("dblclick", all);
  canvas.addEventListener("keydown", event => {
    const keys = { ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: all, Home: () => show(0, to - from), End: () => show(end - (to - from), end) };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  scroller.addEventListener("scroll", () => requestAnimationFrame(draw));
  function hit(x, lane) {
    let found = null;
    for (let call = firstCall(lane, from + (to - from) * (x - left - 2) / (width - left)); call < lane.calls.length; call += 1) {
      const row = lane.calls[call];
      if (at(row.enter_seconds) - 1 > x) break;
      if (x <= Math.max(at(row.enter_seconds + row.seconds), at(row.enter_seconds) + 1)) found = row;
    }
    return found;
  }
  canvas.addEventListener("mousemove", event => {
    if (event.buttons & 1) {
      const moved = event.movementX * (to - from) / (width - left);
      return show(from - moved, to - moved);
    }
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left;
    const lane = lanes[firstLane() + Math.floor((event.clientY - box.top - top) / tall)];
    if (!lane || x < left || event.clientY - box.top < top) return hideTip();
    const row = hit(x, lane), gap = gapOf.get(lane.rank);
    if (row) {
      const cell = summary.rows[row.row];
      showTip(event, `${cell.function} on ${nameOf(summary, cell.communicator)}\n${bytes(row.bytes)}${row.root === undefined ? "" : `, root ${row.root}`}${elementsOf(summary, row)}\n${cell.algorithm} (${cell.decided_by})\nenters at ${duration(row.enter_seconds)}, takes ${duration(row.seconds)}\nrank ${row.rank}, thread ${row.thread}`);
    } else if (gap && x >= at(gap.from_seconds) && x <= at(gap.to_seconds)) {
      showTip(event, `${several(gap.calls, "call")} of rank ${gap.rank} from ${duration(gap.from_seconds)} to ${duration(gap.to_seconds)} are not shown;\nthe slowest of them are`);
    } else hideTip();
  });
  canvas.addEventListener("mouseleave", hideTip);
  const entries = functions.map(name => [backgroundOf(name), name]);
  if (gapOf.size) entries.push(["var(--line)", "calls not shown, except the slowest"]);
  const button = (name, does) => element("button", { type: "button", onclick: does }, name);
  const buttons = element("div", { class: "bar" }, button("zoom in", () => zoom(0.5)), button("zoom out", () => zoom(2)), button("‹ earlier", () => move(-0.5)), button("later ›", () => move(0.5)), button("all", all));
  return { chart: element("div", {}, buttons, legend(entries), scroller), draw };
}
