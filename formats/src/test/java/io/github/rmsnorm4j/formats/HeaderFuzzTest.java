package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Thousands of files that are nearly right. Each either opens, and then every element it promises
 * can be read, or is refused by a {@link FormatException} of one line; in little time and memory.
 */
class HeaderFuzzTest {
  private static final int ROUNDS = 1500;
  private static final Duration LONGEST = Duration.ofSeconds(2);
  private static final long MOST_ALLOCATED = 8 << 20;

  private static final List<String> NPY =
      List.of("f4.npy", "f8_big.npy", "f4_fortran.npy", "f8_fortran_big.npy", "v2.npy", "v3.npy");

  /** A kind of file, by the extension of its name. */
  private enum Kind {
    NPY,
    SAFETENSORS,
    GGUF,
    JSON;

    /** A file that is right. */
    byte[] content(Random random) {
      return switch (this) {
        case NPY -> TestFiles.golden(HeaderFuzzTest.NPY.get(random.nextInt(6)));
        case SAFETENSORS -> TestFiles.golden("mixed.safetensors");
        case GGUF -> TestFiles.golden("mixed.gguf");
        case JSON -> INDEX.replace('\'', '"').getBytes();
      };
    }

    Path path(Path folder) {
      return folder.resolve("fuzzed." + name().toLowerCase(Locale.ROOT));
    }
  }

  private static final String INDEX =
      """
      {'metadata': {'total_size': 16, 'by': 'x'},
       'weight_map': {'t': 'a.safetensors', 'u': 'b.safetensors', 'v': 'b.safetensors'}}
      """;

  @TempDir Path folder;

  private long refused;
  private long opened;

  /** The first file of a kind loads classes, which allocates more than any file may. */
  @BeforeAll
  static void loadClasses(@TempDir Path folder) throws Exception {
    writeShards(folder);
    for (Kind kind : Kind.values()) {
      Path path = Files.write(kind.path(folder), kind.content(new Random(0)));
      try (TensorFile file = TensorFile.open(path)) {
        readAll(file);
      }
    }
  }

  private static void writeShards(Path folder) throws IOException {
    String t = TestFiles.entry("t", "F32", "[2]", 0, 8);
    String u = TestFiles.entry("u", "F32", "[1]", 0, 4);
    String v = TestFiles.entry("v", "F32", "[1]", 4, 8);
    Files.write(folder.resolve("a.safetensors"), TestFiles.safetensors("{" + t + "}", 8));
    Files.write(folder.resolve("b.safetensors"), TestFiles.safetensors("{" + u + "," + v + "}", 8));
  }

  @ParameterizedTest
  @CsvSource({
    "NPY,1", "NPY,2", "NPY,3",
    "SAFETENSORS,1", "SAFETENSORS,2", "SAFETENSORS,3",
    "GGUF,1", "GGUF,2", "GGUF,3",
    "JSON,1", "JSON,2", "JSON,3"
  })
  void noFileDoesAnythingButOpenOrBeRefused(Kind kind, long seed) throws Exception {
    writeShards(folder);
    Random random = new Random(seed);
    Path path = kind.path(folder);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] content = kind.content(random);
      for (int times = random.nextInt(3); times >= 0; times--) {
        content = Mutation.any(random).apply(content, random);
      }
      Files.write(path, content);
      check(path, "%s, seed %d, round %d".formatted(kind, seed, round));
    }
    // Otherwise the mutations would be too wild or too tame to test anything.
    assertThat(refused).isGreaterThan(ROUNDS / 2);
    assertThat(opened).isGreaterThan(ROUNDS / 100);
  }

  private void check(Path path, String which) throws Exception {
    String message = null;
    long before = Allocated.bytes();
    long start = System.nanoTime();
    try (TensorFile file = TensorFile.open(path)) {
      readAll(file);
      opened++;
    } catch (FormatException e) {
      refused++;
      message = e.getMessage();
    } catch (Throwable e) {
      fail(which, e);
    }
    Duration taken = Duration.ofNanos(System.nanoTime() - start);
    long allocated = Allocated.bytes() - before; // Assertions allocate, too.
    if (message != null) {
      assertThat(message).describedAs(which).matches("[^\\p{Cntrl}]{1,1000}");
    }
    assertThat(taken).describedAs(which).isLessThan(LONGEST);
    assertThat(allocated).describedAs(which).isLessThan(MOST_ALLOCATED);
  }

  /** Its size is that of the file, which is small: what a header promises has been checked. */
  private static void readAll(TensorFile file) throws Exception {
    for (Tensor tensor : file.tensors()) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment into = arena.allocate(tensor.bytes());
        file.readBytes(tensor, 0, into);
        if (tensor.dtype().elementType().isPresent()) {
          file.read(tensor, 0, tensor.elements(), into);
        }
      }
    }
  }

  /** A way to damage a file. */
  private enum Mutation {
    FLIP_A_BIT {
      @Override
      byte[] apply(byte[] content, Random random) {
        if (content.length > 0) {
          content[somewhere(content, random)] ^= (byte) (1 << random.nextInt(8));
        }
        return content;
      }
    },
    SET_A_BYTE {
      @Override
      byte[] apply(byte[] content, Random random) {
        if (content.length > 0) {
          content[somewhere(content, random)] = (byte) random.nextInt(256);
        }
        return content;
      }
    },
    TRUNCATE {
      @Override
      byte[] apply(byte[] content, Random random) {
        return Arrays.copyOf(content, random.nextInt(content.length + 1));
      }
    },
    EXTEND {
      @Override
      byte[] apply(byte[] content, Random random) {
        return Arrays.copyOf(content, content.length + 1 + random.nextInt(1000));
      }
    },
    CHANGE_THE_LENGTH {
      @Override
      byte[] apply(byte[] content, Random random) {
        if (content.length > 12) {
          content[random.nextInt(12)] = (byte) (random.nextBoolean() ? random.nextInt(256) : 0xff);
        }
        return content;
      }
    },
    REPEAT_A_PART {
      @Override
      byte[] apply(byte[] content, Random random) {
        int from = somewhere(content, random);
        int to = Math.min(content.length, from + random.nextInt(60));
        return splice(content, to, to, Arrays.copyOfRange(content, from, to));
      }
    },
    REMOVE_A_PART {
      @Override
      byte[] apply(byte[] content, Random random) {
        int from = somewhere(content, random);
        return splice(
            content, from, Math.min(content.length, from + random.nextInt(20)), new byte[0]);
      }
    },
    INSERT_A_WORD {
      @Override
      byte[] apply(byte[] content, Random random) {
        int at = somewhere(content, random);
        return splice(content, at, at, word(random).getBytes());
      }
    },
    REPLACE_A_NUMBER {
      @Override
      byte[] apply(byte[] content, Random random) {
        int at = somewhere(content, random);
        while (at < content.length && !Character.isDigit(content[at])) {
          at++;
        }
        int end = at;
        while (end < content.length && Character.isDigit(content[end])) {
          end++;
        }
        return splice(content, at, end, number(random).getBytes());
      }
    },
    NEST {
      @Override
      byte[] apply(byte[] content, Random random) {
        int at = somewhere(content, random);
        String open = List.of("[", "(", "{\"a\":", "{'a':", "[[").get(random.nextInt(5));
        return splice(content, at, at, open.repeat(random.nextInt(20_000)).getBytes());
      }
    };

    private static final String[] WORDS = {
      "{",
      "}",
      "[",
      "]",
      "(",
      ")",
      ",",
      ":",
      "'",
      "\"",
      "\\",
      "\\u0000",
      "\\ud800",
      "\n",
      "\0",
      "null",
      "true",
      "NaN",
      "-",
      "1e999",
      "'descr'",
      "'shape'",
      "\"shape\"",
      "\"dtype\"",
      "\"F32\"",
      "\"F4\"",
      "\"data_offsets\"",
      "\"__metadata__\"",
      "\"weight_map\"",
      "../a.safetensors",
      "general.alignment",
      "\t\0\0\0\b\0\0\0",
      "True",
      "L",
      "0x10",
      "#",
      "//",
      "\u00e9"
    };

    abstract byte[] apply(byte[] content, Random random);

    static Mutation any(Random random) {
      return values()[random.nextInt(values().length)];
    }

    /** Most often in the header. */
    static int somewhere(byte[] content, Random random) {
      int range = random.nextInt(4) == 0 ? content.length : Math.min(content.length, 720);
      return range == 0 ? 0 : random.nextInt(range);
    }

    static byte[] splice(byte[] content, int from, int to, byte[] in) {
      byte[] out = new byte[content.length - (to - from) + in.length];
      System.arraycopy(content, 0, out, 0, from);
      System.arraycopy(in, 0, out, from, in.length);
      System.arraycopy(content, to, out, from + in.length, content.length - to);
      return withLength(out, in.length - (to - from));
    }

    /**
     * Where it grew by an even number the length is put right, so that what is behind is reached.
     */
    private static byte[] withLength(byte[] out, int grown) {
      if (out.length > 16 && (out[8] == '{' || out[10] == '{') && grown % 2 == 0) {
        int at = out[8] == '{' ? 0 : 8;
        int length = (out[at] & 0xff) + ((out[at + 1] & 0xff) << 8) + grown;
        out[at] = (byte) length;
        out[at + 1] = (byte) (length >> 8);
      }
      return out;
    }

    private static String word(Random random) {
      return WORDS[random.nextInt(WORDS.length)];
    }

    private static String number(Random random) {
      return switch (random.nextInt(5)) {
        case 0 -> String.valueOf(random.nextInt(10));
        case 1 -> String.valueOf(random.nextLong() >>> random.nextInt(64));
        case 2 -> "9".repeat(1 + random.nextInt(2000));
        case 3 -> "18446744073709551616";
        default -> "-" + random.nextInt(10);
      };
    }
  }
}
