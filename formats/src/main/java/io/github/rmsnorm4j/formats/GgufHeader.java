package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.formats.SingleFile.Entry;
import java.io.IOException;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/** The header of a GGUF file: its version, its metadata, and the list of its tensors. */
final class GgufHeader {
  static final byte[] MAGIC = {'G', 'G', 'U', 'F'};

  private static final int LONGEST_KEY = 65_535;
  private static final int LONGEST_TEXT = 16 << 20;

  /** Of a key and a value without a byte of text: two lengths and a type. */
  private static final int LEAST_FIELD = 8 + 4 + 1;

  /** Of a tensor without a name or an axis: a length, a number of axes, a type and an offset. */
  private static final int LEAST_TENSOR = 8 + 4 + 4 + 8;

  /** GGUF has no tensors of more axes. */
  private static final int MOST_AXES = 4;

  private static final int DEEPEST_ARRAY = 4;
  private static final int DEFAULT_ALIGNMENT = 32;
  private static final String ALIGNMENT_KEY = "general.alignment";

  /** The types of values, in the order of their numbers, with the fewest bytes that one takes. */
  private enum ValueType {
    UINT8(1),
    INT8(1),
    UINT16(2),
    INT16(2),
    UINT32(4),
    INT32(4),
    FLOAT32(4),
    BOOL(1),
    STRING(8),
    ARRAY(12),
    UINT64(8),
    INT64(8),
    FLOAT64(8);

    private final int leastBytes;

    ValueType(int leastBytes) {
      this.leastBytes = leastBytes;
    }

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final StoredBytes bytes;
  private final GgufReader in;

  /** 2 or 3. */
  final int version;

  /** The metadata, in the order of the file. */
  final LinkedHashMap<String, GgufValue> fields = new LinkedHashMap<>();

  /** The tensors by name, in the order of the file. */
  final LinkedHashMap<String, Entry> entries = new LinkedHashMap<>();

  /** What the place of each tensor is a multiple of. */
  long alignment = DEFAULT_ALIGNMENT;

  /** The first byte of the data. */
  final long dataStart;

  /** Reads it. */
  GgufHeader(StoredBytes bytes) throws IOException {
    this.bytes = bytes;
    this.in = new GgufReader(bytes);
    in.skip(4); // the magic
    version = in.int32();
    if (version != 0 && (version & 0xffff) == 0) {
      throw in.wrong("is a big-endian GGUF file, only little-endian ones are read");
    }
    if (version != 2 && version != 3) {
      throw in.wrong(
          "is GGUF of version %s, known are 2 and 3".formatted(Integer.toUnsignedString(version)));
    }
    long tensors = in.count(LEAST_TENSOR, "tensors");
    requireAtMost(tensors, SafetensorsHeader.MOST_TENSORS, "tensors");
    long values = in.count(LEAST_FIELD, "entries of metadata");
    requireAtMost(values, SafetensorsHeader.MOST_METADATA, "entries of metadata");
    for (long i = 0; i < values; i++) {
      readField();
    }
    for (long i = 0; i < tensors; i++) {
      readTensor();
    }
    dataStart = Math.ceilDiv(in.position(), alignment) * alignment;
  }

  private void requireAtMost(long count, int most, String things) throws FormatException {
    if (count > most) {
      throw in.wrong("has %s %s, at most %s are read".formatted(count, things, most));
    }
  }

  private void readField() throws IOException {
    String key = in.text(LONGEST_KEY);
    ValueType type = valueType(key);
    GgufValue value = value(key, type);
    if (fields.put(key, value) != null) {
      throw wrong(key, "is there twice");
    }
    if (key.equals(ALIGNMENT_KEY)) {
      alignment = alignment(type, value);
    }
  }

  private long alignment(ValueType type, GgufValue value) throws FormatException {
    if (type != ValueType.UINT32
        || !(value instanceof GgufValue.Whole whole)
        || whole.value().bitCount() != 1) {
      throw wrong(
          ALIGNMENT_KEY,
          "is %s of type %s, it must be a power of two of type uint32"
              .formatted(Printable.shortened(value.text()), type.text()));
    }
    return whole.value().longValueExact();
  }

  private ValueType valueType(String key) throws IOException {
    int number = in.int32();
    ValueType[] known = ValueType.values();
    if (number < 0 || number >= known.length) {
      throw wrong(
          key,
          "has a value of the unknown type %s, known are 0 to %s"
              .formatted(Integer.toUnsignedString(number), known.length - 1));
    }
    return known[number];
  }

  private GgufValue value(String key, ValueType type) throws IOException {
    return switch (type) {
      case UINT8 -> whole(Byte.toUnsignedLong(in.int8()));
      case INT8 -> whole(in.int8());
      case UINT16 -> whole(Short.toUnsignedLong(in.int16()));
      case INT16 -> whole(in.int16());
      case UINT32 -> whole(Integer.toUnsignedLong(in.int32()));
      case INT32 -> whole(in.int32());
      case UINT64 -> new GgufValue.Whole(new BigInteger(Long.toUnsignedString(in.int64())));
      case INT64 -> whole(in.int64());
      case FLOAT32 -> {
        float value = Float.intBitsToFloat(in.int32());
        yield new GgufValue.Real(value, Float.toString(value));
      }
      case FLOAT64 -> {
        double value = Double.longBitsToDouble(in.int64());
        yield new GgufValue.Real(value, Double.toString(value));
      }
      case BOOL -> new GgufValue.Truth(truth(key));
      case STRING -> new GgufValue.Text(in.text(LONGEST_TEXT));
      case ARRAY -> array(key, 1);
    };
  }

  private static GgufValue whole(long value) {
    return new GgufValue.Whole(BigInteger.valueOf(value));
  }

  private boolean truth(String key) throws IOException {
    byte value = in.int8();
    if (value != 0 && value != 1) {
      throw wrong(key, "is the truth value %s, it must be 0 or 1".formatted(value & 0xff));
    }
    return value == 1;
  }

  /** Passes over the elements. */
  private GgufValue.Array array(String key, int depth) throws IOException {
    if (depth > DEEPEST_ARRAY) {
      throw wrong(key, "has lists within lists, at most %s deep are read".formatted(DEEPEST_ARRAY));
    }
    ValueType type = valueType(key);
    long length = in.count(type.leastBytes, "elements of '" + Printable.shortened(key) + "'");
    switch (type) {
      case STRING -> {
        for (long i = 0; i < length; i++) {
          in.skip(in.count(1, "characters"));
        }
      }
      case ARRAY -> {
        for (long i = 0; i < length; i++) {
          array(key, depth + 1);
        }
      }
      default -> in.skip(length * type.leastBytes);
    }
    return new GgufValue.Array(type.text(), length);
  }

  private void readTensor() throws IOException {
    String name = in.text(LONGEST_KEY);
    int axes = in.int32();
    if (axes < 0 || axes > MOST_AXES) {
      throw new FormatException(
          bytes.path,
          name,
          "has %s axes, GGUF allows %s".formatted(Integer.toUnsignedString(axes), MOST_AXES));
    }
    long[] fastestFirst = new long[axes];
    for (int axis = 0; axis < axes; axis++) {
      fastestFirst[axis] = in.int64();
    }
    int type = in.int32();
    Dtype dtype =
        Dtype.ofGguf(type)
            .orElseThrow(
                () ->
                    new FormatException(
                        bytes.path,
                        name,
                        "has the unknown type " + Integer.toUnsignedString(type)));
    Entry entry = new Entry(tensor(name, dtype, fastestFirst), in.int64());
    if (entries.put(name, entry) != null) {
      throw in.wrong("has two tensors named '" + Printable.shortened(name) + "'");
    }
  }

  private Tensor tensor(String name, Dtype dtype, long[] fastestFirst) throws FormatException {
    List<Long> shape = LongStream.of(fastestFirst).boxed().toList().reversed();
    try {
      return new Tensor(name, dtype, shape);
    } catch (IllegalArgumentException e) {
      throw new FormatException(bytes.path, name, e.getMessage());
    }
  }

  private FormatException wrong(String key, String problem) {
    return in.wrong("the metadata '" + Printable.shortened(key) + "' " + problem);
  }
}
