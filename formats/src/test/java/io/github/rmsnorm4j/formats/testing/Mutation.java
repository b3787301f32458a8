package io.github.rmsnorm4j.formats.testing;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** A way to damage a file. */
public enum Mutation {
  FLIP_A_BIT {
    @Override
    public byte[] apply(byte[] content, Random random) {
      if (content.length > 0) {
        content[somewhere(content, random)] ^= (byte) (1 << random.nextInt(8));
      }
      return content;
    }
  },
  SET_A_BYTE {
    @Override
    public byte[] apply(byte[] content, Random random) {
      if (content.length > 0) {
        content[somewhere(content, random)] = (byte) random.nextInt(256);
      }
      return content;
    }
  },
  TRUNCATE {
    @Override
    public byte[] apply(byte[] content, Random random) {
      return Arrays.copyOf(content, random.nextInt(content.length + 1));
    }
  },
  EXTEND {
    @Override
    public byte[] apply(byte[] content, Random random) {
      return Arrays.copyOf(content, content.length + 1 + random.nextInt(1000));
    }
  },
  CHANGE_THE_LENGTH {
    @Override
    public byte[] apply(byte[] content, Random random) {
      if (content.length > 12) {
        content[random.nextInt(12)] = (byte) (random.nextBoolean() ? random.nextInt(256) : 0xff);
      }
      return content;
    }
  },
  REPEAT_A_PART {
    @Override
    public byte[] apply(byte[] content, Random random) {
      int from = somewhere(content, random);
      int to = Math.min(content.length, from + random.nextInt(60));
      return splice(content, to, to, Arrays.copyOfRange(content, from, to));
    }
  },
  REMOVE_A_PART {
    @Override
    public byte[] apply(byte[] content, Random random) {
      int from = somewhere(content, random);
      return splice(
          content, from, Math.min(content.length, from + random.nextInt(20)), new byte[0]);
    }
  },
  INSERT_A_WORD {
    @Override
    public byte[] apply(byte[] content, Random random) {
      int at = somewhere(content, random);
      return splice(content, at, at, word(random).getBytes());
    }
  },
  REPLACE_A_NUMBER {
    @Override
    public byte[] apply(byte[] content, Random random) {
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
    public byte[] apply(byte[] content, Random random) {
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
    "{a,b}",
    "{,}",
    "{layer}",
    "{prefix}",
    "*",
    "\"consumers\"",
    "\"norms\"",
    "\"default\"",
    "\"hidden_size\"",
    "true",
    "1e400",
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

  /**
   * Damages a file.
   *
   * @param content may be changed
   * @param random decides where and how
   * @return the damaged content
   */
  public abstract byte[] apply(byte[] content, Random random);

  /**
   * Damages a file in one to three ways.
   *
   * @param content may be changed
   * @param random decides where and how
   * @return the damaged content
   */
  public static byte[] some(byte[] content, Random random) {
    byte[] damaged = content;
    for (int times = random.nextInt(3); times >= 0; times--) {
      damaged = values()[random.nextInt(values().length)].apply(damaged, random);
    }
    return damaged;
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

  /** Where it grew by an even number the length is put right, so that what is behind is reached. */
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
