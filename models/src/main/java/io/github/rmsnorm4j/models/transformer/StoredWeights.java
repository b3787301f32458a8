package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The weights of a model in a file that has them and no others. */
final class StoredWeights {
  final TensorFile file;
  final ModelConfig config;
  private final Naming naming;
  private final String prefix;

  /** Checks that the file has the tensors of the model. */
  StoredWeights(TensorFile file, StoredConfig stored) throws FormatException {
    this.file = file;
    config = stored.model();
    naming = stored.naming();
    prefix = naming.prefix(file);
    List<StoredTensor> tensors = tensors(config.parameters());
    TensorReader.check(file, tensors);
    naming.requireNoOthers(file, tensors, config);
  }

  /** The tensors that hold parameters of the model. */
  List<StoredTensor> tensors(List<Parameter> parameters) {
    return naming.tensors(config.headWidth(), parameters, prefix);
  }

  /**
   * Reads neighbouring rows of an embedding or a head, which every file has in the model's order.
   *
   * @param name of the matrix in the model
   * @param into takes as many rows as it has room for
   */
  void readRows(TensorReader reader, String name, long firstRow, MemorySegment into)
      throws IOException {
    Parameter row =
        new Parameter(name + ".weight", List.of(1, config.width()), 0, Parameter.Role.MATRIX);
    Tensor tensor = file.tensor(tensors(List.of(row)).getFirst().name());
    long first = firstRow * config.width();
    reader.read(tensor, first, into.byteSize() / Float.BYTES, TensorReader.copyTo(into));
  }

  /** Reads all of them. */
  Weights all() throws IOException {
    Weights weights = new Weights(config);
    try {
      TensorReader reader = new TensorReader(file, MatrixChange.NONE);
      reader.read(tensors(weights.parameters()), weights.values());
      return weights;
    } catch (Throwable e) {
      weights.close();
      throw e;
    }
  }
}
