package io.github.rmsnorm4j;

import io.github.rmsnorm4j.internal.device.NormParts;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** NormParts finds it by its name, because programs without a GPU do not need it. */
final class NormPartsReader implements Function<Object, NormParts> {
  static {
    NormParts.readBy(new NormPartsReader());
  }

  private NormPartsReader() {}

  @Override
  public NormParts apply(Object norm) {
    Norm of = (Norm) norm;
    if (of.source() != of) {
      throw new IllegalArgumentException(
          "norm is "
              + of
              + ", for a device its gain and bias must be its own: call withParameters there");
    }
    return new NormParts(
        of.choices(ElementType.FLOAT64),
        of.choices(ElementType.FLOAT32),
        of.groups,
        column(of.gain),
        column(of.bias),
        of.quantizer().rule(),
        of.quantizer().roundsOutput(),
        new NormRowChecks(of));
  }

  private static NormParts.@Nullable Column column(@Nullable Parameter parameter) {
    return parameter == null
        ? null
        : new NormParts.Column(
            parameter.type(), (double[]) parameter.values(true), (float[]) parameter.values(false));
  }
}
