package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.models.transformer.Placement;
import io.github.rmsnorm4j.studies.train.Plan.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;

/** The plans that there are, and what may be asked of them to be otherwise. */
public final class Plans {
  private static final int VOCABULARY = 32;
  private static final int PAIRS = 4;
  private static final int SEQUENCE = 32;
  private static final int TEXT_SEQUENCE = 64;
  private static final int LAYERS = 2;

  /** The best of the grid for LayerNorm and for RMSNorm. */
  private static final double RATE = 2e-3;

  private static final List<Double> GRID = List.of(1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3, 64e-3);
  private static final List<Double> DEPTH_GRID = List.of(1e-3, 3e-3, 1e-2, 3e-2);
  private static final List<Integer> DEPTHS = List.of(4, 12, 24, 48);

  /** Seeds of tunings begin here, far from those that are reported. */
  private static final long FIRST_TUNING_SEED = 1001;

  private static final int TUNING_SEEDS = 5;

  private Plans() {}

  /**
   * What differs from the usual; null, or an empty list, where nothing does.
   *
   * @param steps of a training
   * @param seeds how many; for the choice of rates at most five
   * @param width of the model
   * @param heads of the attention
   * @param layers of the model; not for a study of depth
   * @param batch sequences in a step
   * @param rates the rate, or those to choose from
   * @param depths of a study of depth
   */
  public record Wishes(
      Integer steps,
      Integer seeds,
      Integer width,
      Integer heads,
      Integer layers,
      Integer batch,
      List<Double> rates,
      List<Integer> depths) {}

  /**
   * Makes a plan.
   *
   * @param text to learn, null for recall
   * @throws IllegalArgumentException if it cannot be
   */
  public static Plan of(Kind kind, Corpus text, Wishes wishes) {
    boolean recall = text == null;
    int steps =
        switch (kind) {
          case USUAL, NORMS -> 3000;
          case QUICK -> 400;
          case DEPTH -> 600;
        };
    Sizes sizes =
        new Sizes(
            or(wishes.width, recall ? 32 : 64),
            or(wishes.heads, 4),
            or(wishes.batch, 16),
            or(wishes.steps, steps));
    if (sizes.width() % (2L * sizes.heads()) != 0) {
      throw new IllegalArgumentException(
          "--width is %s, with %s heads it must be a multiple of %s, as positions turn pairs of a head's elements"
              .formatted(sizes.width(), sizes.heads(), 2L * sizes.heads()));
    }
    Task task =
        recall ? Task.recall(VOCABULARY, PAIRS, SEQUENCE) : text.task(TEXT_SEQUENCE, sizes.batch());
    int layers = or(wishes.layers, LAYERS);
    return switch (kind) {
      case USUAL, QUICK -> usual(kind, task, sizes, layers, wishes);
      case NORMS -> norms(task, sizes, layers, wishes);
      case DEPTH -> depth(task, sizes, wishes);
    };
  }

  private static Plan usual(Kind kind, Task task, Sizes sizes, int layers, Wishes wishes) {
    if (wishes.rates.size() > 1) {
      throw new IllegalArgumentException("--rate has several rates, which is for --study");
    }
    double rate = wishes.rates.isEmpty() ? RATE : wishes.rates.getFirst();
    List<Contender> contenders =
        List.of(
            new Contender(TrainedNorm.LAYER_NORM, Placement.PRE, layers),
            new Contender(TrainedNorm.RMS_NORM, Placement.PRE, layers));
    return new Plan(
        kind,
        task,
        sizes,
        contenders,
        Collections.nCopies(contenders.size(), rate),
        List.of(),
        seeds(1, or(wishes.seeds, kind == Kind.QUICK ? 2 : 3)));
  }

  private static Plan norms(Task task, Sizes sizes, int layers, Wishes wishes) {
    List<Contender> contenders =
        List.of(TrainedNorm.values()).stream()
            .map(norm -> new Contender(norm, Placement.PRE, layers))
            .toList();
    int seeds = or(wishes.seeds, 10);
    return new Plan(
        Kind.NORMS,
        task,
        sizes,
        contenders,
        wishes.rates.isEmpty() ? GRID : wishes.rates,
        seeds(FIRST_TUNING_SEED, Math.min(seeds, TUNING_SEEDS)),
        seeds(1, seeds));
  }

  /** Without a norm there are no placements, so once for each depth. */
  private static Plan depth(Task task, Sizes sizes, Wishes wishes) {
    List<Contender> contenders = new ArrayList<>();
    for (int depth : wishes.depths.isEmpty() ? DEPTHS : wishes.depths) {
      for (Placement placement : List.of(Placement.PRE, Placement.POST)) {
        for (TrainedNorm norm : TrainedNorm.values()) {
          if (norm != TrainedNorm.NONE || placement == Placement.PRE) {
            contenders.add(new Contender(norm, placement, depth));
          }
        }
      }
    }
    return new Plan(
        Kind.DEPTH,
        task,
        sizes,
        contenders,
        wishes.rates.isEmpty() ? DEPTH_GRID : wishes.rates,
        seeds(FIRST_TUNING_SEED, 1),
        seeds(1, or(wishes.seeds, 2)));
  }

  private static int or(Integer wish, int usual) {
    return wish == null ? usual : wish;
  }

  private static List<Long> seeds(long first, int count) {
    return LongStream.range(first, first + count).boxed().toList();
  }
}
