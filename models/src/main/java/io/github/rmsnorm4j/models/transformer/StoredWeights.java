package io.github.rmsnorm4j.models.transformer;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The weights of a model in a file, in whatever floating type they are stored.
 *
 * @param prefix what the names in the file begin with, but for that of the head
 */
record StoredWeights(TensorFile file, ModelConfig config, String prefix) {
  /** Elements that are read at a time. */
  private static final int PIECE = 1 << 16;

  /** Checks that the file has the tensors of the model and no others, before memory is taken. */
  static StoredWeights of(TensorFile file, ModelConfig config) throws FormatException {
    Naming naming = config.form().naming();
    StoredWeights weights = new StoredWeights(file, config, naming.prefix(file));
    Set<String> known = new HashSet<>();
    for (StoredTensor tensor : weights.tensors(config.parameters())) {
      known.add(tensor.in(file).name());
    }
    if (config.tied()) { // Some files have a tied head a second time.
      known.add(weights.name(ParameterLayout.row(config, ParameterLayout.HEAD)));
    }
    for (Tensor tensor : file.tensors()) {
      boolean passedOver = tensor.elements() == 0 || naming.passesOver(tensor.name());
      // Another that is passed over would be a part of the formula that is passed over.
      if (!passedOver && !known.contains(tensor.name())) {
        throw new FormatException(
            file.path(), tensor.name(), "is not of the model that config.json describes");
      }
    }
    return weights;
  }

  /** The tensors that hold parameters, which are in the model's order. */
  private List<StoredTensor> tensors(List<Parameter> parameters) {
    Map<String, List<Parameter>> stored =
        parameters.stream().collect(groupingBy(this::name, LinkedHashMap::new, toList()));
    return stored.entrySet().stream().map(e -> tensor(e.getKey(), e.getValue())).toList();
  }

  private String name(Parameter parameter) {
    boolean bare = parameter.name().startsWith(ParameterLayout.HEAD) && naming() != Naming.LLAMA;
    return (bare ? "" : prefix) + parameter.stored();
  }

  private StoredTensor tensor(String name, List<Parameter> parts) {
    Parameter first = parts.getFirst();
    boolean headByHead = naming() == Naming.GPT_NEOX && parts.size() > 1;
    boolean inBlock = first.isMatrix() && first.name().contains(".layers.");
    int run = headByHead ? config.headWidth() : first.shape().getFirst();
    return new StoredTensor(name, parts, run, inBlock && naming() == Naming.GPT2);
  }

  private Naming naming() {
    return config.form().naming();
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
    for (StoredTensor stored : tensors(parameters)) {
      Tensor tensor = stored.in(file);
      read(tensor, 0, tensor.elements(), stored, change, into);
    }
  }

  /**
   * Reads neighboring rows of an embedding or a head, which every file has in the model's order.
   *
   * @param name of the matrix in the model
   * @param into takes as many rows as it has room for
   */
  void readRows(String name, long firstRow, MatrixChange change, MemorySegment into)
      throws IOException {
    Parameter row = ParameterLayout.row(config, name);
    StoredTensor stored = tensor(name(row), List.of(row));
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
