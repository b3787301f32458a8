package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.measure.Effort;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What is measured on what.
 *
 * @param headline what the verdicts are about
 * @param times subjects to be timed, small ones first
 * @param memories subjects whose memory is measured
 * @param extent how much
 * @param availableBytes memory that there is
 * @param notes what the reader must know, as that a batch did not fit
 */
public record Plan(
    Subject headline,
    List<Subject> times,
    List<Subject> memories,
    Extent extent,
    long availableBytes,
    List<String> notes) {
  /** Of the published experiment. */
  public static final Shape EXPERIMENT = Shape.of(128, 1024, 4096);

  private static final Shape QUICK = Shape.of(8, 1024, 4096);

  /** One token, a prompt, head norms. */
  private static final List<Shape> SMALL =
      List.of(Shape.of(1, 4096), Shape.of(128, 4096), Shape.of(4096, 64));

  private static final int WIDEST = 1 << 24;

  /** Of what is available, to leave others their part. */
  private static final double PART = 0.8;

  /** Bytes of the per-row scalars, which are kept apart from the tensors. */
  private static final long BYTES_PER_ROW = 64;

  /** From which size on a call is long enough to be a sample. */
  private static final long LARGE = 1 << 26;

  /** How much is measured. */
  public enum Extent {
    /** Under 20 seconds. */
    QUICK,
    /** Forward, in one type. */
    USUAL,
    /** Backward, and 16-bit types, too. */
    FULL
  }

  /**
   * Makes a plan that fits into memory.
   *
   * @param shape what the user wants, null for the usual ones
   * @param type likewise
   * @param processor what runs it
   * @throws IllegalArgumentException if what the user wants does not fit; the message names the
   *     option
   */
  public static Plan of(Shape shape, ElementType type, Extent extent, Processor processor) {
    return of(shape, type, extent, processor.availableBytes(), processor.leastSeenBytes());
  }

  static Plan of(Shape shape, ElementType type, Extent extent, long available, long leastSeen) {
    if (type == ElementType.FLOAT64) {
      throw new IllegalArgumentException("--dtype is f64, it may be f32, f16 or bf16");
    }
    if (shape != null && shape.width() > WIDEST) {
      throw new IllegalArgumentException(
          "--shape is %s, its last number may be at most %s".formatted(text(shape), WIDEST));
    }
    boolean full = extent == Extent.FULL;
    List<ElementType> types =
        type != null
            ? List.of(type)
            : full
                ? List.of(ElementType.FLOAT32, ElementType.BFLOAT16, ElementType.FLOAT16)
                : List.of(ElementType.FLOAT32);
    List<Pass> passes = full ? List.of(Pass.values()) : List.of(Pass.FORWARD);
    Shape wanted = shape != null ? shape : extent == Extent.QUICK ? QUICK : EXPERIMENT;

    List<Subject> times = new ArrayList<>();
    List<Subject> memories = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    Subject headline = null;
    for (ElementType t : types) {
      for (Pass pass : passes) {
        Subject largest = fitting(new Subject(pass, t, wanted), shape != null, available, notes);
        if (headline == null) {
          headline = largest;
          memories.addAll(extent == Extent.QUICK ? List.of(largest) : sweep(largest));
          times.addAll(sweep(largest));
        } else {
          memories.add(largest);
          times.add(largest);
        }
        for (Shape small : shape == null ? SMALL : List.<Shape>of()) {
          times.add(new Subject(pass, t, small));
        }
      }
    }
    if (memories.removeIf(subject -> subject.tensorBytes() < leastSeen)) {
      notes.add(
          "Memory is not measured of tensors below %s: processes differ by some MiB."
              .formatted(Figures.bytes(leastSeen)));
    }
    times.sort(Comparator.comparingLong(Subject::tensorBytes));
    return new Plan(headline, List.copyOf(times), List.copyOf(memories), extent, available, notes);
  }

  /** Itself and smaller batches, for the plots. */
  private static List<Subject> sweep(Subject largest) {
    List<Subject> all = new ArrayList<>();
    int batch = largest.shape().batch();
    for (int i = 0; i < 4 && batch >= 1; i++, batch /= 4) {
      all.addFirst(new Subject(largest.pass(), largest.type(), largest.shape().withBatch(batch)));
    }
    return all;
  }

  private static Subject fitting(
      Subject wanted, boolean asked, long available, List<String> notes) {
    Shape one = wanted.shape().withBatch(1);
    long perBatch = needed(new Subject(wanted.pass(), wanted.type(), one));
    int fits = (int) Math.min(wanted.shape().batch(), (long) (available * PART) / perBatch);
    if (fits == wanted.shape().batch()) {
      return wanted;
    }
    String why =
        "needs %s of memory to compare, there are %s to take"
            .formatted(
                Figures.bytes((double) perBatch * wanted.shape().batch()),
                Figures.bytes(available * PART));
    if (asked || fits == 0) {
      throw new IllegalArgumentException(
          "--shape is %s, which %s (%s): %s"
              .formatted(
                  text(wanted.shape()),
                  why,
                  wanted.pass() + ", " + wanted.type(),
                  fits == 0 ? "make it smaller" : "its first number may be at most " + fits));
    }
    Shape smaller = wanted.shape().withBatch(fits);
    notes.add(
        "%s, %s: %s %s; %s is measured"
            .formatted(wanted.pass(), wanted.type(), wanted.shape(), why, smaller));
    return new Subject(wanted.pass(), wanted.type(), smaller);
  }

  static long needed(Subject subject) {
    return Race.tensorsHeld(subject.pass()) * subject.tensorBytes()
        + BYTES_PER_ROW * subject.shape().rows();
  }

  /** As it is written on the command line. */
  private static String text(Shape shape) {
    return shape.toString().replace(" ", "");
  }

  /** How long to measure a subject. */
  Effort effort(Subject subject) {
    boolean quick = extent == Extent.QUICK;
    if (subject.tensorBytes() >= LARGE) {
      return new Effort(200_000_000, quick ? 3 : 5, 1);
    }
    return quick ? new Effort(100_000_000, 5, 2_000_000) : new Effort(400_000_000, 9, 10_000_000);
  }
}
