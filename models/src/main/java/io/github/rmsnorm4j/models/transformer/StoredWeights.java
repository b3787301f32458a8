package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The weights of a model in a file, in whatever floating type they are stored.
 *
 * @param prefix what the names in the file begin with
 */
record StoredWeights(TensorFile file, ModelConfig config, String prefix) {
  /** Elements that are read at a time. */
  private static final int PIECE = 1 << 16;

  /** Checks that the file has the tensors of the model and no others, before memory is taken. */
  static StoredWeights of(TensorFile file, ModelConfig config) throws FormatException {
    Naming naming = Naming.of(config.form());
    String prefix = naming.prefix(file);
    Set<String> known = new HashSet<>();
    for (StoredTensor tensor : Naming.tensors(config, config.parameters(), prefix)) {
      known.add(tensor.in(file).name());
    }
    if (config.tied()) { // Some files have a tied head a second time.
      known.add(naming.stored(ParameterLayout.HEAD + ".weight", prefix));
    }
    for (Tensor tensor : file.tensors()) {
      String name = tensor.name();
      // One that is passed over would be a part of the formula that is passed over.
      if (!known.contains(name) && naming.passedOver().stream().noneMatch(name::endsWith)) {
        throw new FormatException(
            file.path(), name, "is not of the model that config.json describes");
      }
    }
    return new StoredWeights(file, config, prefix);
  }

  /** Reads all of them. */
  Weights all() throws IOException {
    Weights weights = new Weights(config);
    try {
      weights.read(file, prefix);
      return weights;
    } catch (Throwable e) {
      weights.close();
      throw e;
    }
  }

  /** Reads parameters to their places in a model's memory, rounded to float32. */
  void read(List<Parameter> parameters, MatrixChange change, MemorySegment into)
      throws IOException {
    for (StoredTensor stored : Naming.tensors(config, parameters, prefix)) {
      Tensor tensor = stored.in(file);
      read(tensor, 0, tensor.elements(), stored, change, into);
    }
  }

  /**
   * Reads neighbouring rows of an embedding or a head, which every file has in the model's order.
   *
   * @param name of the matrix in the model
   * @param into takes as many rows as it has room for
   */
  void readRows(String name, long firstRow, MatrixChange change, MemorySegment into)
      throws IOException {
    Parameter row = new Parameter(name + ".weight", List.of(1, config.width()), 0);
    StoredTensor stored = Naming.tensors(config, List.of(row), prefix).getFirst();
    long count = into.byteSize() / Float.BYTES;
    read(file.tensor(stored.name()), firstRow * config.width(), count, stored, change, into);
  }

  private void read(
      Tensor tensor,
      long first,
      long count,
      StoredTensor stored,
      MatrixChange change,
      MemorySegment into)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment piece = arena.allocate(Math.min(PIECE, count) * Double.BYTES, Double.BYTES);
      for (long done = 0; done < count; done += PIECE) {
        float[] values = new float[(int) Math.min(PIECE, count - done)];
        file.read(tensor, first + done, values.length, piece);
        decode(tensor.dtype(), piece, values);
        change.change(tensor.name(), first + done, values);
        stored.put(done, values, into);
      }
    }
  }

  private static void decode(Dtype dtype, MemorySegment piece, float[] values) {
    if (dtype == Dtype.F32) {
      MemorySegment.copy(piece, ValueLayout.JAVA_FLOAT, 0, values, 0, values.length);
      return;
    }
    ElementType type = dtype.elementType().orElseThrow();
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) type.get(piece, i);
    }
  }
}
