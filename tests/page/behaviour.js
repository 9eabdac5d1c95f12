const checks = result.checks = {};
const cells = document.getElementById("cells");
const head = name => [...cells.querySelectorAll("th")].find(head => head.textContent.startsWith(name));
const place = name => [...cells.querySelectorAll("th")].indexOf(head(name));
const lines = () => [...cells.querySelectorAll("tbody tr:not(.space):not(.widest)")];
const column = name => lines().map(line => line.children[place(name)].textContent);
const told = () => cells.querySelector(".told").textContent;
const box = cells.querySelector("input"), group = cells.querySelector("select");
const write = words => { box.value = words; box.dispatchEvent(new Event("input")); };
const choose = name => { group.value = name; group.dispatchEvent(new Event("change")); };
const key = (node, name) => node.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const number = text => parseInt(text.replaceAll(",", ""), 10);
const all = number(told());

checks["only rows in sight are there"] = lines().length < 120;
head("Calls").click();
const calls = column("Calls").map(number);
checks["a click on a head sorts, most first"] = calls.every((value, at) => at === 0 || value <= calls[at - 1]);
checks["and says so"] = head("Calls").getAttribute("aria-sort") === "descending";
key(head("Function"), "Enter");
const names = column("Function");
checks["a key on a head sorts"] = names.every((name, at) => at === 0 || name >= names[at - 1]);

const [algorithm, called] = [column("Algorithm").at(-1), column("Function").at(-1)];
write(`${algorithm} ${called.toUpperCase()}`);
const few = number(told());
checks["rows with all of the words stay"] = few > 0 && few < all && column("Algorithm").every(text => text.includes(algorithm)) && column("Function").every(text => text.includes(called));
checks["what they come to is told"] = /^\d.* of .* rows? · .* per rank, .* of the run · .* calls? on all ranks/.test(told());
write("nothing-is-called-that");
checks["no row is no row"] = lines().length === 0 && told().startsWith("0 of ");
write("");
checks["without words all are there again"] = number(told()) === all;

choose("function");
const groups = lines().length, sum = column("Rows").map(number).reduce((sum, rows) => sum + rows, 0);
checks["groups hold every row"] = groups > 3 && groups <= 14 && sum === all;
lines()[0].click();
const only = column("Function");
checks["a group opens"] = new Set(only).size === 1 && only.length > 0;
cells.querySelector(".bar button").click();
checks["and the way back leads to the groups"] = group.value === "function" && lines().length === groups;
choose("");

const scroll = cells.querySelector(".scroll");
scroll.focus();
for (let step = 0; step < 5; step += 1) key(scroll, "ArrowDown");
key(scroll, "Enter");
checks["arrow keys and Enter open a row"] = document.activeElement === scroll && cells.querySelectorAll("tr.opened").length === 1
  && cells.querySelector("h3").textContent.includes(cells.querySelector("tr.opened td").textContent);
for (let page = 0; page < 1000; page += 1) key(scroll, "PageDown");
checks["and come to the last row"] = lines().at(-1).classList.contains("current");

const looks = {};
for (const node of document.querySelectorAll("tr:not(.widest) td.function, #sizes h3")) {
  const name = node.textContent.split(" · ")[0], look = node.querySelector(".swatch").style.background;
  (looks[name] ??= new Set()).add(look);
}
const of = Object.values(looks);
checks["a function looks the same everywhere"] = of.length > 3 && of.every(look => look.size === 1);
checks["and different from the others"] = new Set(of.map(look => [...look][0])).size === of.length;

const dark = document.documentElement.classList.contains("dark");
document.getElementById("theme").click();
checks["the theme can be changed"] = document.documentElement.classList.contains("dark") !== dark;
for (const canvas of document.querySelectorAll("canvas")) for (const name of ["ArrowRight", "ArrowDown", "+", "-", "0", "End"]) key(canvas, name);
for (const button of document.querySelectorAll(".bar button:not([hidden])")) button.click();
checks["pictures take keys and buttons"] = document.querySelectorAll("canvas").length === 2;
checks["no text is a placeholder's"] = !/undefined|NaN|Infinity|\[object/.test(document.getElementById("sections").innerText);
checks["one of a thing is one"] = !/\b1 (ranks|nodes|rows|calls)\b/.test(document.body.innerText) && !document.getElementById("job").textContent.includes("\t");
checks["shared clocks agree in words"] = !document.getElementById("late")?.textContent.includes("agree within 0 s");
