package io.github.rmsnorm4j.models.transformer;

import io.github.rmsnorm4j.models.transformer.StepTimes.Part;
import java.lang.foreign.MemorySegment;

/**
 * A model at work on batches of one size: forward, loss, backward. Activations have their memory
 * from the start, gradients of activations from the first loss on; later passes allocate next to
 * nothing.
 *
 * <pre>{@code
 * Weights weights = new Weights(config).initialise(seed);
 * Model model = new Model(weights, 16, 64, 1, Arithmetic.PLAIN);
 * weights.zeroGradients();
 * model.forward(tokens);
 * double loss = model.loss(targets);
 * model.backward();
 * }</pre>
 *
 * <p>Not for use by several threads at once. Closing gives the activations' memory back; the
 * weights are their owner's.
 */
public final class Model implements AutoCloseable {
  private final Tape tape;
  private final CrossEntropy crossEntropy = new CrossEntropy();
  private final int[] tokens;

  /** (N, V). */
  private final Variable logits;

  private boolean forwardDone;
  private boolean lossTaken;
  private DepthObserver observer;

  /**
   * Makes room for batches.
   *
   * @param weights the learned numbers; not closed with the model
   * @param batch sequences at a time
   * @param sequence tokens of each
   * @param threads that a norm may use
   * @param arithmetic how to compute; there is a backward pass only for float32 rows
   * @throws IllegalArgumentException if a number is below 1, the sequence is longer than the
   *     config's positions, or a batch has more than 2^31 tokens
   */
  public Model(Weights weights, int batch, int sequence, int threads, Arithmetic arithmetic) {
    this(new Tape(weights, batch, sequence, sequence, false, threads, arithmetic));
  }

  private Model(Tape tape) {
    this.tape = tape;
    ModelConfig config = tape.config;
    tokens = new int[tape.rows()];
    Variable x = tape.variable(config.width(), Block.STREAM);
    embed(x);
    observe(0, x);
    Block block = new Block(tape);
    for (int i = 0; i < config.layers(); i++) {
      x = block.add(ParameterLayout.block(i), x);
      observe(i + 1, x);
    }
    logits = tape.linear(Part.REST, config.head(), block.finalNorm(x), false, "logits");
  }

  /** Tokens (N) to rows of the embedding (V, d), to which learned positions (P, d) add theirs. */
  private void embed(Variable x) {
    Variable weight = tape.learned(ParameterLayout.EMBEDDING + ".weight");
    Variable positions = tape.learned(ParameterLayout.POSITIONS + ".weight");
    tape.add(
        Part.REST,
        () -> {
          for (int n = 0; n < tokens.length; n++) {
            x.values.copyRow(n, weight.values, tokens[n]);
            if (positions != null) {
              x.values.addToRow(n, positions.values, tape.past() + n % tape.sequence);
            }
          }
        },
        () -> {
          for (int n = 0; n < tokens.length; n++) {
            weight.gradient().addToRow(tokens[n], x.gradient(), n);
          }
        });
  }

  private void observe(int depth, Variable x) {
    tape.add(
        Part.REST,
        () -> {
          if (observer != null) {
            observer.forward(depth, x.values.segment.asReadOnly());
          }
        },
        () -> {
          if (observer != null) {
            observer.backward(depth, x.gradient().segment.asReadOnly());
          }
        });
  }

  /**
   * {@return a model whose batches have one token, with room for one sequence, of which each {@link
   * #forward} takes the next token} Keys and values of the tokens before it are kept, so a pass
   * costs one token. The logits are the same bits as those of a pass over the whole sequence, where
   * the products are those of {@link MatrixProduct#PLAIN_JAVA}. There is no backward pass.
   *
   * @param weights the learned numbers; not closed with the model
   * @param positions tokens that the sequence may have
   * @param arithmetic how to compute
   * @throws IllegalArgumentException if positions is below 1 or above the config's
   */
  public static Model continuing(Weights weights, int positions, Arithmetic arithmetic) {
    return new Model(new Tape(weights, 1, 1, positions, true, 1, arithmetic));
  }

  /**
   * Computes the logits of a batch.
   *
   * @param batch its tokens, one sequence after the other
   * @throws IllegalArgumentException if there are more or fewer than the model has room for, or one
   *     is not in the vocabulary
   * @throws IllegalStateException if the sequence of a {@link #continuing} model is at its end
   */
  public void forward(int[] batch) {
    checkTokens("tokens", batch, 0);
    if (tape.past() == tape.positions) {
      throw new IllegalStateException("all " + tape.positions + " positions are taken");
    }
    System.arraycopy(batch, 0, tokens, 0, tokens.length);
    lossTaken = false;
    tape.forward();
    forwardDone = true;
  }

  /** Forgets the tokens of a {@link #continuing} model: the next pass begins a new sequence. */
  public void restart() {
    tape.restart();
  }

  /**
   * {@return how many tokens of the sequence of a {@link #continuing} model there have been; 0 for
   * any other model}
   */
  public int past() {
    return tape.past();
  }

  private void checkTokens(String name, int[] batch, int least) {
    if (batch.length != tokens.length) {
      throw new IllegalArgumentException(
          "%s has %s elements, a batch of %s x %s has %s"
              .formatted(name, batch.length, tape.batch, tape.sequence, tokens.length));
    }
    requireTokens(name, batch, least, tape.config.vocabulary());
  }

  static void requireTokens(String name, int[] tokens, int least, int vocabulary) {
    for (int i = 0; i < tokens.length; i++) {
      if (tokens[i] < least || tokens[i] >= vocabulary) {
        throw new IllegalArgumentException(
            "%s[%s] is %s, it must be between %s and %s"
                .formatted(name, i, tokens[i], least, vocabulary - 1));
      }
    }
  }

  /**
   * {@return the mean cross-entropy of the last forward pass, in nats; NaN where no token is
   * wanted}
   *
   * @param targets the token wanted at each place, or -1 where none is
   * @throws IllegalArgumentException if there are more or fewer than the batch has tokens, or one
   *     is not in the vocabulary
   * @throws IllegalStateException if there was no forward pass
   */
  public double loss(int[] targets) {
    checkTokens("targets", targets, -1);
    requireForward();
    lossTaken = true;
    return crossEntropy.run(logits.values, targets, logits.gradient());
  }

  private void requireForward() {
    if (!forwardDone) {
      throw new IllegalStateException("there has been no forward pass");
    }
  }

  /**
   * Adds the gradient of the last {@link #loss} to the weights' gradients. Once for each loss.
   *
   * @throws IllegalStateException if there was no loss since the last forward or backward pass, or
   *     the model has no backward pass
   */
  public void backward() {
    if (!tape.config.form().equals(BlockForm.LLAMA)) {
      throw new IllegalStateException(
          "a model with other blocks than a Llama's has no backward pass");
    }
    if (tape.continues || tape.arithmetic.narrowsRows()) {
      throw new IllegalStateException(
          "a model that continues a sequence, or has rows of 16 bits, has no backward pass");
    }
    if (!lossTaken) {
      throw new IllegalStateException("there has been no loss to go back from");
    }
    lossTaken = false;
    tape.backward();
  }

  /**
   * Lets somebody see the residual stream of every pass from now on.
   *
   * @param observer who, or null for nobody
   */
  public void observe(DepthObserver observer) {
    this.observer = observer;
  }

  /**
   * {@return how many tokens a sequence may have: the length of a batch's sequences, or the
   * capacity of a {@link #continuing} model}
   */
  public int positions() {
    return tape.positions;
  }

  /**
   * {@return the logits of the last forward pass: float32, a row of the vocabulary's size for each
   * token; valid until the next pass}
   *
   * @throws IllegalStateException if there was no forward pass
   */
  public MemorySegment logits() {
    requireForward();
    return logits.values.segment.asReadOnly();
  }

  /** {@return how many of the last loss's targets had the largest logit} */
  public int correct() {
    return crossEntropy.correct;
  }

  /** {@return how many tokens the last loss asked for: targets that are not -1} */
  public int targets() {
    return crossEntropy.targets;
  }

  /** {@return the learned numbers that it was made with} */
  public Weights weights() {
    return tape.weights;
  }

  /** {@return where the time of its passes went} */
  public StepTimes times() {
    return tape.times;
  }

  /** {@return tokens of a batch: sequences times their length} */
  public int tokensPerBatch() {
    return tokens.length;
  }

  /** Gives the memory of the activations back. */
  @Override
  public void close() {
    tape.close();
  }
}
