package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.zip.CRC32;

/**
 * Rows that are the same everywhere, and files of checksums of what becomes of them. A change of
 * the contract is the one reason to make the files again, with {@code -D}{@value #WRITE}.
 */
final class Golden {
  private static final String WRITE = "rmsnorm4j.golden.write";

  /** Characters of rows. */
  static final int KINDS = 6;

  private Golden() {}

  /** Numbers of a plain formula in whole ones, so that they are the same everywhere. */
  static final class Source {
    private long state;

    Source(long seed) {
      state = seed;
      next();
    }

    /** From -1 to 1, a multiple of 2^-23. */
    double next() {
      state = state * 6364136223846793005L + 1442695040888963407L;
      return (state >> 40) * 0x1p-23;
    }

    double[] row(ElementType type, int width, double size, double mean) {
      double[] row = new double[width];
      for (int i = 0; i < width; i++) {
        row[i] = Rounding.to(type, mean + size * next());
      }
      return row;
    }

    /** Ordinary, with a mean, tiny, huge, with one great number in it, and equal elements. */
    double[] row(int kind, ElementType type, int width) {
      int exponent = type == ElementType.FLOAT16 ? 14 : type == ElementType.FLOAT64 ? 1000 : 120;
      double[] row =
          switch (kind) {
            case 1 -> row(type, width, 1, 300);
            case 2 -> row(type, width, Math.scalb(1.0, -exponent), 0);
            case 3 -> row(type, width, Math.scalb(1.0, exponent), 0);
            case 5 -> row(type, width, 0, 1.5);
            default -> row(type, width, 4, 0.25);
          };
      if (kind == 4) {
        row[width / 2] = Math.scalb(1.0, exponent);
      }
      return row;
    }
  }

  private static final List<Backend> BACKENDS = each();

  static List<Backend> backends() {
    return BACKENDS;
  }

  /** On an emulated processor, which is slow, the widths that it lacks are left out. */
  private static List<Backend> each() {
    if (Arm64Test.BITS > 0) {
      return List.of(Backend.scalar(), Backends.VECTORS);
    }
    List<Backend> backends = new ArrayList<>(List.of(Backend.scalar()));
    backends.addAll(Backends.vectors(256));
    if (Backends.HAS_JAVA_KERNELS) {
      backends.add(Backends.VECTORS);
    }
    backends.addAll(Backends.machineCode());
    return backends;
  }

  /** Lines of a file as a backend gives them; by default every third one, in turn. */
  static final class Lines {
    private final List<String> lines = new ArrayList<>();
    private final int backend;
    private final boolean all;

    Lines(Backend backend) {
      this.backend = BACKENDS.indexOf(backend);
      assertThat(this.backend).isNotNegative();
      all = System.getProperty(WRITE) != null || Arm64Test.BITS > 0;
    }

    /** The next line, of rows of a type; null if it is not this backend's turn. */
    void add(ElementType type, Supplier<String> line) {
      // Moved on from type to type, so that each backend has each kind of line.
      int call = lines.size() + type.ordinal();
      lines.add(all || Backends.isInTurn(backend, call) ? line.get() : null);
    }

    void check(String file) throws IOException {
      Golden.check(file, lines);
    }
  }

  /**
   * Whether these are the lines of a file, where they are not null; or writes them there if that is
   * asked for.
   */
  static void check(String file, List<String> lines) throws IOException {
    if (System.getProperty(WRITE) != null) {
      Files.write(Path.of("src/test/resources/golden", file), lines);
      return;
    }
    try (InputStream in = Golden.class.getResourceAsStream("/golden/" + file)) {
      List<String> kept = new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
      assertThat(lines).hasSameSizeAs(kept);
      for (int i = 0; i < kept.size(); i++) {
        if (lines.get(i) != null) {
          assertThat(lines.get(i)).as("line %d of %s", i + 1, file).isEqualTo(kept.get(i));
        }
      }
    }
  }

  static void add(CRC32 crc, Block y) {
    int bytes = y.rows.type().bytes();
    byte[] row = new byte[y.rows.width() * bytes];
    for (int r = 0; r < y.rows.rows(); r++) {
      long[] bits = y.bits(r);
      for (int at = 0; at < row.length; at++) {
        row[at] = (byte) (bits[at / bytes] >>> 8 * (at % bytes));
      }
      crc.update(row);
    }
  }

  static void add(CRC32 crc, double[] values) {
    for (double value : values) {
      long bits = Double.doubleToLongBits(value);
      for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
        crc.update((int) (bits >>> shift) & 0xff);
      }
    }
  }
}
