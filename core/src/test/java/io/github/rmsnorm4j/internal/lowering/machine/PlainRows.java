package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.kernel.Frame;
import io.github.rmsnorm4j.internal.kernel.PlainKernel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Stages of any description, drawn rows for them, and what plain Java makes of these. */
final class PlainRows {
  private static final double EPSILON = 1e-5;

  private PlainRows() {}

  /** Draws rows and columns of some stages. The last row has NaN, but not in x. */
  static Given drawn(List<Stage> stages, int rows, int width, DrawnElements drawn) {
    Given given = new Given(rows, width, EPSILON);
    Map<Tensor, byte[]> parameters = DrawnElements.ofType(drawn.parameters(width), type(stages));
    tensors(stages)
        .forEach(
            (tensor, type) -> {
              if (tensor.access() == Tensor.Access.ELEMENT) {
                byte[] elements = drawn.of(type, rows * width);
                for (int i = 0; i < width && !tensor.equals(Forward.X); i++) {
                  if (DrawnElements.isNan(i, width)) {
                    DrawnElements.set(elements, type, (rows - 1) * width + i, Float.NaN);
                  }
                }
                given.operands().put(tensor, elements);
              } else {
                byte[] zeros = new byte[width * type.bytes()];
                given.columns().put(tensor, parameters.getOrDefault(tensor, zeros));
              }
            });
    return given;
  }

  /** The rows and columns of some stages. */
  static Map<Tensor, ElementType> tensors(List<Stage> stages) {
    Map<Tensor, ElementType> tensors = new TreeMap<>();
    stages.forEach(stage -> tensors.putAll(stage.tensors()));
    return tensors;
  }

  /** The type of arithmetic. */
  private static ElementType type(List<Stage> stages) {
    boolean float64 = tensors(stages).containsValue(ElementType.FLOAT64);
    return float64 ? ElementType.FLOAT64 : ElementType.FLOAT32;
  }

  /** The same after all stages. */
  static Given after(List<Stage> stages, Given given) {
    Given after = new Given(given.rows(), given.width(), given.epsilon());
    Map<Tensor, MemorySegment> rows = new TreeMap<>();
    Frame frame = new Frame();
    frame.set(Forward.K, given.width());
    frame.set(Forward.EPSILON, given.epsilon());
    given.columns().forEach((c, bytes) -> frame.point(c, Given.array(bytes, type(stages))));
    try (Arena arena = Arena.ofConfined()) {
      given
          .operands()
          .forEach(
              (operand, bytes) -> {
                MemorySegment segment = arena.allocate(bytes.length, Double.BYTES);
                segment.copyFrom(MemorySegment.ofArray(bytes));
                frame.place(operand, null, segment.address(), bytes.length / given.rows());
                rows.put(operand, segment);
              });
      stages.forEach(stage -> new PlainKernel(stage, 0).run(frame, given.rows(), 0, given.width()));
      rows.forEach(
          (operand, segment) ->
              after.operands().put(operand, segment.toArray(ValueLayout.JAVA_BYTE)));
    }
    given.columns().keySet().forEach(c -> after.columns().put(c, bytes(frame.base[c.slot()])));
    sums(stages).forEach(number -> after.numbers().put(number, frame.of(number)));
    return after;
  }

  /** The row sums of some stages. */
  static List<Tensor> sums(List<Stage> stages) {
    return stages.stream().flatMap(stage -> stage.sums().stream()).map(Stage.Sum::number).toList();
  }

  private static byte[] bytes(Object numbers) {
    return numbers instanceof double[] doubles
        ? MemorySegment.ofArray(doubles).toArray(ValueLayout.JAVA_BYTE)
        : MemorySegment.ofArray((float[]) numbers).toArray(ValueLayout.JAVA_BYTE);
  }
}
