package io.github.rmsnorm4j.internal.quantized;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ScaleFloor;

/** How scales and codes come from elements; docs/numerics.md has the formulas. */
public record CodeRule(CodeFactor factor, CodeRounding rounding, ScaleFloor floor) {}
