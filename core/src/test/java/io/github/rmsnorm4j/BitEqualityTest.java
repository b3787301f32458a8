package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every backend gives the contract's bits, wherever rows lie and whatever they hold. */
class BitEqualityTest {
  private static final int[] LONG_WIDTHS = {65_537, 131_072, 140_001};

  private static final int TWO_PASSES = (1 << 20) + 1;

  @ParameterizedTest
  @ValueSource(
      ints = {
        1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536,
        65537, 200003
      })
  void everyWidthOnEveryBackendAndType(int width) {
    List<Backend> backends = new ArrayList<>(List.of(Backend.scalar()));
    backends.addAll(Backends.vectors(512));
    backends.addAll(Backends.machineCode());
    for (ElementType type : ElementType.values()) {
      for (long seed = 0; seed < (Backends.ALL_DRAWS ? 6 : 3); seed++) {
        int rows = Math.max(1, 200 / width);
        Case drawn = Case.of(Direction.FORWARD, 100L * width + seed, rows, width, type);
        // Of three seeds each backend has one.
        for (Backend backend : Backends.inTurn(backends, seed + type.ordinal())) {
          drawn.check(backend, 1);
        }
      }
    }
  }

  /** The cross product of everything a call can be, stratum by stratum. */
  @Test
  void anyCallOnEveryBackend() {
    Coverage coverage = new Coverage(Direction.FORWARD);
    Recipe.drawn(Direction.FORWARD).parallelStream()
        .forEach(
            recipe -> {
              Case drawn = Case.of(recipe);
              coverage.add(recipe.seed(), drawn);
              for (Backend backend :
                  Backends.inTurn(Backends.of(drawn.shape().elements()), recipe.seed())) {
                drawn.check(backend, recipe.threads());
              }
            });
    assertThat(coverage.missing()).isEmpty();
  }

  /** Rows longer than a super-block go in pieces: read, cast and written piece by piece. */
  @Test
  void anyCallOfLongRows() {
    List<Backend> backends =
        new ArrayList<>(List.of(Backend.scalar(), Backends.VECTORS, Backend.best()));
    backends.addAll(1, Backends.vectors(128));
    for (int seed = 0; seed < 12; seed++) {
      int width = LONG_WIDTHS[seed % LONG_WIDTHS.length];
      ElementType type = ElementType.values()[seed / 3];
      Case drawn = Case.of(Direction.FORWARD, seed + 10_000, 2, width, type);
      for (Backend backend : Backends.inTurn(backends, seed + seed / 3)) {
        drawn.check(backend, 1);
      }
    }
  }

  /** Of so long rows LayerNorm has a pass more. */
  @ParameterizedTest
  @EnumSource
  void anyLayerNormInTwoPasses(ElementType type) {
    int width = TWO_PASSES + 33 * type.ordinal();
    Shape shape = new Shape(Direction.FORWARD, type, type.bytes() == 2, true, true, 1, width);
    Case drawn = Case.of(type.ordinal(), shape);
    drawn.check(Backend.scalar(), 1);
    drawn.check(Backends.VECTORS, 1);
    drawn.check(Backend.best(), 1);
  }

  /** With enough rows that every thread gets its MiB. */
  @Test
  void anyCallOnManyThreads() {
    List<Backend> backends = new ArrayList<>(List.of(Backends.VECTORS));
    backends.addAll(Backends.machineCode());
    for (int seed = 0; seed < 16; seed++) {
      int width = new int[] {64, 300, 1025, 4096}[seed % 4];
      ElementType type = ElementType.values()[seed / 4];
      Case drawn = Case.of(Direction.FORWARD, seed + 20_000, 800_000 / width, width, type);
      for (Backend backend : Backends.inTurn(backends, seed + seed / 4)) {
        drawn.check(backend, 2 + seed % 2);
      }
    }
  }
}
