"use strict";
// Many rows: a block of tokens, the bytes that move, and the norm's place in a block of a Transformer.

const FORMS = ["rmsNaive", "rmsFused", "layerNaive", "layerFused", "addThenNorm", "addFused"];

const block = [
  [0.5, -1, 2, 0.25],
  [30, 10, -20, 40],
  [-0.01, 0.02, 0.01, 0.03],
  [1, 1, 1, 1],
];

function normedBlock() {
  return block.map((token) => arithmetic.rmsNorm(token).y);
}

let blockBefore = normedBlock();

function startBlock() {
  block.forEach((token, t) => {
    const name = node("span", { class: "name" });
    views.push(() => texts.put(name, "block.token", { token: t + 1 }));
    find("block-inputs").append(name);
    token.forEach((value, i) => {
      const field = numberField(`${t + 1}, ${i + 1}`, (typed) => {
        blockBefore = normedBlock();
        token[i] = typed;
        update();
      });
      views.push(() => setField(field, short(token[i])));
      find("block-inputs").append(field);
    });
  });
  views.push(viewBlock);
}

function viewBlock() {
  const after = normedBlock();
  const changed = after.map((token, t) => token.map((value, i) => !Object.is(value, blockBefore[t][i])));
  find("block-outputs").replaceChildren(...after.flatMap((token, t) => shownRow(token).map((value, i) =>
    node("span", { class: changed[t][i] ? "value changed" : "value" }, value))));
  const tokens = changed.flatMap((token, t) => (token.includes(true) ? [t + 1] : []));
  texts.put(find("block-reading"), tokens.length === 0 ? "block.none" : "block.changed", {
    tokens: tokens.join(", "), same: after.length - tokens.length,
  });
}

function bytesShown(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const unit = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / 1000 ** unit).toPrecision(4))} ${units[unit]}`;
}

// One bar: for each operation the tensors that it reads and writes.
function trafficBar(operations, largest, label) {
  const svg = charts.svgNode("svg", { role: "img", "aria-label": label });
  const parts = operations.flatMap(([, read, written]) =>
    [...Array(read).fill("read"), ...Array(written).fill("written")]);
  const percent = (tensors) => `${(100 * tensors) / largest}%`;
  svg.append(...parts.map((kind, i) => charts.svgNode("rect",
    { class: kind, x: percent(i), y: 2, width: percent(1), height: 34 })));
  return svg;
}

function viewTraffic() {
  const elementBytes = Number(find("element").value);
  const whole = (id) => Math.max(1, Math.floor(find(id).valueAsNumber || 1));
  const elements = whole("tokens") * whole("width");
  const bytes = (form) => arithmetic.bytesPerElement(form, elementBytes);
  const largest = Math.max(...FORMS.map((form) => arithmetic.bytesPerElement(form, 1)));
  find("traffic").replaceChildren(...FORMS.map((form) => {
    const sum = arithmetic.OPERATIONS[form].map(([name, read, written]) =>
      `${texts.get(`op.${name}`)} ${(read + written) * elementBytes}`).join(" + ");
    return node("div", { class: "traffic" },
      node("h4", {}, texts.get(`bytes.${form}`), " ",
        node("span", { class: "total" }, texts.get("bytes.total", { bytes: bytes(form), all: bytesShown(bytes(form) * elements) }))),
      trafficBar(arithmetic.OPERATIONS[form], largest, texts.get(`bytes.${form}`)),
      node("p", { class: "parts" }, sum));
  }));
  texts.put(find("traffic-reading"), "bytes.reading", {
    naive: bytesShown(bytes("rmsNaive") * elements), fused: bytesShown(bytes("rmsFused") * elements),
    times: shown(bytes("rmsNaive") / bytes("rmsFused")),
  });
}

function box(x, y, width, kind, label) {
  return [
    charts.svgNode("rect", { class: `box ${kind}`, x: x - width / 2, y: y - 16, width, height: 32, rx: 5 }),
    charts.svgNode("text", { x, y: y + 5, "text-anchor": "middle" }, label),
  ];
}

function plus(y) {
  return [
    charts.svgNode("circle", { class: "box", cx: 60, cy: y, r: 10 }),
    charts.svgNode("text", { x: 60, y: y + 5, "text-anchor": "middle" }, "+"),
  ];
}

// The stream of rows runs upwards on the left, and each layer adds to it.
function sublayer(bottom, label, before) {
  return [
    charts.svgNode("path", { class: "wire", d: `M60 ${bottom} H250 V${bottom - 66} H70` }),
    charts.svgNode("path", { class: "arrow", d: `M71 ${bottom - 66} l10 -5 v10 z` }),
    ...plus(bottom - 66),
    ...box(250, bottom - 33, 110, "", label),
    ...(before ? box(135, bottom, 84, "norm", "Norm") : box(60, bottom - 100, 84, "norm", "Norm")),
  ];
}

function viewPlaces() {
  const attention = texts.get("place.attention");
  const stream = () => [
    charts.svgNode("path", { class: "wire stream", d: "M60 286 V10" }),
    charts.svgNode("path", { class: "arrow stream", d: "M60 0 l-8 13 h16 z" }),
    charts.svgNode("text", { x: 72, y: 288 }, "x"),
  ];
  find("pre-norm").replaceChildren(...stream(),
    ...sublayer(250, attention, true), ...sublayer(125, "MLP", true));
  find("post-norm").replaceChildren(...stream(),
    ...sublayer(266, attention, false), ...sublayer(135, "MLP", false));
}

function startTensors() {
  startBlock();
  ["tokens", "width", "element"].forEach((id) => listen(id, () => {}));
  views.push(viewTraffic, viewPlaces);
}
