package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.measure.Effort;
import io.github.rmsnorm4j.measure.Interleaved;
import io.github.rmsnorm4j.measure.Samples;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * All variants of a subject, and a copy, made ready on the same tensors.
 *
 * @param <T> a tensor
 */
final class Race<T> implements AutoCloseable {
  private final Subject subject;
  private final Ground<T> ground;
  private final Pool<T> tensors;
  private final Map<Variant, Contestant<T>> contestants = new EnumMap<>(Variant.class);

  /** Owns the ground from now on. */
  Race(Ground<T> ground) {
    this.ground = ground;
    subject = ground.subject();
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

  /** Runs all variants until they will become no faster. */
  void rehearse() {
    contestants.values().forEach(Contestant::prepare);
    ground.rehearse(() -> contestants.values().forEach(c -> tensors.giveBack(c.pass())));
  }

  /** Checks the answers, then measures the variants and the copy in turn. */
  Timing measure(Effort effort) {
    Check check = new Check(subject);
    Map<Variant, Double> errors = new EnumMap<>(Variant.class);
    Map<Variant, Work> works = new EnumMap<>(Variant.class);
    contestants.forEach(
        (variant, contestant) -> {
          contestant.prepare();
          T result = contestant.pass();
          errors.put(variant, error(check, variant, contestant, result));
          tensors.giveBack(result);
          contestant.work().ifPresent(work -> works.put(variant, work));
        });
    List<List<Runnable>> entrants = new ArrayList<>();
    entrants.add(List.of(this::copy));
    for (Contestant<T> contestant : contestants.values()) {
      entrants.add(List.of(() -> tensors.giveBack(contestant.pass())));
    }
    List<Samples> times = new Interleaved(effort, ground.clock()).measure(entrants);

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

  private double error(Check check, Variant variant, Contestant<T> contestant, T result) {
    float[] gradient = subject.pass() == Pass.BACKWARD ? contestant.gainGradient() : null;
    return check.error(variant, row -> ground.read(result, row), gradient);
  }

  private void copy() {
    T out = tensors.take();
    ground.copy(out);
    tensors.giveBack(out);
  }

  @Override
  public void close() {
    ground.close();
  }
}
