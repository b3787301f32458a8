package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Files made by hand, and the golden ones that NumPy, safetensors and ggml wrote. */
final class TestFiles {
  private TestFiles() {}

  /** A golden file; {@code make_golden.py} or {@code make_golden_gguf.py} beside it made it. */
  static byte[] golden(String name) {
    try (InputStream in = TestFiles.class.getResourceAsStream(name)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Path golden(String name, Path folder) throws IOException {
    return Files.write(folder.resolve(name), golden(name));
  }

  /** A {@code .npy} file of version 1 with a literal of any kind and so many bytes of data. */
  static byte[] npy(String literal, int dataBytes) {
    byte[] text = literal.getBytes(ISO_8859_1);
    ByteBuffer out = ByteBuffer.allocate(10 + text.length + dataBytes);
    out.order(ByteOrder.LITTLE_ENDIAN).put("\u0093NUMPY\1\0".getBytes(ISO_8859_1));
    return out.putShort((short) text.length).put(text).array();
  }

  /** A {@code .npy} literal of this type and shape, spelled as NumPy does. */
  static String literal(String descr, String shape) {
    return "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n".formatted(descr, shape);
  }

  /** A {@code .safetensors} file with a header of any kind and so many bytes of data. */
  static byte[] safetensors(String header, int dataBytes) {
    byte[] text = header.getBytes(UTF_8);
    ByteBuffer out = ByteBuffer.allocate(8 + text.length + dataBytes);
    return out.order(ByteOrder.LITTLE_ENDIAN).putLong(text.length).put(text).array();
  }

  static String entry(String name, String dtype, String shape, long begin, long end) {
    return "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
        .formatted(name, dtype, shape, begin, end);
  }

  /** What a folder holds, hidden files too. */
  static Stream<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList().stream();
    }
  }
}
