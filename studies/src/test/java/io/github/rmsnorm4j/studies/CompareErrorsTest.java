package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.CommandResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every error is one line with the argument, what it was and what it may be, before any work. */
class CompareErrorsTest {
  @TempDir Path folder;

  private static void assertWrongUse(String message, Object... args) {
    CommandResult result = CommandResult.of("compare", args);
    assertThat(result.err().lines().toList()).hasSize(1);
    assertThat(result.err()).startsWith("rmsnorm compare: ").contains(message);
    assertThat(result.out()).isEmpty();
    assertThat(result.status()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--shape big|--shape is 'big', it must be two or more whole numbers from 1 on",
        "--shape 128|--shape is '128', it must be two or more whole numbers from 1 on",
        "--shape 0x4096|--shape is '0x4096', it must be two or more whole numbers from 1 on",
        "--shape 99999999999x8|--shape is '99999999999x8', a dimension is at most 2147483647",
        "--shape 65536x65536x8|--shape is '65536x65536x8', it has over 2^31 - 1 rows",
        "--shape 2x99999999|--shape is 2x99999999, its last number may be at most 16777216",
        "--shape 100000x1000x4096|--shape is 100000x1000x4096, which needs 4.48 TiB of memory",
        "--dtype int8|type is 'int8', it may be f16, bf16, f32",
        "--dtype f64|--dtype is f64, it may be f32, f16 or bf16",
        "--threads 0|--threads is 0, it may be 1 to 1024",
        "--threads 4096|--threads is 4096, it may be 1 to 1024",
        "--threads many|'many'",
        "--quick --full|--full and --quick contradict each other",
        "--device cuda --quick --full|--full and --quick contradict each other",
        "--device cuda --shape 1x|--shape is '1x', it must be two or more whole numbers",
        "--quick --report same --json same|--report and --json are both same",
        "--quick --report figures.json|--report is figures.json, its name must end in .html",
        "--quick --json figures.txt|--json is figures.txt, its name must end in .json",
        "somewhere|'somewhere'"
      })
  void wrongUseIsOneLine(String args, String message) {
    assertWrongUse(message, (Object[]) args.split(" "));
  }

  @Test
  void filesThatCannotBeWrittenAreToldBeforeAnythingIsMeasured() throws IOException {
    Path there = Files.writeString(folder.resolve("there.html"), "kept");
    assertWrongUse("exists already; --force replaces it", "--quick", "--report", there);
    assertThat(there).hasContent("kept");
    assertWrongUse("--json", "--quick", "--json", folder.resolve("no/where.json"));
    assertWrongUse("there is no folder", "--quick", "--report", folder.resolve("no/where.html"));
    Path page = Files.createDirectory(folder.resolve("page.html"));
    assertWrongUse("is a folder", "--quick", "--report", page);
    assertWrongUse("--report is empty", "--quick", "--report", "");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactlyInAnyOrder(there, page);
    }
  }
}
