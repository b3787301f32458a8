package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;

/**
 * libtorch: its own operators, which allocate what they return, and the published formula of
 * RMSNorm as Python code runs it, one operation after the other.
 */
final class Libtorch {
  private static final long[] LAST_AXIS = {-1};

  private final Place place;
  private final long[] normalised;
  private final Tensor x;
  private final TensorOptional gain;
  private final TensorOptional bias;
  private final Tensor weight;

  private Libtorch(Place place) {
    this.place = place;
    ElementType type = place.contest.type();
    normalised = new long[] {place.contest.width()};
    x = rows(place.x);
    weight = tensor(place.parameter(place.gain, type), type, place.contest.width());
    gain = new TensorOptional(weight);
    bias =
        place.bias == null
            ? new TensorOptional()
            : new TensorOptional(
                tensor(place.parameter(place.bias, type), type, place.contest.width()));
  }

  /** For libtorch and, since they share one OpenMP, for oneDNN. */
  static void setThreads(int threads) {
    torch.set_num_threads(threads);
  }

  static List<Entrant> entrants(Contest contest) {
    Kernel kernel = contest.kernel();
    boolean layerNorm = kernel == Kernel.LAYER_NORM;
    if (contest.backward()) {
      String operator = layerNorm ? Systems.LIBTORCH_LAYER_NORM : Systems.LIBTORCH_RMS_NORM;
      return List.of(entrant(operator, kernel, Libtorch::backward));
    }
    return layerNorm
        ? List.of(
            entrant(Systems.LIBTORCH_LAYER_NORM, kernel, norm -> norm.turn(norm::layerNorm)),
            entrant(Systems.LIBTORCH_LAYER_NORM_OUT, kernel, Libtorch::layerNormOut))
        : List.of(
            entrant(Systems.LIBTORCH_RMS_NORM, kernel, norm -> norm.turn(norm::rmsNorm)),
            entrant(Systems.FORMULA, kernel, norm -> norm.turn(norm::formula)),
            entrant(Systems.FORMULA_OUT, kernel, Libtorch::formulaOut));
  }

  private static Entrant entrant(String name, Kernel kernel, Function<Libtorch, Turn> ready) {
    return new Entrant(
        name,
        kernel,
        (place, threads) -> {
          setThreads(threads);
          return ready.apply(new Libtorch(place));
        });
  }

  private Tensor rmsNorm() {
    return torch.rms_norm(x, normalised, gain, new DoubleOptional(place.epsilon));
  }

  private Tensor layerNorm() {
    return torch.layer_norm(x, normalised, gain, bias, place.epsilon, false);
  }

  /** Widened to float32 first where the type is narrower, and narrowed before the gain. */
  private Tensor formula() {
    ElementType type = place.contest.type();
    boolean narrow = type.bytes() == 2;
    Tensor wide = narrow ? x.to(ScalarType.Float) : x;
    Tensor variance = wide.pow(new Scalar(2.0)).mean(LAST_AXIS, true, new ScalarTypeOptional());
    Tensor hidden = wide.mul(variance.add(new Scalar(place.epsilon)).rsqrt());
    return weight.mul(narrow ? hidden.to(scalarType(type)) : hidden);
  }

  /** An operation that returns a tensor of its own. */
  private Turn turn(Supplier<Tensor> operation) {
    return turn(operation, y -> rows(place.y).copy_(y));
  }

  /** What an operation makes is freed after each call. */
  private static <T> Turn turn(Supplier<T> operation, Consumer<T> collect) {
    return new Turn() {
      @Override
      public void run() {
        try (PointerScope _ = new PointerScope()) {
          operation.get();
        }
      }

      @Override
      public void collect() {
        try (PointerScope _ = new PointerScope()) {
          collect.accept(operation.get());
        }
      }
    };
  }

  private Turn layerNormOut() {
    Tensor y = rows(place.y);
    Tensor mean = torch.mean(x, LAST_AXIS, true, new ScalarTypeOptional());
    Tensor rstd = torch.mean(x, LAST_AXIS, true, new ScalarTypeOptional());
    return turn(
        () -> torch.native_layer_norm_out(y, mean, rstd, x, normalised, gain, bias, place.epsilon),
        _ -> {});
  }

  /** The formula's operations with their results in memory that is there already. */
  private Turn formulaOut() {
    Tensor y = rows(place.y);
    Tensor statistic = torch.mean(x, LAST_AXIS, true, new ScalarTypeOptional());
    Scalar two = new Scalar(2.0);
    Scalar epsilon = new Scalar(place.epsilon);
    return turn(
        () -> {
          torch.pow_out(y, x, two);
          torch.mean_out(statistic, y, LAST_AXIS, true, new ScalarTypeOptional());
          statistic.add_(epsilon).rsqrt_();
          torch.mul_out(y, x, statistic);
          return torch.mul_out(y, y, weight);
        },
        _ -> {});
  }

  /** Automatic differentiation: the forward pass and its graph are made once. */
  private Turn backward() {
    Tensor input = x.set_requires_grad(true);
    weight.set_requires_grad(true);
    TensorVector inputs = new TensorVector(input, weight);
    if (place.bias != null) {
      inputs.push_back(bias.get().set_requires_grad(true));
    }
    TensorVector output = new TensorVector(place.bias == null ? rmsNorm() : layerNorm());
    TensorVector slopes = new TensorVector(rows(place.dy));
    return turn(
        () -> torch.grad(output, inputs, slopes, new BoolOptional(true), false, false),
        gradients -> {
          rows(place.dx).copy_(gradients.get(0));
          int width = place.contest.width();
          tensor(place.dgain, ElementType.FLOAT32, width).copy_(gradients.get(1));
          if (place.bias != null) {
            tensor(place.dbias, ElementType.FLOAT32, width).copy_(gradients.get(2));
          }
        });
  }

  private Tensor rows(MemorySegment segment) {
    Contest contest = place.contest;
    return tensor(segment, contest.type(), contest.rows(), contest.width());
  }

  /** A tensor over memory of ours. */
  private static Tensor tensor(MemorySegment segment, ElementType type, long... shape) {
    return torch.from_blob(
        new Pointer(segment.asByteBuffer()), shape, new TensorOptions(scalarType(type)));
  }

  private static ScalarType scalarType(ElementType type) {
    return switch (type) {
      case FLOAT64 -> ScalarType.Double;
      case FLOAT32 -> ScalarType.Float;
      case FLOAT16 -> ScalarType.Half;
      case BFLOAT16 -> ScalarType.BFloat16;
    };
  }
}
