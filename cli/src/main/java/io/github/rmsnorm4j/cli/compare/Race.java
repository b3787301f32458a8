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
  private final Ground ground;
  private final Tensors tensors;
  private final Map<Variant, Contestant> contestants = new EnumMap<>(Variant.class);

  Race(Subject subject, Crew crew, Backend backend) {
    this.subject = subject;
    ground = Ground.of(subject, crew, backend);
    tensors = ground.tensors();
    for (Variant variant : Variant.values()) {
      contestants.put(variant, ground.contestant(variant));
    }
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
    ground
        .crew()
        .run(
            subject.shape().rows(),
            2 * subject.tensorBytes(),
            (from, to) ->
                MemorySegment.copy(ground.x(), from * row, out, from * row, (to - from) * row));
    tensors.giveBack(out);
  }

  @Override
  public void close() {
    ground.close();
  }
}
