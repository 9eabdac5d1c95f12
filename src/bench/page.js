// What collie bench measured: for each group of cells a drawing and a table.
function showBench(bench) {
  themed();
  document.title = `Collie bench: ${bench.groups.map(group => group.title.split(/[ ,]/)[0]).filter((name, place, all) => all.indexOf(name) === place).join(", ")}`;
  document.getElementById("job").textContent = bench.headline;
  const rows = bench.groups.flatMap(group => group.rows), of = test => rows.filter(test).length;
  const known = value => value !== undefined && value !== null;
  const verdict = row => !known(row.low) ? "" : row.low > 1 ? "faster" : row.high < 1 ? "slower" : "";
  // What is added to calls is no cell.
  const entries = bench.cells || !bench.overheads.length ? [
    [count(bench.cells), "cells: operation, datatype, size and ranks"],
    [count(of(row => verdict(row) === "faster")), `times a variant is faster than native ${bench.certainty}`],
    [count(of(row => verdict(row) === "slower")), `times a variant is slower than native ${bench.certainty}`],
    ...(bench.wrong ? [[count(bench.wrong), "WRONG RESULTS"]] : []),
  ] : [];
  document.getElementById("tiles").append(...entries.map(([value, text]) => element("div", { class: "tile" }, element("b", {}, value), element("span", {}, text))));
  if (bench.summary.length) section("summary", "Summary", null, ...bench.summary.map(line => element("p", { class: "note" }, line)));
  const pictures = document.getElementById("drawn").content;
  const ratio = value => known(value) ? value.toFixed(2) + " ×" : "–";
  const time = (head, of, title) => ({ head, of, show: duration, kind: "number", title });
  bench.groups.forEach((group, place) => {
    const columns = [
      { head: "Bytes", of: row => row.bytes, show: bytes, kind: "number", title: "of the message as the operation counts it" },
      { head: "Variant", of: row => row.label },
      time("Median", row => row.median, "of the slowest rank, over calls"), time("10 %", row => row.p10), time("90 %", row => row.p90), time("Least", row => row.min),
      { head: "Native / this", of: row => row.ratio, show: ratio, kind: "number", title: "above 1: this is faster", mark: verdict },
      { head: "95 % interval", of: row => row.low, show: (low, row) => known(low) ? `${low.toFixed(2)} – ${row.high.toFixed(2)}` : "–", kind: "number", title: bench.interval },
      ...(group.rows.some(row => row.bound) ? [{ head: "This / bound", of: row => row.bound ? row.median / row.bound : undefined, show: ratio, kind: "number", title: "of the least time that the link allows" }] : []),
      { head: "Rounds", of: row => row.rounds, show: count, kind: "number", title: "timed calls" },
    ];
    const node = section(`group-${place}`, group.title, null, element("div", { class: "scroll", style: "border:0;margin-bottom:12px" }, document.adoptNode(pictures.querySelector("svg"))),
      sortable(columns, group.rows, { search: group.rows.length > 24 }), ...group.notes.map(line => element("p", { class: line.startsWith("WRONG") ? "differs" : "note", style: "margin-top:8px" }, line)));
    node.classList.add("drawn");
  });
  if (!bench.overheads.length) return;
  const nanoseconds = (head, of) => ({ head, of, show: value => value.toFixed(1) + " ns", kind: "number" });
  section("overheads", "What Collie adds to calls that it passes on", "Nanoseconds per call of 8 bytes: the least and the median over windows.", sortable([
    { head: "Operation", of: row => row.operation }, { head: "Ranks", of: row => row.ranks, kind: "number" },
    nanoseconds("Native, least", row => row.native[0]), nanoseconds("median", row => row.native[1]),
    nanoseconds("Through Collie, least", row => row.through_collie[0]), nanoseconds("median", row => row.through_collie[1]),
    nanoseconds("Added, least", row => row.through_collie[0] - row.native[0]), nanoseconds("median", row => row.through_collie[1] - row.native[1]),
  ], bench.overheads));
}
