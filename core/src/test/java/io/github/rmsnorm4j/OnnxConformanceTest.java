package io.github.rmsnorm4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** ONNX's own test cases of its operators RMSNormalization and LayerNormalization. */
class OnnxConformanceTest {
  private static final double RELATIVE = 1e-5;
  private static final double ABSOLUTE = 1e-6;
  private static final double ONNX_EPSILON = 1e-5;

  /** In a name, but for the default axis, which is -1; negative ones count from the last. */
  private static final Pattern AXIS = Pattern.compile("axis(_negative_)?(\\d)");

  private static final Pattern DESCR = Pattern.compile("'descr': '([^']*)'");
  private static final Pattern SHAPE = Pattern.compile("'shape': \\(([^)]*)\\)");

  private record Array(int[] shape, float[] values) {
    /** Elements of the axes from one on; from -1 on is the last alone. */
    int widthFrom(int axis) {
      int from = axis < 0 ? axis + shape.length : axis;
      return Arrays.stream(shape).skip(from).reduce(1, Math::multiplyExact);
    }
  }

  /** The names of all that lie there. */
  private static SortedSet<String> cases() throws Exception {
    Path folder = Path.of(OnnxConformanceTest.class.getResource("/onnx").toURI());
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(".Y.npy"))
          .map(file -> file.substring(0, file.indexOf('.')))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  @Test
  void everyCaseIsThere() throws Exception {
    assertThat(cases()).hasSize(19);
    assertThat(cases().stream().filter(OnnxConformanceTest::isRms)).hasSize(10);
  }

  private static boolean isRms(String name) {
    return name.startsWith("test_rms");
  }

  private static int axis(String name) {
    Matcher axis = AXIS.matcher(name);
    if (!axis.find()) {
      assertThat(name).contains("default_axis");
      return -1;
    }
    int number = Integer.parseInt(axis.group(2));
    return axis.group(1) == null ? number : -number;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void asOnnxSays(String name) throws IOException {
    double epsilon = name.endsWith("_epsilon") ? 0.1 : ONNX_EPSILON;
    Array x = read(name, "X");
    int width = x.widthFrom(axis(name));
    float[] gain = read(name, "W").values();
    for (Backend backend : new Backend[] {Backend.scalar(), Backend.best()}) {
      int rows = x.values().length / width;
      float[] y = new float[x.values().length];
      double[] mean = new double[rows];
      double[] rstd = new double[rows];
      if (isRms(name)) {
        NormBuilder<?> builder = RmsNorm.builder(width).epsilon(epsilon).gain(gain);
        builder.backend(backend).build().apply(x.values(), y);
      } else {
        LayerNorm.builder(width)
            .epsilon(epsilon)
            .gain(gain)
            .bias(read(name, "B").values())
            .backend(backend)
            .build()
            .apply(Rows.of(x.values(), width), Rows.of(y, width), mean, rstd);
        assertClose("Mean", mean, read(name, "Mean"));
        assertClose("InvStdDev", rstd, read(name, "InvStdDev"));
      }
      assertClose("Y", doubles(y), read(name, "Y"));
    }
  }

  private static void assertClose(String what, double[] computed, Array expected) {
    assertThat(computed).as(what).hasSameSizeAs(expected.values());
    for (int i = 0; i < computed.length; i++) {
      double wanted = expected.values()[i];
      assertThat(Math.abs(computed[i] - wanted))
          .as("%s[%d] is %s, ONNX has %s", what, i, computed[i], wanted)
          .isLessThanOrEqualTo(ABSOLUTE + RELATIVE * Math.abs(wanted));
    }
  }

  /** As much of the format as these files use: version 1.0, little-endian float32, C order. */
  private static Array read(String name, String part) throws IOException {
    String file = "/onnx/" + name + "." + part + ".npy";
    try (InputStream in = OnnxConformanceTest.class.getResourceAsStream(file)) {
      ByteBuffer bytes = ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
      int length = bytes.getShort(8);
      String header = new String(bytes.array(), 10, length, StandardCharsets.US_ASCII);
      assertThat(find(DESCR, header)).as(file).isEqualTo("<f4");
      assertThat(header).contains("'fortran_order': False");
      int[] shape =
          Pattern.compile("\\d+")
              .matcher(find(SHAPE, header))
              .results()
              .map(MatchResult::group)
              .mapToInt(Integer::parseInt)
              .toArray();
      FloatBuffer data = bytes.position(10 + length).slice().order(bytes.order()).asFloatBuffer();
      float[] values = new float[data.remaining()];
      data.get(values);
      assertThat(values).hasSize(Arrays.stream(shape).reduce(1, Math::multiplyExact));
      return new Array(shape, values);
    }
  }

  private static String find(Pattern pattern, String header) {
    Matcher matcher = pattern.matcher(header);
    assertThat(matcher.find()).as("%s in %s", pattern, header).isTrue();
    return matcher.group(1);
  }

  private static double[] doubles(float[] values) {
    double[] widened = new double[values.length];
    Arrays.setAll(widened, i -> values[i]);
    return widened;
  }
}
