// Tables that sort by their heads, show the rows that hold some words, and have no more rows in the page than are in sight.
// columns: { head, title, of: row => value to sort by, show: (value, row) => text, kind: "number" | "long" | "share" | "function",
//            most: the value that fills the cell of a share, mark: row => class }

const collator = new Intl.Collator("en", { numeric: true });
// More rows than that are put into the page as they come into sight.
const ALL_AT_ONCE = 60;
// Rows above and below those in sight.
const BEYOND = 12;

const textOf = (column, row) => column.show ? column.show(column.of(row), row) : String(column.of(row) ?? "–");
const isNumber = column => column.kind === "number" || column.kind === "share";

// search: with a box for words. open: called with a row that was clicked, or chosen with the arrow keys and Enter.
// sums: rows => what the rows that are shown come to, in words.
function sortable(columns, rows, { search = false, sortBy = null, descending = true, open = null, sums = null } = {}) {
  let sorted = sortBy, down = descending, shown = rows, current = null, opened = null, height = 29, drawn = null;
  const body = element("tbody");
  const heads = columns.map((column, place) => pressable(element("th", {
    class: isNumber(column) ? "number" : "", title: column.title ?? "", scope: "col",
    onclick: () => {
      down = sorted === place ? !down : isNumber(column);
      sorted = place;
      fill();
    },
  })));
  const box = element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
  const words = search ? wordBox(columns, rows, matching => { shown = matching; fill(); }, sums) : null;

  function fill() {
    heads.forEach((head, place) => {
      head.textContent = columns[place].head + (place === sorted ? (down ? " ▾" : " ▴") : "");
      head.classList.toggle("sorted", place === sorted);
      head.setAttribute("aria-sort", place !== sorted ? "none" : down ? "descending" : "ascending");
    });
    if (sorted !== null) shown = ordered(shown, columns[sorted], down);
    current = null;
    box.scrollTop = 0;
    draw(true);
  }
  // The rows in sight, between two that are as high as those above and below.
  function draw(anew) {
    const all = shown.length <= ALL_AT_ONCE;
    const first = all ? 0 : Math.max(0, Math.floor(box.scrollTop / height) - BEYOND);
    const end = all ? shown.length : Math.min(shown.length, Math.ceil((box.scrollTop + (box.clientHeight || 640)) / height) + BEYOND);
    if (!anew && drawn && drawn[0] === first && drawn[1] === end) return;
    drawn = [first, end];
    const lines = shown.slice(first, end).map((row, place) => line(row, first + place));
    body.replaceChildren(...(all ? [] : [widest(), space(first)]), ...lines, ...(all ? [] : [space(shown.length - end)]));
    if (!all && lines.length && lines[0].offsetHeight) height = lines[0].offsetHeight;
  }
  const space = rows => element("tr", { class: "space", "aria-hidden": "true" }, element("td", { colspan: columns.length, style: `height:${rows * height}px` }));
  // Keeps the columns as wide as their longest texts, whatever is in sight.
  let longest = null;
  function widest() {
    longest ??= columns.map(column => rows.reduce((longest, row) => {
      const text = textOf(column, row);
      return text.length > longest.length ? text : longest;
    }, ""));
    return element("tr", { class: "widest", "aria-hidden": "true" }, ...columns.map((column, place) => element("td", { class: column.kind ?? "" }, column.kind === "function" ? element("i", { class: "swatch" }) : null, longest[place])));
  }
  function line(row, place) {
    const node = element("tr", {}, ...columns.map(column => cell(column, row)));
    if (!open) return node;
    node.className = ["opens", row === opened ? "opened" : "", place === current ? "current" : ""].join(" ").trim();
    node.addEventListener("click", () => choose(place));
    return node;
  }
  function choose(place) {
    current = place;
    opened = shown[place];
    open(opened);
    draw(true);
  }
  if (open) {
    box.tabIndex = 0;
    box.addEventListener("keydown", event => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
      if (event.target !== box || (step === undefined && event.key !== "Enter")) return;
      event.preventDefault();
      if (event.key === "Enter") return current === null || choose(current);
      current = Math.max(0, Math.min(shown.length - 1, current === null ? 0 : current + step));
      const top = current * height, inSight = box.clientHeight - 2 * height;
      box.scrollTop = Math.max(top - inSight, Math.min(top, box.scrollTop));
      draw(true);
    });
  }
  let asked = false;
  box.addEventListener("scroll", () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(false); });
  });
  fill();
  return words ? element("div", {}, words, box) : box;
}

function cell(column, row) {
  const shown = textOf(column, row);
  const node = element("td", { class: [column.kind === "share" ? "share number" : column.kind ?? "", column.mark?.(row) ?? ""].join(" ").trim() },
    column.kind === "function" ? swatch(column.of(row)) : null, shown);
  if (column.kind === "share") node.style.setProperty("--part", (100 * Math.min(1, column.of(row) / column.most)) + "%");
  if (column.kind === "long") node.title = shown;
  return node;
}

// What has no value comes last, whichever way.
function ordered(rows, column, down) {
  const keyed = rows.map(row => [column.of(row) ?? null, row]);
  const compare = keyed.some(([key]) => typeof key === "string") ? (left, right) => collator.compare(left, right) : (left, right) => left - right;
  keyed.sort(([left], [right]) => left === null || right === null ? (left === null) - (right === null) : down ? compare(right, left) : compare(left, right));
  return keyed.map(([, row]) => row);
}

// A box for words: rows that hold all of them, anywhere in their texts, go to `choose`.
function wordBox(columns, rows, choose, sums, ...more) {
  let texts = null;
  const told = element("span", { class: "quiet told", role: "status" });
  const box = element("input", { type: "search", placeholder: "rows with all of these words", "aria-label": "rows with all of these words" });
  function update() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    texts ??= words.length ? rows.map(row => columns.map(column => textOf(column, row)).join(" ").toLowerCase()) : null;
    const matching = words.length ? rows.filter((_, place) => words.every(word => texts[place].includes(word))) : rows;
    tell(matching);
    choose(matching);
  }
  function tell(matching) {
    const number = matching.length === rows.length ? several(rows.length, "row") : `${count(matching.length)} of ${several(rows.length, "row")}`;
    told.textContent = [number, sums?.(matching)].filter(Boolean).join(" · ");
  }
  box.addEventListener("input", update);
  tell(rows);
  const bar = element("div", { class: "bar" }, box, ...more, told);
  bar.look = words => { box.value = words; update(); };
  return bar;
}
