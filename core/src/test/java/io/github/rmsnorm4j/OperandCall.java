package io.github.rmsnorm4j;

import java.util.ArrayList;
import java.util.List;

/**
 * A call of a norm.
 *
 * @param operands of two that are written a message names the later one first
 * @param keep what a forward call keeps, or the one before a backward call; null of others
 */
record OperandCall(Kind kind, List<String> operands, Keep keep) {
  private static final Norm NORM = LayerNorm.builder(OperandMemory.WIDTH).build();
  private static final Norm GATED = LayerNorm.builder(OperandMemory.WIDTH).gate(Gate.SILU).build();

  /** Its sums are as many as the elements of a row. */
  private static final Norm OF_GROUPS =
      LayerNorm.builder(OperandMemory.WIDTH).groupCount(OperandMemory.WIDTH / 2).build();

  /** The operands that a backward call has from its forward call, which has checked their shape. */
  private static final List<String> OF_FORWARD = List.of("what was kept", "z", "gain", "bias");

  enum Kind {
    FORWARD,
    FORWARD_OF_ARRAYS,
    PAIR,
    BACKWARD,
    STATISTICS,
    SUMS,
    STATISTICS_OF_SUMS,
    FORWARD_OF_STATISTICS,
    QUANTIZE,
    DEQUANTIZE
  }

  /** All calls of rows, with the caller's parameters or without. */
  static List<OperandCall> all(String parameters) {
    List<OperandCall> calls = new ArrayList<>();
    for (String rows : List.of("x, y", "x, residual, y", "x, z, y")) {
      add(calls, Kind.FORWARD, rows + parameters, null);
      add(calls, Kind.FORWARD, rows + parameters + ", codes, scales", null);
      add(calls, Kind.FORWARD, rows.replace(", y", "") + parameters + ", codes, scales", null);
    }
    add(calls, Kind.FORWARD, "x, y" + parameters + ", mean, rstd", null);
    add(calls, Kind.FORWARD_OF_STATISTICS, "x, y" + parameters + ", given mean, given rstd", null);
    String ofBoth =
        "x, residual, y" + parameters + parameters.replaceAll("(gain|bias)", "$1 of next");
    add(calls, Kind.PAIR, ofBoth, null);
    for (Keep keep : Keep.values()) {
      String rstd = keep == Keep.NOTHING ? "" : ", rstd";
      String numbers = (keep == Keep.INPUT ? ", mean" : "") + rstd;
      add(calls, Kind.FORWARD, "x, y" + parameters + numbers, keep);
      add(calls, Kind.FORWARD, "x, residual, y" + parameters + numbers, keep);
      String ofCall = parameters + numbers.replace(", ", ", the kept ") + ", dgain, dbias";
      add(calls, Kind.BACKWARD, "what was kept, dy, dx" + ofCall, keep);
      add(calls, Kind.BACKWARD, "what was kept, dy, dresidual, dx" + ofCall, keep);
      if (keep != Keep.OUTPUT) {
        add(calls, Kind.FORWARD, "x, z, y" + parameters + numbers, keep);
        add(calls, Kind.BACKWARD, "what was kept, z, dy, dx, dz" + ofCall, keep);
        String ofNext = numbers.replaceAll("(mean|rstd)", "$1 of next");
        add(calls, Kind.PAIR, ofBoth + numbers + ofNext, keep);
      }
    }
    return calls;
  }

  /** Calls that have no parameters. */
  static List<OperandCall> ofNone() {
    List<OperandCall> calls = new ArrayList<>();
    add(calls, Kind.STATISTICS, "x, mean, rstd", null);
    add(calls, Kind.SUMS, "x, sums", null);
    add(calls, Kind.STATISTICS_OF_SUMS, "sums, mean, rstd", null);
    add(calls, Kind.QUANTIZE, "x, codes, scales", null);
    add(calls, Kind.DEQUANTIZE, "y, codes, scales", null);
    return calls;
  }

  /** Calls of parts of float32 arrays. */
  static List<OperandCall> ofArrays() {
    List<OperandCall> calls = new ArrayList<>();
    for (String operands : List.of("x, y", "x, y, gain", "x, residual, y")) {
      add(calls, Kind.FORWARD_OF_ARRAYS, operands, null);
    }
    return calls;
  }

  private static void add(List<OperandCall> calls, Kind kind, String operands, Keep keep) {
    calls.add(new OperandCall(kind, List.of(operands.split(", ")), keep));
  }

  static String title(String operand) {
    boolean isPartOfCodes = operand.equals("codes") || operand.equals("scales");
    return isPartOfCodes ? "q" : operand.replace(" of next", "").replace("given ", "");
  }

  boolean has(String operand) {
    return operands.contains(operand);
  }

  /** Whether it is an array that the library has made. */
  boolean isOfLibrary(String operand) {
    boolean isNumber = title(operand).equals("mean") || title(operand).equals("rstd");
    return operand.startsWith("the kept") || isNumber && keep != null;
  }

  /** Whether an operand is where it is before the call. */
  boolean isFixed(String operand) {
    return isOfLibrary(operand) || kind == Kind.BACKWARD && OF_FORWARD.contains(operand);
  }

  /** Whether the output must not replace an input. */
  boolean keeps(String input) {
    boolean keepsX = keep != Keep.OUTPUT && (kind == Kind.PAIR || !has("residual"));
    return keep != null && (input.equals("z") || keepsX);
  }

  boolean mayLack(String operand) {
    boolean isParameter = operand.equals("gain") || operand.equals("bias");
    return isParameter && kind != Kind.FORWARD_OF_ARRAYS
        || operand.equals("y") && kind == Kind.FORWARD && has("codes");
  }

  /** Whether rows become codes, or codes rows, without a norm. */
  boolean isOfCodes() {
    return kind == Kind.QUANTIZE || kind == Kind.DEQUANTIZE;
  }

  /** Whether its mean and rstd are one argument. */
  boolean isOfStatistics() {
    return kind.compareTo(Kind.STATISTICS) >= 0 && !isOfCodes();
  }

  String base() {
    return kind == Kind.BACKWARD ? "what was kept" : "x";
  }

  void on(OperandMemory m) {
    Norm norm = (has("z") ? GATED : NORM).withParameters(m.rows("gain"), m.rows("bias"));
    switch (kind) {
      case FORWARD -> forward(norm, m, m.rows("x"), m.rows("y"));
      case FORWARD_OF_ARRAYS -> ofArrays(m);
      case PAIR -> pair(norm, m, m.rows("x"), m.rows("residual"), m.rows("y"));
      case BACKWARD -> backward(norm, m, m.rows("dy"), m.rows("dx"), m.gradients());
      case STATISTICS -> norm.statistics(m.rows("x"), m.statistics(""));
      case SUMS -> OF_GROUPS.sums(m.rows("x"), m.numbers("sums"));
      case STATISTICS_OF_SUMS ->
          OF_GROUPS.statistics(m.numbers("sums"), OperandMemory.WIDTH, m.statistics(""));
      case FORWARD_OF_STATISTICS -> norm.apply(m.rows("x"), m.statistics("given "), m.rows("y"));
      case QUANTIZE -> Quantizer.defaults().quantize(m.rows("x"), m.codes());
      case DEQUANTIZE -> m.codes().dequantize(m.rows("y"));
    }
  }

  private void forward(Norm norm, OperandMemory m, Rows x, Rows y) {
    if (has("codes")) {
      if (has("z")) {
        norm.applyGated(x, m.rows("z"), y, m.codes());
      } else if (has("residual")) {
        norm.addAndApply(x, m.rows("residual"), y, m.codes());
      } else {
        norm.apply(x, y, m.codes());
      }
    } else if (keep != null) {
      keep(norm, m, x, m.rows("residual"), y);
    } else if (has("z")) {
      norm.applyGated(x, m.rows("z"), y);
    } else if (has("residual")) {
      norm.addAndApply(x, m.rows("residual"), y);
    } else if (has("rstd")) {
      ((LayerNorm) norm).apply(x, y, m.numbers("mean"), m.numbers("rstd"));
    } else {
      norm.apply(x, y);
    }
  }

  private void keep(Norm norm, OperandMemory m, Rows x, Rows residual, Rows y) {
    if (has("z")) {
      norm.applyGated(x, m.rows("z"), y, m.saved);
    } else if (has("residual") || has("dresidual")) {
      norm.addAndApply(x, residual, y, m.saved);
    } else {
      norm.apply(x, y, m.saved);
    }
  }

  private void ofArrays(OperandMemory m) {
    float[] x = m.floats("x");
    float[] y = m.floats("y");
    int xs = m.offset("x");
    int ys = m.offset("y");
    if (has("residual")) {
      NORM.addAndApply(x, xs, m.floats("residual"), m.offset("residual"), y, ys, 1);
    } else if (has("gain")) {
      NORM.apply(x, xs, m.floats("gain"), m.offset("gain"), y, ys, 1);
    } else {
      NORM.apply(x, xs, y, ys, 1);
    }
  }

  private void pair(Norm norm, OperandMemory m, Rows x, Rows residual, Rows y) {
    Norm next = NORM.withParameters(m.rows("gain of next"), m.rows("bias of next"));
    if (keep == null) {
      norm.applyAndAdd(x, residual, next, y);
    } else {
      norm.applyAndAdd(x, residual, next, y, m.saved, m.savedOfNext);
    }
  }

  private void backward(Norm norm, OperandMemory m, Rows dy, Rows dx, ParameterGradients to) {
    if (has("z")) {
      norm.backwardGated(dy, m.saved, dx, m.rows("dz"), to);
    } else if (has("dresidual")) {
      norm.backward(dy, m.saved, m.rows("dresidual"), dx, to);
    } else {
      norm.backward(dy, m.saved, dx, to);
    }
  }

  /** The call before it, so that something is kept. */
  void prepare(OperandMemory m) {
    if (kind == Kind.BACKWARD) {
      Norm norm = (has("z") ? GATED : NORM).withParameters(m.rows("gain"), m.rows("bias"));
      Rows kept = m.rows("what was kept");
      boolean isInput = keep != Keep.OUTPUT;
      boolean isSum = isInput && has("dresidual");
      Rows x = isInput && !isSum ? kept : m.others();
      keep(norm, m, x, isSum ? kept : m.others(), isInput ? m.others() : kept);
      m.put("the kept mean", m.saved.mean());
      m.put("the kept rstd", m.saved.rstd());
    } else if (keep != null) {
      on(m.before(operands.stream().filter(name -> !isOfLibrary(name)).toList()));
      m.put("mean", m.saved.mean());
      m.put("rstd", m.saved.rstd());
      m.put("mean of next", m.savedOfNext.mean());
      m.put("rstd of next", m.savedOfNext.rstd());
    }
  }
}
