package io.github.rmsnorm4j.benchmarks;

import io.github.rmsnorm4j.ElementType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Where rows lie. */
public enum Memory {
  /** A Java array of the element's own kind. */
  HEAP,
  /** Native memory, from the start of a page. */
  NATIVE,
  /** A file mapped into memory. */
  MAPPED;

  private static final int PAGE = 4096;

  /**
   * {@return memory for elements, all of them 0}
   *
   * @param type of the elements
   * @param elements how many
   * @param arena of native memory and files
   */
  public MemorySegment allocate(ElementType type, int elements, Arena arena) {
    long bytes = (long) elements * type.bytes();
    return switch (this) {
      case HEAP -> array(type, elements);
      case NATIVE -> arena.allocate(bytes, PAGE);
      case MAPPED -> mapped(bytes, arena);
    };
  }

  /**
   * {@return bytes, all of them 0}
   *
   * @param count how many
   * @param arena of native memory and files
   */
  public MemorySegment allocate(int count, Arena arena) {
    return switch (this) {
      case HEAP -> MemorySegment.ofArray(new byte[count]);
      case NATIVE -> arena.allocate(count, PAGE);
      case MAPPED -> mapped(count, arena);
    };
  }

  static MemorySegment array(ElementType type, int elements) {
    return switch (type) {
      case FLOAT64 -> MemorySegment.ofArray(new double[elements]);
      case FLOAT32 -> MemorySegment.ofArray(new float[elements]);
      case FLOAT16, BFLOAT16 -> MemorySegment.ofArray(new short[elements]);
    };
  }

  private static MemorySegment mapped(long bytes, Arena arena) {
    try {
      Path file = Files.createTempFile("rows", null);
      try (FileChannel channel =
          FileChannel.open(
              file,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE,
              StandardOpenOption.DELETE_ON_CLOSE)) {
        return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
