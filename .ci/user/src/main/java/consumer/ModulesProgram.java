package consumer;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Writes a tensor to a file, prints what it reads from there, and says what a GPU lacks. */
final class ModulesProgram {
  private ModulesProgram() {}

  public static void main(String[] args) throws IOException {
    Path file = Path.of(args[0]);
    Tensor tensor = new Tensor("x", Dtype.F32, List.of(2L, 2L));
    try (Arena arena = Arena.ofConfined()) {
      try (TensorWriter writer = TensorWriter.create(file, List.of(tensor), Map.of(), true)) {
        writer.write(arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, 2, 3, 4));
        writer.commit();
      }
      MemorySegment read = arena.allocate(tensor.bytes());
      try (TensorFile opened = TensorFile.open(file)) {
        opened.read(opened.tensor("x"), 0, tensor.elements(), read);
      }
      System.out.println(Arrays.toString(read.toArray(ValueLayout.JAVA_FLOAT)));
    }
    System.out.println("GPU " + CudaDevice.missing().orElse("there"));
  }
}
