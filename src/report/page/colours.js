// What a function looks like, the same in every picture: one of eight colours that people of all kinds of sight tell apart,
// those with most time in the strongest; and from the ninth function on stripes of them.
const COLOURS = 8;
const STRIPES = [null, 45, 135, 90];
const looks = new Map();

function lookAlike(functions) {
  functions.forEach((name, place) => looks.set(name, { colour: place % COLOURS, stripes: Math.floor(place / COLOURS) % STRIPES.length }));
  const defs = element("defs");
  for (let stripes = 1; stripes < STRIPES.length; stripes += 1) {
    for (let colour = 0; colour < COLOURS; colour += 1) {
      defs.append(element("pattern", { id: `look-${colour}-${stripes}`, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${STRIPES[stripes] + 90})` },
        element("rect", { width: 5, height: 5, style: "fill:var(--card)" }), element("rect", { width: 3, height: 5, style: `fill:var(--c${colour})` })));
    }
  }
  document.body.append(element("svg", { width: 0, height: 0, style: "position:absolute", "aria-hidden": "true" }, defs));
}

const lookOf = name => looks.get(name) ?? { colour: COLOURS - 1, stripes: 0 };

// For fill in SVG, for background in CSS, and for fillStyle of a canvas.
function fillOf(name) {
  const { colour, stripes } = lookOf(name);
  return stripes ? `url(#look-${colour}-${stripes})` : `var(--c${colour})`;
}
function backgroundOf(name) {
  const { colour, stripes } = lookOf(name);
  return stripes ? `repeating-linear-gradient(${STRIPES[stripes]}deg, var(--c${colour}) 0 3px, var(--card) 3px 5px)` : `var(--c${colour})`;
}
function paintOf(name, context) {
  const { colour, stripes } = lookOf(name);
  if (!stripes) return style(`--c${colour}`);
  const tile = element("canvas", { width: 6, height: 6 });
  const paint = tile.getContext("2d");
  paint.fillStyle = style("--card");
  paint.fillRect(0, 0, 6, 6);
  paint.strokeStyle = style(`--c${colour}`);
  paint.lineWidth = 2.4;
  for (const shift of [-6, 0, 6]) {
    paint.beginPath();
    if (STRIPES[stripes] === 90) { paint.moveTo(3 + shift, 0); paint.lineTo(3 + shift, 6); }
    else if (STRIPES[stripes] === 45) { paint.moveTo(shift, 6); paint.lineTo(shift + 6, 0); }
    else { paint.moveTo(shift, 0); paint.lineTo(shift + 6, 6); }
    paint.stroke();
  }
  return context.createPattern(tile, "repeat");
}
const swatch = name => element("i", { class: "swatch", style: `background:${backgroundOf(name)}` });
