package io.github.rmsnorm4j.benchmarks.peers;

import static io.github.rmsnorm4j.ElementType.BFLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT16;
import static io.github.rmsnorm4j.ElementType.FLOAT32;
import static io.github.rmsnorm4j.ElementType.FLOAT64;
import static io.github.rmsnorm4j.benchmarks.Kernel.LAYER_NORM;
import static io.github.rmsnorm4j.benchmarks.Kernel.RMS_NORM;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.Kernel;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The contests of a run. */
public final class Contests {
  /** Rows of about 2 MiB in all. */
  private static final int SWEPT = 1 << 19;

  private static final int NARROWEST = 64;
  private static final int WIDEST = 65_536;

  private Contests() {}

  /**
   * {@return four shapes, forward and backward, other types of one or two, and widths swept; each
   * once}
   */
  public static List<Contest> all() {
    Stream<Contest> float32 =
        Stream.of(Kernel.values())
            .flatMap(kernel -> Stream.concat(shapes(kernel), backward(kernel)));
    Stream<Contest> otherTypes =
        Stream.of(BFLOAT16, FLOAT16, FLOAT64)
            .flatMap(
                type ->
                    Stream.of(
                            Contest.forward(RMS_NORM, 128, 4096),
                            Contest.forward(RMS_NORM, 8192, 4096),
                            Contest.forward(LAYER_NORM, 128, 4096))
                        .map(contest -> contest.with(type)));
    Stream<Contest> narrowBackward =
        Stream.of(BFLOAT16, FLOAT16)
            .flatMap(
                type ->
                    Stream.of(Kernel.values())
                        .map(kernel -> Contest.backward(kernel, 128, 4096).with(type)));
    return Stream.of(float32, otherTypes, narrowBackward, sweep())
        .flatMap(s -> s)
        .distinct()
        .toList();
  }

  /**
   * {@return where this library meets the plain loop of a port, in a JVM of each {@link Start}:
   * forward in every type, backward in float32}
   */
  public static List<Contest> loops() {
    Stream<Contest> forward =
        Stream.of(Kernel.values())
            .flatMap(
                kernel ->
                    Stream.of(FLOAT32, BFLOAT16, FLOAT16, FLOAT64)
                        .flatMap(type -> loopShapes(kernel).map(c -> c.with(type))));
    Stream<Contest> backward =
        loopShapes(RMS_NORM).map(c -> Contest.backward(RMS_NORM, c.rows(), c.width()));
    return Stream.concat(forward, backward).toList();
  }

  /** {@return where variants meet the plain norm, in a JVM of each {@link KernelKind}} */
  public static List<Contest> variants() {
    return Comparison.all().stream().flatMap(c -> c.contests().stream()).distinct().toList();
  }

  private static Stream<Contest> loopShapes(Kernel kernel) {
    return Stream.of(
        Contest.forward(kernel, 1, 64),
        Contest.forward(kernel, 1, 4096),
        Contest.forward(kernel, 128, 4096),
        Contest.forward(kernel, 4096, 64));
  }

  /** One token, a prompt, a batch beyond the caches, and head norms. */
  static Stream<Contest> shapes(Kernel kernel) {
    return Stream.of(
        Contest.forward(kernel, 1, 4096),
        Contest.forward(kernel, 128, 4096),
        Contest.forward(kernel, 8192, 4096),
        Contest.forward(kernel, 4096, 64));
  }

  static Stream<Contest> backward(Kernel kernel) {
    return shapes(kernel).map(c -> Contest.backward(kernel, c.rows(), c.width()));
  }

  private static Stream<Contest> sweep() {
    return IntStream.iterate(NARROWEST, width -> width <= WIDEST, width -> width * 4)
        .mapToObj(width -> Contest.forward(RMS_NORM, SWEPT / width, width));
  }

  /**
   * {@return whether a quick run has it: it is small, and of float32}
   *
   * @param contest any
   */
  public static boolean isQuick(Contest contest) {
    return contest.type() == FLOAT32 && contest.width() == 4096 && contest.rows() <= 128;
  }

  /** The tables that contests are shown in: a title each, and which contests belong to it. */
  static List<Group> groups() {
    return List.of(
        new Group("RMSNorm, float32", c -> isForward(c, RMS_NORM) && isShape(c)),
        new Group("LayerNorm, float32", c -> isForward(c, LAYER_NORM) && isShape(c)),
        backward(RMS_NORM, FLOAT32),
        backward(LAYER_NORM, FLOAT32),
        of(RMS_NORM, BFLOAT16),
        of(RMS_NORM, FLOAT16),
        of(RMS_NORM, FLOAT64),
        of(LAYER_NORM, BFLOAT16),
        of(LAYER_NORM, FLOAT16),
        of(LAYER_NORM, FLOAT64),
        backward(RMS_NORM, BFLOAT16),
        backward(RMS_NORM, FLOAT16),
        backward(LAYER_NORM, BFLOAT16),
        backward(LAYER_NORM, FLOAT16),
        new Group(
            "RMSNorm, float32, 2 MiB of rows, by width",
            c -> isForward(c, RMS_NORM) && c.elements() == SWEPT));
  }

  private static Group of(Kernel kernel, ElementType type) {
    return new Group(
        kernel + ", " + type, c -> !c.backward() && c.kernel() == kernel && c.type() == type);
  }

  private static Group backward(Kernel kernel, ElementType type) {
    return new Group(
        kernel + " backward, " + type,
        c -> c.backward() && c.kernel() == kernel && c.type() == type);
  }

  private static boolean isForward(Contest contest, Kernel kernel) {
    return contest.kernel() == kernel && !contest.backward() && contest.type() == FLOAT32;
  }

  private static boolean isShape(Contest contest) {
    return shapes(contest.kernel()).anyMatch(contest::equals);
  }

  /** Contests that share a table. */
  record Group(String title, Predicate<Contest> contests) {}
}
