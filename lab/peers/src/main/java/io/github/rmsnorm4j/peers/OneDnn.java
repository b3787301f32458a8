package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Systems;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.dnnl.IntMemoryMap;
import org.bytedeco.dnnl.engine;
import org.bytedeco.dnnl.global.dnnl;
import org.bytedeco.dnnl.layer_normalization_backward;
import org.bytedeco.dnnl.layer_normalization_forward;
import org.bytedeco.dnnl.memory;
import org.bytedeco.dnnl.primitive;
import org.bytedeco.dnnl.stream;
import org.bytedeco.javacpp.Pointer;

/** oneDNN's layer normalization, which is an RMSNorm where a flag says so. */
final class OneDnn {
  private static final engine CPU = new engine(engine.kind.cpu, 0);

  private final Place place;
  private final stream stream = new stream(CPU);
  private final int flags;
  private final memory.desc rows;
  private final layer_normalization_forward.primitive_desc forward;

  /** Reached from Java only as addresses inside native objects. */
  private final List<Pointer> kept = new ArrayList<>();

  private OneDnn(Place place) {
    this.place = place;
    flags = dnnl.dnnl_use_scale | (place.bias == null ? dnnl.dnnl_rms_norm : dnnl.dnnl_use_shift);
    Contest contest = place.contest;
    memory.data_type type =
        contest.type() == ElementType.FLOAT32 ? memory.data_type.f32 : memory.data_type.bf16;
    rows =
        new memory.desc(new long[] {contest.rows(), contest.width()}, type, memory.format_tag.ab);
    forward =
        new layer_normalization_forward.primitive_desc(
            CPU,
            contest.backward() ? dnnl.dnnl_forward_training : dnnl.dnnl_forward_inference,
            rows,
            rows,
            (float) place.epsilon,
            flags);
  }

  /** It has kernels for float32 and bfloat16; other types it refuses. */
  static List<Entrant> entrants(Contest contest) {
    boolean known = contest.type() == ElementType.FLOAT32 || contest.type() == ElementType.BFLOAT16;
    return known
        ? List.of(new Entrant(Systems.ONEDNN, contest.kernel(), OneDnn::ready))
        : List.of();
  }

  private static Turn ready(Place place, int threads) {
    Libtorch.setThreads(threads); // one OpenMP for both
    OneDnn norm = new OneDnn(place);
    return place.contest.backward() ? norm.backward() : norm.forward();
  }

  private Turn forward() {
    IntMemoryMap arguments = inputs();
    arguments.put(dnnl.DNNL_ARG_DST, memory(rows, place.y));
    return turn(new layer_normalization_forward(forward), arguments);
  }

  private Turn backward() {
    memory mean = memory(vector(place.contest.rows()), place.statistic());
    memory variance = memory(vector(place.contest.rows()), place.statistic());
    IntMemoryMap before = inputs();
    before.put(dnnl.DNNL_ARG_DST, memory(rows, place.y));
    before.put(dnnl.DNNL_ARG_MEAN, mean);
    before.put(dnnl.DNNL_ARG_VARIANCE, variance);
    turn(new layer_normalization_forward(forward), before).run();

    IntMemoryMap arguments = inputs();
    arguments.put(dnnl.DNNL_ARG_MEAN, mean);
    arguments.put(dnnl.DNNL_ARG_VARIANCE, variance);
    arguments.put(dnnl.DNNL_ARG_DIFF_DST, memory(rows, place.dy));
    arguments.put(dnnl.DNNL_ARG_DIFF_SRC, memory(rows, place.dx));
    memory.desc parameter = vector(place.contest.width());
    arguments.put(dnnl.DNNL_ARG_DIFF_SCALE, memory(parameter, place.dgain));
    if (place.bias != null) {
      arguments.put(dnnl.DNNL_ARG_DIFF_SHIFT, memory(parameter, place.dbias));
    }
    var backward =
        new layer_normalization_backward.primitive_desc(
            CPU, dnnl.dnnl_backward, rows, rows, rows, (float) place.epsilon, flags, forward);
    return turn(new layer_normalization_backward(backward), arguments);
  }

  private Turn turn(primitive work, IntMemoryMap arguments) {
    kept.add(work);
    kept.add(arguments);
    return new Turn() {
      @Override
      public void run() {
        work.execute(stream, arguments);
        stream._wait();
      }

      @Override
      public void close() {
        kept.forEach(Pointer::close);
      }
    };
  }

  /** Rows, gain and bias. */
  private IntMemoryMap inputs() {
    IntMemoryMap arguments = new IntMemoryMap();
    arguments.put(dnnl.DNNL_ARG_SRC, memory(rows, place.x));
    memory.desc width = vector(place.contest.width());
    arguments.put(
        dnnl.DNNL_ARG_SCALE, memory(width, place.parameter(place.gain, ElementType.FLOAT32)));
    if (place.bias != null) {
      arguments.put(
          dnnl.DNNL_ARG_SHIFT, memory(width, place.parameter(place.bias, ElementType.FLOAT32)));
    }
    return arguments;
  }

  private static memory.desc vector(int length) {
    return new memory.desc(new long[] {length}, memory.data_type.f32, memory.format_tag.a);
  }

  private memory memory(memory.desc description, MemorySegment segment) {
    memory memory = new memory(description, CPU, new Pointer(segment.asByteBuffer()));
    kept.add(memory);
    return memory;
  }
}
