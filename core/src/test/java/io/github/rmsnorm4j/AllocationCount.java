package io.github.rmsnorm4j;

import com.sun.management.OperatingSystemMXBean;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The calls of a JVM of its own: of many kinds, in an order of chance, until the JIT has compiled
 * them all. What the JIT makes of a loop with vectors depends on what ran before it in the same
 * process, and it stays that way. So kinds come one after the other: some are used alone until they
 * are compiled, others among all that are there.
 *
 * <p>Time is the processor's, so that it does not matter what else the machine does.
 */
final class AllocationCount {
  /** How a line begins that tells of a kind that allocates too much, and the last line. */
  static final String OVER = "over: ";

  static final String COUNTED = "counted: ";

  /** What makes kernels, in the arguments. */
  static final String MACHINE_CODE = "machine-code";

  static final String LOOPS = "loops";
  static final String OTHER = "other";

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  /**
   * For calls of all kinds at most, and for more of those that allocate too much after it. Where
   * nothing is wrong the first is over in 20 seconds: eighty kinds have some hundred kernels, and
   * most of the time goes into their compilation.
   */
  private static final double WARM_UP_SECONDS = 40;

  private static final double FURTHER_SECONDS = 16;

  /** For a kind that is used alone, at most. */
  private static final double ALONE_SECONDS = 0.5;

  /** All that are there have a turn whenever so many more have come. */
  private static final int COME_TOGETHER = 5;

  /** Turns of which a kind that is fine takes one: the others have more to do. */
  private static final int FINE_REST = 4;

  private static final int MOST_CALLS = 200;
  private static final long TURN_NANOS = 3_000_000;

  private final SplittableRandom random;
  private final List<CountedCall> calls = new ArrayList<>();

  private AllocationCount(long seed) {
    random = new SplittableRandom(seed);
  }

  /**
   * Prints the kinds that allocate too much, and that it is done.
   *
   * @param args bits of a vector, the seed, and the bits of all vectors among which the kinds that
   *     the seed gives are shared out; and what makes the kernels
   */
  public static void main(String[] args) {
    int bits = Integer.parseInt(args[0]);
    long seed = Long.parseLong(args[1]);
    List<Integer> sharing = Arrays.stream(args[2].split(",")).map(Integer::valueOf).toList();
    Backend backend = backend(bits, args[3]);
    AllocationCount count = new AllocationCount(seed);
    try (Arena confined = Arena.ofConfined();
        Arena shared = Arena.ofShared()) {
      for (CallKind kind : DrawnKinds.of(seed, sharing, bits)) {
        Arena arena = kind.threads() == 1 ? confined : shared;
        PreparedCall call = new PreparedCall(kind, backend, arena, count.random);
        count.calls.add(new CountedCall(call));
      }
      count.warmUp();
      count.overAfterAll().forEach(call -> System.out.println(OVER + call));
    }
    System.out.printf(
        "%s%d kinds of calls in %.0f s of a processor%n", COUNTED, count.calls.size(), seconds());
  }

  private static Backend backend(int bits, String kernels) {
    return switch (kernels) {
      case MACHINE_CODE -> Backend.machineCode(bits);
      case LOOPS -> Backend.loops();
      default -> bits == 0 ? Backend.scalar() : Backend.vector(bits);
    };
  }

  private static double seconds() {
    return SYSTEM.getProcessCpuTime() * 1e-9;
  }

  private void warmUp() {
    double end = seconds() + WARM_UP_SECONDS;
    shuffle(calls);
    for (int i = 0; i < calls.size(); i++) {
      if (random.nextBoolean()) {
        alone(calls.get(i));
      }
      if (i % COME_TOGETHER == 0) {
        byTurns(calls.subList(0, i + 1));
      }
    }
    while (seconds() < end && !calls.stream().allMatch(CountedCall::isFine)) {
      byTurns(calls);
    }
  }

  private void alone(CountedCall call) {
    double end = seconds() + ALONE_SECONDS;
    do {
      call.run(MOST_CALLS, TURN_NANOS);
    } while (seconds() < end && !call.isFine());
  }

  private void byTurns(List<CountedCall> some) {
    List<CountedCall> order = new ArrayList<>(some);
    shuffle(order);
    for (CountedCall call : order) {
      if (!call.isFine() || random.nextInt(FINE_REST) == 0) {
        call.run(random.nextInt(1, MOST_CALLS), TURN_NANOS);
      }
    }
  }

  private void shuffle(List<CountedCall> some) {
    for (int i = some.size(); i > 1; i--) {
      some.add(some.remove(random.nextInt(i)));
    }
  }

  /** Those that are not fine when all had their turns, nor after more turns for them alone. */
  private List<CountedCall> overAfterAll() {
    List<CountedCall> over = notFine(calls);
    double end = seconds() + FURTHER_SECONDS;
    while (seconds() < end && !over.stream().allMatch(CountedCall::isFine)) {
      byTurns(over);
    }
    return notFine(over);
  }

  private static List<CountedCall> notFine(List<CountedCall> some) {
    some.forEach(CountedCall::count);
    return some.stream().filter(call -> !call.isFine()).toList();
  }
}
