package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import java.io.IOException;
import java.util.List;

/**
 * The tensors of a model in a file, which may hold other sets: written as float32 in the model's
 * order, each under the name of its {@link Parameter} behind a prefix.
 *
 * @param config what the model is made of
 * @param prefix what the names begin with; may be empty
 */
public record TensorSet(ModelConfig config, String prefix) {
  /** {@return the tensors that a file is to have, in the order in which they are written} */
  public List<Tensor> tensors() {
    return config.parameters().stream().map(this::tensor).toList();
  }

  private Tensor tensor(Parameter parameter) {
    List<Long> shape = parameter.shape().stream().map(Integer::longValue).toList();
    return new Tensor(prefix + parameter.name(), Dtype.F32, shape);
  }

  /**
   * Writes the numbers of all of them.
   *
   * @param file at the first of these tensors
   * @param weights the numbers; of this config
   * @throws IllegalArgumentException if the weights are of another config
   * @throws IOException if they cannot be written
   */
  public void write(TensorWriter file, Weights weights) throws IOException {
    requireSame(weights);
    for (Parameter parameter : weights.parameters()) {
      file.write(weights.values(parameter));
    }
  }

  /**
   * Checks that a file has the tensors in their shapes, in a floating type.
   *
   * @param file an open file
   * @throws FormatException if it has not
   */
  public void check(TensorFile file) throws FormatException {
    for (StoredTensor tensor : stored(config.parameters())) {
      tensor.in(file);
    }
  }

  /**
   * Reads all of them, rounded to float32.
   *
   * @param file a file that was {@linkplain #check checked}
   * @param weights takes the numbers; of this config
   * @throws IllegalArgumentException if the weights are of another config; they are unchanged then
   * @throws IOException if the file cannot be read
   */
  public void read(TensorFile file, Weights weights) throws IOException {
    requireSame(weights);
    TensorReader reader = new TensorReader(file, MatrixChange.NONE);
    reader.read(stored(config.parameters()), weights.values());
  }

  /** Where a file has parameters: as those of its family have them. */
  List<StoredTensor> stored(List<Parameter> parameters) {
    return Naming.of(config.form()).tensors(config.headWidth(), parameters, prefix);
  }

  private void requireSame(Weights weights) {
    if (!weights.config().equals(config)) {
      throw new IllegalArgumentException(
          "the weights are of %s, they must be of %s".formatted(weights.config(), config));
    }
  }
}
