package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.measure.Samples;
import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.ModelConfig;
import io.github.rmsnorm4j.models.transformer.StepTimes;
import io.github.rmsnorm4j.models.transformer.Weights;
import io.github.rmsnorm4j.report.Records;
import io.github.rmsnorm4j.studies.training.BatchSource;
import io.github.rmsnorm4j.studies.training.Checkpoint;
import io.github.rmsnorm4j.studies.training.DivergedException;
import io.github.rmsnorm4j.studies.training.Evaluation;
import io.github.rmsnorm4j.studies.training.OpenBlas;
import io.github.rmsnorm4j.studies.training.Trainer;
import io.github.rmsnorm4j.studies.training.TrainingSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** One training from its beginning, or its checkpoint, to its end, or until it is stopped. */
final class Training {
  private static final int HELD_OUT_BATCHES = 32;
  private static final int POINTS = 60;
  private static final long SAVE_NANOS = 60_000_000_000L;
  private static final String HISTORY = "history";

  /** Sees each step. */
  interface Watcher {
    void step(Run run, long step, double loss);
  }

  private final Plan plan;
  private final Run run;
  private final Corpus text;
  private final RunFolder folder;
  private final double[] losses;
  private final double[] millis;
  private final double[] partMillis = new double[StepTimes.Part.values().length];
  private final int warmup;
  private List<Layer> before = List.of();
  private List<Layer> after = List.of();

  Training(Plan plan, Run run, Corpus text, RunFolder folder) {
    this.plan = plan;
    this.run = run;
    this.text = text;
    this.folder = folder;
    losses = new double[plan.sizes().steps()];
    millis = new double[plan.sizes().steps()];
    warmup = plan.sizes().steps() / 10;
  }

  /** Trains to the end; empty if it was stopped, and then it is saved. */
  Optional<Outcome> run(Watcher watcher, BooleanSupplier stopped) throws IOException {
    ModelConfig config = plan.sizes().config(plan.task(), run.contender());
    BatchSource source = plan.task().training(text, run.seed());
    TrainingSettings settings = TrainingSettings.of(plan.sizes().steps(), run.rate());
    try (Weights weights = new Weights(config).initialise(run.seed());
        Model model =
            new Model(
                weights, plan.sizes().batch(), plan.task().sequence(), 1, OpenBlas.ARITHMETIC);
        Trainer trainer = new Trainer(model, source, settings)) {
      goOn(trainer);
      long saved = System.nanoTime();
      while (trainer.step() < losses.length) {
        if (stopped.getAsBoolean()) {
          save(trainer);
          return Optional.empty();
        }
        if (System.nanoTime() - saved > SAVE_NANOS) {
          save(trainer);
          saved = System.nanoTime();
        }
        try {
          step(trainer);
        } catch (DivergedException e) {
          // Not saved: what the last step left may be no numbers either.
          return Optional.of(outcome(trainer, e.getMessage()));
        }
        watcher.step(run, trainer.step(), losses[(int) trainer.step() - 1]);
      }
      return Optional.of(outcome(trainer, ""));
    }
  }

  private void step(Trainer trainer) {
    int step = (int) trainer.step();
    boolean first = step == 0;
    boolean observed = plan.isDepth() && (first || step == losses.length - 1);
    Model model = trainer.model();
    ModelConfig config = model.weights().config();
    DepthProbe probe = observed ? new DepthProbe(config.width(), config.layers()) : null;
    model.observe(probe);
    losses[step] = trainer.takeStep();
    millis[step] = trainer.times().totalNanos() / 1e6;
    if (step >= warmup) {
      for (StepTimes.Part part : StepTimes.Part.values()) {
        partMillis[part.ordinal()] += trainer.times().nanos(part) / 1e6;
      }
    }
    if (observed) {
      before = first ? probe.layers() : before;
      after = first ? after : probe.layers();
    }
  }

  private void save(Trainer trainer) throws IOException {
    int done = (int) trainer.step();
    History history =
        new History(
            Arrays.stream(losses, 0, done).boxed().toList(),
            Arrays.stream(millis, 0, done).boxed().toList(),
            Arrays.stream(partMillis).boxed().toList(),
            before);
    Checkpoint.save(folder.checkpoint(run), trainer, Map.of(HISTORY, Records.write(history)));
  }

  /** Continues from the checkpoint, if there is one. */
  private void goOn(Trainer trainer) throws IOException {
    Path file = folder.checkpoint(run);
    if (!Files.exists(file)) {
      return;
    }
    try (Checkpoint checkpoint = Checkpoint.open(file)) {
      History history = history(file, checkpoint);
      try {
        checkpoint.restore(trainer);
      } catch (IllegalArgumentException e) {
        throw new FormatException(file, "is of another training: " + e.getMessage());
      }
      for (int i = 0; i < trainer.step(); i++) {
        losses[i] = history.losses().get(i);
        millis[i] = history.millis().get(i);
      }
      Arrays.setAll(partMillis, i -> history.partMillis().get(i));
      before = history.before();
    }
  }

  private History history(Path file, Checkpoint checkpoint) throws IOException {
    String note = checkpoint.notes().get(HISTORY);
    if (note == null) {
      throw new FormatException(file, "has no history of its losses: it is not of this command");
    }
    History history;
    try {
      history = Records.read(History.class, note);
    } catch (IOException e) {
      throw new FormatException(file, "its history cannot be read: " + e.getMessage());
    }
    long step = checkpoint.step();
    if (step > losses.length
        || history.losses().size() != step
        || history.millis().size() != step
        || history.partMillis().size() != partMillis.length) {
      throw new FormatException(file, "its history does not fit its " + step + " steps");
    }
    return history;
  }

  private Outcome outcome(Trainer trainer, String diverged) {
    int done = (int) trainer.step();
    boolean whole = diverged.isEmpty();
    boolean reported = run.stage() == Stage.REPORTED;
    Evaluation evaluation =
        whole
            ? Evaluation.of(trainer.model(), plan.task().heldOut(text), 0, HELD_OUT_BATCHES)
            : new Evaluation(Double.NaN, 0, 0);
    List<Double> timed = Arrays.stream(millis, Math.min(warmup, done), done).boxed().toList();
    String how =
        whole && !Double.isFinite(evaluation.loss())
            ? "the loss on held-out batches is " + evaluation.loss()
            : diverged;
    return new Outcome(
        run,
        trainer.model().weights().config().parameterCount(),
        done,
        trainer.model().tokensPerBatch(),
        evaluation.loss(),
        evaluation.accuracy(),
        Arrays.stream(millis).sum() / 1e3,
        timed.isEmpty() ? Double.NaN : Samples.median(timed),
        shares(),
        reported ? curve(done) : List.of(),
        reported ? before : List.of(),
        reported ? after : List.of(),
        how);
  }

  private Shares shares() {
    double all = Arrays.stream(partMillis).sum();
    return new Shares(
        partMillis[StepTimes.Part.NORM.ordinal()] / all,
        partMillis[StepTimes.Part.ATTENTION.ordinal()] / all,
        partMillis[StepTimes.Part.MLP.ordinal()] / all,
        partMillis[StepTimes.Part.REST.ordinal()] / all);
  }

  private List<Point> curve(int done) {
    List<Point> points = new ArrayList<>();
    int stretch = Math.max(1, losses.length / POINTS);
    double seconds = 0;
    double sum = 0;
    int from = 0;
    for (int i = 0; i < done; i++) {
      seconds += millis[i] / 1e3;
      sum += losses[i];
      if (i + 1 - from == stretch || i + 1 == done) {
        points.add(new Point(i + 1, seconds, sum / (i + 1 - from)));
        from = i + 1;
        sum = 0;
      }
    }
    return points;
  }
}
