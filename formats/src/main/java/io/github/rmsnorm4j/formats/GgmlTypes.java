package io.github.rmsnorm4j.formats;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Optional;

/** The numbers of the types of tensors in GGUF. Those that are missing were given up. */
final class GgmlTypes {
  private static final Map<Integer, Dtype> BY_NUMBER =
      Map.ofEntries(
          entry(0, Dtype.F32),
          entry(1, Dtype.F16),
          entry(2, Dtype.Q4_0),
          entry(3, Dtype.Q4_1),
          entry(6, Dtype.Q5_0),
          entry(7, Dtype.Q5_1),
          entry(8, Dtype.Q8_0),
          entry(9, Dtype.Q8_1),
          entry(10, Dtype.Q2_K),
          entry(11, Dtype.Q3_K),
          entry(12, Dtype.Q4_K),
          entry(13, Dtype.Q5_K),
          entry(14, Dtype.Q6_K),
          entry(15, Dtype.Q8_K),
          entry(16, Dtype.IQ2_XXS),
          entry(17, Dtype.IQ2_XS),
          entry(18, Dtype.IQ3_XXS),
          entry(19, Dtype.IQ1_S),
          entry(20, Dtype.IQ4_NL),
          entry(21, Dtype.IQ3_S),
          entry(22, Dtype.IQ2_S),
          entry(23, Dtype.IQ4_XS),
          entry(24, Dtype.I8),
          entry(25, Dtype.I16),
          entry(26, Dtype.I32),
          entry(27, Dtype.I64),
          entry(28, Dtype.F64),
          entry(29, Dtype.IQ1_M),
          entry(30, Dtype.BF16),
          entry(34, Dtype.TQ1_0),
          entry(35, Dtype.TQ2_0),
          entry(39, Dtype.MXFP4),
          entry(40, Dtype.NVFP4),
          entry(41, Dtype.Q1_0),
          entry(42, Dtype.Q2_0));

  private GgmlTypes() {}

  static Optional<Dtype> of(int number) {
    return Optional.ofNullable(BY_NUMBER.get(number));
  }
}
