package io.github.rmsnorm4j;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every machine gives the codes and scales that are kept in {@code golden/quantised.txt}. */
class QuantizedGoldenTest {
  private static final int WIDTH = 1024;

  @ParameterizedTest
  @MethodSource("io.github.rmsnorm4j.Golden#backends")
  void everyMachineGivesTheseBytes(Backend backend) throws IOException {
    Map<String, Quantizer> rules = new TreeMap<>();
    rules.put("default", Quantizer.defaults());
    rules.put("ggml", Quantizer.ggmlReference());
    rules.put("jlama", Quantizer.jlama());
    rules.put("vllm", Quantizer.vllm());
    List<String> lines = new ArrayList<>();
    for (QuantizedType type : QuantizedType.all()) {
      for (Map.Entry<String, Quantizer> rule : rules.entrySet()) {
        long checksum = checksum(type, rule.getValue(), backend);
        lines.add("%s %s %08x".formatted(type, rule.getKey(), checksum));
      }
    }
    Golden.check("quantised.txt", lines);
  }

  private static long checksum(QuantizedType type, Quantizer rule, Backend backend) {
    CRC32 crc = new CRC32();
    Norm norm = RmsNorm.builder(WIDTH).backend(backend).threads(1).quantizer(rule).build();
    for (ElementType elements : new ElementType[] {ElementType.FLOAT32, ElementType.BFLOAT16}) {
      Golden.Source source = new Golden.Source(elements.ordinal());
      for (int kind = 0; kind < Golden.KINDS; kind++) {
        double[] row = source.row(kind, elements, WIDTH);
        byte[] image = new byte[WIDTH * elements.bytes()];
        Rows x = Rows.of(ByteBuffer.wrap(image).order(ByteOrder.nativeOrder()), elements, WIDTH);
        for (int i = 0; i < WIDTH; i++) {
          elements.set(x.segment(), i, row[i]);
        }
        byte[] codes = new byte[(int) type.rowBytes(WIDTH)];
        float[] scales = new float[type.scales(WIDTH)];
        norm.apply(x, null, view(codes, scales, type));
        crc.update(codes);
        for (float scale : scales) {
          crc.update(ByteBuffer.allocate(Float.BYTES).putFloat(scale).array());
        }
      }
    }
    return crc.getValue();
  }

  private static QuantizedRows view(byte[] codes, float[] scales, QuantizedType type) {
    if (type.toString().endsWith("given")) {
      return QuantizedRows.of(MemorySegment.ofArray(codes), 0.01f, type, 1, WIDTH);
    }
    return scales.length > 0
        ? QuantizedRows.of(codes, scales, type, WIDTH)
        : QuantizedRows.of(codes, type, WIDTH);
  }
}
