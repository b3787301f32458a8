"use strict";
// 16-bit rows: cast orders, and squares that leave float16's range.

const ORDERS = ["FLOAT32", "LLAMA", "T5", "ONNX"];
const RANDOM_WIDTH = 4096;
const SHOWN_ELEMENTS = 8;

let seed = 1;

// Uniform numbers from a seed (mulberry32): the first rows are always the same.
function randomNumbers(start, count) {
  let a = start;
  return Array.from({ length: count }, () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  });
}

// Sums of four uniform numbers: around 0, and as dense in the middle as activations are.
function randomRow(start, type) {
  const uniform = randomNumbers(start, 4 * RANDOM_WIDTH);
  return Array.from({ length: RANDOM_WIDTH }, (_, i) => {
    const sum = uniform.slice(4 * i, 4 * i + 4).reduce((total, value) => total + value, -2);
    return arithmetic.round(type, 2 * sum);
  });
}

function randomGain(start, type) {
  return randomNumbers(start, RANDOM_WIDTH).map((value) => arithmetic.round(type, 0.5 + value));
}

// What each cast order makes of one row, how many elements differ from FLOAT32's, and how many of them by
// more than one step of the type.
function castOrders(start, type, gainType) {
  const x = randomRow(start, type);
  const gain = randomGain(start + 1, gainType);
  const y = ORDERS.map((order) => arithmetic.rmsNorm(x, { type, gain, gainType, order }).y);
  const differing = y.map((row) => row.filter((value, i) => !Object.is(value, y[0][i])).length);
  const far = (a, b) => Math.abs(a - b) > arithmetic.step(type, Math.min(Math.abs(a), Math.abs(b)));
  const farther = y.map((row) => row.filter((value, i) => far(value, y[0][i])).length);
  return { x, gain, y, differing, farther };
}

// Enough digits for numbers of 16 bits.
function fourDigits(value) {
  const text = Number.isFinite(value) ? String(Number(value.toPrecision(4))) : shown(value);
  return text.replaceAll("-", "−");
}

function headRow(first, ...names) {
  const head = (name, kind) => node("th", { scope: "col", class: kind }, name);
  return node("thead", {}, node("tr", {}, head(first, ""), ...names.map((name) => head(name, "number"))));
}

// The last orders that were asked for, and what for.
let lastOrders = { wanted: null };

function chosenOrders() {
  const wanted = [seed, find("type").value, find("gain-type").value];
  if (String(wanted) !== String(lastOrders.wanted)) {
    lastOrders = { wanted, ...castOrders(...wanted) };
  }
  return lastOrders;
}

function viewOrders() {
  const orders = chosenOrders();
  const rows = Array.from({ length: SHOWN_ELEMENTS }, (_, i) => node("tr", {},
    node("td", {}, fourDigits(orders.x[i])),
    node("td", { class: "number" }, fourDigits(orders.gain[i])),
    ...orders.y.map((y) => node("td", {
      class: Object.is(y[i], orders.y[0][i]) ? "number" : "number changed",
    }, fourDigits(y[i])))));
  find("orders").replaceChildren(headRow("x", "g", ...ORDERS), node("tbody", {}, ...rows));
  const percent = (count) => ((100 * count) / RANDOM_WIDTH).toFixed(1);
  texts.put(find("orders-reading"), "narrow.reading", {
    shown: SHOWN_ELEMENTS, width: RANDOM_WIDTH,
    llama: percent(orders.differing[1]), llamaMore: percent(orders.farther[1]),
    t5: percent(orders.differing[2]), t5More: percent(orders.farther[2]),
    onnx: percent(orders.differing[3]), onnxMore: percent(orders.farther[3]),
  });
}

function viewOverflow() {
  const size = Number(find("size").value);
  const row = [size, -size, size, -size];
  const naive = arithmetic.naiveFloat16(row, 1e-6);
  const wide = arithmetic.rmsNorm(row, { type: "float16" });
  const line = (name, left, right) => {
    const wrong = !Number.isFinite(left) || (left === 0 && right !== 0);
    return node("tr", {}, node("td", { class: "formula" }, name),
      node("td", { class: wrong ? "number changed" : "number" }, fourDigits(left)),
      node("td", { class: "number" }, fourDigits(right)));
  };
  find("overflow").replaceChildren(
    headRow(texts.get("over.step"), texts.get("over.naive"), texts.get("over.wide")),
    node("tbody", {},
      line("x", naive.x[0], wide.x[0]),
      line("x²", naive.squares[0], wide.squares[0]),
      line("mean(x²)", naive.mean, wide.variance),
      line("√(\u00a0mean(x²)\u00a0+\u00a0ε\u00a0)", naive.root, wide.root),
      line("r = 1 / √( … )", naive.rstd, wide.rstd),
      line("y = x · r", naive.y[0], wide.y[0])));
  find("size-value").textContent = shown(size);
  const fits = Number.isFinite(naive.squares[0]);
  texts.put(find("overflow-reading"), fits ? "over.fits" : "over.overflows", { size, square: size * size });
}

function startFormats() {
  ["type", "gain-type", "size"].forEach((id) => listen(id, () => {}));
  find("redraw").addEventListener("click", () => {
    seed += 2;
    update();
  });
  views.push(viewOrders, viewOverflow);
}
