package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.TensorFile;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
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
 * float32 numbers, or for 16 MiB of the head. It takes heap for the logits, and for copies of 64
 * rows of a matrix.
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
  private final List<Parameter> parameters;

  private LayerwiseLogits(StoredWeights stored) {
    this.stored = stored;
    config = stored.config();
    parameters = config.parameters();
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
      return new LayerwiseLogits(StoredWeights.of(file, config));
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
    long most = Math.min(config.maxPositions(), Integer.MAX_VALUE / config.vocabulary());
    if (tokens.length < 1 || tokens.length > most) {
      throw new IllegalArgumentException(
          "tokens has %s elements, it must have between 1 and %s".formatted(tokens.length, most));
    }
    Model.requireTokens("tokens", tokens, 0, config.vocabulary());
    try (Arena arena = Arena.ofShared()) {
      Matrix stream = embedded(arena, tokens, change);
      List<String> blocks =
          IntStream.range(0, config.layers()).mapToObj(ParameterLayout::block).toList();
      run(change, stream, blocks, (tape, x) -> new Block(tape).add(blocks.getFirst(), x));
      if (config.hasFinalNorm()) {
        List<String> norm = List.of(ParameterLayout.FINAL_NORM);
        run(change, stream, norm, (tape, x) -> new Block(tape).finalNorm(x));
      }
      return head(arena, stream, change);
    }
  }

  private Matrix embedded(Arena arena, int[] tokens, MatrixChange change) throws IOException {
    Matrix stream = Matrix.allocate(arena, tokens.length, config.width());
    for (int n = 0; n < tokens.length; n++) {
      MemorySegment row = stream.block(n, 0, 1, config.width()).segment;
      stored.readRows(ParameterLayout.EMBEDDING, tokens[n], change, row);
    }
    if (config.form().learnedPositions()) {
      Matrix positions = Matrix.allocate(arena, stream.rows, stream.columns);
      stored.readRows(ParameterLayout.POSITIONS, 0, change, positions.segment);
      stream.add(positions);
    }
    return stream;
  }

  /** Runs layers of the same shapes, each in the memory of the one before it. */
  private void run(
      MatrixChange change,
      Matrix stream,
      List<String> names,
      BiFunction<Tape, Variable, Variable> layer)
      throws IOException {
    try (Weights weights = new Weights(config, parameters(names.getFirst()));
        Tape tape = new Tape(weights, 1, stream.rows, stream.rows, false, 1, Arithmetic.PLAIN)) {
      Variable y = layer.apply(tape, new Variable(stream, () -> stream));
      for (String name : names) {
        stored.read(parameters(name), change, weights.values());
        tape.forward();
        stream.copyFrom(y.values);
      }
    }
  }

  private List<Parameter> parameters(String name) {
    return ParameterLayout.moved(
        parameters.stream().filter(p -> p.name().startsWith(name + ".")).toList());
  }

  private float[] head(Arena arena, Matrix stream, MatrixChange change) throws IOException {
    int d = config.width();
    int most = Math.min(config.vocabulary(), Math.max(1, HEAD_PIECE / d));
    float[] logits = new float[stream.rows * config.vocabulary()];
    Matrix piece = Matrix.allocate(arena, most, d);
    Matrix y = Matrix.allocate(arena, stream.rows, most);
    for (int first = 0; first < config.vocabulary(); first += most) {
      int rows = Math.min(most, config.vocabulary() - first);
      stored.readRows(config.head(), first, change, piece.block(0, 0, rows, d).segment);
      MatrixProduct.PLAIN_JAVA.multiply(stream, false, piece, true, 1, 0, y);
      for (int n = 0; n < y.rows; n++) {
        MemorySegment row = y.block(n, 0, 1, rows).segment;
        int to = n * config.vocabulary() + first;
        MemorySegment.copy(row, ValueLayout.JAVA_FLOAT, 0, logits, to, rows);
      }
    }
    return logits;
  }

  /** Closes the file. */
  @Override
  public void close() throws IOException {
    stored.file().close();
  }
}
