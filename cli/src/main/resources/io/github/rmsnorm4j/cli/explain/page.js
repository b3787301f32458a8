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

// 0.5 and 2.7386; but 1.0000, which is near 1.
function withPoint(value) {
  const size = Math.abs(value);
  const text = size >= 1e4 ? value.toFixed(1) : size >= 1 ? value.toPrecision(5) : value.toFixed(4);
  return Number.isInteger(Number(text)) ? text : String(Number(text));
}

// About five digits: whole numbers as they are, small and large ones with a power of ten.
function shown(value) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value).replace("-", "−");
  const text = size >= 1e5 ? withPower(value, 4) : size >= 1e-3 ? withPoint(value) : withPower(value, 2);
  return text.replaceAll("-", "−");
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

// A field for a number; what float32 does not hold as a finite number changes nothing.
function numberField(label, change) {
  const field = node("input", { type: "number", step: "any", "aria-label": label });
  field.addEventListener("input", () => {
    const value = Math.fround(field.valueAsNumber);
    if (Number.isFinite(value)) change(value);
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

// The shortest decimal number that is this float32 number.
function short(value) {
  for (let digits = 1; digits <= 9; digits++) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return text;
  }
  return value;
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
