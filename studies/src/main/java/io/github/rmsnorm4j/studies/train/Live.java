package io.github.rmsnorm4j.studies.train;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * How it goes, for whoever is watching: a line for each training that ends, and between them, on a
 * terminal, one line that is written over and over; in a pipe a line every ten seconds.
 */
public final class Live {
  private static final int COLUMNS = 79;
  private static final long TERMINAL_MILLIS = 250;
  private static final long PIPE_MILLIS = 10_000;

  private record State(long step, double loss) {}

  private final PrintWriter err;
  private final Plan plan;
  private final boolean terminal;
  private final boolean quiet;
  private final Map<Run, State> running = new LinkedHashMap<>();
  private final long start = System.nanoTime();
  private long steps;
  private int done;
  private int found;

  /** Begins; {@code terminal} is whether {@code err} is one. */
  public Live(PrintWriter err, Plan plan, boolean terminal, boolean quiet) {
    this.err = err;
    this.plan = plan;
    this.terminal = terminal;
    this.quiet = quiet;
  }

  long everyMillis() {
    return terminal ? TERMINAL_MILLIS : PIPE_MILLIS;
  }

  synchronized void begin(Run run) {
    running.put(run, new State(0, Double.NaN));
  }

  synchronized void step(Run run, long step, double loss) {
    running.put(run, new State(step, loss));
    steps++;
  }

  /** Was finished before. */
  synchronized void found(Outcome outcome) {
    done++;
    found++;
  }

  synchronized void end(Outcome outcome) {
    running.remove(outcome.run());
    done++;
    String how =
        outcome.isDiverged()
            ? "diverged at step " + outcome.steps()
            : "loss %s, %s right, %s"
                .formatted(
                    Figures.loss(outcome.loss()),
                    Figures.percent(outcome.accuracy()),
                    Figures.seconds(outcome.seconds()));
    say("[%s/%s] %s: %s".formatted(done, plan.trainings(), outcome.run().title(), how));
  }

  private void say(String line) {
    if (!quiet) {
      err.println(terminal ? "\r" + line + " ".repeat(Math.max(0, COLUMNS - line.length())) : line);
      err.flush();
    }
  }

  /** The state of things: over the last one on a terminal, below it in a pipe. */
  synchronized void show() {
    if (quiet || running.isEmpty()) {
      return;
    }
    String line = line((System.nanoTime() - start) / 1e9);
    if (terminal) {
      String cut = line.substring(0, Math.min(line.length(), COLUMNS));
      err.print("\r" + cut + " ".repeat(COLUMNS - cut.length()));
    } else {
      err.println(line);
    }
    err.flush();
  }

  /** {@code 2/6 | step 340, 352 | loss 1.234, 1.301 | 21,000 tokens/s | 80 s left}. */
  private String line(double seconds) {
    StringJoiner line = new StringJoiner(" | ");
    line.add(done + "/" + plan.trainings());
    line.add("step " + ofRunning(s -> String.valueOf(s.step)));
    line.add("loss " + ofRunning(s -> s.step == 0 ? "-" : Figures.number("%.3f", s.loss)));
    double tokens = (double) steps * plan.sizes().batch() * plan.task().sequence();
    line.add(Figures.count(Math.round(tokens / seconds)) + " tokens/s");
    if (!plan.isDepth() && steps > 0) { // Deep stacks take longer than what has been seen.
      double left = (double) (plan.trainings() - found) * plan.sizes().steps() - steps;
      line.add(Figures.seconds(left * seconds / steps) + " left");
    }
    return line.toString();
  }

  /** Of the first two, which are all there are but for whoever asks for more. */
  private String ofRunning(Function<State, String> value) {
    return running.values().stream().limit(2).map(value).collect(Collectors.joining(", "));
  }

  /** Leaves the terminal with a line of its own for what comes next. */
  public synchronized void close() {
    if (terminal && !quiet) {
      err.print("\r" + " ".repeat(COLUMNS) + "\r");
      err.flush();
    }
  }
}
