package io.github.rmsnorm4j.formats;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The places of the tensors in a new {@code .safetensors} file.
 *
 * @param header the bytes of the file up to the data
 * @param order the tensors in the order of their data
 */
record SafetensorsLayout(byte[] header, List<Tensor> order) {
  private static final JsonFactory JSON = new JsonFactory();
  private static final int ALIGNMENT = 8;

  static SafetensorsLayout of(List<Tensor> tensors, Map<String, String> metadata) {
    List<Tensor> order = dataOrder(tensors);
    Map<String, Long> begins = new HashMap<>();
    long end = 0;
    for (Tensor tensor : order) {
      if (tensor.dtype().isBlock()) {
        throw new IllegalArgumentException(
            "tensor %s is of a quantised type that .safetensors does not have".formatted(tensor));
      }
      if (begins.put(tensor.name(), end) != null) {
        throw new IllegalArgumentException("two tensors are named '" + tensor.label() + "'");
      }
      end = Math.addExact(end, tensor.bytes());
    }
    if (begins.containsKey(SafetensorsHeader.METADATA_KEY)) {
      throw new IllegalArgumentException(
          "no tensor can be named " + SafetensorsHeader.METADATA_KEY + " in .safetensors");
    }
    return new SafetensorsLayout(withLength(json(tensors, begins, metadata)), order);
  }

  /**
   * The given order, if it aligns each tensor to the size of its elements; otherwise larger
   * elements first. Readers that view the bytes as elements need the alignment.
   */
  private static List<Tensor> dataOrder(List<Tensor> tensors) {
    long begin = 0;
    boolean aligned = true;
    for (Tensor tensor : tensors) {
      aligned &= begin % Math.ceilDiv(tensor.dtype().bits(), 8) == 0;
      begin = Math.addExact(begin, tensor.bytes());
    }
    return aligned
        ? List.copyOf(tensors)
        : tensors.stream()
            .sorted(Comparator.comparing((Tensor t) -> t.dtype().bits()).reversed())
            .toList();
  }

  private static byte[] json(
      List<Tensor> tensors, Map<String, Long> begins, Map<String, String> metadata) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      if (!metadata.isEmpty()) {
        json.writeObjectFieldStart(SafetensorsHeader.METADATA_KEY);
        for (Map.Entry<String, String> entry : metadata.entrySet()) {
          json.writeStringField(entry.getKey(), entry.getValue());
        }
        json.writeEndObject();
      }
      for (Tensor tensor : tensors) {
        writeTensor(json, tensor, begins.get(tensor.name()));
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException("memory does not fail to be written to", e);
    }
    return out.toByteArray();
  }

  private static void writeTensor(JsonGenerator json, Tensor tensor, long begin)
      throws IOException {
    json.writeObjectFieldStart(tensor.name());
    json.writeStringField("dtype", tensor.dtype().name());
    json.writeArrayFieldStart("shape");
    for (long length : tensor.shape()) {
      json.writeNumber(length);
    }
    json.writeEndArray();
    json.writeArrayFieldStart("data_offsets");
    json.writeNumber(begin);
    json.writeNumber(begin + tensor.bytes());
    json.writeEndArray();
    json.writeEndObject();
  }

  private static byte[] withLength(byte[] json) {
    int length = Math.ceilDiv(json.length, ALIGNMENT) * ALIGNMENT;
    ByteBuffer out = ByteBuffer.allocate(Long.BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
    out.putLong(length).put(json);
    while (out.hasRemaining()) {
      out.put((byte) ' ');
    }
    return out.array();
  }
}
