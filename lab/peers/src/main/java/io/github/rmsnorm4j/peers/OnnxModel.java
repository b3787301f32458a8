package io.github.rmsnorm4j.peers;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * A model of a norm, as the bytes of an ONNX file. Of protobuf it needs two kinds of field:
 * numbers, and things with a length. The numbers of the fields are those of onnx.proto.
 */
final class OnnxModel {
  private static final int IR_VERSION = 10;
  private static final int FLOAT_ATTRIBUTE = 1;
  private static final int INT_ATTRIBUTE = 2;

  /** Types as TensorProto.DataType numbers them. */
  private static final int FLOAT32 = 1;

  private static final int UINT8 = 2;

  private OnnxModel() {}

  /**
   * A model whose input is {@code X} and whose parameters are constants. Its output is {@code Y},
   * or that quantised: codes {@code Q} in uint8, and for all rows a float32 scale {@code S} and a
   * zero point {@code Z}.
   *
   * @param elementType as TensorProto.DataType numbers it
   * @param gain raw bytes, little-endian
   * @param bias the same, or null
   * @param quantized whether DynamicQuantizeLinear follows
   */
  static byte[] of(
      String operator,
      int opset,
      int elementType,
      int rows,
      int width,
      float epsilon,
      byte[] gain,
      byte[] bias,
      boolean quantized) {
    Message node = new Message().text(1, "X").text(1, "gain");
    if (bias != null) {
      node.text(1, "bias");
    }
    node.text(2, "Y").text(4, operator);
    node.message(5, new Message().text(1, "axis").number(3, -1).number(20, INT_ATTRIBUTE));
    node.message(
        5, new Message().text(1, "epsilon").single(2, epsilon).number(20, FLOAT_ATTRIBUTE));
    Message graph = new Message().message(1, node).text(2, "norm");
    graph.message(5, parameter("gain", elementType, width, gain));
    if (bias != null) {
      graph.message(5, parameter("bias", elementType, width, bias));
    }
    graph.message(11, tensor("X", elementType, rows, width));
    if (quantized) {
      Message codes = new Message().text(1, "Y").text(2, "Q").text(2, "S").text(2, "Z");
      graph.message(1, codes.text(4, "DynamicQuantizeLinear"));
      graph.message(12, tensor("Q", UINT8, rows, width));
      graph.message(12, tensor("S", FLOAT32)).message(12, tensor("Z", UINT8));
    } else {
      graph.message(12, tensor("Y", elementType, rows, width));
    }
    Message model = new Message().number(1, IR_VERSION).message(7, graph);
    return model.message(8, new Message().text(1, "").number(2, opset)).bytes();
  }

  private static Message parameter(String name, int elementType, int width, byte[] raw) {
    return new Message().number(1, width).number(2, elementType).text(8, name).data(9, raw);
  }

  private static Message tensor(String name, int elementType, int... sizes) {
    Message shape = new Message();
    for (int size : sizes) {
      shape.message(1, new Message().number(1, size));
    }
    Message tensor = new Message().number(1, elementType).message(2, shape);
    return new Message().text(1, name).message(2, new Message().message(1, tensor));
  }

  /** A protobuf message that is being written. */
  private static final class Message {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    byte[] bytes() {
      return out.toByteArray();
    }

    Message number(int field, long value) {
      varint(field << 3);
      varint(value);
      return this;
    }

    Message single(int field, float value) {
      varint(field << 3 | 5);
      int bits = Float.floatToRawIntBits(value);
      for (int shift = 0; shift < 32; shift += 8) {
        out.write(bits >> shift);
      }
      return this;
    }

    Message text(int field, String value) {
      return data(field, value.getBytes(StandardCharsets.UTF_8));
    }

    Message message(int field, Message value) {
      return data(field, value.bytes());
    }

    Message data(int field, byte[] value) {
      varint(field << 3 | 2);
      varint(value.length);
      out.writeBytes(value);
      return this;
    }

    private void varint(long value) {
      long rest = value;
      while ((rest & ~0x7FL) != 0) {
        out.write((int) (rest & 0x7F | 0x80));
        rest >>>= 7;
      }
      out.write((int) rest);
    }
  }
}
