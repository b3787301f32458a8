package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.interpret.PtxFault;
import io.github.rmsnorm4j.cuda.interpret.PtxProgram;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Faults in a kernel are found: by a check of the interpreter, or by the bits of the result. */
class PlantedFaultsTest {
  /** More than these calls need, so that an endless loop is found. */
  private static final long MOST_WORK = 20_000_000;

  private static final List<PlainForward> NARROW =
      List.of(
          new PlainForward(NormSpec.RMSNORM, ElementType.FLOAT32, 9, 1_000, 0, true),
          new PlainForward(NormSpec.RMSNORM, ElementType.FLOAT32, 3, 70, 1, false),
          new PlainForward(NormSpec.RMSNORM, ElementType.FLOAT32, 2, 33, 0, false));

  private static final List<PlainForward> WIDE =
      List.of(
          new PlainForward(NormSpec.RMSNORM, ElementType.FLOAT32, 3, 3_300, 0, true),
          new PlainForward(NormSpec.RMSNORM, ElementType.FLOAT32, 1, 2_061, 1, false),
          new PlainForward(NormSpec.RMSNORM, ElementType.FLOAT32, 1, 67_000, 0, false));

  private static String text(List<PlainForward> calls) {
    return calls.getFirst().kernel().text();
  }

  /** What is found first, or null. */
  private static String found(List<PlainForward> calls, String text) {
    try {
      for (PlainForward call : calls) {
        String difference = call.run(text, new DeviceRun(false, MOST_WORK));
        if (difference != null) {
          return difference;
        }
      }
      return null;
    } catch (PtxFault fault) {
      return fault.getMessage();
    }
  }

  private static String replaced(String text, String regex, String by) {
    String changed = text.replaceFirst(regex, by);
    assertThat(changed).as(regex).isNotEqualTo(text);
    return changed;
  }

  @Test
  void kernelsWithoutFaultHaveNone() {
    assertThat(found(NARROW, text(NARROW))).isNull();
    assertThat(found(WIDE, text(WIDE))).isNull();
  }

  @Test
  void everyBarrierIsNeeded() {
    String text = text(WIDE);
    int barriers = 0;
    for (int at = text.indexOf("bar.sync"); at >= 0; at = text.indexOf("bar.sync", at + 1)) {
      String without = text.substring(0, at) + text.substring(text.indexOf('\n', at));
      assertThat(found(WIDE, without))
          .as("barrier %d", barriers)
          .containsAnyOf("a race", "was not written");
      barriers++;
    }
    assertThat(barriers).isEqualTo(3);
  }

  @Test
  void anIndexOffByOneIsOutOfBounds() {
    String text = text(NARROW);
    int loop = text.indexOf("STORE_", text.indexOf("REST_"));
    String changed =
        text.substring(0, loop) + replaced(text.substring(loop), "setp\\.ge\\.u32", "setp.gt.u32");
    assertThat(found(NARROW, changed)).contains("out of bounds");
  }

  @Test
  void aShuffleFromEightGivesOtherBits() {
    String changed = replaced(text(NARROW), "(shfl\\.sync\\.down\\S* \\S+ \\S+) 16,", "$1 8,");
    assertThat(found(NARROW, changed)).startsWith("row");
  }

  @Test
  void aBarrierForSomeThreadsIsDivergent() {
    String changed = replaced(text(WIDE), "(FOLD_\\d+:\n)", "$1  bar.sync 0;\n");
    assertThat(found(WIDE, changed)).contains("a divergent barrier");
  }

  @Test
  void aShuffleOfSomeLanesIsDivergent() {
    String shuffle = "  shfl.sync.idx.b32 %r0, %r0, 0, 31, 0xffffffff;\n";
    String changed = replaced(text(NARROW), "(ONE_\\d+:\n[^\n]*\n[^\n]*\n)", "$1" + shuffle);
    assertThat(found(NARROW, changed)).contains("a divergent shuffle");
  }

  @Test
  void aWideAccessOfUnalignedRowsIsFound() {
    String changed = replaced(text(NARROW), "and\\.b64 (\\S+ \\S+) 15;", "and.b64 $1 0;");
    assertThat(found(NARROW, changed)).contains("not aligned");
  }

  @Test
  void anotherOrderOfTheBlocksGivesOtherBits() {
    List<PlainForward> calls =
        List.of(new PlainForward(NormSpec.RMSNORM, ElementType.FLOAT64, 2, 67_000, 0, false));
    String half = replaced(text(calls), "min\\.u32 (\\S+ \\S+) 65536;", "min.u32 $1 32768;");
    String changed = replaced(half, "add\\.u32 (\\S+ \\S+) 65536;", "add.u32 $1 32768;");
    assertThat(found(calls, changed)).startsWith("row");
  }

  @Test
  void aWrongTypeOfAParameterIsRefused() {
    String changed =
        replaced(text(NARROW), "ld\\.param\\.u32 (\\S+) \\[width]", "ld.param.u32 $1 [epsilon]");
    assertThat(found(NARROW, changed)).contains("parameter epsilon");
  }

  /** Whatever one leaves out: a kernel has no instruction that the results do not need. */
  @Test
  void noInstructionCanBeLeftOut() {
    List<String> unnoticed = new ArrayList<>();
    for (List<PlainForward> calls : List.of(NARROW, WIDE)) {
      List<String> lines = List.of(text(calls).split("\n"));
      int count = 0;
      for (int i = 0; i < lines.size(); i++) {
        boolean isInstruction = lines.get(i).matches("  [a-z@][^/]*;");
        if (isInstruction) {
          count++;
          List<String> left = new ArrayList<>(lines);
          left.remove(i);
          if (found(calls, String.join("\n", left)) == null) {
            unnoticed.add((i + 1) + ": " + lines.get(i).strip());
          }
        }
      }
      assertThat(count).isGreaterThan(150);
      assertThat(PtxProgram.of(text(calls))).isNotNull();
    }
    assertThat(unnoticed).isEmpty();
  }
}
