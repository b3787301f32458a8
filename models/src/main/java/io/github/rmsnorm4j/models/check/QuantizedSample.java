package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.Rows;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Rows of X and the quantised rows that they are compared with, all without gaps, with the
 * parameters of the norm.
 *
 * @param x what went in
 * @param residual what was added to it, or null
 * @param y what came out
 * @param gain the gain as stored, or null
 * @param bias the bias, or null
 */
public record QuantizedSample(Rows x, Rows residual, QuantizedRows y, Rows gain, Rows bias) {
  /**
   * Checks that the rows can tell anything.
   *
   * @throws IllegalArgumentException if they cannot
   */
  void requireCodes() {
    MemorySegment bytes = y.codes();
    if (bytes.mismatch(MemorySegment.ofArray(new byte[Math.toIntExact(bytes.byteSize())])) < 0) {
      throw new IllegalArgumentException("every code of Y is 0, that tells nothing");
    }
  }

  int width() {
    return y.width();
  }

  /** The first rows, at most. */
  QuantizedSample first(long rows) {
    long n = Math.min(rows, y.rows());
    QuantizedRows firstY =
        y.scales() == null
            ? QuantizedRows.of(y.codes(), y.type(), n, width())
            : QuantizedRows.of(y.codes(), y.scales(), y.type(), n, width());
    return new QuantizedSample(first(x, n), first(residual, n), firstY, gain, bias);
  }

  private static Rows first(Rows rows, long n) {
    return rows == null ? null : Rows.of(rows.segment(), rows.type(), n, rows.width());
  }

  /** The types of a norm whose output is in float32, as codes are made of it. */
  Types types() {
    return new Types(
        x.type(),
        List.of(),
        ElementType.FLOAT32,
        List.of(),
        gain == null ? null : gain.type(),
        bias != null,
        residual == null ? null : residual.type(),
        List.of());
  }

  /** What a norm and each of the rules make, compared with Y. */
  Map<String, CodeScore> scores(NormSpec spec, Map<String, Quantizer> rules) {
    NormBuilder<?> builder = spec.builder(width()).backend(Backend.scalar()).threads(1);
    if (gain != null) {
      builder.gain(gain);
    }
    if (bias != null) {
      builder.bias(bias);
    }
    Norm norm = builder.build();
    Rows exact = output(norm, ElementType.FLOAT32);
    boolean wide = x.type().bytes() >= Float.BYTES;
    Rows rounded = wide ? exact : output(norm, x.type());
    QuantizedRows made = empty();
    Map<String, CodeScore> scores = new LinkedHashMap<>();
    rules.forEach(
        (name, rule) -> {
          rule.quantize(rule.roundsOutput() ? rounded : exact, made, 1);
          scores.put(name, CodeScore.of(made, y));
        });
    return scores;
  }

  private Rows output(Norm norm, ElementType type) {
    Rows output = empty(type);
    if (residual == null) {
      norm.apply(x, output);
    } else {
      Rows sum = empty(residual.type());
      sum.segment().copyFrom(residual.segment());
      norm.addAndApply(x, sum, output);
    }
    return output;
  }

  private Rows empty(ElementType type) {
    long bytes = x.rows() * width() * type.bytes();
    return Rows.of(memory(bytes), type, x.rows(), width());
  }

  private QuantizedRows empty() {
    QuantizedType type = y.type();
    MemorySegment codes = memory(y.codes().byteSize());
    return y.scales() == null
        ? QuantizedRows.of(codes, type, y.rows(), width())
        : QuantizedRows.of(codes, memory(y.scales().byteSize()), type, y.rows(), width());
  }

  private static MemorySegment memory(long bytes) {
    return MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
  }

  /** What the norm is given besides x. */
  List<String> given() {
    List<String> given = new ArrayList<>();
    if (gain != null) {
      given.add("gain");
    }
    if (bias != null) {
      given.add("bias");
    }
    if (residual != null) {
      given.add("residual");
    }
    return given;
  }
}
