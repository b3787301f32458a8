package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.RowGroups;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.RowStatistics;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** docs/variants.md names all pairs of options that are refused, and no others. */
class CombinationsPageTest {
  private static final int WIDTH = 64;

  /** The choices of a spec, each in all its forms; a name that begins another stands for it too. */
  private static final Map<String, List<UnaryOperator<NormSpec>>> CHOICES = new LinkedHashMap<>();

  /** What a norm or a call has besides its spec. */
  private static final List<String> OTHERS =
      List.of("bias", "residual", "quantised output", "keep OUTPUT", "split rows");

  static {
    CHOICES.put("LayerNorm", List.of(spec -> spec.withKind(NormSpec.Kind.LAYER_NORM)));
    CHOICES.put("L2 norm", List.of(spec -> spec.withKind(NormSpec.Kind.L2_NORM)));
    CHOICES.put(
        "cast order",
        Arrays.stream(CastOrder.values())
            .filter(order -> order != CastOrder.FLOAT32 && order != CastOrder.T5)
            .<UnaryOperator<NormSpec>>map(order -> spec -> spec.withCastOrder(order))
            .toList());
    CHOICES.put("cast order T5", List.of(spec -> spec.withCastOrder(CastOrder.T5)));
    CHOICES.put("gain offset", List.of(spec -> spec.withGainOffset(1)));
    CHOICES.put("partial", List.of(spec -> spec.withPart(RowPart.of(1, 2))));
    CHOICES.put("groups", List.of(spec -> spec.withGroups(RowGroups.ofCount(2))));
    CHOICES.put(
        "gate", List.of(spec -> spec.withGate(Gate.SILU), spec -> spec.withGate(Gate.SIGMOID)));
    CHOICES.put("gate silu before", List.of(spec -> spec.withGate(Gate.SILU_BEFORE)));
    OTHERS.forEach(name -> CHOICES.put(name, List.of(spec -> spec)));
  }

  @Test
  void thePairsOfTheTableAreRefusedAndNoOthers() throws IOException {
    Map<String, List<String>> table = table();
    assertThat(CHOICES.keySet()).containsAll(table.keySet());
    table.values().forEach(names -> assertThat(CHOICES.keySet()).containsAll(names));
    List<String> names = List.copyOf(CHOICES.keySet());
    for (String a : names) {
      for (String b : names.subList(names.indexOf(a) + 1, names.size())) {
        if (excludes(a, b)) {
          continue;
        }
        boolean refused = isRefused(table, a, b) || isRefused(table, b, a);
        for (UnaryOperator<NormSpec> first : CHOICES.get(a)) {
          for (UnaryOperator<NormSpec> second : CHOICES.get(b)) {
            assertThat(refuses(first, second, List.of(a, b))).as("%s, %s", a, b).isEqualTo(refused);
          }
        }
      }
    }
  }

  /** Two values of one choice, and two things that no call takes together. */
  private static boolean excludes(String a, String b) {
    return a.equals("LayerNorm") && b.equals("L2 norm")
        || b.startsWith(a)
        || a.equals("quantised output") && b.equals("keep OUTPUT")
        || b.equals("split rows")
            && List.of("residual", "quantised output", "keep OUTPUT").contains(a);
  }

  private static Map<String, List<String>> table() throws IOException {
    Map<String, List<String>> table = new LinkedHashMap<>();
    Files.readString(Shell.CHECKOUT.resolve("docs/variants.md"))
        .lines()
        .dropWhile(line -> !line.startsWith("| option | refused with |"))
        .skip(2)
        .takeWhile(line -> line.startsWith("| "))
        .map(line -> line.split(" *\\| *"))
        .forEach(cells -> table.put(cells[1], List.of(cells[2].split(", "))));
    return table;
  }

  private static boolean isRefused(Map<String, List<String>> table, String a, String b) {
    return table.entrySet().stream()
        .filter(row -> a.startsWith(row.getKey()))
        .anyMatch(row -> row.getValue().stream().anyMatch(b::startsWith));
  }

  private static boolean refuses(
      UnaryOperator<NormSpec> first, UnaryOperator<NormSpec> second, List<String> names) {
    try {
      call(second.apply(first.apply(NormSpec.RMSNORM)), names);
      return false;
    } catch (IllegalArgumentException refused) {
      return true;
    }
  }

  private static void call(NormSpec spec, List<String> names) {
    float[] gain = new float[WIDTH];
    Arrays.fill(gain, 1);
    NormBuilder<?> builder = spec.builder(WIDTH).gain(gain);
    Norm norm = names.contains("bias") ? builder.bias(gain).build() : builder.build();
    boolean gated = spec.gate() != Gate.NONE;
    Rows residual = names.contains("residual") ? row() : null;
    if (names.contains("quantised output")) {
      byte[] codes = new byte[(int) QuantizedType.Q8_0.rowBytes(WIDTH)];
      QuantizedRows q = QuantizedRows.of(codes, QuantizedType.Q8_0, WIDTH);
      if (gated) {
        norm.applyGated(row(), row(), null, q);
      } else if (residual == null) {
        norm.apply(row(), null, q);
      } else {
        norm.addAndApply(row(), residual, null, q);
      }
      return;
    }
    Saved saved = new Saved(names.contains("keep OUTPUT") ? Keep.OUTPUT : Keep.INPUT, 1);
    if (names.contains("split rows")) {
      split(norm);
      return;
    }
    if (residual != null) {
      norm.addAndApply(row(), residual, row(), saved);
    } else if (gated) {
      norm.applyGated(row(), row(), row(), saved);
    } else {
      norm.apply(row(), row(), saved);
    }
    if (gated) {
      norm.backwardGated(row(), saved, row(), row(), null);
    } else {
      norm.backward(row(), saved, row(), null);
    }
  }

  private static void split(Norm norm) {
    boolean centred = norm.spec().isCentred();
    int n = norm.spec().groups().count(WIDTH);
    double[] sums = new double[centred ? 2 * n : n];
    double[] rstd = new double[n];
    RowStatistics statistics =
        centred ? RowStatistics.of(new double[n], rstd) : RowStatistics.of(rstd);
    norm.sums(row(), sums);
    norm.statistics(sums, WIDTH, statistics);
    norm.apply(row(), statistics, row());
  }

  private static Rows row() {
    return Rows.of(new float[WIDTH], WIDTH);
  }
}
