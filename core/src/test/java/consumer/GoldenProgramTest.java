package consumer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The bits of a program that uses the library, as a released library must have them, too. */
class GoldenProgramTest {
  @Test
  void printsWhatIsKept() throws IOException {
    try (InputStream kept = GoldenProgram.class.getResourceAsStream("/golden/program.txt")) {
      String expected = new String(kept.readAllBytes(), StandardCharsets.UTF_8);
      assertThat(GoldenProgram.lines()).isEqualTo(expected.lines().toList());
    }
  }
}
