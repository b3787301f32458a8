package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;

/** A range of a file as a stream. */
final class FileRange extends InputStream {
  private final StoredBytes bytes;
  private final long end;
  private long at;

  FileRange(StoredBytes bytes, long start, long length) {
    this.bytes = bytes;
    this.at = start;
    this.end = start + length;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    int count = (int) Math.min(length, end - at);
    if (count == 0) {
      return length == 0 ? 0 : -1;
    }
    bytes.readFully(at, MemorySegment.ofArray(into).asSlice(offset, count));
    at += count;
    return count;
  }

  @Override
  public long skip(long count) {
    long skipped = Math.clamp(count, 0, end - at);
    at += skipped;
    return skipped;
  }
}
