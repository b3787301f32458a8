package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.report.Records;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that a run measured, and what is needed to repeat it.
 *
 * @param run when, how and on what
 * @param headline what the verdicts are about
 * @param timings one for each subject
 * @param memory empty where the system does not tell
 * @param computeRoof float32 operations per second where memory is no obstacle; 0 if not measured
 * @param halfRows float16 rows whose squares overflow
 * @param notes what the reader must know
 * @param seconds how long all of it took
 */
public record Results(
    Run run,
    Subject headline,
    List<Timing> timings,
    List<MemoryUse> memory,
    double computeRoof,
    List<HalfRow> halfRows,
    List<String> notes,
    double seconds) {
  /**
   * What is needed to repeat it.
   *
   * @param version of this program
   * @param date when it began, in UTC
   * @param command as it was given
   * @param machine what on
   * @param processor what ran the variants: {@link Processor#CPU}, or the name of a GPU
   * @param threads at most; 0 on a GPU
   * @param availableBytes memory that could be taken
   */
  public record Run(
      String version,
      String date,
      String command,
      Machine machine,
      String processor,
      int threads,
      long availableBytes) {
    boolean isOnGpu() {
      return !processor.equals(Processor.CPU);
    }
  }

  /**
   * What is in the JSON file.
   *
   * @param results all that was measured
   * @param rows what follows from it, a row for each subject and variant, as on the page
   * @param verdicts the sentences, each answer a list
   */
  record Document(Results results, List<Row> rows, Sentences verdicts) {}

  record Sentences(
      List<String> headline,
      List<String> fusion,
      List<String> overhead,
      List<String> layerNormFused,
      List<String> howKernelsFuse) {}

  /** For programs. */
  public String json() {
    Verdicts verdicts = new Verdicts(this);
    return Records.write(
        new Document(
            this,
            Row.all(this),
            new Sentences(
                verdicts.headline(),
                verdicts.fusion(),
                verdicts.overhead(),
                verdicts.layerNormFused(),
                verdicts.howKernelsFuse())));
  }

  /** Of a subject. */
  Timing timing(Subject subject) {
    return timings.stream().filter(t -> t.subject().equals(subject)).findFirst().orElseThrow();
  }

  /** Of the headline's pass, type and width, by size. */
  List<Timing> sweep() {
    return timings.stream().filter(t -> isOfSweep(t.subject())).toList();
  }

  /** Of each pass and type that is not the headline's, the largest tensors. */
  List<Timing> largestOfOtherKinds() {
    Map<List<Object>, Timing> largest = new LinkedHashMap<>();
    for (Timing timing : timings) {
      Subject subject = timing.subject();
      if (subject.pass() != headline.pass() || subject.type() != headline.type()) {
        largest.merge(
            List.of(subject.type(), subject.pass()),
            timing,
            (one, other) ->
                one.subject().tensorBytes() > other.subject().tensorBytes() ? one : other);
      }
    }
    return List.copyOf(largest.values());
  }

  private boolean isOfSweep(Subject subject) {
    return subject.pass() == headline.pass()
        && subject.type() == headline.type()
        && subject.shape().width() == headline.shape().width();
  }

  /** Of a subject and variant, if it was measured. */
  Optional<MemoryUse> memory(Subject subject, Variant variant) {
    return memory.stream()
        .filter(m -> m.subject().equals(subject) && m.variant() == variant)
        .findFirst();
  }
}
