"use strict";
// Bars, lines and the row whose bars can be dragged, as SVG.

const charts = (() => {
  const NICE = [1, 1.5, 2, 3, 5, 7.5, 10];

  function svgNode(name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    if (text !== undefined) element.textContent = text;
    return element;
  }

  // The end of an axis that holds the values.
  function reach(values, least = 0) {
    const largest = Math.max(least, ...values.map(Math.abs).filter(Number.isFinite));
    if (largest === 0) return 1;
    const power = 10 ** Math.floor(Math.log10(largest));
    return power * NICE.find((step) => step * power >= largest);
  }

  // In CSS pixels, which are the units of the drawing.
  function size(svg) {
    return svg.getBoundingClientRect();
  }

  // Where values stand: the axis is in the middle, or at the bottom if none is negative.
  function place(svg, count, limit, signed, margin = 18) {
    const { width, height } = size(svg);
    const top = margin;
    const bottom = height - (signed ? margin : 4);
    const zero = signed ? (top + bottom) / 2 : bottom;
    const unit = (zero - top) / limit;
    const column = width / count;
    const clip = (value) => Math.max(-limit, Math.min(limit, Number.isNaN(value) ? 0 : value));
    return {
      zero,
      y: (value) => zero - clip(value) * unit,
      value: (y) => clip((zero - y) / unit),
      middle: (i) => column * (i + 0.5),
      bar: Math.min(column * 0.55, 46),
    };
  }

  function bar(places, i, value, kind) {
    const y = places.y(value);
    return svgNode("rect", {
      class: kind,
      x: places.middle(i) - places.bar / 2,
      y: Math.min(y, places.zero),
      width: places.bar,
      height: Math.abs(y - places.zero),
    });
  }

  // Two or three digits, which find room over a bar.
  function brief(value) {
    const size = Math.abs(value);
    if (Number.isInteger(value) || !Number.isFinite(value)) return shown(value);
    const plain = size < 10 ? value.toFixed(2) : String(Number(value.toPrecision(3)));
    return (size >= 0.01 && size < 1e4 ? plain : withPower(value, 1)).replaceAll("-", "−");
  }

  function label(places, i, value) {
    const y = places.y(value) + (value < 0 ? 13 : -5);
    return svgNode("text", { x: places.middle(i), y, "text-anchor": "middle" }, brief(value));
  }

  // A bar for each value, and dashed ones where they would have been.
  function bars(svg, values, ghosts = null, limit = null) {
    const both = ghosts === null ? values : [...values, ...ghosts];
    const end = limit ?? reach(both, 1e-30);
    const places = place(svg, values.length, end, both.some((value) => value < 0));
    const axis = { class: "axis", x1: 0, x2: size(svg).width, y1: places.zero, y2: places.zero };
    svg.replaceChildren(
      svgNode("line", axis),
      ...values.map((value, i) => bar(places, i, value, "bar")),
      ...(ghosts ?? []).map((value, i) => bar(places, i, value, "ghost")),
      ...values.map((value, i) => label(places, i, value)),
    );
  }

  // Curves over 1, 2, ... on an axis of powers of ten; their count is a multiple of 4.
  function curves(svg, series, powers) {
    const { width, height } = size(svg);
    const left = 44;
    const bottom = height - 20;
    const count = series[0].values.length;
    const x = (i) => left + ((width - left - 12) * i) / (count - 1);
    const y = (value) => bottom / 2 - (Math.log10(value) / powers) * (bottom / 2 - 8);
    const places = [1, count / 4, count / 2, (3 * count) / 4, count].map((number) =>
      svgNode("text", { class: "quiet", x: x(number - 1), y: height - 2, "text-anchor": "middle" }, number));
    const ticks = [-powers, -powers / 2, 0, powers / 2, powers].map((power) => [
      svgNode("line", { class: "axis", x1: left, x2: width, y1: y(10 ** power), y2: y(10 ** power) }),
      svgNode("text", { class: "quiet", x: left - 6, y: y(10 ** power) + 4, "text-anchor": "end" },
        power === 0 ? "1" : `1e${power}`.replace("-", "−")),
    ]);
    const lines = series.map(({ kind, values }) =>
      svgNode("polyline", {
        class: `line ${kind}`,
        points: values.map((value, i) => `${x(i)},${y(value)}`).join(" "),
      }));
    svg.replaceChildren(...ticks.flat(), ...places, ...lines);
  }

  // A row as bars with handles: they are dragged, or moved by the arrow keys.
  function editor(svg, values) {
    let end = 1;
    let dragged = -1;
    let places = null;

    function set(i, value) {
      const step = end / 200;
      values()[i] = Math.fround(Number((Math.round(value / step) * step).toPrecision(6)));
      update();
    }

    function handle(i) {
      const group = svgNode("g", { class: "handle", role: "slider", tabindex: 0, "aria-orientation": "vertical" });
      group.append(svgNode("circle", { class: "reach", r: 22 }), svgNode("circle", { class: "knob", r: 9 }));
      group.addEventListener("pointerdown", (event) => {
        dragged = i;
        group.setPointerCapture(event.pointerId);
        group.focus();
        event.preventDefault();
      });
      group.addEventListener("pointermove", (event) => {
        if (dragged !== i) return;
        set(i, places.value(event.clientY - size(svg).top));
      });
      ["pointerup", "pointercancel"].forEach((type) => group.addEventListener(type, () => {
        dragged = -1;
        update();
      }));
      group.addEventListener("keydown", (event) => {
        const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 5, PageDown: -5 };
        if (!(event.key in steps)) return;
        event.preventDefault();
        set(i, values()[i] + (steps[event.key] * end) / 40);
      });
      return group;
    }

    function build(count) {
      svg.replaceChildren(svgNode("line", { class: "axis" }));
      for (let i = 0; i < count; i++) {
        svg.append(svgNode("rect", { class: "bar" }), svgNode("text", { "text-anchor": "middle" }), handle(i));
      }
    }

    function put(element, attributes) {
      Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    }

    return () => {
      const row = values();
      if (dragged < 0) end = reach(row, 1e-30);
      places = place(svg, row.length, end, true, 30);
      if (svg.children.length !== 1 + 3 * row.length) build(row.length);
      put(svg.firstChild, { x1: 0, x2: size(svg).width, y1: places.zero, y2: places.zero });
      row.forEach((value, i) => {
        const [rect, text, group] = [...svg.children].slice(1 + 3 * i, 4 + 3 * i);
        const y = places.y(value);
        put(rect, { x: places.middle(i) - places.bar / 2, y: Math.min(y, places.zero),
          width: places.bar, height: Math.abs(y - places.zero) });
        put(text, { x: places.middle(i), y: y + (value < 0 ? 26 : -14) });
        text.textContent = brief(value);
        put(group, { transform: `translate(${places.middle(i)} ${y})`, "aria-label": `x ${i + 1}`,
          "aria-valuemin": -end, "aria-valuemax": end, "aria-valuenow": value });
      });
    };
  }

  return { bars, curves, editor, svgNode };
})();
