package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.cuda.interpret.PtxFault;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults in a kernel that gives rows their codes are found. */
class PlantedCodeFaultsTest {
  private static final Pattern MATTERS =
      Pattern.compile("\\.rn\\.|shfl|bar\\.|(ld|st)\\.(global|shared|param)|setp|prmt|max");

  private static final long MOST_WORK = 3_000_000;
  private static final Quantizer RULE = Quantizer.defaults().withFloor(ScaleFloor.VLLM);

  /** Rows, the codes of the CPU, and a kernel that may be another one than its own. */
  private static final class Call {
    private final TestRows x;
    private final QuantizedBytes empty;
    private final QuantizedBytes wanted;

    Call(String name, int rows, int width, boolean aligned) {
      SplittableRandom random = new SplittableRandom(width);
      QuantizedType type = QuantizedType.ofName(name);
      x =
          TestRows.of(
              ElementType.FLOAT32,
              rows,
              width,
              aligned ? 0 : 1,
              aligned ? Math.floorMod(-width, 4) : 3);
      float[] kinds = {1, 0, 0x1p-30f, Float.NaN, Float.POSITIVE_INFINITY, 0x1p-149f, 1, 1};
      for (int i = 0; i < rows * width; i++) {
        int block = i / type.block(width);
        float tie = (random.nextInt(509) - 254) * 0.5f;
        float special = kinds[block % kinds.length];
        boolean finite = Float.isFinite(special);
        float value = finite ? tie * special : random.nextInt(40) == 0 ? special : tie;
        x.set(i / width, i % width, i % 7 == 0 ? -value : value);
      }
      // One element of each row is the largest, anywhere.
      for (int r = 0; r < rows; r++) {
        int place = random.nextInt(width);
        x.set(r, place, 3 * x.get(r, place) + 200 * Math.signum(x.get(r, place)));
      }
      int format = QuantizedCase.TYPES.indexOf(type);
      empty =
          new QuantizedBytes(type, QuantizedCase.FORMATS.get(format), rows, width, aligned, random);
      wanted = empty.copy();
      RULE.quantize(x.onCpu(), wanted.onCpu(), 1);
    }

    private KernelCall launch(DeviceRun device, QuantizedBytes q) {
      CodeRule rule = new CodeRule(CodeFactor.RATIO, CodeRounding.EVEN, ScaleFloor.VLLM);
      DeviceRows rows = device.rows("x", x, true);
      return new DeviceCodes(q.on(device.memory), rule, ElementType.FLOAT32).launch(rows);
    }

    String text() {
      return launch(new DeviceRun(), empty.copy()).kernel().text();
    }

    /** What is found first, or null. */
    String found(String text) {
      QuantizedBytes q = empty.copy();
      DeviceRun device = new DeviceRun(MOST_WORK);
      try {
        device.launch(text, launch(device, q));
        return q.difference(wanted);
      } catch (PtxFault fault) {
        return fault.getMessage();
      }
    }
  }

  /** Rows of the form; their last warp is not full, if a block is shorter than what it does. */
  private static List<Call> calls(String type, boolean wide) {
    int block = QuantizedType.ofName(type).block(37);
    if (wide) {
      return List.of(
          new Call(type, 16, 1_024 + block, true),
          new Call(type, 16, 1_024 + block, false),
          new Call(type, 3, 64 * block, true));
    }
    return List.of(
        new Call(type, 9, 3 * block, true),
        new Call(type, 16, 5 * block, true),
        new Call(type, 9, 2 * block, false));
  }

  private static String found(List<Call> calls, String text) {
    return calls.stream()
        .map(call -> call.found(text))
        .filter(f -> f != null)
        .findFirst()
        .orElse(null);
  }

  /** Without any one instruction that computes, moves numbers or lets threads meet. */
  @ParameterizedTest
  @CsvSource({"int8:128, true", "int8:row, true", "f8e4m3:32, false", "f8e4m3:row, false"})
  void noInstructionThatMattersCanBeLeftOut(String type, boolean wide) {
    List<Call> calls = calls(type, wide);
    String text = calls.getFirst().text();
    assertThat(found(calls, text)).isNull();
    LeftOut leftOut = new LeftOut();
    leftOut.each(text, left -> found(calls, left) != null);
    assertThat(leftOut.all).isGreaterThan(100);
    // The others choose a faster way, or guard what these calls do not have.
    assertThat(leftOut.unnoticed)
        .hasSizeLessThan(leftOut.all / 6)
        .noneMatch(line -> MATTERS.matcher(line).find());
  }

  @Test
  void aBarrierLessIsARace() {
    List<Call> calls = calls("f8e5m2:row", true);
    String text = calls.getFirst().text();
    int at = text.indexOf("bar.sync");
    String without = text.substring(0, at) + text.substring(text.indexOf('\n', at));
    assertThat(found(calls, without)).containsAnyOf("a race", "was not written");
    assertThat(text.indexOf("bar.sync", at + 1)).isNegative();
  }

  @Test
  void aShuffleOfFewerLanesGivesOtherBytes() {
    List<Call> calls = calls("int8:64", false);
    String text = calls.getFirst().text();
    String changed = text.replaceFirst("(shfl\\.sync\\.bfly\\S* \\S+ \\S+) 8,", "$1 4,");
    assertThat(changed).isNotEqualTo(text);
    assertThat(found(calls, changed)).isNotNull();
  }

  @Test
  void anUnalignedStoreOfSeveralCodesIsFound() {
    List<Call> calls = calls("f8e4m3:128", false);
    String text = calls.getFirst().text();
    String changed = text.replaceAll("and\\.b64 (\\S+ \\S+) (15|3|7);", "and.b64 $1 0;");
    assertThat(changed).isNotEqualTo(text);
    assertThat(found(calls, changed)).contains("not aligned");
  }
}
