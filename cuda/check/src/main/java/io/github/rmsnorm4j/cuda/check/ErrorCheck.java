package io.github.rmsnorm4j.cuda.check;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaStream;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Error;
import java.util.ArrayList;
import java.util.List;

/** Calls of real sizes, compared with the CPU and with a plain float64 definition. */
final class ErrorCheck {
  private final CudaDevice device;
  private final Progress progress;

  ErrorCheck(CudaDevice device, Progress progress) {
    this.device = device;
    this.progress = progress;
  }

  /**
   * A call of a real size.
   *
   * @param kind RMSNorm or LayerNorm
   * @param back whether the backward pass is made too
   */
  record Size(NormSpec.Kind kind, ElementType type, int rows, int width, boolean back) {
    /** For example {@code LayerNorm float32 8192 x 4096, backward}. */
    @Override
    public String toString() {
      String norm = kind == NormSpec.Kind.LAYER_NORM ? "LayerNorm" : "RMSNorm";
      return "%s %s %s x %s%s".formatted(norm, type, rows, width, back ? ", backward" : "");
    }
  }

  /**
   * The sizes.
   *
   * @param small whether an interpreter must do with them: few rows, none of them long
   */
  static List<Size> sizes(boolean small) {
    List<Size> sizes = new ArrayList<>();
    for (NormSpec.Kind kind : List.of(NormSpec.Kind.RMS_NORM, NormSpec.Kind.LAYER_NORM)) {
      for (ElementType type : List.of(FLOAT32, BFLOAT16)) {
        sizes.add(new Size(kind, type, small ? 9 : 131_072, 256, false));
        sizes.add(new Size(kind, type, small ? 2 : 8192, 4096, false));
        sizes.add(new Size(kind, type, small ? 2 : 8192, 4096, true));
        if (!small) {
          // In more than 48 KiB of shared memory, where a device has so much.
          sizes.add(new Size(kind, type, 2048, 16_384, false));
          sizes.add(new Size(kind, type, 2048, 16_384, true));
          sizes.add(new Size(kind, type, 512, 65_536, false));
        }
      }
      if (!small) {
        // So long that LayerNorm takes two passes.
        sizes.add(new Size(kind, FLOAT32, 32, (1 << 20) + 1, false));
      }
    }
    return List.copyOf(sizes);
  }

  List<Error> run(List<Size> sizes) {
    List<Error> errors = new ArrayList<>();
    try (CudaStream stream = device.stream()) {
      for (Size size : sizes) {
        progress.step("errors", errors.size() + 1, sizes.size(), size.toString());
        try (RealCall call = new RealCall(size)) {
          errors.add(call.run(device, stream));
        }
      }
    }
    return errors;
  }
}
