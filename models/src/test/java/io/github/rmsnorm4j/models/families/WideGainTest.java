package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.formats.testing.GgufBytes;
import io.github.rmsnorm4j.models.GainStatistics;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The widest gain is inspected in a heap that does not hold it: it is read in pieces. */
class WideGainTest {
  private static final int WIDTH = 1 << 24;

  @TempDir private Path folder;

  @Test
  void theWidestGainInASmallHeap() throws IOException {
    Path file = folder.resolve("wide.gguf");
    byte[] header =
        new GgufBytes()
            .text("general.architecture", "llama")
            .uint32("llama.block_count", 0)
            .uint32("llama.embedding_length", WIDTH)
            .tensor("output_norm.weight", GgufBytes.F32, new byte[0], WIDTH)
            .tensorAt(4L * WIDTH, "token_embd.weight", GgufBytes.F32, new byte[0], 0, WIDTH)
            .toBytes();
    try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
      content.write(header);
      content.seek(header.length + 4L * (WIDTH - 1));
      content.write(GgufBytes.floats(-3));
    }
    assertThat(inspectedElsewhere(file))
        .endsWith(
            "[least=-3.0, mean=%s, greatest=0.0, dead=16777215, negative=1, nonFinite=0, looksLike=Optional.empty]"
                .formatted(-3.0 / WIDTH));
  }

  private static String inspectedElsewhere(Path file) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx16m", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(WideGainTest.class.getName(), file.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    byte[] output = process.getInputStream().readAllBytes();
    return new String(output, StandardCharsets.UTF_8).strip();
  }

  /** Inspects a model in a process of its own. */
  public static void main(String[] args) throws IOException {
    try (StoredModel model = StoredModel.open(Path.of(args[0]))) {
      GainStatistics gain =
          Inspection.of(model, Optional.empty()).norms().getFirst().gain().orElseThrow();
      System.out.println(gain);
    }
  }
}
