package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaGradients;
import io.github.rmsnorm4j.cuda.CudaMemory;
import io.github.rmsnorm4j.cuda.CudaNorm;
import io.github.rmsnorm4j.cuda.CudaRows;
import io.github.rmsnorm4j.cuda.CudaSaved;
import io.github.rmsnorm4j.cuda.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The memory of a contest on the device, at several places that take turns: together they are
 * larger than its caches, so each call finds its rows in memory.
 */
final class ContestPlaces implements AutoCloseable {
  private final Arena arena = Arena.ofConfined();
  private final CudaDevice device;
  private final CudaStream stream;
  private final Contest contest;
  private final int rows;
  private final CudaNorm norm;
  private final List<Runnable> calls = new ArrayList<>();
  private final List<Runnable> copies = new ArrayList<>();

  ContestPlaces(CudaDevice device, CudaStream stream, Contest contest, int rows, int places) {
    this.device = device;
    this.stream = stream;
    this.contest = contest;
    this.rows = rows;
    try {
      norm = device.norm(norm(contest), arena).on(stream);
      CudaRows source = drawn();
      for (int place = 0; place < places; place++) {
        add(place == 0 ? source : copyOf(source));
      }
      stream.synchronize();
    } catch (RuntimeException e) { // too little memory: the next contest may need less
      arena.close();
      throw e;
    }
  }

  /** A norm with a gain, and a bias if it is a LayerNorm. */
  static Norm norm(Contest contest) {
    double[] gain = new double[contest.width()];
    SplittableRandom random = new SplittableRandom(contest.width());
    for (int i = 0; i < gain.length; i++) {
      gain[i] = (float) random.nextDouble(0.5, 2);
    }
    return contest.kind() == NormSpec.Kind.LAYER_NORM
        ? LayerNorm.builder(contest.width()).gain(gain).bias(gain).build()
        : RmsNorm.builder(contest.width()).gain(gain).build();
  }

  /** The call at each place. */
  List<Runnable> calls() {
    return calls;
  }

  /** A copy of as many rows as x has, at each place. */
  List<Runnable> copies() {
    return copies;
  }

  private void add(CudaRows x) {
    CudaRows y = memory();
    copies.add(() -> y.memory().copyFrom(x.memory(), stream));
    switch (contest.job()) {
      case FORWARD -> calls.add(() -> norm.apply(x, y));
      case RESIDUAL -> {
        CudaRows residual = copyOf(x);
        calls.add(() -> norm.addAndApply(x, residual, y));
      }
      case BACKWARD, BACKWARD_GAIN -> addBackward(x, y);
    }
  }

  private void addBackward(CudaRows x, CudaRows y) {
    CudaSaved saved = norm.saved(Keep.INPUT, rows, arena);
    norm.apply(x, y, saved);
    CudaRows dy = copyOf(x);
    CudaRows dgain =
        contest.job() == Contest.Job.BACKWARD
            ? null
            : CudaRows.of(
                device.allocate((long) contest.width() * Float.BYTES, arena),
                ElementType.FLOAT32,
                1,
                contest.width());
    CudaGradients gradients = CudaGradients.assigned(dgain, null);
    // y is dx: the forward pass is over.
    calls.add(() -> norm.backward(dy, saved, y, gradients));
  }

  private CudaRows memory() {
    long bytes = (long) rows * contest.width() * contest.type().bytes();
    return CudaRows.of(device.allocate(bytes, arena), contest.type(), rows, contest.width());
  }

  private CudaRows copyOf(CudaRows of) {
    CudaRows copy = memory();
    copy.memory().copyFrom(of.memory(), stream);
    return copy;
  }

  /** A few rows are drawn, and repeated: times do not depend on the numbers. */
  private CudaRows drawn() {
    CudaRows x = memory();
    CudaMemory memory = x.memory();
    int few = Math.clamp((1 << 20) / contest.width(), 1, rows);
    byte[] bytes = new byte[few * contest.width() * contest.type().bytes()];
    MemorySegment segment = MemorySegment.ofArray(bytes);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < few * contest.width(); i++) {
      contest.type().set(segment, i, random.nextDouble(-1, 1));
    }
    for (long at = 0; at < memory.byteSize(); at += bytes.length) {
      long length = Math.min(bytes.length, memory.byteSize() - at);
      memory.asSlice(at).copyFrom(segment.asSlice(0, length));
    }
    return x;
  }

  @Override
  public void close() {
    arena.close();
  }
}
