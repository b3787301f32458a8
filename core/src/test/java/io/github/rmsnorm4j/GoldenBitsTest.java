package io.github.rmsnorm4j;

import static io.github.rmsnorm4j.Golden.KINDS;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.zip.CRC32;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every machine gives the bits that are kept in {@code golden/checksums.txt}, on the backends in
 * turn.
 */
class GoldenBitsTest {
  private static final int[] WIDTHS = {
    1, 2, 3, 7, 31, 32, 33, 64, 100, 768, 1023, 1024, 1025, 4097, 65537
  };

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void everyMachineGivesTheseBits(Backend backend) throws IOException {
    Golden.Lines lines = new Golden.Lines(backend);
    for (boolean centred : new boolean[] {false, true}) {
      for (ElementType type : ElementType.values()) {
        for (int width : WIDTHS) {
          lines.add(
              type,
              () ->
                  "%s %s %d %08x"
                      .formatted(
                          centred ? "LayerNorm" : "RMSNorm",
                          type.shortName(),
                          width,
                          checksum(centred, type, width, backend)));
        }
      }
    }
    lines.check("checksums.txt");
  }

  /** Of the patterns of two calls, one plain and one with gain, bias and a small epsilon. */
  private static long checksum(boolean centred, ElementType type, int width, Backend backend) {
    CRC32 crc = new CRC32();
    Golden.Source source = new Golden.Source(width * 8L + type.ordinal());
    int rows = width > 1000 ? 2 : KINDS;
    try (Arena arena = Arena.ofConfined()) {
      Block x = new Block(arena, Place.NATIVE, type, rows, width, width);
      Block y = new Block(arena, Place.NATIVE, type, rows, width, width);
      for (int r = 0; r < rows; r++) {
        x.put(r, source.row((r + width) % KINDS, type, width));
      }
      double[] gain = source.row(ElementType.FLOAT32, width, 1, 1);
      double[] bias = source.row(ElementType.FLOAT32, width, 1, 0);
      for (boolean plain : new boolean[] {true, false}) {
        NormBuilder<?> builder = centred ? LayerNorm.builder(width) : RmsNorm.builder(width);
        builder.backend(backend).threads(1).epsilon(plain ? 1e-5 : 1e-300);
        if (!plain) {
          builder.gain(gain).bias(bias);
        }
        Norm norm =
            builder instanceof RmsNorm.Builder rms
                ? rms.build()
                : ((LayerNorm.Builder) builder).build();
        norm.apply(x.rows, y.rows);
        Golden.add(crc, y);
      }
    }
    return crc.getValue();
  }
}
