package io.github.rmsnorm4j.peers;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Variant;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * ONNX Runtime: a norm of float32 rows in native memory whose output is quantised in the same
 * graph. No operator of it finds scales of blocks: there is one scale for all rows.
 */
final class OnnxQuantized {
  /**
   * How far off an element may be, as a share of the largest of its row: a code, of 255 for all
   * numbers of all rows from the least to the largest. Largest elements of rows differ by less than
   * a tenth.
   */
  private static final double STEP = 1.1 * 2 / 255;

  private OnnxQuantized() {}

  static Entrant entrant(Contest contest) {
    Definition definition = Definition.of(contest.kernel()).quantised(STEP);
    return new Entrant(
        Variant.ONNX_RUNTIME.title(), contest.kernel(), definition, OnnxQuantized::ready);
  }

  private static Turn ready(Place place, int threads) {
    Contest contest = place.contest;
    MemorySegment codes = place.bytes(contest.elements());
    MemorySegment scale = place.bytes(Float.BYTES);
    MemorySegment zero = place.bytes(1);
    long[] rows = {contest.rows(), contest.width()};
    long[] one = {};
    try {
      OrtEnvironment environment = OnnxRuntime.environment();
      Map<String, OnnxTensor> outputs =
          Map.of(
              "Q", OnnxRuntime.tensor(environment, codes, rows, OnnxJavaType.UINT8),
              "S", OnnxRuntime.tensor(environment, scale, one, OnnxJavaType.FLOAT),
              "Z", OnnxRuntime.tensor(environment, zero, one, OnnxJavaType.UINT8));
      Turn session = OnnxRuntime.session("RMSNormalization", 23, place, threads, outputs, true);
      return new Turn() {
        @Override
        public void run() {
          session.run();
        }

        @Override
        public void collect() {
          float step = scale.get(JAVA_FLOAT, 0);
          int least = Byte.toUnsignedInt(zero.get(JAVA_BYTE, 0));
          for (long i = 0; i < contest.elements(); i++) {
            int code = Byte.toUnsignedInt(codes.get(JAVA_BYTE, i));
            place.y.setAtIndex(JAVA_FLOAT, i, (code - least) * step);
          }
        }

        @Override
        public void close() {
          session.close();
        }
      };
    } catch (OrtException e) {
      throw new UnsupportedOperationException(e.getMessage(), e);
    }
  }
}
