package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.formats.TensorWriter;
import io.github.rmsnorm4j.models.internal.Floats;
import io.github.rmsnorm4j.models.internal.SeededRandom;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The learned numbers of a model and their gradients: two pieces of native memory of the same
 * layout, one tensor after the other. The gradients take memory from their first use on.
 *
 * <p>Several {@link Model}s, of other batch sizes, may share them; not by several threads at once.
 * Closing gives the memory back; no model may be at work on them then or afterwards.
 */
public final class Weights implements AutoCloseable {
  private static final int ALIGNMENT = 64;

  private final ModelConfig config;
  private final List<Parameter> parameters;
  private final Map<String, Parameter> byName = new LinkedHashMap<>();
  private final Arena arena = Arena.ofShared();
  private final MemorySegment values;

  /** Null until somebody asks for them. */
  private MemorySegment gradients;

  /**
   * Makes room for a model, all zeros.
   *
   * @param config what the model is made of
   */
  public Weights(ModelConfig config) {
    this(config, config.parameters());
  }

  /** Makes room for some tensors of a model. */
  Weights(ModelConfig config, List<Parameter> parameters) {
    this.config = config;
    this.parameters = parameters;
    parameters.forEach(parameter -> byName.put(parameter.name(), parameter));
    values = allocate();
  }

  /** Zeros, as many as all parameters take. */
  private MemorySegment allocate() {
    long elements = ParameterLayout.end(parameters);
    return arena.allocate(Math.multiplyExact(elements, Float.BYTES), ALIGNMENT);
  }

  /**
   * Sets weights to begin with: gains 1, biases 0, everything else normal with the config's
   * standard deviation. Each tensor's numbers depend on the seed, its name and its size, so models
   * that differ in their norms begin with the same matrices.
   *
   * @param seed of the random numbers
   * @return this
   */
  public Weights initialise(long seed) {
    values.fill((byte) 0);
    setGainsToOne();
    for (Parameter parameter : parameters) {
      SeededRandom random = new SeededRandom(seed, stream(parameter.name()));
      Floats tensor = new Floats(values(parameter));
      for (long i = 0; parameter.isMatrix() && i < parameter.elements(); i++) {
        tensor.set(i, (float) (random.nextGaussian() * config.initialRange()));
      }
    }
    return this;
  }

  /** A number for each name: FNV-1a, 64 bits. */
  private static long stream(String name) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < name.length(); i++) {
      hash = (hash ^ name.charAt(i)) * 0x100000001b3L;
    }
    return hash;
  }

  /**
   * {@return weights of their own memory, with what a model of another config shares with this one:
   * a copy of every tensor of the same name} Gains that are new are 1, and biases that are new are
   * 0.
   *
   * @param other has the matrices of this config
   * @throws IllegalArgumentException if a matrix is missing here or has another shape
   */
  public Weights copyFor(ModelConfig other) {
    for (Parameter parameter : other.parameters()) {
      List<Integer> shape = parameter.shape();
      if (parameter.isMatrix() && !parameter(parameter.name()).shape().equals(shape)) {
        throw new IllegalArgumentException(
            "%s has the shape %s, the other config's is %s"
                .formatted(parameter.name(), parameter(parameter.name()).shape(), shape));
      }
    }
    Weights copy = new Weights(other);
    copy.setGainsToOne();
    for (Parameter parameter : copy.parameters) {
      if (has(parameter.name())) {
        copy.values(parameter).copyFrom(values(parameter(parameter.name())));
      }
    }
    return copy;
  }

  /** Sets all gains to 1, so that no norm has an effect of its gain. */
  public void setGainsToOne() {
    for (Parameter parameter : parameters) {
      Floats tensor = new Floats(values(parameter));
      for (long i = 0; parameter.isGain() && i < parameter.elements(); i++) {
        tensor.set(i, 1);
      }
    }
  }

  /**
   * Writes all numbers to a file of {@link ModelConfig#tensors}.
   *
   * @param file at the first of these tensors
   * @throws IOException if they cannot be written
   */
  public void write(TensorWriter file) throws IOException {
    for (Parameter parameter : parameters) {
      file.write(values(parameter));
    }
  }

  /**
   * Reads all numbers, rounded to float32.
   *
   * @param file has the tensors of {@link ModelConfig#tensors}, in any floating type
   * @param prefix what their names begin with
   * @throws FormatException if one is missing, of no floating type or in another shape
   * @throws IOException if they cannot be read
   */
  public void read(TensorFile file, String prefix) throws IOException {
    new StoredWeights(file, config, prefix).read(parameters, MatrixChange.NONE, values);
  }

  /** {@return what the model is made of} */
  public ModelConfig config() {
    return config;
  }

  /** {@return the tensors, in the order of the memory, with their names, shapes and places} */
  public List<Parameter> parameters() {
    return parameters;
  }

  /**
   * {@return the tensor of a name}
   *
   * @param name its name, for example {@code model.embed_tokens.weight}
   * @throws IllegalArgumentException if there is none
   */
  public Parameter parameter(String name) {
    if (!has(name)) {
      throw new IllegalArgumentException("the model has no tensor '" + name + "'");
    }
    return byName.get(name);
  }

  /**
   * {@return a view of a tensor's numbers, row by row}
   *
   * @param parameter one of {@link #parameters()}
   */
  public MemorySegment values(Parameter parameter) {
    return part(values, parameter);
  }

  /**
   * {@return a view of a tensor's gradient, row by row}
   *
   * @param parameter one of {@link #parameters()}
   */
  public MemorySegment gradient(Parameter parameter) {
    return part(gradients(), parameter);
  }

  private static MemorySegment part(MemorySegment all, Parameter parameter) {
    return all.asSlice(parameter.offset() * Float.BYTES, parameter.elements() * Float.BYTES);
  }

  /** Sets all gradients to 0. */
  public void zeroGradients() {
    if (gradients != null) {
      gradients.fill((byte) 0);
    }
  }

  /** All tensors; between them are zeros, less than 64 bytes each. */
  MemorySegment values() {
    return values;
  }

  MemorySegment gradients() {
    if (gradients == null) {
      gradients = allocate();
    }
    return gradients;
  }

  boolean has(String name) {
    return byName.containsKey(name);
  }

  /** Gives the memory back. */
  @Override
  public void close() {
    arena.close();
  }
}
