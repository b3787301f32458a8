package io.github.rmsnorm4j.cuda.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckTest {
  @TempDir Path folder;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @BeforeAll
  static void stub() {
    StubbedDevice.open().close();
  }

  private int run(String... args) {
    return Check.run(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        args);
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }

  @Test
  void realSizesHaveTheBitsOfTheCpuAndTheBound() throws IOException {
    Path file = folder.resolve("my results.json");
    assertThat(run("--small", "--only", "errors", "--json", file.toString())).isZero();
    assertThat(out())
        .startsWith("### Stub GPU A\n")
        .contains("| RMSNorm float32 2 x 4096              | the CPU's | ")
        .contains("| LayerNorm bfloat16 2 x 4096, backward | the CPU's | ")
        .doesNotContain("**");
    assertThat(err()).contains("errors 1 of 12: RMSNorm float32 9 x 256\n").endsWith(file + "\n");
    assertThat(file).content().contains("\"difference\" : null").contains("\"times\" : [");
  }

  /** The times of the stub are made up. */
  @Test
  void timesThatAreNoTimesAreNotKept() throws IOException {
    Path file = folder.resolve("times.json");
    assertThat(run("--only", "times", "--json", file.toString())).isOne();
    assertThat(out())
        .contains("No times: copies took ")
        .contains(" by the processor's clock, so times of this device are not believed.")
        .doesNotContain("µs");
    assertThat(file).content().contains("\"untimed\" : \"copies took ").doesNotContain("micros");
  }

  @Test
  void aKernelThatDoesNothingFails() {
    StubbedDevice.driver().onLaunch(launch -> 0);
    try {
      Path file = folder.resolve("wrong.json");
      assertThat(run("--small", "--only", "errors", "--json", file.toString())).isOne();
      assertThat(out())
          .contains("| **others**: the result: byte 0 from the first element on is 90");
    } finally {
      StubbedDevice.interpret();
    }
  }

  @Test
  void aLaunchThatFailsIsNamed() {
    StubbedDevice.driver().fail(EntryPoint.LAUNCH_KERNEL, 0, 1);
    assertThat(run("--small", "--only", "errors", "--json", folder.resolve("a.json").toString()))
        .isOne();
    assertThat(err()).contains("check: ").contains("RmsNorm.apply(9 x 256 float32)");
  }

  @Test
  void wrongUseIsSaidInOneLine() {
    assertThat(wrong("--device")).isEqualTo("--device takes a value (check --help tells more)");
    assertThat(wrong("bits")).isEqualTo("'bits' is no option (check --help tells more)");
    assertThat(wrong("--device", "-1"))
        .isEqualTo("--device is '-1', it must be a number from 0 on");
    assertThat(wrong("--device", "7")).isEqualTo("device is 7, it may be 0 to 0");
    assertThat(wrong("--only", "bit"))
        .isEqualTo("--only is 'bit', it may be bits, errors or times");
    assertThat(wrong("--json", "a.txt"))
        .isEqualTo("--json is 'a.txt', it must name a file that ends in .json");
    assertThat(wrong("--small", "--only", "times"))
        .isEqualTo("--small excludes --only times: it has none");
    assertThat(wrong("--json", folder + "/none/a.json"))
        .isEqualTo("there is no folder " + folder + "/none");
    assertThat(run("--help")).isZero();
    assertThat(out()).isEqualTo(CheckOptions.USAGE);
  }

  private String wrong(String... args) {
    err.reset();
    assertThat(run(args)).isEqualTo(2);
    return err().strip().replaceFirst("^check: ", "");
  }

  /** Two runs of one day do not overwrite each other. */
  @Test
  void aFileThatExistsIsLeftAlone() throws IOException {
    Path file = Files.writeString(folder.resolve("there.json"), "kept");
    assertThat(wrong("--json", file.toString()))
        .isEqualTo(file + " exists already, --json must name another file");
    assertThat(file).hasContent("kept");
  }

  @Test
  void aFolderThatCannotBeWrittenIsSaidBeforeTheCheck() throws IOException {
    Path closed = Files.createDirectory(folder.resolve("closed"));
    Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("r-xr-xr-x"));
    assumeThat(Files.isWritable(closed)).as("root may write everywhere").isFalse();
    assertThat(wrong("--json", closed + "/a.json"))
        .isEqualTo("the folder " + closed + " is not writable");
  }

  @Test
  void aFileIsNamedAfterTheDevice() {
    try (CudaDevice device = StubbedDevice.open()) {
      assertThat(CheckOptions.of().file(device.info()).toString())
          .matches("\\d{4}-\\d\\d-\\d\\d-stub-gpu-a-cuda\\.json");
    }
    assertThat(DeviceFile.name("2026-01-31", "NVIDIA H100 80GB HBM3"))
        .isEqualTo("2026-01-31-nvidia-h100-80gb-hbm3-cuda.json");
  }
}
