package io.github.rmsnorm4j.internal.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every instruction, with drawn operands, has the bytes that GNU as makes of its text. Where that
 * is not installed, the bytes are those that it confirmed elsewhere.
 */
class EncodingTest {
  private static final int OF_EACH = 300;

  private static List<Instruction.Op> all() {
    List<Instruction.Op> all = new ArrayList<>(List.of(VectorOp.values()));
    all.addAll(List.of(GeneralOp.values()));
    return all;
  }

  private static Code drawn(Instruction.Op op) {
    Assembler assembler = new Assembler();
    DrawnInstructions drawn = new DrawnInstructions(assembler, op.name().hashCode());
    for (int i = 0; i < OF_EACH; i++) {
      drawn.add(op);
    }
    return assembler.code();
  }

  @Test
  void drawnInstructionsAreAsGnuAsHasThem(@TempDir Path folder) throws IOException {
    assumeTrue(GnuAssembler.isInstalled(), "there are no as and objcopy, of GNU for x86-64");
    for (Instruction.Op op : all()) {
      Code code = drawn(op);
      byte[] bytes = GnuAssembler.bytes(code.listing(), folder);
      // as fills the section up to its alignment.
      assertThat(bytes).as(op.name()).startsWith(code.bytes());
    }
  }

  @Test
  void drawnInstructionsAreAsTheyWereConfirmed() throws IOException {
    List<String> lines = new ArrayList<>();
    for (Instruction.Op op : all()) {
      CRC32 checksum = new CRC32();
      checksum.update(drawn(op).bytes());
      lines.add("%s %08x".formatted(op.name(), checksum.getValue()));
    }
    try (InputStream in = EncodingTest.class.getResourceAsStream("encodings.txt")) {
      String confirmed = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      assertThat(String.join("\n", lines)).isEqualTo(confirmed.strip());
    }
  }
}
