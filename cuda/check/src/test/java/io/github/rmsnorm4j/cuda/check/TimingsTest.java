package io.github.rmsnorm4j.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.check.DeviceResults.Timed;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TimingsTest {
  @ParameterizedTest
  @EnumSource(Contest.Job.class)
  void theCallAndTheCopyAreTimedInTurn(Contest.Job job) {
    Contest contest = new Contest(NormSpec.Kind.LAYER_NORM, job, ElementType.BFLOAT16, 40);
    try (CudaDevice device = StubbedDevice.open()) {
      StubbedDevice.driver().calls();
      Timed timed = new Timings(device, 2, Torch.none(), StubbedDevice.QUIET).time(contest, 3);
      assertThat(timed.systems())
          .extracting(DeviceResults.Times::system)
          .containsExactly("rmsnorm4j", "copy");
      assertThat(timed.systems()).allMatch(times -> times.micros().size() == 2);
      // Two rounds and three to warm up, of a call and a copy at three places, four times each.
      assertThat(StubbedDevice.driver().calls(EntryPoint.EVENT_ELAPSED_TIME)).hasSize(10);
    }
  }

  @Test
  void contestsMoveMoreThanACacheHolds() {
    for (Contest contest : Contest.all(false)) {
      int rows = (128 << 20) / (contest.width() * contest.type().bytes());
      assertThat(3 * contest.bytes(rows)).as("%s", contest).isGreaterThanOrEqualTo(768L << 20);
    }
    assertThat(Contest.all(false)).hasSize(60).doesNotHaveDuplicates();
    assertThat(Contest.all(true)).hasSize(16).allMatch(contest -> contest.width() == 4096);
  }

  @Test
  void tooLittleMemoryIsSaid() {
    Contest contest =
        new Contest(NormSpec.Kind.RMS_NORM, Contest.Job.RESIDUAL, ElementType.FLOAT32, 65_536);
    try (CudaDevice device = StubbedDevice.open()) {
      long free = device.freeBytes();
      // One tensor has 197 MB, and the device 1 GiB: several fit before one does not.
      Timed timed = new Timings(device, 2, Torch.none(), StubbedDevice.QUIET).time(contest, 750);
      assertThat(device.freeBytes()).as("the next contest has all memory").isEqualTo(free);
      assertThat(timed.systems())
          .singleElement()
          .satisfies(own -> assertThat(own.refused()).contains("bytes"));
      assertThat(timed.ofCopy()).isNaN();
    }
  }

  @Test
  void clocksThatDifferAreNotBelieved() {
    assertThat(EventClock.doubt(99_000, 100_000)).isNull();
    assertThat(EventClock.doubt(79_000, 100_000))
        .isEqualTo(
            "copies took 79.0 ms by the device's events and 100.0 ms by the processor's clock, so"
                + " times of this device are not believed");
    assertThat(EventClock.doubt(106_000, 100_000)).isNotNull();
  }
}
