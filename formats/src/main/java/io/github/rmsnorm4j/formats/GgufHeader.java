package io.github.rmsnorm4j.formats;

import io.github.rmsnorm4j.formats.TensorFile.Place;
import java.io.IOException;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.Locale;

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

    private final int bytes;

    ValueType(int bytes) {
      this.bytes = bytes;
    }

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final StoredBytes bytes;
  private final GgufReader in;

  /** The metadata, in the order of the file. */
  final LinkedHashMap<String, GgufValue> fields = new LinkedHashMap<>();

  /** The tensors by name, in the order of the file. */
  final LinkedHashMap<String, Place> places = new LinkedHashMap<>();

  /** What the place of each tensor is a multiple of. */
  private long alignment = DEFAULT_ALIGNMENT;

  /** The first byte of the data. */
  final long dataStart;

  /** Reads it. */
  GgufHeader(StoredBytes bytes) throws IOException {
    this.bytes = bytes;
    this.in = new GgufReader(bytes);
    in.skip(MAGIC.length);
    int version = (int) in.signed(4);
    if (version != 0 && (version & 0xffff) == 0) {
      throw bytes.wrong("is a big-endian GGUF file, only little-endian ones are read");
    }
    if (version != 2 && version != 3) {
      throw bytes.wrong(
          "is GGUF of version %s, known are 2 and 3", Integer.toUnsignedString(version));
    }
    long tensors = count(LEAST_TENSOR, "tensors", SafetensorsHeader.MOST_TENSORS);
    long values = count(LEAST_FIELD, "entries of metadata", SafetensorsHeader.MOST_METADATA);
    for (long i = 0; i < values; i++) {
      readField();
    }
    for (long i = 0; i < tensors; i++) {
      readTensor();
    }
    dataStart = Math.ceilDiv(in.position(), alignment) * alignment;
    for (Place place : places.values()) {
      checkPlace(place);
    }
    places.replaceAll((name, place) -> new Place(place.tensor(), bytes, dataStart + place.start()));
  }

  private long count(int leastBytes, String things, int most) throws IOException {
    long count = in.count(leastBytes, things);
    if (count > most) {
      throw bytes.wrong("has %s %s, at most %s are read", count, things, most);
    }
    return count;
  }

  private void readField() throws IOException {
    String key = in.text(LONGEST_KEY);
    ValueType type = valueType(key);
    GgufValue value = value(key, type);
    if (fields.put(key, value) != null) {
      throw wrong(key, "is there twice");
    }
    if (key.equals(ALIGNMENT_KEY)) {
      if (type != ValueType.UINT32
          || !(value instanceof GgufValue.Whole whole)
          || whole.value().bitCount() != 1) {
        String text = Printable.shortened(value.text());
        throw wrong(
            key, "is %s of type %s, it must be a power of two of type uint32", text, type.text());
      }
      alignment = whole.value().longValueExact();
    }
  }

  private ValueType valueType(String key) throws IOException {
    long number = in.unsigned(4);
    ValueType[] known = ValueType.values();
    if (number >= known.length) {
      throw wrong(
          key, "has a value of the unknown type %s, known are 0 to %s", number, known.length - 1);
    }
    return known[(int) number];
  }

  private GgufValue value(String key, ValueType type) throws IOException {
    return switch (type) {
      case UINT8, UINT16, UINT32 ->
          new GgufValue.Whole(BigInteger.valueOf(in.unsigned(type.bytes)));
      case INT8, INT16, INT32, INT64 ->
          new GgufValue.Whole(BigInteger.valueOf(in.signed(type.bytes)));
      case UINT64 -> new GgufValue.Whole(new BigInteger(Long.toUnsignedString(in.unsigned(8))));
      case FLOAT32 -> {
        float value = Float.intBitsToFloat((int) in.signed(4));
        yield new GgufValue.Real(value, Float.toString(value));
      }
      case FLOAT64 -> {
        double value = Double.longBitsToDouble(in.signed(8));
        yield new GgufValue.Real(value, Double.toString(value));
      }
      case BOOL -> {
        long value = in.unsigned(1);
        if (value > 1) {
          throw wrong(key, "is the truth value %s, it must be 0 or 1", value);
        }
        yield new GgufValue.Truth(value == 1);
      }
      case STRING -> new GgufValue.Text(in.text(LONGEST_TEXT));
      case ARRAY -> array(key, 1);
    };
  }

  /** Passes over the elements. */
  private GgufValue.Array array(String key, int depth) throws IOException {
    if (depth > DEEPEST_ARRAY) {
      throw wrong(key, "has lists within lists, at most %s deep are read", DEEPEST_ARRAY);
    }
    ValueType type = valueType(key);
    long length = in.count(type.bytes, "elements of '" + Printable.shortened(key) + "'");
    if (type == ValueType.STRING || type == ValueType.ARRAY) {
      for (long i = 0; i < length; i++) {
        if (type == ValueType.ARRAY) {
          array(key, depth + 1);
        } else {
          in.skip(in.count(1, "characters"));
        }
      }
    } else {
      in.skip(length * type.bytes);
    }
    return new GgufValue.Array(type.text(), length);
  }

  /** Its place is counted from the first byte of the data, which is not known yet. */
  private void readTensor() throws IOException {
    String name = in.text(LONGEST_KEY);
    long axes = in.unsigned(4);
    if (axes > MOST_AXES) {
      throw bytes.wrongTensor(name, "has %s axes, GGUF allows %s", axes, MOST_AXES);
    }
    LinkedList<Long> shape = new LinkedList<>();
    for (int axis = 0; axis < axes; axis++) {
      shape.addFirst(in.signed(8));
    }
    int type = (int) in.signed(4);
    Dtype dtype =
        Dtype.ofGguf(type)
            .orElseThrow(
                () ->
                    bytes.wrongTensor(
                        name, "has the unknown type %s", Integer.toUnsignedString(type)));
    Place place = new Place(bytes.tensor(name, dtype, shape), bytes, in.signed(8));
    if (places.put(name, place) != null) {
      throw bytes.wrong("has two tensors named '%s'", Printable.shortened(name));
    }
  }

  private void checkPlace(Place place) throws FormatException {
    Tensor tensor = place.tensor();
    long begin = place.start();
    long held = Math.max(0, bytes.size - dataStart);
    if (begin < 0 || begin > held || tensor.bytes() > held - begin) {
      throw bytes.wrongTensor(
          tensor.name(),
          "needs %s bytes from byte %s of the data on, and there are %s: the file is truncated",
          tensor.bytes(),
          Long.toUnsignedString(begin),
          held);
    }
    if (begin % alignment != 0) {
      throw bytes.wrongTensor(
          tensor.name(),
          "begins at byte %s, which is no multiple of the alignment %s",
          begin,
          alignment);
    }
  }

  private FormatException wrong(String key, String problem, Object... values) {
    return bytes.wrong("the metadata '%s' %s", Printable.shortened(key), problem.formatted(values));
  }
}
