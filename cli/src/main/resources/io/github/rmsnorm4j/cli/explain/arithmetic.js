"use strict";
// The contract of docs/numerics.md for rows of 32-bit and 16-bit numbers. JavaScript's numbers are
// float64; Math.fround rounds one to float32, and after +, -, * and / of float32 numbers that is float32
// arithmetic. Values of every type are held as plain numbers. Rows have at most 2^20 elements.

const arithmetic = (() => {
  const LANES = 32;
  const BLOCK = 1024;
  const SUPER_BLOCK = 65536;
  const SMALLEST_NORMAL = 2 ** -126;
  const LARGEST_MEAN = 2 ** 103;
  const LARGEST_FLOAT32 = (2 - 2 ** -23) * 2 ** 127;

  // Significant bits, the exponent of the smallest normal number, the largest number.
  const NARROW = {
    bfloat16: { bits: 8, exponent: -126, largest: (2 - 2 ** -7) * 2 ** 127 },
    float16: { bits: 11, exponent: -14, largest: 65504 },
  };

  const view = new DataView(new ArrayBuffer(8));

  function exponent(value) {
    view.setFloat64(0, value);
    return ((view.getUint16(0) >> 4) & 0x7ff) - 1023;
  }

  function powerOfTwo(power) {
    view.setFloat64(0, 0);
    view.setUint16(0, (power + 1023) << 4);
    return view.getFloat64(0);
  }

  // One rounding to nearest, ties to even. Beyond the largest number it is infinite.
  function round(type, value) {
    if (type === "float32") return Math.fround(value);
    if (!Number.isFinite(value)) return value;
    const format = NARROW[type];
    const unit = Math.max(exponent(value), format.exponent) - (format.bits - 1);
    // From 2^52 on a float64 number has no fraction, so this addition rounds to a whole number.
    const units = Math.abs(value) * powerOfTwo(-unit) + 2 ** 52 - 2 ** 52;
    const size = units * powerOfTwo(unit);
    const rounded = size > format.largest ? Infinity : size;
    return value < 0 || Object.is(value, -0) ? -rounded : rounded;
  }

  // From a 16-bit number to the next larger one.
  function step(type, value) {
    const format = NARROW[type];
    return powerOfTwo(Math.max(exponent(value), format.exponent) - (format.bits - 1));
  }

  function addTo(into, lanes) {
    for (let lane = 0; lane < LANES; lane++) into[lane] += lanes[lane];
  }

  function blockLanes(terms, from, to) {
    const lanes = new Float64Array(LANES);
    for (let i = from; i < to; i++) lanes[i % LANES] += terms[i];
    return lanes;
  }

  // float64 terms in 32 lanes, blocks and super-blocks; then the lanes in pairs.
  function rowSum(terms) {
    const row = new Float64Array(LANES);
    for (let start = 0; start < terms.length; start += SUPER_BLOCK) {
      const end = Math.min(terms.length, start + SUPER_BLOCK);
      const superBlock = new Float64Array(LANES);
      for (let from = start; from < end; from += BLOCK) {
        addTo(superBlock, blockLanes(terms, from, Math.min(end, from + BLOCK)));
      }
      addTo(row, superBlock);
    }
    for (let width = LANES / 2; width >= 1; width /= 2) {
      for (let lane = 0; lane < width; lane++) row[lane] += row[lane + width];
    }
    return row[0];
  }

  function squares(values) {
    return values.map((value) => value * value);
  }

  function meanSquare(values) {
    return rowSum(squares(values)) / values.length;
  }

  // The size of a row.
  function rms(values) {
    return Math.sqrt(meanSquare(values));
  }

  // Differences from the first element lose next to nothing, and are summed for both moments at once.
  function moments(x) {
    const n = x.length;
    const differences = x.map((value) => value - x[0]);
    const sum = rowSum(differences);
    const sumOfSquares = rowSum(squares(differences));
    return {
      mean: x[0] + sum / n,
      variance: Math.max(0, (sumOfSquares - (sum * sum) / n) / n),
    };
  }

  function isNormal(value) {
    return value >= SMALLEST_NORMAL && value <= LARGEST_FLOAT32;
  }

  // What the normalised row is rounded to before the gain, if anything.
  function castType(order, type, gainType) {
    const cast = { FLOAT32: "float32", LLAMA: type, ONNX: type, T5: gainType }[order];
    return cast === "float32" ? null : cast;
  }

  // Either norm, as all of its steps. A gain or bias of null is no operation.
  function norm(values, options) {
    const { centred = false, type = "float32", epsilon = 1e-6, gain = null, bias = null } = options;
    const { order = "FLOAT32", gainType = "float32" } = options;
    const x = values.map((value) => round(type, value));
    const { mean, variance } = centred ? moments(x) : { mean: 0, variance: meanSquare(x) };
    const root = Math.sqrt(variance + epsilon);
    const rstd = 1 / root;
    const high = Math.fround(mean);
    const low = Math.fround(mean - high);
    const divides = order === "ONNX";

    // Out of float32's range the same steps are float64, and only the end is rounded.
    const wide =
      !isNormal(Math.fround(rstd)) ||
      (divides && !isNormal(Math.fround(root))) ||
      (centred && Math.abs(high) >= LARGEST_MEAN);
    const step = wide ? (value) => value : Math.fround;
    const less = wide ? (value) => value - mean : (value) => step(step(value - high) - low);
    const difference = centred ? x.map(less) : x;
    const cast = castType(order, type, gain === null ? "float32" : gainType);
    const normalised = difference.map((value) => {
      const scaled = divides ? step(value / step(root)) : step(value * step(rstd));
      return cast === null ? scaled : round(cast, scaled);
    });
    const gains = gain === null ? null : gain.map((g) => Math.fround(round(gainType, g)));
    const scaled = gains === null ? normalised : normalised.map((value, i) => step(value * gains[i]));
    const biases = bias === null ? null : bias.map((b) => Math.fround(b));
    const y = biases === null ? scaled : scaled.map((value, i) => step(value + biases[i]));
    return {
      x, mean, difference, squares: squares(difference), variance, root,
      rstd: wide ? rstd : Math.fround(rstd),
      normalised: normalised.map((value) => round(type, value)),
      y: y.map((value) => round(type, value)),
    };
  }

  function rmsNorm(values, options = {}) {
    return norm(values, { ...options, centred: false });
  }

  function layerNorm(values, options = {}) {
    return norm(values, { ...options, centred: true });
  }

  // RMSNorm as single operations on float16 tensors: each result is rounded to float16. A mean is
  // summed in float32, as frameworks do.
  function naiveFloat16(values, epsilon) {
    const half = (value) => round("float16", value);
    const x = values.map(half);
    const squared = x.map((value) => half(value * value));
    const sum = squared.reduce((total, value) => Math.fround(total + value), 0);
    const mean = half(Math.fround(sum / x.length));
    const root = Math.sqrt(half(Math.fround(mean + Math.fround(epsilon))));
    const rstd = half(Math.fround(1 / root));
    return { x, squares: squared, mean, root, rstd, y: x.map((value) => half(value * rstd)) };
  }

  // How large a row is at the input of each layer, if every layer multiplies its input by a factor.
  function sizesByDepth(row, factor, layers, epsilon) {
    const plain = [];
    const normed = [];
    let x = row.map(Math.fround);
    let h = x;
    for (let layer = 0; layer < layers; layer++) {
      const input = rmsNorm(h, { epsilon }).y;
      plain.push(rms(x));
      normed.push(rms(input));
      x = x.map((value) => Math.fround(value * factor));
      h = input.map((value) => Math.fround(value * factor));
    }
    return { plain, normed };
  }

  // The share of a row's mean in its mean square: how far the two norms are apart.
  function rho(values) {
    const { mean } = moments(values);
    return (mean * mean) / meanSquare(values);
  }

  // Operations by the tensors that each reads and writes.
  const OPERATIONS = {
    rmsNaive: [["square", 1, 1], ["mean", 1, 0], ["scale", 1, 1], ["gain", 1, 1]],
    rmsFused: [["norm", 1, 1]],
    layerNaive: [
      ["mean", 1, 0], ["subtract", 1, 1], ["square", 1, 1], ["mean", 1, 0],
      ["scale", 1, 1], ["gain", 1, 1], ["bias", 1, 1],
    ],
    layerFused: [["norm", 1, 1]],
    addThenNorm: [["add", 2, 1], ["norm", 1, 1]],
    addFused: [["addNorm", 2, 2]],
  };

  function bytesPerElement(form, elementBytes) {
    return OPERATIONS[form].reduce((sum, [, read, written]) => sum + (read + written) * elementBytes, 0);
  }

  return {
    OPERATIONS, bytesPerElement, layerNorm, naiveFloat16, rho, rms, rmsNorm, round, rowSum, sizesByDepth,
    step,
  };
})();
