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
const count = value => value.toLocaleString("en-US");
const percent = share => (share * 100).toFixed(1) + " %";

// Elements. Texts of the program go in as text, never as markup.
function element(tag, attributes = {}, ...children) {
  const svg = ["svg", "rect", "line", "text", "g", "path", "title"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "tip") withTip(node, value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

const tip = () => document.getElementById("tip");
function showTip(event, text) {
  const box = tip();
  box.textContent = text;
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8)) + "px";
  box.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 8)) + "px";
}
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
  const node = element("section", { id }, element("h2", {}, title), note ? element("p", { class: "note" }, note) : null, ...children);
  document.getElementById("sections").append(node);
  document.getElementById("links").append(element("a", { href: "#" + id }, title));
  return node;
}

function legend(entries) {
  return element("div", { class: "legend" }, ...entries.map(([colour, text]) =>
    element("span", {}, element("i", { style: `background:${colour}` }), text)));
}

// A few buttons of which one is on.
function switches(names, choose) {
  const buttons = names.map(name => element("button", { type: "button", onclick: () => turn(name) }, name));
  function turn(name) {
    buttons.forEach(button => button.classList.toggle("on", button.textContent === name));
    choose(name);
  }
  return { buttons, turn };
}
