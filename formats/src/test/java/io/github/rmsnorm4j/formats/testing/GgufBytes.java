package io.github.rmsnorm4j.formats.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes GGUF from the layout of the format: magic, version, counts, metadata, the list of tensors,
 * padding, data. Nothing is checked, so that wrong files can be made. It shares no code with the
 * reader.
 *
 * <pre>{@code
 * byte[] file = new GgufBytes().text("general.architecture", "llama")
 *     .float32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
 *     .tensor("output_norm.weight", GgufBytes.F32, GgufBytes.floats(1, 2, 3, 4), 4)
 *     .toBytes();
 * }</pre>
 */
public final class GgufBytes {
  /** Types of tensors; the numbers are those of the format. */
  public static final int F32 = 0;

  public static final int F16 = 1;
  public static final int Q4_0 = 2;
  public static final int Q8_0 = 8;
  public static final int BF16 = 30;

  /** Types of values. */
  public static final int UINT32 = 4;

  public static final int FLOAT32 = 6;
  public static final int BOOL = 7;
  public static final int STRING = 8;
  public static final int ARRAY = 9;

  private record Info(String name, int type, byte[] data, long[] axes, Long offset) {}

  private final ByteArrayOutputStream metadata = new ByteArrayOutputStream();
  private final List<Info> tensors = new ArrayList<>();
  private int version = 3;
  private int alignment = 32;
  private long fields;
  private Long fieldCount;
  private Long tensorCount;

  public GgufBytes version(int number) {
    version = number;
    return this;
  }

  /** Writes {@code general.alignment} and keeps to it. */
  public GgufBytes alignment(int bytes) {
    alignment = bytes;
    return field("general.alignment", UINT32, int32(bytes));
  }

  public GgufBytes text(String key, String value) {
    return field(key, STRING, string(value));
  }

  public GgufBytes uint32(String key, int value) {
    return field(key, UINT32, int32(value));
  }

  public GgufBytes float32(String key, float value) {
    return field(key, FLOAT32, int32(Float.floatToIntBits(value)));
  }

  public GgufBytes bool(String key, boolean value) {
    return field(key, BOOL, new byte[] {(byte) (value ? 1 : 0)});
  }

  /** An array of texts, as a tokenizer's. */
  public GgufBytes texts(String key, String... values) {
    byte[][] strings = new byte[values.length][];
    for (int i = 0; i < values.length; i++) {
      strings[i] = string(values[i]);
    }
    return field(key, ARRAY, join(int32(STRING), int64(values.length), join(strings)));
  }

  /** A value of any type and content. */
  public GgufBytes field(String key, int type, byte[] value) {
    metadata.writeBytes(join(string(key), int32(type), value));
    fields++;
    return this;
  }

  /**
   * A tensor behind the one before it.
   *
   * @param shape the length of each axis, outermost first, as in other formats
   */
  public GgufBytes tensor(String name, int type, byte[] data, long... shape) {
    return tensorAt(null, name, type, data, shape);
  }

  /** A tensor that says it is at this place of the data; null for where it is. */
  public GgufBytes tensorAt(Long offset, String name, int type, byte[] data, long... shape) {
    long[] axes = new long[shape.length];
    for (int i = 0; i < axes.length; i++) {
      axes[i] = shape[axes.length - 1 - i];
    }
    tensors.add(new Info(name, type, data, axes, offset));
    return this;
  }

  /** Says that there are so many entries of metadata. */
  public GgufBytes fieldCount(long count) {
    fieldCount = count;
    return this;
  }

  /** Says that there are so many tensors. */
  public GgufBytes tensorCount(long count) {
    tensorCount = count;
    return this;
  }

  public byte[] toBytes() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes("GGUF".getBytes(UTF_8));
    out.writeBytes(int32(version));
    out.writeBytes(int64(tensorCount != null ? tensorCount : tensors.size()));
    out.writeBytes(int64(fieldCount != null ? fieldCount : fields));
    out.writeBytes(metadata.toByteArray());
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    for (Info tensor : tensors) {
      out.writeBytes(join(string(tensor.name), int32(tensor.axes.length)));
      for (long axis : tensor.axes) {
        out.writeBytes(int64(axis));
      }
      out.writeBytes(int32(tensor.type));
      out.writeBytes(int64(tensor.offset != null ? tensor.offset : data.size()));
      data.writeBytes(tensor.data);
      pad(data);
    }
    pad(out);
    out.writeBytes(data.toByteArray());
    return out.toByteArray();
  }

  private void pad(ByteArrayOutputStream out) {
    while (alignment > 0 && out.size() % alignment != 0) {
      out.write(0);
    }
  }

  /** Elements of float32. */
  public static byte[] floats(float... values) {
    ByteBuffer bytes = littleEndian(4 * values.length);
    for (float value : values) {
      bytes.putFloat(value);
    }
    return bytes.array();
  }

  /** Elements of float16. */
  public static byte[] halves(float... values) {
    ByteBuffer bytes = littleEndian(2 * values.length);
    for (float value : values) {
      bytes.putShort(Float.floatToFloat16(value));
    }
    return bytes.array();
  }

  /** Elements of bfloat16, from values that are exact in it. */
  public static byte[] bfloats(float... values) {
    ByteBuffer bytes = littleEndian(2 * values.length);
    for (float value : values) {
      bytes.putShort((short) (Float.floatToIntBits(value) >>> 16));
    }
    return bytes.array();
  }

  /** A length and as many bytes of UTF-8. */
  public static byte[] string(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return join(int64(bytes.length), bytes);
  }

  public static byte[] int32(int value) {
    return littleEndian(4).putInt(value).array();
  }

  public static byte[] int64(long value) {
    return littleEndian(8).putLong(value).array();
  }

  public static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  private static ByteBuffer littleEndian(int length) {
    return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
  }
}
