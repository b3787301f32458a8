package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaException;
import io.github.rmsnorm4j.cuda.CudaStream;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Timed;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Times;
import java.util.ArrayList;
import java.util.List;

/**
 * Times contests on a device by its events. In each round the call and the copy take turns, so what
 * slows the device for a while slows both; torch, in a process of its own, follows.
 */
public final class Timings {
  /** A second and larger place would not fit beside others on small devices. */
  private static final long MOST_TENSOR_BYTES = 128L << 20;

  /** Of all memory that is free, x has this share at most: a place has up to four such tensors. */
  private static final int SHARE = 16;

  /** No cache of a device of 2026 holds what lies between two calls at one place. */
  private static final int PLACES = 3;

  private static final int CALLS_PER_PLACE = 4;
  private static final int WARM_UPS = 3;

  private final CudaDevice device;
  private final int rounds;
  private final Torch torch;
  private final Progress progress;

  /**
   * Ready to measure.
   *
   * @param device where
   * @param rounds of each contest
   * @param torch PyTorch beside it
   * @param progress is told of each contest
   */
  public Timings(CudaDevice device, int rounds, Torch torch, Progress progress) {
    this.device = device;
    this.rounds = rounds;
    this.torch = torch;
    this.progress = progress;
  }

  /** {@return why times of this device are not to be believed; null if they are} */
  public String doubt() {
    try (CudaStream stream = device.stream();
        EventClock clock = new EventClock(device, stream)) {
      return clock.doubt();
    }
  }

  /**
   * {@return the times of contests, in their order}
   *
   * @param contests what is timed
   */
  public List<Timed> run(List<Contest> contests) {
    List<Timed> all = new ArrayList<>();
    long tensor = Math.min(MOST_TENSOR_BYTES, device.freeBytes() / SHARE);
    for (Contest contest : contests) {
      progress.step("times", all.size() + 1, contests.size(), contest.toString());
      long rows = Math.max(1, tensor / ((long) contest.width() * contest.type().bytes()));
      all.add(time(contest, (int) rows));
    }
    return all;
  }

  Timed time(Contest contest, int rows) {
    List<Double> own = new ArrayList<>();
    List<Double> copy = new ArrayList<>();
    try (CudaStream stream = device.stream();
        EventClock clock = new EventClock(device, stream);
        ContestPlaces places = new ContestPlaces(device, stream, contest, rows, PLACES)) {
      for (int round = -WARM_UPS; round < rounds; round++) {
        double call = clock.micros(places.calls(), PLACES * CALLS_PER_PLACE);
        double copied = clock.micros(places.copies(), PLACES * CALLS_PER_PLACE);
        if (round >= 0) {
          own.add(call);
          copy.add(copied);
        }
      }
    } catch (CudaException e) {
      if (e.isContextLost()) {
        throw e;
      }
      Times refused = new Times(DeviceResults.OWN, e.getMessage(), List.of());
      return new Timed(contest, rows, List.of(refused));
    }
    List<Times> systems = new ArrayList<>();
    systems.add(new Times(DeviceResults.OWN, null, own));
    systems.add(new Times(DeviceResults.COPY, null, copy));
    torch.time(contest, rows, PLACES, PLACES * CALLS_PER_PLACE, rounds).ifPresent(systems::add);
    return new Timed(contest, rows, systems);
  }
}
