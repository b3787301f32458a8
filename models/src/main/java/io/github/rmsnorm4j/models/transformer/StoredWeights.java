package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The weights of a model in a file that has them and no others. */
final class StoredWeights {
  final TensorFile file;
  final ModelConfig config;
  private final String prefix;

  /** Checks that the file has the tensors of the model, before any memory is taken. */
  StoredWeights(TensorFile file, ModelConfig config) throws FormatException {
    this.file = file;
    this.config = config;
    Naming naming = Naming.of(config.form());
    prefix = naming.prefix(file);
    Set<String> known = new HashSet<>();
    for (StoredTensor tensor : tensors(config.parameters())) {
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
  }

  /** The tensors that hold parameters of the model. */
  List<StoredTensor> tensors(List<Parameter> parameters) {
    return Naming.tensors(config, parameters, prefix);
  }

  /**
   * Reads neighbouring rows of an embedding or a head, which every file has in the model's order.
   *
   * @param name of the matrix in the model
   * @param into takes as many rows as it has room for
   */
  void readRows(TensorReader reader, String name, long firstRow, MemorySegment into)
      throws IOException {
    List<Integer> shape = List.of(1, config.width());
    Parameter row = new Parameter(name + ".weight", shape, 0, Parameter.Role.MATRIX);
    StoredTensor stored = tensors(List.of(row)).getFirst();
    long first = firstRow * config.width();
    reader.read(file.tensor(stored.name()), first, into.byteSize() / Float.BYTES, stored, into);
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
}
