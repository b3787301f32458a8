package io.github.rmsnorm4j;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Where rows can lie. */
enum Place {
  /** An array of the type, from a few elements on. */
  ARRAY,
  /** A segment of a byte array, at an odd offset. */
  BYTES,
  NATIVE,
  /** Native memory at an odd address. */
  ODD,
  MAPPED,
  DIRECT_BUFFER,
  HEAP_BUFFER;

  boolean isHeap() {
    return this == ARRAY || this == BYTES || this == HEAP_BUFFER;
  }

  /** Memory of this kind; what is in it is undefined. */
  MemorySegment allocate(Arena arena, long bytes, ElementType type) {
    return switch (this) {
      case ARRAY -> array(type, bytes);
      case BYTES -> MemorySegment.ofArray(new byte[(int) bytes + 3]).asSlice(3);
      case NATIVE -> arena.allocate(bytes, 64);
      case ODD -> arena.allocate(bytes + 1, 64).asSlice(1);
      case MAPPED -> map(arena, bytes);
      case DIRECT_BUFFER -> MemorySegment.ofBuffer(ByteBuffer.allocateDirect((int) bytes));
      case HEAP_BUFFER -> MemorySegment.ofBuffer(ByteBuffer.allocate((int) bytes));
    };
  }

  private static MemorySegment array(ElementType type, long bytes) {
    int n = (int) (bytes / type.bytes());
    return switch (type) {
      case FLOAT64 -> MemorySegment.ofArray(new double[n]);
      case FLOAT32 -> MemorySegment.ofArray(new float[n]);
      case FLOAT16, BFLOAT16 -> MemorySegment.ofArray(new short[n]);
    };
  }

  private static MemorySegment map(Arena arena, long bytes) {
    try {
      Path file = Files.createTempFile("rmsnorm4j-", ".map");
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        return channel.map(MapMode.READ_WRITE, 0, bytes, arena);
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
