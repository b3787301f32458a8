package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.models.transformer.Model;
import io.github.rmsnorm4j.models.transformer.Weights;
import io.github.rmsnorm4j.studies.training.OpenBlas;
import io.github.rmsnorm4j.studies.training.Trainer;
import io.github.rmsnorm4j.studies.training.TrainingSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** All trainings of a plan, several side by side, each on one thread. */
public final class Trainings {
  private static final long WARM_UP_NANOS = 2_000_000_000L;

  private final Plan plan;
  private final Corpus text;
  private final RunFolder folder;
  private final Live live;
  private final BooleanSupplier stopped;
  private final AtomicBoolean failed = new AtomicBoolean();

  /**
   * Makes them ready.
   *
   * @param text null for recall
   * @param stopped asked before each step
   */
  public Trainings(Plan plan, Corpus text, RunFolder folder, Live live, BooleanSupplier stopped) {
    this.plan = plan;
    this.text = text;
    this.folder = folder;
    this.live = live;
    this.stopped = stopped;
  }

  /**
   * Trains whatever is not finished yet, so many at a time.
   *
   * @return the outcomes; empty if it was stopped
   * @throws IOException if state cannot be read or saved, or a training that is no part of a study
   *     diverged; the others are saved then
   */
  public Optional<List<Outcome>> run(int jobs) throws IOException {
    OpenBlas.useThreads(1);
    int atMost = Math.min(jobs, plan.trainings());
    ExecutorService threads = Executors.newFixedThreadPool(atMost);
    try {
      warmUp(threads, atMost);
      Optional<List<Outcome>> tuning = all(plan.tuning(), threads);
      if (tuning.isEmpty()) {
        return tuning;
      }
      List<Outcome> outcomes = new ArrayList<>(tuning.get());
      return all(plan.reported(outcomes), threads)
          .map(
              reported -> {
                outcomes.addAll(reported);
                return outcomes;
              });
    } finally {
      threads.shutdown();
    }
  }

  /** Lets the JIT see each norm, so that the first training is not slower than the others. */
  private void warmUp(ExecutorService threads, int jobs) throws IOException {
    List<Contender> shallow =
        plan.contenders().stream()
            .map(c -> new Contender(c.norm(), c.placement(), 2))
            .distinct()
            .toList();
    List<Future<Optional<Outcome>>> futures = new ArrayList<>();
    for (int i = 0; i < Math.max(jobs, shallow.size()); i++) {
      Contender contender = shallow.get(i % shallow.size());
      futures.add(
          threads.submit(
              () -> {
                warmUp(contender);
                return Optional.empty();
              }));
    }
    for (Future<Optional<Outcome>> future : futures) {
      await(future);
    }
  }

  private void warmUp(Contender contender) {
    long end = System.nanoTime() + WARM_UP_NANOS;
    try (Weights weights = new Weights(plan.sizes().config(plan.task(), contender)).initialise(0);
        Model model =
            new Model(
                weights, plan.sizes().batch(), plan.task().sequence(), 1, OpenBlas.ARITHMETIC);
        Trainer trainer =
            new Trainer(model, plan.task().training(text, 0), TrainingSettings.of(1000, 1e-3))) {
      while (System.nanoTime() < end
          && trainer.step() < plan.sizes().steps()
          && !stopped.getAsBoolean()) {
        trainer.takeStep();
      }
    }
  }

  private Optional<List<Outcome>> all(List<Run> runs, ExecutorService threads) throws IOException {
    List<Future<Optional<Outcome>>> futures =
        runs.stream().map(run -> threads.submit(() -> one(run))).toList();
    List<Outcome> outcomes = new ArrayList<>();
    IOException failure = null;
    for (Future<Optional<Outcome>> future : futures) {
      try {
        await(future).ifPresent(outcomes::add);
      } catch (IOException e) {
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
    return outcomes.size() == runs.size() ? Optional.of(outcomes) : Optional.empty();
  }

  private Optional<Outcome> one(Run run) throws IOException {
    try {
      Optional<Outcome> before = folder.outcome(run);
      if (before.isPresent() || stopped.getAsBoolean() || failed.get()) {
        before.ifPresent(live::found);
        return before;
      }
      live.begin(run);
      Optional<Outcome> outcome =
          new Training(plan, run, text, folder)
              .run(live::step, () -> stopped.getAsBoolean() || failed.get());
      if (outcome.isPresent()) {
        end(outcome.get());
      }
      return outcome;
    } catch (IOException | RuntimeException | Error e) {
      failed.set(true);
      throw e;
    }
  }

  private void end(Outcome outcome) throws IOException {
    if (outcome.isDiverged() && !plan.isStudy()) {
      throw new IOException(
          outcome.run().title() + ": " + outcome.diverged() + "; what was saved is kept");
    }
    folder.keep(outcome);
    live.end(outcome);
  }

  private Optional<Outcome> await(Future<Optional<Outcome>> future) throws IOException {
    while (true) {
      try {
        return future.get(live.everyMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        live.show();
      } catch (InterruptedException e) {
        failed.set(true);
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      } catch (ExecutionException e) {
        switch (e.getCause()) {
          case IOException io -> throw io;
          case RuntimeException runtime -> throw runtime;
          case Error error -> throw error;
          default -> throw new IllegalStateException(e.getCause());
        }
      }
    }
  }
}
