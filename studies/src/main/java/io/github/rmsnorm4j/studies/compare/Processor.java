package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.measure.Machine;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** What runs the variants: the processor of this machine, or a GPU. */
public interface Processor extends AutoCloseable {
  /** How results name the processor of this machine. */
  String CPU = "cpu";

  /** {@link #CPU}, or the name of the GPU. */
  String name();

  /** What is measured on. */
  Machine machine();

  /** Threads at most; 0 on a GPU, which has its own. */
  int threads();

  /** Bytes of memory that may be taken. */
  long availableBytes();

  /** From which size of a tensor on memory can be measured. */
  long leastSeenBytes();

  /** A subject's tensors. */
  Ground<?> ground(Subject subject);

  /** What memory each variant takes, before other tensors are made; empty if that is not told. */
  List<MemoryUse> memory(Plan plan, Consumer<String> progress) throws IOException;

  /** Operations per second where memory is no obstacle; 0 where that is not measured. */
  double computeRoof();

  /** What the reader must know. */
  List<String> notes();

  @Override
  void close();
}
