package io.github.rmsnorm4j.cli.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Interleaved;
import io.github.rmsnorm4j.measure.Samples;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** All variants of a subject, and a copy, made ready on the same tensors. */
final class Race implements AutoCloseable {
  private final Subject subject;
  private final Crew crew;
  private final Tensors tensors;
  private final MemorySegment x;
  private final MemorySegment dy;
  private final Map<Variant, Contestant> contestants = new EnumMap<>(Variant.class);

  Race(Subject subject, Crew crew, Backend backend) {
    this.subject = subject;
    this.crew = crew;
    tensors = new Tensors(subject.tensorBytes());
    Data data = new Data(subject.type(), subject.shape());
    x = tensors.take();
    data.fill(x, Data.X);
    dy = subject.pass() == Pass.BACKWARD ? tensors.take() : null;
    if (dy != null) {
      data.fill(dy, Data.DY);
    }
    for (Variant variant : Variant.values()) {
      contestants.put(variant, contestant(variant, subject, crew, backend, tensors, x, dy));
    }
  }

  static Contestant contestant(
      Variant variant,
      Subject subject,
      Crew crew,
      Backend backend,
      Tensors tensors,
      MemorySegment x,
      MemorySegment dy) {
    return variant.isFused()
        ? new FusedContestant(variant, subject, crew.threads(), backend, tensors, x, dy)
        : new NaiveContestant(variant, subject, crew, tensors, x, dy);
  }

  /** How many tensors are held at once at most, all variants being ready. */
  static int tensorsHeld(Pass pass) {
    // x and two temporaries; or x, dy, what two naive forward passes keep (1 and 2), and three.
    return pass == Pass.FORWARD ? 3 : 8;
  }

  /** Runs all variants until they are compiled. */
  void rehearse() {
    contestants.values().forEach(Contestant::prepare);
    CompilerRest.after(() -> contestants.values().forEach(c -> tensors.giveBack(c.pass())));
  }

  /** Checks the answers, then measures the variants and the copy in turn. */
  Timing measure(Effort effort) {
    Check check = new Check(subject);
    Map<Variant, Double> errors = new EnumMap<>(Variant.class);
    Map<Variant, Work> works = new EnumMap<>(Variant.class);
    contestants.forEach(
        (variant, contestant) -> {
          contestant.prepare();
          MemorySegment result = contestant.pass();
          errors.put(variant, check.error(variant, result, contestant.gainGradient()));
          tensors.giveBack(result);
          if (contestant instanceof NaiveContestant naive) {
            works.put(variant, naive.work());
          }
        });
    List<List<Runnable>> entrants = new ArrayList<>();
    entrants.add(List.of(this::copy));
    for (Contestant contestant : contestants.values()) {
      entrants.add(List.of(() -> tensors.giveBack(contestant.pass())));
    }
    List<Samples> times = new Interleaved(effort, System::nanoTime).measure(entrants);

    List<Timed> timed = new ArrayList<>();
    for (Variant variant : contestants.keySet()) {
      Work work =
          variant.isFused()
              ? works
                  .get(variant.isRms() ? Variant.RMS_NAIVE : Variant.LAYER_NAIVE)
                  .fused(subject.pass())
              : works.get(variant);
      timed.add(
          new Timed(
              variant,
              times.get(1 + variant.ordinal()),
              work,
              variant.parameters(subject.shape().width()),
              errors.get(variant)));
    }
    return new Timing(subject, times.getFirst(), timed);
  }

  /** Row by row and on as many threads, as the norms go. */
  private void copy() {
    MemorySegment out = tensors.take();
    long row = subject.tensorBytes() / subject.shape().rows();
    crew.run(
        subject.shape().rows(),
        2 * subject.tensorBytes(),
        (from, to) -> MemorySegment.copy(x, from * row, out, from * row, (to - from) * row));
    tensors.giveBack(out);
  }

  @Override
  public void close() {
    tensors.close();
  }
}
