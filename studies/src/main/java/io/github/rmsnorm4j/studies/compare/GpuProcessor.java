package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.Backend;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.measure.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A GPU. */
public final class GpuProcessor implements Processor {
  private final CudaDevice device;
  private final long available;

  /** Owns the device from now on. */
  public GpuProcessor(CudaDevice device) {
    this.device = device;
    available = device.freeBytes();
  }

  @Override
  public String name() {
    return device.toString();
  }

  @Override
  public Machine machine() {
    Machine host = Machine.thisOne(Backend.scalar());
    return new Machine(
        host.cpu(), host.processors(), host.system(), host.java(), host.flags(), name(), 0);
  }

  @Override
  public int threads() {
    return 0;
  }

  @Override
  public long availableBytes() {
    return available;
  }

  @Override
  public long leastSeenBytes() {
    return 0;
  }

  @Override
  public Ground<?> ground(Subject subject) {
    return new GpuGround(device, subject);
  }

  /** What is allocated is counted. */
  @Override
  public List<MemoryUse> memory(Plan plan, Consumer<String> progress) {
    List<MemoryUse> memory = new ArrayList<>();
    for (Subject subject : plan.memories()) {
      progress.accept("memory: " + subject);
      for (Variant variant : Variant.values()) {
        memory.add(new MemoryUse(subject, variant, peakBytes(subject, variant)));
      }
    }
    return memory;
  }

  private long peakBytes(Subject subject, Variant variant) {
    try (GpuGround ground = new GpuGround(device, subject)) {
      Contestant<?> contestant = ground.contestant(variant);
      contestant.prepare();
      contestant.pass();
      return ground.peakBytes();
    }
  }

  @Override
  public double computeRoof() {
    return 0;
  }

  @Override
  public List<String> notes() {
    return List.of();
  }

  @Override
  public void close() {
    device.close();
  }
}
