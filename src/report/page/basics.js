"use strict";

// Quantities with their units.
const threeDigits = value => value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0);
function duration(seconds) {
  if (seconds === undefined || seconds === null) return "–";
  if (seconds < 0) return "−" + duration(-seconds);
  if (seconds === 0) return "0 s";
  if (seconds < 999.5e-9) return threeDigits(seconds * 1e9) + " ns";
  if (seconds < 999.5e-6) return threeDigits(seconds * 1e6) + " µs";
  if (seconds < 999.5e-3) return threeDigits(seconds * 1e3) + " ms";
  return threeDigits(seconds) + " s";
}
function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0;
  while (unit + 1 < units.length && value >= 1023.5) { value /= 1024; unit += 1; }
  return (Number.isInteger(value) ? value : threeDigits(value)) + " " + units[unit];
}
const grouped = new Intl.NumberFormat("en-US");
const count = value => grouped.format(value);
const percent = share => (share * 100).toFixed(1) + " %";
// Ratios beside a verdict that they are not 1: two decimals, or as many as show that.
const decimalsApart = (...ratios) => [2, 3, 4, 5].find(decimals => ratios.every(ratio => ratio.toFixed(decimals) !== (1).toFixed(decimals))) ?? 6;
const several = (number, name) => `${count(number)} ${name}${number === 1 ? "" : "s"}`;
// What times are shares of: the run, or the part of it that was recorded.
const wholeOf = told => told.recorded_seconds ?? told.run_seconds;
const oneLine = text => text.trim().replace(/\s+/g, " ");

// Numbers in ascending order as few words: 0–7, 16, 32–62 by 2.
function ranges(numbers) {
  const parts = [];
  for (let first = 0; first < numbers.length;) {
    const step = first + 1 < numbers.length ? numbers[first + 1] - numbers[first] : 0;
    let last = first;
    while (step > 0 && last + 1 < numbers.length && numbers[last + 1] - numbers[last] === step) last += 1;
    // Two numbers are no range, unless they are neighbours.
    if (last - first < 2 && step !== 1) last = first;
    parts.push(last === first ? `${numbers[first]}` : `${numbers[first]}–${numbers[last]}${step > 1 ? ` by ${step}` : ""}`);
    first = last + 1;
  }
  return parts.join(", ");
}

// Elements. Texts of the program go in as text, never as markup.
const SVG = new Set(["svg", "rect", "line", "text", "g", "path", "title", "defs", "pattern"]);
function element(tag, attributes = {}, ...children) {
  const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "tip") withTip(node, value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

const tip = () => document.getElementById("tip");
function showTipAt(x, y, text) {
  const box = tip();
  box.textContent = text;
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 8)) + "px";
  box.style.top = Math.max(4, Math.min(y + 14, innerHeight - height - 8)) + "px";
}
const showTip = (event, text) => showTipAt(event.clientX, event.clientY, text);
function hideTip() { tip().hidden = true; }
function withTip(node, text) {
  node.addEventListener("mousemove", event => showTip(event, text));
  node.addEventListener("mouseleave", hideTip);
}

const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// What has to be drawn again when the colours or the width change.
const redrawn = [];
function drawnAgain(draw) { redrawn.push(draw); draw(); }
function drawAll() { redrawn.forEach(draw => draw()); }

function section(id, title, note, ...children) {
  const node = element("section", { id }, element("h2", {}, title), note ? element("p", { class: "note" }, note) : null,
    ...children.filter(child => child !== null));
  document.getElementById("sections").append(node);
  document.getElementById("links").append(element("a", { href: "#" + id }, title));
  return node;
}

function legend(entries) {
  return element("div", { class: "legend" }, ...entries.map(([background, text]) =>
    element("span", {}, element("i", { style: `background:${background}` }), text)));
}

// A few buttons of which one is on.
function switches(names, choose) {
  const buttons = names.map(name => element("button", { type: "button", onclick: () => turn(name) }, name));
  function turn(name) {
    buttons.forEach(button => {
      button.classList.toggle("on", button.textContent === name);
      button.setAttribute("aria-pressed", button.textContent === name);
    });
    choose(name);
  }
  return { buttons, turn };
}

// Enter and the space bar do what a click does.
function pressable(node) {
  node.tabIndex = 0;
  node.addEventListener("keydown", event => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    node.click();
  });
  return node;
}

// Light or dark as the system has it, until the button is pressed.
function themed() {
  document.documentElement.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  document.getElementById("theme").addEventListener("click", () => {
    document.documentElement.classList.toggle("dark");
    drawAll();
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) drawAll();
    width = innerWidth;
  });
}
