package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.measure.Samples;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Results that no machine gave: three rounds around a time, of each variant. */
final class SyntheticResults {
  static final Subject HEADLINE =
      new Subject(Pass.FORWARD, ElementType.FLOAT32, Shape.of(128, 1024, 4096));

  private static final double COPY_MILLIS = 500;

  private final Map<Variant, List<Double>> nanos = new EnumMap<>(Variant.class);
  private final Map<Variant, Long> memory = new EnumMap<>(Variant.class);

  SyntheticResults() {
    for (Variant variant : Variant.values()) {
      millis(variant, 1000);
    }
  }

  /** One in a hundred around it. */
  SyntheticResults millis(Variant variant, double millis) {
    return millis(variant, 0.99 * millis, millis, 1.01 * millis);
  }

  SyntheticResults millis(Variant variant, double... rounds) {
    List<Double> times = new ArrayList<>();
    for (double round : rounds) {
      times.add(round * 1e6);
    }
    nanos.put(variant, times);
    return this;
  }

  SyntheticResults mebibytes(Variant variant, long mebibytes) {
    memory.put(variant, mebibytes << 20);
    return this;
  }

  Results results() {
    List<Timed> variants = new ArrayList<>();
    List<MemoryUse> uses = new ArrayList<>();
    for (Variant variant : Variant.values()) {
      int operations = variant.isRms() ? 4 : 7;
      int passes = variant.isFused() ? 2 : variant.isRms() ? 7 : 12;
      Work work = new Work(passes, operations);
      variants.add(
          new Timed(
              variant, new Samples(nanos.get(variant)), work, variant.parameters(4096), 1e-7));
      if (memory.containsKey(variant)) {
        uses.add(new MemoryUse(HEADLINE, variant, memory.get(variant)));
      }
    }
    Timing timing = new Timing(HEADLINE, new Samples(List.of(COPY_MILLIS * 1e6)), variants);
    Machine machine =
        new Machine("A <chip>", 2, "an OS", "a JVM", List.of("-Xsome"), "vectors", 256);
    Results.Run run =
        new Results.Run(
            "rmsnorm 1",
            "2026-01-31T12:00:00Z",
            "./rmsnorm compare",
            machine,
            Processor.CPU,
            2,
            1L << 34);
    HalfRow row =
        new HalfRow(
            "RMSNorm", 4096, List.of(300.0), List.of(1.2), List.of(0.0), List.of(1.2), 4096, 0);
    return new Results(
        run, HEADLINE, List.of(timing), uses, 5e10, List.of(row), List.of("A note."), 60);
  }
}
