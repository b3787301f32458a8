"use strict";
// Why a norm is needed; one row through both norms; shift, scale and shrink; gain and bias.

const LAYERS = 48;
const LONGEST_ROW = 8;

const EXAMPLES = [
  { key: "row.plain", row: [1, 2, 3, 4] },
  { key: "row.centred", row: [-1.5, -0.5, 0.5, 1.5] },
  { key: "row.token", row: [-0.5041, 0.892, -0.4989, -1.3071, 0.4685, -0.1527, 1.4497, -0.7099] },
  { key: "row.outlier", row: [0.1, -0.2, 0.3, 8] },
  { key: "row.large", row: [40000, 40001, 40002, 40003] },
  { key: "row.zeros", row: [0, 0, 0, 0] },
];

const MOVES = [
  { key: "moves.shift10", shift: 10, scale: 1 },
  { key: "moves.scale1000", shift: 0, scale: 1000 },
  { key: "moves.shrink", shift: 0, scale: 0.001 },
  { key: "moves.reset", shift: 0, scale: 1 },
];

const EPSILONS = [[0, "0"], [1e-8, "1e−8"], [2 ** -23, "2⁻²³ ≈ 1.19e−7"], [1e-6, "1e−6"], [1e-5, "1e−5"], [1e-3, "1e−3"]];

// As shares of the largest output: changes up to the first come from roundings to float32 and from an
// epsilon that hardly counts; changes up to the second are little.
const NO_CHANGE = 2 ** -20;
const LITTLE = 0.01;

// A mean below this share of a row's size comes from the row's roundings to float32.
const NO_MEAN = 2 ** -23;

function bothNorms(row, options) {
  return { rms: arithmetic.rmsNorm(row, options), layer: arithmetic.layerNorm(row, options) };
}

function measures(y) {
  const { mean } = arithmetic.layerNorm(y);
  const size = arithmetic.rms(y);
  const [rms, shownMean] = shownRow([size, Math.abs(mean) < NO_MEAN * size ? 0 : mean]);
  return texts.get("row.measures", { rms, mean: shownMean });
}

function viewGrowth() {
  const factor = Number(find("factor").value);
  const sizes = arithmetic.sizesByDepth([1, -1, 1, -1], factor, LAYERS, 1e-6);
  charts.curves(find("growth"), [
    { kind: "none", values: sizes.plain },
    { kind: "rms", values: sizes.normed },
  ], 6);
  find("factor-value").textContent = `× ${shown(factor)}`;
  texts.put(find("growth-reading"), "why.reading", {
    layers: LAYERS, plain: shown(sizes.plain[LAYERS - 1]), normed: shown(sizes.normed[LAYERS - 1]),
  });
}

// One step of both norms; null where RMSNorm has no such step.
function stepRow(key, formula, rms, layer) {
  const numbers = (values) =>
    node("div", { class: values.some(needsPower) ? "numbers powers" : "numbers" },
      ...shownRow(values).map((value) => node("span", {}, value)));
  const cell = (kind, name, value) => {
    const content = value === null
      ? node("span", { class: "left-out" }, texts.get("row.leftOut"))
      : Array.isArray(value) ? numbers(value) : node("span", {}, shown(value));
    return node("div", { class: `cell ${kind}` }, node("b", {}, name), " ", content);
  };
  const heading = node("h4", {}, texts.get(key), " ", node("span", { class: "hint formula" }, formula));
  return node("div", { class: "step" }, heading, cell("rms", "RMSNorm", rms), cell("layer", "LayerNorm", layer));
}

function viewSteps() {
  const { rms, layer } = bothNorms(state.row, { epsilon: state.epsilon });
  find("steps").replaceChildren(
    stepRow("row.stepMean", "mean(x)", null, layer.mean),
    stepRow("row.stepCentre", "x − mean(x)", null, layer.difference),
    stepRow("row.stepSquare", "( · )²", rms.squares, layer.squares),
    stepRow("row.stepAverage", "m", rms.variance, layer.variance),
    stepRow("row.stepRoot", `√( m + ε ), ε = ${shown(state.epsilon)}`, rms.root, layer.root),
    stepRow("row.stepReciprocal", "r = 1 / √( m + ε )", rms.rstd, layer.rstd),
    stepRow("row.stepScale", "· r", rms.y, layer.y),
  );
  charts.bars(find("row-rms"), rms.y);
  charts.bars(find("row-layer"), layer.y);
  find("row-rms-reading").textContent = measures(rms.y);
  find("row-layer-reading").textContent = measures(layer.y);
}

function viewRow() {
  numberFields(find("row-inputs"), "x", () => state.row);
  find("add").disabled = state.row.length >= LONGEST_ROW;
  find("remove").disabled = state.row.length <= 1;
}

function viewRho() {
  if (arithmetic.rms(state.row) === 0) {
    texts.put(find("rho"), "out.noRho");
    return;
  }
  // What is missing to 1: a difference of rho from 1 would have lost its digits.
  const { variance, x } = arithmetic.layerNorm(state.row);
  const rest = variance / arithmetic.rms(x) ** 2;
  const near = rest > 0 && rest < 1e-3;
  const degrees = (Math.acos(Math.sqrt(Math.min(1, rest))) * 180) / Math.PI;
  texts.put(find("rho"), "out.rho", {
    rho: near ? `1 − ${shown(rest)}` : shown(arithmetic.rho(state.row)),
    degrees: degrees.toFixed(near ? 4 : 1),
  });
}

function setRow(row) {
  state.row = row.map(Math.fround);
  while (state.gain.length < row.length) state.gain.push(1);
  while (state.bias.length < row.length) state.bias.push(0);
}

function moved() {
  return state.row.map((value) => Math.fround(Math.fround(value * state.scale) + state.shift));
}

// A norm in plain float64 arithmetic, without a rounding to float32.
function unrounded(row, centred, epsilon) {
  const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const mean = centred ? average(row) : 0;
  const differences = row.map((value) => value - mean);
  const root = Math.sqrt(average(differences.map((value) => value * value)) + epsilon);
  return differences.map((value) => value / root);
}

// The largest change, and which share of the largest output it is.
function largestChange(before, after) {
  const change = Math.max(...before.map((value, i) => (Object.is(value, after[i]) ? 0 : Math.abs(value - after[i]))));
  const largest = Math.max(...before.map(Math.abs), ...after.map(Math.abs));
  return { change, share: change === 0 ? 0 : change / largest };
}

// Whether an output stays, and if not, whether only the rounding of the moved row to float32 moves it.
function verdict(share, shareUnrounded) {
  if (share <= NO_CHANGE) return { kind: "stays", key: "moves.stays" };
  if (shareUnrounded <= NO_CHANGE) return { kind: "stays", key: "moves.rounding" };
  return { kind: "moved", key: share < LITTLE ? "moves.little" : "moves.moved" };
}

function putChange(id, centred, before, after) {
  const { change, share } = largestChange(before, after);
  const row = state.row.map((value) => value * state.scale + state.shift);
  const exact = largestChange(
    unrounded(state.row, centred, state.epsilon), unrounded(row, centred, state.epsilon));
  const { kind, key } = verdict(share, exact.share);
  const numbers = texts.get("moves.change", {
    change: shown(change), share: Number.isFinite(share) ? shown(100 * share) : "–", rms: shown(arithmetic.rms(after)),
  });
  find(id).replaceChildren(node("strong", { class: kind }, texts.get(key)), " ", numbers);
}

function viewMoves() {
  const row = moved();
  const options = { epsilon: state.epsilon };
  const before = bothNorms(state.row, options);
  const after = bothNorms(row, options);
  setField(find("shift"), state.shift);
  setField(find("scale"), Math.log10(state.scale));
  find("epsilon").value = String(state.epsilon);
  find("shift-value").textContent = `${state.shift < 0 ? "−" : "+"} ${shown(Math.abs(state.shift))}`;
  find("scale-value").textContent = `× ${shown(state.scale)}`;
  find("moved-title").textContent =
    `x · ${shown(state.scale)} ${state.shift < 0 ? "−" : "+"} ${shown(Math.abs(state.shift))}`;
  charts.bars(find("moved"), row);
  charts.bars(find("moved-rms"), after.rms.y, before.rms.y);
  charts.bars(find("moved-layer"), after.layer.y, before.layer.y);
  find("moved-reading").textContent = measures(row);
  putChange("moved-rms-reading", false, before.rms.y, after.rms.y);
  putChange("moved-layer-reading", true, before.layer.y, after.layer.y);
}

function viewGain() {
  const count = state.row.length;
  const gain = state.gain.slice(0, count);
  const bias = state.bias.slice(0, count);
  const rms = arithmetic.rmsNorm(state.row, { epsilon: state.epsilon, gain });
  const layer = arithmetic.layerNorm(state.row, { epsilon: state.epsilon, gain, bias });
  numberFields(find("gain-inputs"), "g", () => state.gain);
  numberFields(find("bias-inputs"), "b", () => state.bias);
  ["gain-inputs", "bias-inputs"].forEach((id) =>
    [...find(id).children].forEach((field, i) => field.hidden = i >= count));
  charts.bars(find("gain-rms"), rms.y, rms.normalised);
  charts.bars(find("gain-layer"), layer.y, layer.normalised);
}

function startSections() {
  listen("factor", () => {});
  choices(find("examples"), EXAMPLES, ({ row }) => setRow(row));
  find("add").addEventListener("click", () => {
    setRow([...state.row, 1]);
    update();
  });
  find("remove").addEventListener("click", () => {
    setRow(state.row.slice(0, -1));
    update();
  });
  choices(find("moves-examples"), MOVES, (move) => Object.assign(state, move));
  listen("shift", (value) => { state.shift = value; });
  listen("scale", (value) => { state.scale = Number((10 ** value).toPrecision(3)); });
  EPSILONS.forEach(([value, name]) => find("epsilon").append(new Option(name, String(value))));
  listen("epsilon", (value) => { state.epsilon = value; });
  const drawEditor = charts.editor(find("row-editor"), () => state.row);
  views.push(viewGrowth, drawEditor, viewRow, viewSteps, viewRho, viewMoves, viewGain);
}
