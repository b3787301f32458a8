package io.github.rmsnorm4j.cli.testing;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;

/**
 * A tensor with its elements, to be put in a file or found in one.
 *
 * @param tensor name, type and shape
 * @param bytes the elements as they are stored
 */
public record TestTensor(Tensor tensor, byte[] bytes) {
  /** A tensor of a type whose values are given as doubles. */
  public static TestTensor of(String name, Dtype dtype, double[] values, long... shape) {
    byte[] bytes = new byte[values.length * dtype.bits() / 8];
    MemorySegment segment = MemorySegment.ofArray(bytes);
    for (int i = 0; i < values.length; i++) {
      if (dtype == Dtype.I64) {
        segment.setAtIndex(JAVA_LONG_UNALIGNED, i, (long) values[i]);
      } else {
        dtype.elementType().orElseThrow().set(segment, i, values[i]);
      }
    }
    return new TestTensor(new Tensor(name, dtype, LongStream.of(shape).boxed().toList()), bytes);
  }

  /** Random normal values around a mean. */
  public static TestTensor random(String name, Dtype dtype, double mean, long seed, long... shape) {
    Random random = new Random(seed);
    int count = (int) LongStream.of(shape).reduce(1, Math::multiplyExact);
    double[] values = new double[count];
    Arrays.setAll(values, i -> mean + random.nextGaussian());
    return of(name, dtype, values, shape);
  }

  public static Path write(Path path, Map<String, String> metadata, TestTensor... tensors)
      throws IOException {
    List<Tensor> header = Arrays.stream(tensors).map(TestTensor::tensor).toList();
    try (TensorWriter writer = TensorWriter.create(path, header, metadata, true)) {
      for (Tensor next : writer.order()) {
        for (TestTensor tensor : tensors) {
          if (tensor.tensor().equals(next)) {
            writer.write(MemorySegment.ofArray(tensor.bytes()));
          }
        }
      }
      writer.commit();
    }
    return path;
  }

  public static Path write(Path path, TestTensor... tensors) throws IOException {
    return write(path, Map.of(), tensors);
  }

  /** The tensor of a name in a file, or a {@code .npy} file's only one. */
  public static TestTensor read(Path path, String name) throws IOException {
    try (TensorFile file = TensorFile.open(path)) {
      Tensor tensor = file.tensor(name);
      byte[] bytes = new byte[Math.toIntExact(tensor.bytes())];
      if (tensor.dtype().elementType().isPresent()) {
        file.read(tensor, 0, tensor.elements(), MemorySegment.ofArray(bytes));
      } else {
        file.readBytes(tensor, 0, MemorySegment.ofArray(bytes));
      }
      return new TestTensor(tensor, bytes);
    }
  }

  public static TestTensor read(Path npy) throws IOException {
    return read(npy, "");
  }

  /** The same with bytes of its own. */
  public TestTensor copy() {
    return new TestTensor(tensor, bytes.clone());
  }

  /** Its elements, to be read and written where they are. */
  public Rows rows(int width) {
    ElementType type = tensor.dtype().elementType().orElseThrow();
    return Rows.of(MemorySegment.ofArray(bytes), type, tensor.elements() / width, width);
  }

  public double[] values() {
    MemorySegment segment = MemorySegment.ofArray(bytes);
    double[] values = new double[Math.toIntExact(tensor.elements())];
    ElementType type = tensor.dtype().elementType().orElseThrow();
    Arrays.setAll(values, i -> type.get(segment, i));
    return values;
  }
}
