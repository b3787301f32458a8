package io.github.rmsnorm4j.peers;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;

/** ONNX Runtime: models of a norm, run from and to our own memory. It has no gradients. */
final class OnnxRuntime {
  private OnnxRuntime() {}

  static List<Entrant> entrants(Contest contest) {
    if (contest.backward() || contest.type() == ElementType.BFLOAT16) {
      return List.of();
    }
    Kernel kernel = contest.kernel();
    return kernel == Kernel.LAYER_NORM
        ? List.of(entrant(kernel, "LayerNormalization", 17))
        : List.of(
            entrant(kernel, "SimplifiedLayerNormalization", 17),
            entrant(kernel, "RMSNormalization", 23));
  }

  private static Entrant entrant(Kernel kernel, String operator, int opset) {
    return new Entrant(
        Systems.ONNX_RUNTIME + operator,
        kernel,
        (place, threads) -> ready(operator, opset, place, threads));
  }

  private static Turn ready(String operator, int opset, Place place, int threads) {
    try {
      OnnxTensor y = tensor(environment(), place, place.y);
      return session(operator, opset, place, threads, Map.of("Y", y), false);
    } catch (OrtException e) {
      throw new UnsupportedOperationException(e.getMessage(), e);
    }
  }

  static Turn session(
      String operator,
      int opset,
      Place place,
      int threads,
      Map<String, OnnxTensor> outputs,
      boolean quantized)
      throws OrtException {
    Contest contest = place.contest;
    byte[] model =
        OnnxModel.of(
            operator,
            opset,
            elementType(contest.type()),
            contest.rows(),
            contest.width(),
            (float) place.epsilon,
            parameter(place, place.gain),
            place.bias == null ? null : parameter(place, place.bias),
            quantized);
    OrtEnvironment environment = environment();
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.setIntraOpNumThreads(threads);
      options.setInterOpNumThreads(1);
      return new Session(
          environment.createSession(model, options),
          Map.of("X", tensor(environment, place, place.x)),
          outputs);
    }
  }

  /** Its warnings about models of its own older operators are no news. */
  static OrtEnvironment environment() {
    return Loaded.ENVIRONMENT;
  }

  /** Loaded when it is first needed, since on some machines it does not load. */
  private static final class Loaded {
    static final OrtEnvironment ENVIRONMENT =
        OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_ERROR, "peers");
  }

  private static byte[] parameter(Place place, double[] values) {
    return place.parameter(values, place.contest.type()).toArray(JAVA_BYTE);
  }

  /** A tensor over rows of ours. */
  private static OnnxTensor tensor(OrtEnvironment environment, Place place, MemorySegment rows)
      throws OrtException {
    Contest contest = place.contest;
    long[] shape = {contest.rows(), contest.width()};
    return tensor(environment, rows, shape, javaType(contest.type()));
  }

  /** A tensor over memory of ours. */
  static OnnxTensor tensor(
      OrtEnvironment environment, MemorySegment segment, long[] shape, OnnxJavaType type)
      throws OrtException {
    return OnnxTensor.createTensor(
        environment, segment.asByteBuffer().order(ByteOrder.nativeOrder()), shape, type);
  }

  /** As onnx.proto numbers them. */
  private static int elementType(ElementType type) {
    return switch (type) {
      case FLOAT32 -> 1;
      case FLOAT16 -> 10;
      case FLOAT64 -> 11;
      case BFLOAT16 -> 16;
    };
  }

  private static OnnxJavaType javaType(ElementType type) {
    return switch (type) {
      case FLOAT32 -> OnnxJavaType.FLOAT;
      case FLOAT16 -> OnnxJavaType.FLOAT16;
      case FLOAT64 -> OnnxJavaType.DOUBLE;
      case BFLOAT16 -> OnnxJavaType.BFLOAT16;
    };
  }

  /**
   * A model with what it reads and writes bound to it, so that no call allocates or copies rows.
   */
  private record Session(
      OrtSession session, Map<String, OnnxTensor> inputs, Map<String, OnnxTensor> outputs)
      implements Turn {
    @Override
    public void run() {
      // The result is the output that was handed in, so it stays open.
      try {
        session.run(inputs, outputs);
      } catch (OrtException e) {
        throw new IllegalStateException("ONNX Runtime: " + e.getMessage(), e);
      }
    }

    @Override
    public void close() {
      inputs.values().forEach(OnnxTensor::close);
      outputs.values().forEach(OnnxTensor::close);
      try {
        session.close();
      } catch (OrtException e) {
        throw new IllegalStateException("ONNX Runtime: " + e.getMessage(), e);
      }
    }
  }
}
