package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every machine gives the bits that are kept in {@code golden/checksums.txt}, on every backend. A
 * change of the contract is the one reason to make the file again, with {@code -D}{@value #WRITE}.
 */
class GoldenBitsTest {
  private static final String WRITE = "rmsnorm4j.golden.write";
  private static final String FILE = "golden/checksums.txt";
  private static final int[] WIDTHS = {
    1, 2, 3, 7, 31, 32, 33, 64, 100, 768, 1023, 1024, 1025, 4097, 65537
  };
  private static final int KINDS = 6;

  /** Numbers of a plain formula in whole ones, so that they are the same everywhere. */
  private static final class Source {
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
  }

  private static List<Integer> vectorBits() {
    List<Integer> bits = new ArrayList<>(List.of(0, 128, 256));
    if (Backend.best().vectorBits() > 256) {
      bits.add(Backend.best().vectorBits());
    }
    return bits;
  }

  @ParameterizedTest
  @MethodSource("vectorBits")
  void everyMachineGivesTheseBits(int vectorBits) throws IOException {
    Backend backend = vectorBits == 0 ? Backend.scalar() : Backend.vector(vectorBits);
    List<String> lines = new ArrayList<>();
    for (boolean centred : new boolean[] {false, true}) {
      for (ElementType type : ElementType.values()) {
        for (int width : WIDTHS) {
          lines.add(
              "%s %s %d %08x"
                  .formatted(
                      centred ? "LayerNorm" : "RMSNorm",
                      type.shortName(),
                      width,
                      checksum(centred, type, width, backend)));
        }
      }
    }
    if (System.getProperty(WRITE) != null) {
      Files.write(Path.of("src/test/resources", FILE), lines);
      return;
    }
    assertThat(lines).isEqualTo(kept());
  }

  private static List<String> kept() throws IOException {
    try (InputStream in = GoldenBitsTest.class.getResourceAsStream("/" + FILE)) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
    }
  }

  /** Of the patterns of two calls, one plain and one with gain, bias and a small epsilon. */
  private static long checksum(boolean centred, ElementType type, int width, Backend backend) {
    CRC32 crc = new CRC32();
    Source source = new Source(width * 8L + type.ordinal());
    int rows = width > 1000 ? 2 : KINDS;
    try (Arena arena = Arena.ofConfined()) {
      Block x = new Block(arena, Place.NATIVE, type, rows, width, width);
      Block y = new Block(arena, Place.NATIVE, type, rows, width, width);
      for (int r = 0; r < rows; r++) {
        x.put(r, row(source, (r + width) % KINDS, type, width));
      }
      double[] gain = source.row(ElementType.FLOAT32, width, 1, 1);
      double[] bias = source.row(ElementType.FLOAT32, width, 1, 0);
      for (boolean plain : new boolean[] {true, false}) {
        Norm.Builder<?> builder = centred ? LayerNorm.builder(width) : RmsNorm.builder(width);
        builder.backend(backend).threads(1).epsilon(plain ? 1e-5 : 1e-300);
        if (!plain) {
          builder.gain(gain).bias(bias);
        }
        Norm norm =
            builder instanceof RmsNorm.Builder rms
                ? rms.build()
                : ((LayerNorm.Builder) builder).build();
        norm.apply(x.rows, y.rows);
        add(crc, y);
      }
    }
    return crc.getValue();
  }

  /** Ordinary, with a mean, tiny, huge, with one great number in it, and equal elements. */
  private static double[] row(Source source, int kind, ElementType type, int width) {
    int exponent = type == ElementType.FLOAT16 ? 14 : type == ElementType.FLOAT64 ? 1000 : 120;
    double[] row =
        switch (kind) {
          case 1 -> source.row(type, width, 1, 300);
          case 2 -> source.row(type, width, Math.scalb(1.0, -exponent), 0);
          case 3 -> source.row(type, width, Math.scalb(1.0, exponent), 0);
          case 5 -> source.row(type, width, 0, 1.5);
          default -> source.row(type, width, 4, 0.25);
        };
    if (kind == 4) {
      row[width / 2] = Math.scalb(1.0, exponent);
    }
    return row;
  }

  private static void add(CRC32 crc, Block y) {
    int bytes = y.rows.type().bytes();
    byte[] row = new byte[y.rows.width() * bytes];
    for (int r = 0; r < y.rows.rows(); r++) {
      for (int at = 0; at < row.length; at++) {
        row[at] = (byte) (y.bits(r, at / bytes) >>> 8 * (at % bytes));
      }
      crc.update(row);
    }
  }
}
