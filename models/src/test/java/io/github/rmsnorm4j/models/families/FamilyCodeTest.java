package io.github.rmsnorm4j.models.families;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.NormBuilder;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import io.github.rmsnorm4j.models.families.FamilyCode.Fold;
import io.github.rmsnorm4j.models.families.FamilyCode.Site;
import io.github.rmsnorm4j.models.families.FamilyCode.Stored;
import io.github.rmsnorm4j.models.rewrite.Goal;
import io.github.rmsnorm4j.models.rewrite.NormOutcome;
import io.github.rmsnorm4j.models.rewrite.Rewriting;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.DoubleSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What inspect and fold make of a small model of each family, against its published code. */
class FamilyCodeTest extends WithRewriter {
  private static final Set<String> WITHOUT_SETTING = Set.of("whisper", "gemma3");
  private final Random random = new Random(47);

  static Stream<FamilyCode> families() {
    return FamilyCode.all().stream();
  }

  @ParameterizedTest
  @MethodSource("families")
  void theNormsAreThoseOfTheCode(FamilyCode family) throws IOException {
    Path in = write(family, model(family));
    Inspection found = inspect(family, in);
    requireCounted(family.unlisted(), found.remarks());
    assertThat(found.model().unknown()).isEmpty();
    Map<String, InspectedNorm> norms =
        found.norms().stream()
            .collect(Collectors.toMap(norm -> norm.site().gain().orElseThrow(), norm -> norm));
    assertThat(norms.keySet())
        .isEqualTo(family.norms().stream().map(Site::tensor).collect(Collectors.toSet()));
    for (Site site : family.norms()) {
      InspectedNorm norm = norms.get(site.tensor());
      assertThat(norm.site().heads()).as(site.tensor()).isEqualTo(site.heads() > 1);
      assertThat(norm.site().bias().isPresent()).isEqualTo(site.norm().hasBias());
      requireSameBits(site, norm.site().spec());
    }
    requireSameOfSettings(family, found.norms(), in);
    assertThat(found.norms().stream().flatMap(norm -> norm.site().note().stream()))
        .filteredOn(note -> note.contains("without a gain") || note.contains("has no gain"))
        .hasSizeGreaterThanOrEqualTo(family.plain().isEmpty() ? 0 : 1);
  }

  @ParameterizedTest
  @MethodSource("families")
  void gainsGoWhereTheCodeReadsThem(FamilyCode family) throws IOException {
    TinyModel model = model(family);
    Path in = write(family, model);
    Path out = folder.resolve("folded");
    Map<String, NormOutcome> outcomes;
    Rewriting.Wish wish = new Rewriting.Wish(Goal.FOLD, map(family, in), false, true);
    try (Rewriting rewriting = Rewriting.open(in, wish)) {
      outcomes =
          rewriting.outcomes().stream()
              .collect(Collectors.toMap(each -> each.site().gain().orElseThrow(), each -> each));
      rewriting.write(out, true, _ -> {});
    }
    TinyModel folded = HuggingFaceFolder.read(out);
    Map<String, Values> expected = new LinkedHashMap<>(model.tensors());
    for (Site site : family.norms()) {
      if (site.fold() == Fold.MOVED) {
        move(site, model, expected);
      } else {
        assertThat(outcomes.get(site.tensor()).reason()).as(site.tensor()).isNotEmpty();
      }
    }
    assertThat(folded.tensors().keySet()).isEqualTo(expected.keySet());
    expected.forEach(
        (tensor, values) ->
            assertThat(folded.get(tensor).elements()).as(tensor).isEqualTo(values.elements()));
  }

  /** Each config.json has 2e-5, which is no family's default. */
  @ParameterizedTest
  @MethodSource("families")
  void withoutASettingEpsilonIsThatOfTheCode(FamilyCode family) throws IOException {
    Path config = folder.resolve("config.json");
    String without = family.config().replaceAll("\"\\w+\":2e-05,|,\"\\w+\":2e-05", "");
    assertThat(without.equals(family.config())).isEqualTo(WITHOUT_SETTING.contains(family.name()));
    Files.writeString(config, without);
    Map<String, NormSpec> alone = alone(config, map(family, config));
    for (Site site : family.norms()) {
      double own = site.norm().epsilon();
      String name = site.tensor().replaceFirst("\\.weight$", "").replaceFirst("\\.\\d+\\.", ".N.");
      assertThat(alone.get(inLayer(name)).epsilon(ElementType.FLOAT32))
          .as(site.tensor())
          .isEqualTo(own == 2e-5 ? family.epsilon() : own);
    }
  }

  /** The rules of a user found them above. */
  @Test
  void anUnknownFamilyIsNamed() throws IOException {
    Path config = folder.resolve("config.json");
    for (FamilyCode family : families().filter(family -> !family.map().isEmpty()).toList()) {
      Files.writeString(config, family.config());
      assertThatThrownBy(() -> Inspection.ofConfig(config, Optional.empty()))
          .isInstanceOf(FormatException.class)
          .hasMessageContaining("'" + family.modelType() + "', whose norms are not known");
    }
  }

  @Test
  void everyOrderAndFateIsThere() {
    List<Site> sites = families().flatMap(family -> family.norms().stream()).toList();
    assertThat(sites.stream().flatMap(site -> site.norm().code().stream()).distinct())
        .containsExactlyInAnyOrder(
            "late", "early", "one", "layer", "layer0", "/2", "silu*", "*silu", "*sigmoid");
    assertThat(sites.stream().map(Site::fold).distinct()).hasSize(Fold.values().length);
    assertThat(families().filter(family -> !family.unlisted().isEmpty()).count()).isEqualTo(8);
    assertThat(families().map(FamilyCode::modelType).distinct()).hasSize(51);
  }

  /** One remark names the parts of the model that have them, and how many each has. */
  private static void requireCounted(List<String> unlisted, List<String> remarks) {
    assertThat(remarks).hasSize(unlisted.isEmpty() ? 0 : 1);
    Map<String, Integer> counts = new TreeMap<>();
    for (String remark : remarks) {
      assertThat(remark).startsWith(unlisted.size() + " tensor").contains("not listed: ");
      Matcher part = Pattern.compile("(\\S+)\\.\\* \\((\\d+)\\)").matcher(remark);
      while (part.find()) {
        counts.put(part.group(1), Integer.parseInt(part.group(2)));
      }
    }
    counts.forEach(
        (part, count) ->
            assertThat(unlisted)
                .filteredOn(name -> name.startsWith(part + "."))
                .as(part)
                .hasSize(count));
    assertThat(counts.values().stream().mapToInt(count -> count).sum()).isEqualTo(unlisted.size());
  }

  /** N stands for every layer there. */
  private static void requireSameOfSettings(FamilyCode family, List<InspectedNorm> norms, Path in)
      throws IOException {
    Path config = in.resolve("config.json");
    Inspection alone = Inspection.ofConfig(config, map(family, in));
    Map<String, NormSpec> specs = new TreeMap<>();
    alone.norms().forEach(norm -> specs.put(norm.site().name(), norm.site().spec()));
    for (InspectedNorm norm : norms) {
      assertThat(specs).containsEntry(norm.site().general(norm.site().name()), norm.site().spec());
    }
    boolean images = family.map().isEmpty() && family.config().contains("vision_config");
    assertThat(alone.remarks())
        .filteredOn(remark -> remark.contains("text part") && remark.contains("vision_config"))
        .hasSize(images ? 1 : 0);
  }

  private static Map<String, NormSpec> alone(Path config, Optional<Path> map) throws IOException {
    Map<String, NormSpec> alone = new TreeMap<>();
    for (InspectedNorm norm : Inspection.ofConfig(config, map).norms()) {
      alone.put(inLayer(norm.site().name()), norm.site().spec());
    }
    return alone;
  }

  private static String inLayer(String name) {
    return name.contains(".N.")
        ? name.replaceFirst(".*?\\.N\\.", "")
        : name.substring(name.lastIndexOf('.') + 1);
  }

  private static Inspection inspect(FamilyCode family, Path in) throws IOException {
    try (StoredModel model = StoredModel.open(in)) {
      return Inspection.of(model, map(family, in));
    }
  }

  private static Optional<Path> map(FamilyCode family, Path in) throws IOException {
    return family.map().isEmpty()
        ? Optional.empty()
        : Optional.of(Files.writeString(in.resolveSibling("map.json"), family.map()));
  }

  private Path write(FamilyCode family, TinyModel model) throws IOException {
    Path in = rewriter.write(model, 1);
    Files.writeString(in.resolve("config.json"), family.config());
    return in;
  }

  private TinyModel model(FamilyCode family) {
    Map<String, Values> tensors = new LinkedHashMap<>();
    for (Stored tensor : family.tensors().values()) {
      List<Integer> shape = Arrays.stream(tensor.shape()).boxed().toList();
      double[] elements = new double[Values.count(shape)];
      Arrays.setAll(elements, _ -> tensor.bytes() ? random.nextInt(256) : sixteenth());
      StoredType type = tensor.bytes() ? StoredType.U8 : StoredType.BF16;
      tensors.put(tensor.tensor(), new Values(type, shape, elements));
    }
    for (Site site : family.norms()) {
      double offset = site.norm().storesLessOne() ? 0 : 1;
      tensors.computeIfPresent(
          site.tensor(),
          (_, gain) -> gain.with(Arrays.stream(gain.elements()).map(g -> g + offset).toArray()));
    }
    return new TinyModel(Map.of(), tensors);
  }

  /** What a fold makes of the gain and its readers; products of such numbers are bfloat16. */
  private static void move(Site site, TinyModel model, Map<String, Values> into) {
    double offset = site.norm().storesLessOne() ? 1 : 0;
    double[] gain = model.get(site.tensor()).elements();
    into.computeIfPresent(site.tensor(), (_, values) -> values.filled(1 - offset));
    String bias = FamilyCode.bias(site.tensor());
    if (site.norm().hasBias()) {
      into.computeIfPresent(bias, (_, values) -> values.filled(0));
    }
    for (Stored reader : site.readers()) {
      if (site.norm().hasBias()) {
        into.computeIfPresent(
            FamilyCode.bias(reader.tensor()),
            (_, b) -> b.with(sums(b, model.get(reader.tensor()), reader.axis(), model.get(bias))));
      }
      into.computeIfPresent(
          reader.tensor(),
          (_, matrix) ->
              reader.axis() == 0
                  ? matrix.scaledRows(row -> gain[row % gain.length] + offset)
                  : matrix.scaledColumns(column -> gain[column % gain.length] + offset));
    }
  }

  /** {@code b + W beta}, rounded once. */
  private static double[] sums(Values b, Values w, int axis, Values beta) {
    double[] sums = b.elements().clone();
    for (int row = 0; row < w.rows(); row++) {
      for (int column = 0; column < w.columns(); column++) {
        int in = axis == 0 ? row : column;
        sums[axis == 0 ? column : row] += w.at(row, column) * beta.elements()[in];
      }
    }
    return Arrays.stream(sums).map(StoredType.BF16::round).toArray();
  }

  /** Rows of small whole numbers times a power of two, and gates whose sigmoid is 0 or 1. */
  private void requireSameBits(Site site, NormSpec spec) {
    int width = site.width() * site.heads();
    double offset = site.norm().storesLessOne() ? 0 : 1;
    float[] gain = draw(site.width(), () -> sixteenth() + offset);
    float[] bias = draw(site.width(), this::sixteenth);
    for (double scale : new double[] {1, 0x1p-6, 0x1p-9, 0x1p-12}) {
      float[] row = draw(width, () -> (random.nextInt(17) - 8) * scale);
      float[] gate = draw(width, () -> List.of(32, 48, 64, -128).get(random.nextInt(4)));
      for (StoredType type : List.of(StoredType.F32, StoredType.BF16)) {
        NormBuilder<?> builder = spec.builder(site.width());
        builder.gain(rows(bytes(gain, type), type, site.width()));
        if (site.norm().hasBias()) {
          builder.bias(rows(bytes(bias, type), type, site.width()));
        }
        boolean bfloat16 = type == StoredType.BF16;
        assertThat(apply(builder.build(), bytes(row, type), bytes(gate, type), type))
            .as("%s %s, %s, scale %s", site.tensor(), spec, type, scale)
            .isEqualTo(site.norm().apply(row, gain, bias, gate, bfloat16));
      }
    }
  }

  private static float[] apply(Norm norm, ByteBuffer row, ByteBuffer gate, StoredType type) {
    float[] result = new float[row.remaining() / type.bytes];
    ByteBuffer bytes = bytes(result, type);
    Rows x = rows(row, type, norm.width());
    Rows y = rows(bytes, type, norm.width());
    if (norm.spec().gate() == Gate.NONE) {
      norm.apply(x, y);
    } else {
      norm.applyGated(x, rows(gate, type, norm.width()), y);
    }
    for (int i = 0; i < result.length; i++) {
      result[i] = (float) type.get(bytes);
    }
    return result;
  }

  private static Rows rows(ByteBuffer bytes, StoredType type, int width) {
    return Rows.of(
        bytes, type == StoredType.F32 ? ElementType.FLOAT32 : ElementType.BFLOAT16, width);
  }

  private static ByteBuffer bytes(float[] numbers, StoredType type) {
    ByteBuffer bytes = ByteBuffer.allocate(numbers.length * type.bytes);
    bytes.order(ByteOrder.nativeOrder());
    for (float number : numbers) {
      type.put(bytes, number);
    }
    return bytes.flip();
  }

  private double sixteenth() {
    return (random.nextInt(15) - 7) / 16.0;
  }

  private static float[] draw(int length, DoubleSupplier number) {
    float[] drawn = new float[length];
    for (int i = 0; i < length; i++) {
      drawn[i] = (float) number.getAsDouble();
    }
    return drawn;
  }
}
