package io.github.rmsnorm4j.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.formats.testing.Allocated;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

/** What is refused is refused before memory is taken for it. */
@Tag("measure")
class GgufBadInputMemoryTest extends GgufBadInputTest {
  private static final long MOST_ALLOCATED = 4 << 20;

  @Override
  void assertRefused(Path path, String problem) {
    super.assertRefused(path, problem); // The first loads classes, which allocates as well.
    long before = Allocated.bytes();
    super.assertRefused(path, problem);
    assertThat(Allocated.bytes() - before).isLessThan(MOST_ALLOCATED);
  }
}
