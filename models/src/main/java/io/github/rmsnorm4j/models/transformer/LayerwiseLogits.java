package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.transformer.Parameter.Role;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The logits of a stored model, with the weights of one block in memory at a time. So a model
 * larger than the memory can be run on a short sequence.
 *
 * <pre>{@code
 * try (LayerwiseLogits model = LayerwiseLogits.open(folder)) {
 *   float[] logits = model.logits(tokens, MatrixChange.NONE);
 * }
 * }</pre>
 *
 * <p>With T tokens of a model of width d, with F elements in its MLP and H heads of width d / H, a
 * call takes native memory for one block in float32 and for about {@code T (9 d + 4 F + T H)} more
 * float32 numbers, {@code 2 T d} more with a gate of heads, or for 16 MiB of the head. It takes
 * heap for the logits, and for copies of 16 MiB of a matrix, or of one row of it where that is
 * longer.
 *
 * <p>Each call reads the whole model, except that of the embedding it reads the rows of the tokens.
 * It computes in plain Java, on one thread. The logits have the bits of a {@link Model} with {@link
 * Arithmetic#PLAIN}.
 */
public final class LayerwiseLogits implements Closeable {
  /** Elements of the head that are in memory at a time, or one row of it where that is longer. */
  private static final int HEAD_PIECE = 1 << 22;

  private final StoredWeights stored;
  private final ModelConfig config;

  private LayerwiseLogits(StoredWeights stored) {
    this.stored = stored;
    config = stored.config;
  }

  /**
   * {@return why a model cannot be run here, as one line that begins with the name of the file;
   * empty if it can}
   *
   * @param folder the model, as {@link ModelFolder#load} reads it
   * @throws IOException if a file is missing or cannot be read
   */
  public static Optional<String> unsupported(Path folder) throws IOException {
    try {
      open(folder).close();
      return Optional.empty();
    } catch (FormatException e) {
      return Optional.of(e.getMessage());
    }
  }

  /**
   * Opens a model and checks its tensors' names, types and shapes.
   *
   * @param folder the model, as {@link ModelFolder#load} reads it
   * @return the model; no weight has been read
   * @throws NoSuchFileException if a file is missing
   * @throws FormatException if a file is wrong, or the model cannot be run here
   * @throws IOException if a file cannot be read
   */
  public static LayerwiseLogits open(Path folder) throws IOException {
    ModelConfig config = ModelFolder.config(folder);
    TensorFile file = ModelFolder.openTensors(folder);
    try {
      return new LayerwiseLogits(new StoredWeights(file, config));
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  /** {@return how many tokens there are, and logits of each position} */
  public int vocabulary() {
    return config.vocabulary();
  }

  /** {@return how many tokens a sequence may have: the positions that the config gives} */
  public int positions() {
    return config.maxPositions();
  }

  /**
   * {@return the logits of all positions of a sequence: a row of the vocabulary's size for each
   * token}
   *
   * @param tokens the sequence
   * @param change changes the weights on their way; {@link MatrixChange#NONE} for none
   * @throws IllegalArgumentException if there is no token, there are more than the model has
   *     positions or than logits fit an array, or one is not in the vocabulary
   * @throws IOException if the file cannot be read
   */
  public float[] logits(int[] tokens, MatrixChange change) throws IOException {
    check(tokens);
    TensorReader reader = new TensorReader(stored.file, change);
    try (Arena arena = Arena.ofShared()) {
      Matrix stream = Matrix.allocate(arena, tokens.length, config.width());
      embed(reader, tokens, stream);
      runBlocks(reader, stream);
      if (config.hasFinalNorm()) {
        normalise(reader, stream);
      }
      return head(reader, stream);
    }
  }

  private void check(int[] tokens) {
    long most = Math.min(config.maxPositions(), Integer.MAX_VALUE / config.vocabulary());
    if (tokens.length < 1 || tokens.length > most) {
      throw new IllegalArgumentException(
          "tokens has %s elements, it must have between 1 and %s".formatted(tokens.length, most));
    }
    Model.requireTokens("tokens", tokens, 0, config.vocabulary());
  }

  /** One sequence; activations live as long as the weights of its layers. */
  private static Setup setup(Weights weights, int sequence, Arena arena) {
    Positions positions = new Positions(sequence, false);
    return new Setup(weights, 1, sequence, positions, 1, Arithmetic.PLAIN, arena, new StepTimes());
  }

  /** The embedding of a vocabulary that has the tokens of the sequence alone, in its order. */
  private void embed(TensorReader reader, int[] tokens, Matrix to) throws IOException {
    int[] order = IntStream.range(0, tokens.length).toArray();
    List<Parameter> rows = new ArrayList<>();
    rows.add(rows(ParameterLayout.EMBEDDING, tokens.length, 0));
    if (config.form().learnedPositions()) {
      long end = ParameterLayout.end(rows);
      rows.add(rows(ParameterLayout.POSITIONS, tokens.length, end));
    }
    try (Arena arena = Arena.ofShared();
        Weights weights = new Weights(config, rows)) {
      MemorySegment embedding = weights.values(rows.getFirst());
      long bytes = (long) config.width() * Float.BYTES;
      for (int n = 0; n < tokens.length; n++) {
        MemorySegment row = embedding.asSlice(n * bytes, bytes);
        stored.readRows(reader, ParameterLayout.EMBEDDING, tokens[n], row);
      }
      if (config.form().learnedPositions()) {
        stored.readRows(reader, ParameterLayout.POSITIONS, 0, weights.values(rows.getLast()));
      }
      new Embedding(setup(weights, tokens.length, arena)).forward(order, to);
    }
  }

  private Parameter rows(String name, int rows, long offset) {
    return new Parameter(name + ".weight", List.of(rows, config.width()), offset, Role.MATRIX);
  }

  /** All blocks have the same shapes, so each uses the memory of the one before it. */
  private void runBlocks(TensorReader reader, Matrix stream) throws IOException {
    List<Parameter> first = block(0);
    try (Arena arena = Arena.ofShared();
        Weights weights = new Weights(config, first)) {
      Setup setup = setup(weights, stream.rows, arena);
      Block block = new Block(setup, ParameterLayout.block(0), new Rotary(setup));
      for (int i = 0; i < config.layers(); i++) {
        reader.read(stored.tensors(block(i)), weights.values());
        block.input().take(stream);
        stream.copyFrom(block.forward(stream, NormedInput.bare()));
      }
    }
  }

  private List<Parameter> block(int i) {
    return parameters(ParameterLayout.block(i) + ".");
  }

  private List<Parameter> parameters(String prefix) {
    return ParameterLayout.moved(
        config.parameters().stream().filter(p -> p.name().startsWith(prefix)).toList());
  }

  private void normalise(TensorReader reader, Matrix stream) throws IOException {
    List<Parameter> parameters = parameters(ParameterLayout.FINAL_NORM + ".");
    try (Arena arena = Arena.ofShared();
        Weights weights = new Weights(config, parameters)) {
      reader.read(stored.tensors(parameters), weights.values());
      Setup setup = setup(weights, stream.rows, arena);
      Matrix y = setup.allocate(stream.rows, stream.columns);
      NormLayer.of(setup, ParameterLayout.FINAL_NORM).forward(stream, y);
      stream.copyFrom(y);
    }
  }

  private float[] head(TensorReader reader, Matrix stream) throws IOException {
    String name = config.tied() ? ParameterLayout.EMBEDDING : ParameterLayout.HEAD;
    int d = config.width();
    int most = Math.min(config.vocabulary(), Math.max(1, HEAD_PIECE / d));
    Parameter piece = rows(name, most, 0);
    float[] logits = new float[stream.rows * config.vocabulary()];
    try (Arena arena = Arena.ofShared();
        Weights weights = new Weights(config, List.of(piece))) {
      Setup setup = setup(weights, stream.rows, arena);
      Linear head = new Linear(setup, name);
      Matrix y = setup.allocate(stream.rows, most);
      for (int first = 0; first < config.vocabulary(); first += most) {
        int rows = Math.min(most, config.vocabulary() - first);
        stored.readRows(
            reader, name, first, weights.values().asSlice(0, (long) rows * d * Float.BYTES));
        head.forward(stream, y, false);
        for (int n = 0; n < y.rows; n++) {
          int to = n * config.vocabulary() + first;
          long from = (long) n * most * Float.BYTES;
          MemorySegment.copy(y.segment, ValueLayout.JAVA_FLOAT, from, logits, to, rows);
        }
      }
      return logits;
    }
  }

  /** Closes the file. */
  @Override
  public void close() throws IOException {
    stored.file.close();
  }
}
