package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.cuda.interpret.PtxFault;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Faults in a kernel are found: by a check of the interpreter, or by the bits of the result. */
class PlantedFaultsTest {
  private static final Pattern MATTERS =
      Pattern.compile("\\.rn\\.|shfl|bar\\.|(ld|st)\\.(global|shared|param)|setp");

  /** More than these calls need, so that an endless loop is found. */
  private static final long MOST_WORK = 20_000_000;

  private static final NormSpec SPEC = NormSpec.RMSNORM;
  private static final ElementType TYPE = ElementType.FLOAT32;

  private static final List<PlainForward> NARROW =
      List.of(
          new PlainForward(SPEC, TYPE, 9, 402, 1, 0, true).inPlace(),
          new PlainForward(SPEC, TYPE, 33, 71, 1, 1, true),
          new PlainForward(SPEC, TYPE, 2, 256, 1, 0, false),
          new PlainForward(SPEC, TYPE, 3, 120, 3, 0, false));

  private static final List<PlainForward> OF_WARP =
      List.of(
          new PlainForward(SPEC, TYPE, 9, 1_002, 1, 0, true).inPlace(),
          new PlainForward(SPEC, TYPE, 2, 1_024, 1, 0, false),
          new PlainForward(SPEC, TYPE, 2, 771, 1, 2, false),
          new PlainForward(SPEC, TYPE, 2, 1_800, 3, 0, false));

  private static final List<PlainForward> WIDE =
      List.of(
          new PlainForward(SPEC, TYPE, 3, 3_700, 1, 0, true),
          new PlainForward(SPEC, TYPE, 2, 2_061, 1, 1, true),
          new PlainForward(SPEC, TYPE, 2, 6_300, 3, 0, false));

  /** Rows that do not fit in shared memory. */
  private static final List<PlainForward> LONG =
      List.of(
          new PlainForward(SPEC, TYPE, 2, 12_301, 1, 1, true),
          new PlainForward(SPEC, TYPE, 1, 67_000, 1, 0, false));

  private static String text(List<PlainForward> calls) {
    return calls.getFirst().kernel().text();
  }

  /** What is found first, or null. */
  private static String found(List<PlainForward> calls, String text) {
    try {
      for (PlainForward call : calls) {
        String difference = call.run(text, new DeviceRun(MOST_WORK));
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
    assertThat(found(OF_WARP, text(OF_WARP))).isNull();
    assertThat(found(WIDE, text(WIDE))).isNull();
    assertThat(found(LONG, text(LONG))).isNull();
  }

  @Test
  void everyBarrierIsNeeded() {
    int barriers = 0;
    for (List<PlainForward> calls : List.of(NARROW, OF_WARP, WIDE, LONG)) {
      Matcher barrier = Pattern.compile("  bar\\..*\n").matcher(text(calls));
      while (barrier.find()) {
        String text = text(calls);
        String without = text.substring(0, barrier.start()) + text.substring(barrier.end());
        assertThat(found(calls, without))
            .as("barrier %d", barriers)
            .containsAnyOf("a race", "was not written");
        barriers++;
      }
    }
    // One in a warp; the same; one in a warp and two of all threads; three of all threads.
    assertThat(barriers).isEqualTo(1 + 1 + 3 + 3);
  }

  @Test
  void anIndexOffByOneIsOutOfBounds() {
    String text = text(NARROW);
    int loop = text.indexOf("STORE_", text.indexOf("REST_"));
    String changed =
        text.substring(0, loop) + replaced(text.substring(loop), "setp\\.ge\\.u32", "setp.gt.u32");
    assertThat(found(NARROW, changed)).contains("a read of what was not written");
  }

  @Test
  void anIndexOffByOneInTheCopyIsFound() {
    String[][] faults = {
      {"COPY_WIDE_", "(st\\.shared\\.\\S+ \\[%r\\d+)\\+512]", "$1+528]"},
      {"COPY_LAST_", "add\\.u32 (\\S+ \\S+) 4;", "add.u32 $1 2;"},
      {"COPY_MANY_", "(st\\.shared\\.\\S+ \\[%r\\d+)\\+128]", "$1+132]"},
      {"COPY_ONE_", "setp\\.ge\\.u32", "setp.gt.u32"}
    };
    for (String[] fault : faults) {
      String text = text(OF_WARP);
      int from = text.indexOf(fault[0]);
      String changed = text.substring(0, from) + replaced(text.substring(from), fault[1], fault[2]);
      assertThat(found(OF_WARP, changed)).as(fault[0]).isNotNull();
    }
  }

  @Test
  void aShuffleFromEightGivesOtherBits() {
    String changed = replaced(text(OF_WARP), "(shfl\\.sync\\.down\\S* \\S+ \\S+) 16,", "$1 8,");
    assertThat(found(OF_WARP, changed)).startsWith("row");
  }

  @Test
  void threadsOfAnotherTeamInAShuffleAreFound() {
    // Segments of 16 threads in place of 8: a row gets the sum of another one.
    String changed =
        replaced(text(NARROW), "(shfl\\.sync\\.idx\\S* \\S+ \\S+ 0,) 6175,", "$1 4127,");
    assertThat(found(NARROW, changed)).contains("not in its mask");
    // Nobody uses what the last threads of a team add, but a device leaves it open.
    String last = replaced(text(NARROW), "(shfl\\.sync\\.down\\S* \\S+ \\S+ 4,) 6175,", "$1 31,");
    assertThat(found(NARROW, last)).contains("not in its mask");
    String mask = replaced(text(NARROW), "mov\\.u32 (\\S+) 255;", "mov.u32 $1 65535;");
    assertThat(found(NARROW, mask)).contains("a divergent");
  }

  @Test
  void aBarrierForSomeThreadsIsDivergent() {
    String changed = replaced(text(WIDE), "(FOLD_\\d+:\n)", "$1  bar.sync 0;\n");
    assertThat(found(WIDE, changed)).contains("a divergent barrier");
  }

  @Test
  void aShuffleOfSomeLanesIsDivergent() {
    String shuffle = "  shfl.sync.idx.b32 %r0, %r0, 0, 31, 0xffffffff;\n";
    String changed = replaced(text(OF_WARP), "(ONE_\\d+:\n[^\n]*\n[^\n]*\n)", "$1" + shuffle);
    assertThat(found(NARROW, changed)).contains("a divergent shuffle");
  }

  @Test
  void aWideAccessOfUnalignedRowsIsFound() {
    String changed = replaced(text(NARROW), "and\\.b64 (\\S+ \\S+) 15;", "and.b64 $1 0;");
    assertThat(found(NARROW, changed)).contains("not aligned");
  }

  @Test
  void anotherOrderOfTheBlocksGivesOtherBits() {
    List<PlainForward> calls = List.of(PlainForward.of(SPEC, ElementType.FLOAT64, 8, 67_000));
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

  /** Without any one instruction that computes, moves numbers or lets threads meet. */
  @Tag("long")
  @Test
  void noInstructionThatMattersCanBeLeftOut() {
    LeftOut leftOut = new LeftOut();
    for (List<PlainForward> calls : List.of(NARROW, WIDE, LONG)) {
      leftOut.each(text(calls), left -> found(calls, left) != null);
    }
    assertThat(leftOut.all).isGreaterThan(400);
    // The others choose a faster way, or guard what these calls do not have.
    assertThat(leftOut.unnoticed)
        .hasSizeLessThan(leftOut.all / 8)
        .noneMatch(line -> MATTERS.matcher(line).find());
  }
}
