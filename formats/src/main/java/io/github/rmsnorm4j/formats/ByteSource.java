package io.github.rmsnorm4j.formats;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** Bytes that are read by their position: those of a file, or some in memory. */
interface ByteSource extends Closeable {
  /** How many there are now; a file may become shorter. */
  long size() throws IOException;

  /** Reads at least one byte, unless there is none at the position; then the result is -1. */
  int read(ByteBuffer into, long position) throws IOException;

  /** The bytes of a file, which is closed with the source. */
  static ByteSource of(FileChannel channel) {
    return new ByteSource() {
      @Override
      public long size() throws IOException {
        return channel.size();
      }

      @Override
      public int read(ByteBuffer into, long position) throws IOException {
        return channel.read(into, position);
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    };
  }

  /** The bytes of an array, which must stay as they are. */
  static ByteSource of(byte[] bytes) {
    return new ByteSource() {
      @Override
      public long size() {
        return bytes.length;
      }

      @Override
      public int read(ByteBuffer into, long position) {
        if (position >= bytes.length) {
          return -1;
        }
        int length = (int) Math.min(into.remaining(), bytes.length - position);
        into.put(bytes, (int) position, length);
        return length;
      }

      @Override
      public void close() {
        // Memory needs no closing.
      }
    };
  }
}
