package io.github.rmsnorm4j.cuda.check;

import static io.github.rmsnorm4j.cuda.check.Trait.APART;
import static io.github.rmsnorm4j.cuda.check.Trait.OUT_OF_RANGE;
import static io.github.rmsnorm4j.cuda.check.Trait.RESIDUAL;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.RowGroups;
import java.util.ArrayList;
import java.util.List;

/** Calls that together need every kind of kernel that writes codes. */
final class QuantizedCalls {
  /** Rows that a warp does alone, and rows that a block of threads shares. */
  private static final int[] WIDTHS = {128, 1152};

  private static final int FEW = 3;
  private static final int OF_ALL_SIZES = 8;

  private static final List<QuantizedType> TYPES =
      List.of(
          QuantizedType.int8(32),
          QuantizedType.int8(128),
          QuantizedType.int8PerRow(),
          QuantizedType.e4m3(128),
          QuantizedType.e4m3PerRow(),
          QuantizedType.e4m3Given(),
          QuantizedType.e5m2(64),
          QuantizedType.e5m2PerRow(),
          QuantizedType.e5m2Given());

  /** Of int8 codes; FP8 codes are the same by the last two as by the first. */
  private static final List<Quantizer> RULES =
      List.of(Quantizer.defaults(), Quantizer.vllm(), Quantizer.ggmlReference(), Quantizer.jlama());

  private QuantizedCalls() {}

  /** All of them, each with a name of its own. */
  static List<QuantizedCall> all() {
    List<QuantizedCall> calls = new ArrayList<>();
    for (ElementType rows : ElementType.values()) {
      for (QuantizedType type : TYPES) {
        for (int width : WIDTHS) {
          NormCall call = NormCall.of(NormSpec.RMSNORM, rows, FEW, width);
          boolean int8 = type.toString().startsWith("int8");
          for (Quantizer rule : RULES.subList(0, int8 ? 4 : 2)) {
            calls.add(new QuantizedCall(call, type, rule, false));
          }
          calls.add(of(call.with(APART), type, true));
          NormSpec exact = NormSpec.RMSNORM.withEpsilon(0);
          calls.add(of(NormCall.of(exact, rows, OF_ALL_SIZES, width, OUT_OF_RANGE), type, true));
          calls.add(of(call.with(NormSpec.LAYERNORM), type, true));
          calls.add(of(call.with(NormSpec.L2), type, false));
          calls.add(of(call.with(RESIDUAL), type, false));
          calls.add(of(call.with(NormSpec.RMSNORM.withGate(Gate.SILU)), type, false));
          calls.add(of(call.with(NormSpec.RMSNORM.withGroups(RowGroups.ofCount(4))), type, false));
        }
      }
    }
    return List.copyOf(calls);
  }

  private static QuantizedCall of(NormCall call, QuantizedType type, boolean withOutput) {
    return new QuantizedCall(call, type, Quantizer.defaults(), withOutput);
  }
}
