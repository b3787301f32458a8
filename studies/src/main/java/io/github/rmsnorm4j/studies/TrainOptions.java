package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.studies.train.Corpus;
import io.github.rmsnorm4j.studies.train.Plan;
import io.github.rmsnorm4j.studies.train.Plan.Kind;
import io.github.rmsnorm4j.studies.train.Plans;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Option;

/** The options that say what is trained, of which kind and how large. */
final class TrainOptions {
  private static final int MOST = 1 << 20;

  /** Their losses and times fit into a checkpoint. */
  private static final int MOST_STEPS = 1 << 18;

  private static final int MOST_LAYERS = 10_000;
  private static final int MOST_JOBS = 64;

  @Option(
      names = "--quick",
      description =
          "A short run of 400 steps, about half a minute on two idle cores. It shows that training"
              + " works. It is too short to learn the task: the recall accuracy stays near 25 %%.")
  private boolean quick;

  @Option(
      names = "--study",
      paramLabel = "NAME",
      description =
          "norms: LayerNorm, RMSNorm, pRMSNorm and no norm, each at the best of seven rates. depth:"
              + " 4 to 48 blocks, with the norms before or after attention and MLP. Each takes up to"
              + " an hour on two idle cores.")
  private String study;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description =
          "Train on the characters of FILE instead of the generated task. --text jdk takes the"
              + " sources of the JDK.")
  private String text;

  @Option(names = "--seeds", paramLabel = "N", description = "Number of trainings of each kind.")
  private Integer seeds;

  @Option(names = "--steps", paramLabel = "N", description = "Number of steps of each training.")
  private Integer steps;

  @Option(
      names = "--rate",
      paramLabel = "R",
      split = ",",
      description =
          "The highest learning rate of the schedule. With --study: the rates to choose from, R,R,...")
  private List<Double> rates = List.of();

  @Option(names = "--width", paramLabel = "N", description = "Width of the models.")
  private Integer width;

  @Option(names = "--heads", paramLabel = "N", description = "Number of attention heads.")
  private Integer heads;

  @Option(names = "--layers", paramLabel = "N", description = "Number of blocks of the models.")
  private Integer layers;

  @Option(
      names = "--depths",
      paramLabel = "N",
      split = ",",
      description = "The numbers of blocks of --study depth: N,N,...")
  private List<Integer> depths = List.of();

  @Option(names = "--batch", paramLabel = "N", description = "Number of sequences in a step.")
  private Integer batch;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description =
          "Number of trainings at the same time, each on one thread (default: 2, or 1 on one processor).")
  private Integer jobs;

  boolean isStudy() {
    return study != null;
  }

  int jobs() {
    return jobs == null ? Math.min(2, Runtime.getRuntime().availableProcessors()) : jobs;
  }

  /** The text to learn, null without one. */
  Corpus corpus() throws IOException {
    if (text == null) {
      return null;
    }
    try {
      return Corpus.read(text);
    } catch (NoSuchFileException e) {
      throw new WrongUseException("--text " + text + ": there is no such file");
    }
  }

  /**
   * The plan.
   *
   * @throws WrongUseException if it cannot be
   */
  Plan plan(Corpus corpus) throws IOException {
    Plans.Wishes wishes =
        new Plans.Wishes(steps, seeds, width, heads, layers, batch, rates, depths);
    return WrongUseException.checked(() -> Plans.of(kind(), corpus, wishes));
  }

  private Kind kind() {
    return switch (study) {
      case null -> quick ? Kind.QUICK : Kind.USUAL;
      case "norms", "depth" -> Kind.valueOf(study.toUpperCase(Locale.ROOT));
      default ->
          throw new WrongUseException("--study is '" + study + "', it may be norms or depth");
    };
  }

  /** Refuses what is out of range, and options that contradict each other. */
  void requireSense() {
    if (quick && study != null) {
      throw new WrongUseException("--quick and --study contradict each other, one may be given");
    }
    WrongUseException.requireRange("--seeds", seeds, MOST);
    WrongUseException.requireRange("--steps", steps, MOST_STEPS);
    WrongUseException.requireRange("--width", width, MOST);
    WrongUseException.requireRange("--heads", heads, MOST);
    WrongUseException.requireRange("--layers", layers, MOST_LAYERS);
    WrongUseException.requireRange("--batch", batch, MOST);
    WrongUseException.requireRange("--jobs", jobs, MOST_JOBS);
    depths.forEach(depth -> WrongUseException.requireRange("--depths", depth, MOST_LAYERS));
    requireDistinct("--depths", depths);
    requireDistinct("--rate", rates);
    for (double rate : rates) {
      if (!(rate > 0) || !Double.isFinite(rate)) {
        throw new WrongUseException("--rate is " + rate + ", it must be finite and above 0");
      }
    }
    if (!depths.isEmpty() && !"depth".equals(study)) {
      throw new WrongUseException("--depths is for --study depth");
    }
    if (layers != null && "depth".equals(study)) {
      throw new WrongUseException("--layers is not for --study depth, which takes --depths");
    }
  }

  private void requireDistinct(String option, List<?> values) {
    for (Object value : values) {
      if (Collections.frequency(values, value) > 1) {
        throw new WrongUseException(option + " has " + value + " twice");
      }
    }
  }
}
