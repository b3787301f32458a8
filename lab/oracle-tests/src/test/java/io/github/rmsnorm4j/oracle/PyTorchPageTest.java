package io.github.rmsnorm4j.oracle;

import static io.github.rmsnorm4j.oracle.PublishedNorm.GEMMA;
import static io.github.rmsnorm4j.oracle.PublishedNorm.LAYER_NORM;
import static io.github.rmsnorm4j.oracle.PublishedNorm.LLAMA;
import static io.github.rmsnorm4j.oracle.PublishedNorm.PAPER;
import static io.github.rmsnorm4j.oracle.PublishedNorm.RMS_NORM;
import static io.github.rmsnorm4j.oracle.PublishedNorm.T5;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.oracle.PublishedNorm.Learned;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarOptional;
import org.bytedeco.pytorch.ScalarTypeOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The Python lines of docs/pytorch.md, done by libtorch. What they give is kept for the test that
 * runs the lines of Java below them, and is what libtorch says today. With {@code -Dvectors.write}
 * it is written first.
 */
class PyTorchPageTest {
  private static final String FILE = "pytorch-page.txt";
  private static final List<String> HEADER =
      List.of(
          "# Answers of libtorch 2.10.0, on the CPU, to the Python lines of docs/pytorch.md, in float32 and",
          "# bfloat16. What all lines start from comes first. Hexadecimal floating point. Written by",
          "# mvn -Ppeers -pl lab/oracle-tests -am test -Dtest=PyTorchPageTest -Dvectors.write",
          "# -Dsurefire.failIfNoSpecifiedTests=false",
          "");

  /** The first of two lines under the name of a norm. */
  private static final Pattern PYTHON = Pattern.compile("\n\\* .+\n  \\* `(.+)`\n");

  private static final int ROWS = 3;
  private static final int WIDTH = 20;
  private static final double EPSILON = 1e-6;

  /** How far the committed and today's may be apart: other processors add otherwise. */
  private static final double ROUNDINGS = 8;

  /** What the lines start from. */
  private static final class Inputs {
    final Tensor x;
    final Tensor h;
    final Tensor w;
    final Tensor b;
    final Tensor dy;
    final Tensor ds;

    Inputs(Map<String, double[]> values, ElementType type) {
      x = Libtorch.tensor(values.get("x"), type, WIDTH).requires_grad_();
      h = Libtorch.tensor(values.get("h"), type, WIDTH);
      w = Libtorch.parameter(values.get("w"), type).requires_grad_();
      b = Libtorch.parameter(values.get("b"), type).requires_grad_();
      dy = Libtorch.tensor(values.get("dy"), type, WIDTH);
      ds = Libtorch.tensor(values.get("ds"), type, WIDTH);
    }

    Learned gain(double epsilon) {
      return new Learned(w, null, epsilon);
    }
  }

  /** What a line gives, by the names of docs/pytorch.md. */
  private interface Line extends Function<Inputs, Map<String, Tensor>> {}

  /** The lines that give an output. */
  private static final Map<String, Line> FORWARD = new LinkedHashMap<>();

  /** The lines that give gradients, in float32. */
  private static final Map<String, Line> BACKWARD = new LinkedHashMap<>();

  /** The lines whose operations have no float32 inside, so that they are for float32 alone. */
  private static final Map<String, Line> FLOAT32 = new LinkedHashMap<>();

  static {
    forward("y = F.rms_norm(x, (n,), w, eps=1e-6)", in -> y(RMS_NORM, in.x, in.gain(EPSILON)));
    forward(
        "m = nn.RMSNorm(n, eps=1e-5); m.weight.data = w; y = m(x)",
        in -> y(RMS_NORM, in.x, in.gain(1e-5)));
    forward("y = nn.RMSNorm(n, elementwise_affine=False)(x)", PyTorchPageTest::withoutGain);
    forward(
        "y = F.rms_norm(x.view(rows, 4, 5), (4, 5), w.view(4, 5), 1e-6).view(rows, n)",
        PyTorchPageTest::ofTwoAxes);
    forward(
        "y = F.layer_norm(x, (n,), w, b)",
        in -> y(LAYER_NORM, in.x, new Learned(in.w, in.b, 1e-5)));
    forward(
        "m = nn.LayerNorm(n, eps=1e-6, bias=False); m.weight.data = w; y = m(x)",
        in -> y(LAYER_NORM, in.x, in.gain(1e-6)));
    forward(
        "m = LlamaRMSNorm(n, eps=1e-5); m.weight.data = w; y = m(x)",
        in -> y(LLAMA, in.x, in.gain(1e-5)));
    forward(
        "m = GemmaRMSNorm(n); m.weight.data = w; y = m(x)", in -> y(GEMMA, in.x, in.gain(EPSILON)));
    forward("m = T5LayerNorm(n); m.weight.data = w; y = m(x)", in -> y(T5, in.x, in.gain(EPSILON)));
    forward(
        "m = LlamaRMSNorm(n); m.weight.data = w; h = h + x; y = m(h)",
        in -> {
          Tensor sum = in.h.add(in.x);
          return Map.of("sum", sum, "y", LLAMA.apply(sum, null, in.gain(EPSILON)).y());
        });
    FLOAT32.put(
        "m = rmsnorm_torch.RMSNorm(n); m.scale.data = w; y = m(x)",
        in -> y(PAPER, in.x, in.gain(1e-8)));
    FLOAT32.put("y = F.normalize(x, dim=-1)", PyTorchPageTest::unitLength);
    FLOAT32.put(
        "y = x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-6) * w",
        in -> Map.of("y", in.x.div(root(in.x, EPSILON)).mul(in.w)));
    FLOAT32.put(
        "d = x - x.mean(-1, keepdims=True);"
            + " y = d / np.sqrt(np.mean(d * d, -1, keepdims=True) + 1e-5) * w + b",
        in -> {
          Tensor d = in.x.sub(mean(in.x));
          return Map.of("y", d.div(root(d, 1e-5)).mul(in.w).add(in.b));
        });
    BACKWARD.put(
        "F.rms_norm(x, (n,), w, 1e-6).backward(dy)",
        in -> gradients(in, RMS_NORM.apply(in.x, null, in.gain(EPSILON)).y(), "dx", "dw"));
    BACKWARD.put(
        "F.layer_norm(x, (n,), w, b).backward(dy)",
        in ->
            gradients(
                in,
                LAYER_NORM.apply(in.x, null, new Learned(in.w, in.b, 1e-5)).y(),
                "dx",
                "dw",
                "db"));
    BACKWARD.put(
        "m = GemmaRMSNorm(n); m.weight.data = w; m(x).backward(dy)",
        in -> gradients(in, GEMMA.apply(in.x, null, in.gain(EPSILON)).y(), "dx", "dw"));
    BACKWARD.put(
        "s = h + x; torch.autograd.backward([F.rms_norm(s, (n,), w, 1e-6), s], [dy, ds])",
        PyTorchPageTest::throughASum);
    BACKWARD.put(
        "for _ in range(2): F.rms_norm(x, (n,), w, 1e-6).backward(dy)  # adds to w.grad",
        in -> {
          Tensor y = RMS_NORM.apply(in.x, null, in.gain(EPSILON)).y();
          Tensor once = gradients(in, y, "dw").get("dw");
          return Map.of("dw", once.add(once));
        });
  }

  @BeforeAll
  static void requireLibtorch() {
    Libtorch.require();
  }

  private static void forward(String python, Line line) {
    FORWARD.put(python, line);
  }

  private static Map<String, Tensor> y(PublishedNorm norm, Tensor x, Learned learned) {
    return Map.of("y", norm.apply(x, null, learned).y());
  }

  private static Map<String, Tensor> withoutGain(Inputs in) {
    return Map.of(
        "y", torch.rms_norm(in.x, new long[] {WIDTH}, new TensorOptional(), new DoubleOptional()));
  }

  private static Map<String, Tensor> ofTwoAxes(Inputs in) {
    Tensor y =
        torch.rms_norm(
            in.x.view(ROWS, 4, 5),
            new long[] {4, 5},
            new TensorOptional(in.w.view(4, 5)),
            new DoubleOptional(EPSILON));
    return Map.of("y", y.view(ROWS, WIDTH));
  }

  /** As torch.nn.functional has it. */
  private static Map<String, Tensor> unitLength(Inputs in) {
    ScalarOptional two = new ScalarOptional(new Scalar(2.0));
    Tensor length = in.x.norm(two, new long[] {-1}, true).clamp_min(new Scalar(1e-12));
    return Map.of("y", in.x.div(length));
  }

  private static Tensor mean(Tensor x) {
    return x.mean(new long[] {-1}, true, new ScalarTypeOptional());
  }

  private static Tensor root(Tensor x, double epsilon) {
    return mean(x.mul(x)).add(new Scalar(epsilon)).sqrt();
  }

  private static Map<String, Tensor> throughASum(Inputs in) {
    Tensor s = in.h.add(in.x);
    Tensor y = RMS_NORM.apply(s, null, in.gain(EPSILON)).y();
    TensorVector back = grad(List.of(y, s), List.of(in.x, in.w), List.of(in.dy, in.ds));
    return Map.of("dx", back.get(0), "dw", back.get(1));
  }

  private static Map<String, Tensor> gradients(Inputs in, Tensor y, String... names) {
    Map<String, Tensor> leaves = Map.of("dx", in.x, "dw", in.w, "db", in.b);
    List<Tensor> asked = Arrays.stream(names).map(leaves::get).toList();
    TensorVector back = grad(List.of(y), asked, List.of(in.dy));
    Map<String, Tensor> gradients = new LinkedHashMap<>();
    for (int i = 0; i < names.length; i++) {
      gradients.put(names[i], back.get(i));
    }
    return gradients;
  }

  private static TensorVector grad(List<Tensor> of, List<Tensor> by, List<Tensor> slopes) {
    return torch.grad(
        vector(of), vector(by), vector(slopes), new BoolOptional(false), false, false);
  }

  private static TensorVector vector(List<Tensor> tensors) {
    return new TensorVector(tensors.toArray(Tensor[]::new));
  }

  @Test
  void committedAnswersAreWhatLibtorchSays() throws IOException {
    List<String> expected = new ArrayList<>(HEADER);
    for (ElementType type : List.of(ElementType.FLOAT32, ElementType.BFLOAT16)) {
      Map<String, double[]> inputs = inputs(type);
      expected.add("> inputs " + type);
      inputs.forEach((key, values) -> expected.add(Vectors.line(key, values)));
      expected.add("");
      Map<String, Line> lines = new LinkedHashMap<>(FORWARD);
      if (type == ElementType.FLOAT32) {
        lines.putAll(FLOAT32);
        lines.putAll(BACKWARD);
      }
      lines.forEach((python, line) -> expected.addAll(answer(python, line, inputs, type)));
    }
    Vectors.verify(
        FILE,
        expected,
        line -> line.matches("(y|sum|dx|dw|db) .*"),
        (line, was, is) -> assertSameAnswer(expected, line, was, is));
  }

  /** Every line of the page is here, and nothing else is. */
  @Test
  void everyPythonLineIsOnThePage() throws IOException {
    Path page = Path.of(System.getProperty("vectors.dir"), "../../../../../docs/pytorch.md");
    List<String> python =
        PYTHON.matcher(Files.readString(page)).results().map(found -> found.group(1)).toList();
    List<String> known = new ArrayList<>(FORWARD.keySet());
    known.addAll(FLOAT32.keySet());
    known.addAll(BACKWARD.keySet());
    assertThat(python).containsExactlyInAnyOrderElementsOf(known);
  }

  private static List<String> answer(
      String python, Line line, Map<String, double[]> inputs, ElementType type) {
    try (PointerScope _ = new PointerScope()) {
      List<String> lines = new ArrayList<>(List.of("> " + type + " " + python));
      Map<String, Tensor> tensors = line.apply(new Inputs(inputs, type));
      tensors.keySet().stream()
          .sorted()
          .forEach(
              key -> {
                Tensor tensor = tensors.get(key);
                assertThat(Libtorch.elementType(tensor)).as(python).isEqualTo(type);
                lines.add(Vectors.line(key, Libtorch.values(tensor)));
              });
      lines.add("");
      return lines;
    }
  }

  /** A usual row, a large one, and one whose mean square is about as small as epsilon. */
  private static Map<String, double[]> inputs(ElementType type) {
    Random random = new Random(20261122);
    Map<String, double[]> inputs = new LinkedHashMap<>();
    for (String key : List.of("x", "h", "w", "b", "dy", "ds")) {
      boolean parameter = key.equals("w") || key.equals("b");
      double[] values = new double[parameter ? WIDTH : ROWS * WIDTH];
      for (int i = 0; i < values.length; i++) {
        double size = key.equals("x") || key.equals("h") ? Math.pow(1000, 1.0 - i / WIDTH) : 1;
        double mean = key.equals("w") ? 1 : 0.25 * size;
        values[i] = Elements.round(mean + size * random.nextGaussian(), type);
      }
      inputs.put(key, values);
    }
    return inputs;
  }

  private static void assertSameAnswer(List<String> lines, int line, String was, String is) {
    String title = titleOf(lines, line);
    double[] committed = values(was);
    double[] today = values(is);
    assertThat(committed).hasSameSizeAs(today);
    int digits = Vectors.digits(title);
    for (int i = 0; i < today.length; i++) {
      int row = i / WIDTH * WIDTH;
      double largest = Arrays.stream(today, row, row + WIDTH).map(Math::abs).max().orElseThrow();
      assertThat(committed[i])
          .as("element %d of %s", i, title)
          .isCloseTo(today[i], within(Math.scalb(ROUNDINGS, -digits) * largest));
    }
  }

  private static String titleOf(List<String> lines, int line) {
    int at = line;
    while (!lines.get(at).startsWith("> ")) {
      at--;
    }
    return lines.get(at);
  }

  private static double[] values(String line) {
    return Arrays.stream(line.split(" ")).skip(1).mapToDouble(Double::parseDouble).toArray();
  }
}
