"use strict";
// What all sections share: texts, numbers as text, the reader's choices, and what is drawn from them.

const texts = (() => {
  const all = JSON.parse(document.getElementById("texts").textContent);
  const MARKS = /(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/;

  function language() {
    return document.documentElement.lang;
  }

  function get(key, values = {}) {
    return all[language()][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }

  function marked(part) {
    const link = /^\[(.+)\]\((.+)\)$/.exec(part);
    if (link) return node("a", { href: link[2] }, link[1]);
    if (part.startsWith("**")) return node("strong", {}, part.slice(2, -2));
    return part.startsWith("`") ? node("code", {}, part.slice(1, -1)) : part;
  }

  // The text in an element, with its `code`, **strong** words and [links](address).
  function put(element, key, values) {
    element.replaceChildren(...get(key, values).split(MARKS).map(marked));
  }

  function putAll() {
    document.title = get("title");
    document.querySelectorAll("[data-text]").forEach((e) => put(e, e.dataset.text));
    document.querySelectorAll("[data-label]").forEach((e) => {
      e.setAttribute("aria-label", get(e.dataset.label));
    });
  }

  return { all, get, put, putAll };
})();

function node(name, attributes, ...children) {
  const element = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  element.append(...children);
  return element;
}

function find(id) {
  return document.getElementById(id);
}

// 1.2e-7, and 1e-6 without needless zeros.
function withPower(value, decimals) {
  return value.toExponential(decimals).replace(/\.?0*e\+?/, "e");
}

// 0.5, 0.001235 and 2.7386; but 1.0000, which is near 1.
function withPoint(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value)) return String(value);
  const text = size >= 1e4 ? value.toFixed(1) : size >= 1 ? value.toPrecision(5)
    : size >= 0.1 ? value.toFixed(4) : value.toPrecision(4);
  return Number.isInteger(Number(text)) ? text : String(Number(text));
}

// Small and large numbers have a power of ten.
function needsPower(value) {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(value)) return false;
  return Number.isInteger(value) ? size >= 1e6 : size < 1e-3 || size >= 1e5;
}

// Numbers of one line as text, all in one notation, with at least four digits.
function shownRow(values) {
  const powers = values.some(needsPower);
  return values.map((value) => {
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    if (value === 0) return "0";
    return (powers ? withPower(value, 4) : withPoint(value)).replaceAll("-", "−");
  });
}

function shown(value) {
  return shownRow([value])[0];
}

const state = {
  row: [1, 2, 3, 4],
  gain: [1, 0.5, 2, 1],
  bias: [0, 0, 0, 0.5],
  epsilon: 1e-6,
  shift: 0,
  scale: 1,
};

const views = [];

function update() {
  views.forEach((view) => view());
}

// Writes a value into a field, unless the reader is typing there.
function setField(field, value) {
  if (field !== document.activeElement) field.value = String(value);
}

// The line under fields that says when an entry was refused.
function putRefusal(field, key) {
  const fields = field.parentElement;
  let line = fields.nextElementSibling;
  if (line === null || line.className !== "refused") {
    line = node("p", { class: "refused", role: "status" });
    fields.after(line);
  }
  line.textContent = key === null ? "" : texts.get(key);
}

// A field for a number; what float32 does not hold as a finite number changes nothing, and a line
// says so when the reader leaves the field.
function numberField(label, change) {
  const field = node("input", { type: "number", step: "any", "aria-label": label });
  const number = () => Math.fround(field.valueAsNumber);
  field.addEventListener("input", () => {
    if (!Number.isFinite(number())) return;
    putRefusal(field, null);
    change(number());
  });
  field.addEventListener("change", () => {
    if (!Number.isFinite(number())) putRefusal(field, "input.refused");
  });
  field.addEventListener("blur", update);
  return field;
}

// As many fields as there are numbers, made again only if that changes.
function numberFields(container, name, values) {
  while (container.children.length > values().length) container.lastChild.remove();
  for (let i = container.children.length; i < values().length; i++) {
    const change = (value) => {
      values()[i] = value;
      update();
    };
    container.append(numberField(`${name} ${i + 1}`, change));
  }
  [...container.children].forEach((field, i) => setField(field, short(values()[i])));
}

// The shortest decimal number that is this float32 number; in a field 1e-6 needs less room than 0.000001.
function short(value) {
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9].find((count) => Math.fround(Number(value.toPrecision(count))) === value);
  const number = Number(value.toPrecision(digits));
  return needsPower(number) ? number.toExponential().replace("+", "") : String(number);
}

// Buttons that choose one of several settings.
function choices(container, settings, choose) {
  settings.forEach(({ key, ...setting }) => {
    const button = node("button", { type: "button", "data-text": key });
    button.addEventListener("click", () => {
      choose(setting);
      update();
    });
    container.append(button);
  });
}

// On a slider or list: calls back with the number chosen, and draws again.
function listen(id, change) {
  find(id).addEventListener("input", (event) => {
    change(Number(event.target.value));
    update();
  });
}
