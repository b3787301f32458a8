package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.tjake.jlama.safetensors.SafeTensorSupport;
import com.github.tjake.jlama.safetensors.TensorInfo;
import com.github.tjake.jlama.safetensors.WeightLoader;
import com.github.tjake.jlama.safetensors.Weights;
import com.github.tjake.jlama.tensor.AbstractTensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jlama reads what is written here. What other programs write is read in {@link
 * SafetensorsFileTest} and {@link GgufFileTest}.
 */
class IndependentReaderTest {
  private static final List<Tensor> TENSORS =
      List.of(
          new Tensor("norm", Dtype.F32, List.of(64L)),
          new Tensor("größe", Dtype.F32, List.of(3L, 64L)),
          new Tensor("brain", Dtype.BF16, List.of(2L, 64L)),
          new Tensor("half", Dtype.F16, List.of(2L, 64L)));

  @TempDir Path folder;

  private final Random random = new Random(16);

  /** Writes random elements, and says which. */
  private byte[] write(Path path, List<Tensor> tensors) throws IOException {
    byte[] data = new byte[(int) tensors.stream().mapToLong(Tensor::bytes).sum()];
    for (int i = 0; i < data.length; i += 2) {
      // The upper half of a float32 between 1 and 2 is a bfloat16, and a float16 as well.
      data[i] = (byte) random.nextInt();
      data[i + 1] = 0x3f;
    }
    try (TensorWriter writer = TensorWriter.create(path, tensors, Map.of("format", "pt"), false)) {
      assertThat(writer.order()).isEqualTo(tensors);
      writer.write(MemorySegment.ofArray(data));
      writer.commit();
    }
    return data;
  }

  @Test
  void readsAFileThatIsWrittenHere() throws Exception {
    Path path = folder.resolve("model.safetensors");
    byte[] data = write(path, TENSORS);
    byte[] content = Files.readAllBytes(path);
    ByteBuffer buffer = ByteBuffer.allocateDirect(content.length).order(ByteOrder.LITTLE_ENDIAN);
    Weights weights = SafeTensorSupport.readWeights(buffer.put(content).flip());
    assertThat(weights.metadata()).containsExactly(Map.entry("format", "pt"));
    Map<String, TensorInfo> infos = weights.tensorInfoMap();
    assertThat(infos).hasSize(TENSORS.size());
    long begin = 0;
    for (Tensor tensor : TENSORS) {
      TensorInfo info = infos.get(tensor.name());
      assertThat(info.dType.name()).isEqualTo(tensor.dtype().name());
      assertThat(Arrays.stream(info.shape).asLongStream().boxed().toList())
          .isEqualTo(tensor.shape());
      assertThat(info.dataOffsets).containsExactly(begin, begin + tensor.bytes());
      begin += tensor.bytes();
    }
    MemorySegment elements = MemorySegment.ofArray(data);
    AbstractTensor<?, ?> matrix = weights.load("größe", null, false, false);
    for (int i = 0; i < 3 * 64; i++) {
      float expected = elements.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 64 * 4 + i * 4L);
      assertThat(matrix.get(i / 64, i % 64)).isEqualTo(expected);
    }
  }

  @Test
  void readsAShardedSetAsItIsReadHere() throws Exception {
    write(folder.resolve("model-00001-of-00002.safetensors"), TENSORS.subList(0, 1));
    write(folder.resolve("model-00002-of-00002.safetensors"), TENSORS.subList(1, 2));
    Files.writeString(
        folder.resolve("model.safetensors.index.json"),
        """
        {"metadata": {"total_size": 1024},
         "weight_map": {"größe": "model-00002-of-00002.safetensors",
                        "norm": "model-00001-of-00002.safetensors"}}
        """);
    Files.writeString(folder.resolve("config.json"), "{\"architectures\": [\"LlamaForCausalLM\"]}");
    WeightLoader weights = SafeTensorSupport.loadWeights(folder.toFile());
    try (TensorFile file = TensorFile.open(folder)) {
      assertThat(weights.tensorInfoMap().keySet())
          .containsExactlyInAnyOrderElementsOf(file.tensors().stream().map(Tensor::name).toList());
      double[] norm = Values.all(file, file.tensor("norm"));
      AbstractTensor<?, ?> read = weights.load("norm");
      for (int i = 0; i < norm.length; i++) {
        assertThat((double) read.get(0, i)).isEqualTo(norm[i]);
      }
    } finally {
      weights.close();
    }
  }
}
