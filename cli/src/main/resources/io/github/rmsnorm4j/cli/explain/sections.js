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

// Changes up to this size come from epsilon and from rounding.
const NO_CHANGE = 1e-4;

function bothNorms(row, options) {
  return { rms: arithmetic.rmsNorm(row, options), layer: arithmetic.layerNorm(row, options) };
}

function measures(y) {
  const { mean } = arithmetic.layerNorm(y);
  const values = { rms: shown(arithmetic.rms(y)), mean: shown(Math.abs(mean) < 5e-8 ? 0 : mean) };
  return texts.get("row.measures", values);
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
    node("div", { class: "numbers" }, ...values.map((value) => node("span", {}, shown(value))));
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
  const rho = arithmetic.rho(state.row);
  const degrees = (Math.acos(Math.sqrt(Math.max(0, 1 - rho))) * 180) / Math.PI;
  texts.put(find("rho"), "out.rho", { rho: shown(rho), degrees: degrees.toFixed(1) });
}

function setRow(row) {
  state.row = row.map(Math.fround);
  while (state.gain.length < row.length) state.gain.push(1);
  while (state.bias.length < row.length) state.bias.push(0);
}

function moved() {
  return state.row.map((value) => Math.fround(Math.fround(value * state.scale) + state.shift));
}

function largestChange(before, after) {
  return before.reduce((largest, value, i) => Math.max(largest, Math.abs(value - after[i])), 0);
}

function putChange(id, before, after) {
  const change = largestChange(before, after);
  const stays = change < NO_CHANGE;
  const verdict = node("strong", { class: stays ? "stays" : "moved" }, texts.get(stays ? "moves.stays" : "moves.moved"));
  const numbers = texts.get("moves.change", { change: shown(change), rms: shown(arithmetic.rms(after)) });
  find(id).replaceChildren(verdict, " ", numbers);
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
  putChange("moved-rms-reading", before.rms.y, after.rms.y);
  putChange("moved-layer-reading", before.layer.y, after.layer.y);
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
