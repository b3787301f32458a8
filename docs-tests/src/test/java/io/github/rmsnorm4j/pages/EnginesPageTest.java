package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.JavaSource;
import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/engines.md: its lines of Java compile, and do what the page says. */
class EnginesPageTest {
  private static final Pattern BLOCK = Pattern.compile("(?s)```java\n(.*?)```");

  /** What is there before the lines of each block, and how their result is looked at. */
  private static final String PROGRAM =
      """
      import io.github.rmsnorm4j.*;
      import java.lang.foreign.*;
      import java.nio.*;
      import java.nio.channels.FileChannel;
      import java.nio.file.*;
      import java.util.*;
      import java.util.concurrent.*;
      import java.util.function.Consumer;
      import java.util.stream.IntStream;

      class Lines {
        static final int n = 96;
        static final int tokens = 4096; // enough for several threads
        static final int heads = 4;
        static final int kvHeads = 2;
        static final int d = 32;
        static final Random random = new Random(11);

        static float[] random(int length) {
          float[] values = new float[length];
          for (int i = 0; i < length; i++) {
            values[i] = (float) random.nextGaussian();
          }
          return values;
        }

        static void matmul(float[] out, float[] w, float[] x, int n) {
          for (int i = 0; i < out.length * n; i++) {
            out[i / n] += w[i] * x[i %% n];
          }
        }

        static void check(boolean isSo, String what) {
          if (!isSo) {
            throw new AssertionError(what);
          }
        }

        static boolean near(float[] a, float[] b) {
          for (int i = 0; i < a.length; i++) {
            if (!(Math.abs(a[i] - b[i]) <= 1e-5f)) {
              return false;
            }
          }
          return a.length == b.length;
        }

        %s

        public static void main(String[] args) throws Exception {
          %s
          check(
              Thread.getAllStackTraces().keySet().stream()
                  .noneMatch(thread -> thread.getName().matches("rmsnorm4j-[0-9]+")),
              "threads of the library that do rows");
          System.out.println("done");
        }
      }
      """;

  private static final String LOOP =
      """
          {
            float[] x = random(n), xb = new float[n], weight = random(n), delta = random(n);
            float[] before = x.clone();
            %s
            float[] sum = new float[n], expected = new float[n], again = new float[n];
            for (int i = 0; i < n; i++) {
              sum[i] = before[i] + delta[i];
            }
            rmsnorm(expected, sum, weight, n);
            check(near(xb, expected), "the loop of the sum");
            rmsnorm(again, sum, weight, n);
            check(near(x, again), "in place");
            norm.apply(before, xb);
            rmsnorm(expected, before, weight, n);
            check(near(xb, expected), "the loop");
          }
      """;

  private static final String PROMPT =
      """
          {
            float[] weight = random(n), rows = random(3 * n), expected = new float[3 * n];
            float[][] prompt = new float[3][], normalized = new float[3][n];
            for (int i = 0; i < 3; i++) {
              prompt[i] = Arrays.copyOfRange(rows, i * n, (i + 1) * n);
            }
            %s
            norm.apply(rows, expected);
            for (int i = 0; i < 3; i++) {
              float[] row = Arrays.copyOfRange(expected, i * n, (i + 1) * n);
              check(Arrays.equals(normalized[i], row), "row " + i);
            }
            float[] weights = random(2 * n), o = new float[n + 5], ofLoop = new float[n];
            rmsnorm(o, 5, rows, n, weights, 7);
            rmsnorm(ofLoop, prompt[1], Arrays.copyOfRange(weights, 7, 7 + n), n);
            check(near(Arrays.copyOfRange(o, 5, 5 + n), ofLoop), "the static method");
          }
      """;

  private static final String THREADS =
      """
          {
            float[] x = random(tokens * n), xb = new float[tokens * n], weight = random(n);
            %s
            float[] expected = new float[tokens * n];
            norm.apply(x, expected);
            check(Arrays.equals(xb, expected), "rows by threads");
          }
      """;

  private static final String MAPPED =
      """
          {
            float[] x = random(n), xb = new float[n], weight = new float[n];
            int offset = 128;
            short[] stored = new short[offset / 2 + n];
            for (int i = 0; i < n; i++) {
              weight[i] = 1 + i / 64f;
              stored[offset / 2 + i] = (short) (Float.floatToIntBits(weight[i]) >>> 16);
            }
            Path modelFile = Path.of("model.bin");
            Files.write(modelFile, MemorySegment.ofArray(stored).toArray(ValueLayout.JAVA_BYTE));
            %s
            float[] expected = new float[n];
            RmsNorm.builder(n).epsilon(1e-5).gain(weight).build().apply(x, expected);
            check(Arrays.equals(xb, expected), "a gain in a file");
          }
      """;

  private static final String NATIVE =
      """
          {
            float[] weight = random(n);
            %s
            float[] x = random(tokens * n), expected = new float[tokens * n];
            MemorySegment.copy(
                x, 0, hidden.segment(), ValueLayout.JAVA_FLOAT, 0, x.length);
            norm.apply(hidden, hidden);
            norm.apply(x, expected);
            float[] y = hidden.segment().toArray(ValueLayout.JAVA_FLOAT);
            check(Arrays.equals(y, expected), "native memory");
          }
      """;

  /**
   * What is between the rows stays zero. The stride of an axis of one index is not looked at. A
   * tensor whose rows have two distances, or that has no axis, is refused.
   */
  private static final String TENSOR =
      """
          {
            Arena arena = Arena.ofAuto();
            float[] weight = random(n);
            %s
            short[] x = new short[2 * tokens * n], y = new short[x.length];
            for (int i = 0; i < x.length; i++) {
              x[i] = (short) (Float.floatToIntBits((float) random.nextGaussian()) >>> 16);
            }
            for (int row = 0; row < 2 * tokens; row++) {
              MemorySegment.copy(
                  x, row * n, hidden.memory(), ValueLayout.JAVA_SHORT, 6L * row * n, n);
            }
            norm.apply(rows, rows);
            norm.apply(Rows.of(x, ElementType.BFLOAT16, n), Rows.of(y, ElementType.BFLOAT16, n));
            short[] got = hidden.memory().toArray(ValueLayout.JAVA_SHORT);
            for (int i = 0; i < got.length; i++) {
              int row = i / (3 * n), element = i %% (3 * n);
              check(got[i] == (element < n ? y[row * n + element] : 0), "element " + i);
            }
            try {
              long[] gap = {7L * n * tokens, 3L * n, 1};
              new Tensor(hidden.memory(), ElementType.BFLOAT16, shape, gap).rows();
              check(false, "rows at two distances");
            } catch (IllegalArgumentException e) {
              check(e.getMessage().startsWith("axis 0 has stride 2752512"), e.getMessage());
            }
            Object[][] single = {
              {new long[] {2, 1, 16}, new long[] {48, 16, 1}, 2L, 48L},
              {new long[] {1, 4, 16}, new long[] {0, 16, 1}, 4L, 16L},
              {new long[] {2, 3, 1}, new long[] {36, 12, 7}, 6L, 12L},
              {new long[] {1, 1, 16}, new long[] {5, 3, 1}, 1L, 16L},
              {new long[] {16}, new long[] {1}, 1L, 16L}
            };
            for (Object[] it : single) {
              Rows view =
                  new Tensor(hidden.memory(), ElementType.BFLOAT16, (long[]) it[0], (long[]) it[1])
                      .rows();
              check(
                  view.rows() == (long) it[2] && view.rowStride() == (long) it[3],
                  Arrays.toString((long[]) it[0]));
            }
            try {
              new Tensor(hidden.memory(), ElementType.BFLOAT16, new long[0], new long[0]).rows();
              check(false, "no axis");
            } catch (IllegalArgumentException e) {
              check(e.getMessage().equals("no rows: []"), e.getMessage());
            }
          }
      """;

  private static final String BUFFER =
      """
          {
            int offset = 64;
            float[] x = random(tokens * n), y = new float[x.length], wanted = new float[x.length];
            RmsNorm norm = RmsNorm.builder(n).gain(random(n)).threads(1).build();
            ByteBuffer buffer = ByteBuffer.allocateDirect(offset + 4 * x.length + 12);
            buffer.slice(offset, 4 * x.length).order(ByteOrder.nativeOrder()).asFloatBuffer().put(x);
            %s
            norm.apply(x, wanted);
            check(Arrays.equals(y, wanted), "a view of a buffer");
          }
      """;

  private static final String HEADS =
      """
          {
            float[] queryGain = random(d), keyGain = random(d);
            float[] qkv = random(tokens * (heads + 2 * kvHeads) * d), before = qkv.clone();
            %s
            for (int i = 0; i < qkv.length; i += d) {
              int head = i / d %% (heads + 2 * kvHeads);
              float[] row = Arrays.copyOfRange(before, i, i + d);
              if (head < heads + kvHeads) {
                RmsNorm.builder(d).gain(head < heads ? queryGain : keyGain).build().apply(row, row);
              }
              check(Arrays.equals(row, Arrays.copyOfRange(qkv, i, i + d)), "head " + head);
            }
          }
      """;

  private static final String WIDE =
      """
          {
            float[] wideGain = random(heads * d);
            float[] qkv = random(tokens * (heads + 2 * kvHeads) * d), before = qkv.clone();
            %s
            for (int t = 0; t < tokens; t++) {
              float[] token = Arrays.copyOfRange(before, t * stride, (t + 1) * stride);
              norm.apply(token, 0, token, 0, 1);
              float[] got = Arrays.copyOfRange(qkv, t * stride, (t + 1) * stride);
              check(Arrays.equals(token, got), "token " + t);
            }
          }
      """;
  private static final String SANDWICH =
      """
          {
            float[] weight = random(n), nextWeight = random(n);
            float[] x = random(tokens * n), h = random(tokens * n), y = new float[x.length];
            float[] v = new float[x.length], sum = h.clone(), wanted = new float[x.length];
            Rows attentionOutput = Rows.of(x, n), residual = Rows.of(h, n), mlpInput = Rows.of(y, n);
            RmsNorm.gemma(n).gain(weight).threads(1).build().apply(x, v);
            RmsNorm.gemma(n).gain(nextWeight).threads(1).build().addAndApply(v, sum, wanted);
            %s
            check(Arrays.equals(h, sum), "the residual");
            check(Arrays.equals(y, wanted), "both norms");
          }
      """;

  private static final String ADDED =
      """
          {
            float[] weight = random(n), attentionOutput = random(tokens * n), h = random(tokens * n);
            float[] v = new float[h.length], sum = h.clone();
            RmsNorm.builder(n).gain(weight).threads(1).build().apply(attentionOutput, v);
            for (int i = 0; i < sum.length; i++) {
              sum[i] = v[i] + sum[i];
            }
            %s
            check(Arrays.equals(h, sum), "the residual without a next norm");
          }
      """;

  private static final String OWNERS =
      """
          {
            float[] x0 = random(10 * 6144), weight = random(6144), wanted = new float[x0.length];
            RmsNorm.builder(6144).gain(weight).threads(1).build().apply(x0, wanted);
            double[] total = new double[10];
            for (int turn = 0; turn < 2; turn++) {
              boolean last = turn == 1;
              for (int owner = 0; owner < 4; owner++) {
                int from = 1536 * owner;
                float[] weightOfOwner = Arrays.copyOfRange(weight, from, from + 1536);
                float[] columns = new float[10 * 1536];
                for (int i = 0; i < columns.length; i++) {
                  columns[i] = x0[i / 1536 * 6144 + from + i %% 1536];
                }
                Consumer<double[]> allReduce =
                    own -> Arrays.setAll(last ? own : total, i -> (last ? 0 : own[i]) + total[i]);
                %s
                for (int i = 0; last && i < columns.length; i++) {
                  float v = wanted[i / 1536 * 6144 + from + i %% 1536];
                  check(Math.abs(columns[i] - v) <= 1e-6f * Math.abs(v), "four owners");
                }
              }
            }
          }
      """;

  private static final String BEHIND =
      """
          {
            float[] foldedWeight = random(3 * n), x = random(n), out = new float[3];
            float[] y = new float[n], wanted = new float[3];
            RmsNorm.builder(n).threads(1).build().apply(x, y);
            matmul(wanted, foldedWeight, y, n);
            %s
            for (int i = 0; i < out.length; i++) {
              check(Math.abs(out[i] - wanted[i]) <= 1e-4f, "a norm behind the product");
            }
          }
      """;

  /** The product: its rounding has the bound of the page; its error is what the scales predict. */
  private static final String BLOCKS =
      """
          {
            float[] out = new float[256];
            float[] w = random(out.length * n), weight = random(n), x = random(n), delta = random(n);
            float[] sum = new float[n];
            for (int i = 0; i < n; i++) {
              sum[i] = x[i] + delta[i];
            }
            %s
            check(Arrays.equals(x, sum), "the sum");
            float[] y = new float[n];
            norm.apply(sum, y);
            byte[] two = new byte[rowBytes];
            Quantizer.defaults()
                .quantize(Rows.of(y, n), QuantizedRows.of(two, QuantizedType.Q8_0, n));
            check(Arrays.equals(blocks, two), "one call or two");

            float[] wq = new float[w.length], yq = new float[n];
            QuantizedRows.of(weights, QuantizedType.Q8_0, n).dequantize(Rows.of(wq, n));
            q.dequantize(Rows.of(yq, n));
            double roundings = n / 32 * 0x1p-24;
            double missed = 0, predicted = 0, size = 0;
            for (int r = 0; r < out.length; r++) {
              double exact = 0, terms = 0, floats = 0;
              for (int b = 0; b < n; b += 32) {
                double term = 0, dw = scale(weights, r * rowBytes + b / 32 * 34);
                double dy = scale(blocks, b / 32 * 34);
                for (int i = b; i < b + 32; i++) {
                  term += (double) wq[r * n + i] * yq[i];
                  floats += (double) w[r * n + i] * y[i];
                  double ofW = y[i] * dw, ofY = w[r * n + i] * dy;
                  predicted += (ofW * ofW + ofY * ofY) / 12;
                }
                exact += term;
                terms += Math.abs(term);
              }
              double bound = roundings / (1 - roundings) * terms;
              check(Math.abs(out[r] - exact) <= bound, "rounding of row " + r);
              missed += (out[r] - floats) * (out[r] - floats);
              size += floats * floats;
            }
            check(Math.abs(Math.sqrt(missed / predicted) - 1) < 0.2, "" + missed / predicted);
            check(Math.abs(Math.sqrt(missed / size) - 0.01) < 0.003, "" + missed / size);
          }
      """;

  /** ggml's reference code, step by step; its bytes are not all those of the default rule. */
  private static final String REFERENCE =
      """
          {
            float[] x = random(10 * tokens * n), y = new float[x.length], weight = random(n);
            byte[] blocks = new byte[x.length / 32 * 34], others = new byte[blocks.length];
            QuantizedRows q = QuantizedRows.of(blocks, QuantizedType.Q8_0, n);
            %s
            norm.apply(x, y);
            for (int b = 0; b < y.length / 32; b++) {
              float a = 0;
              for (int i = 0; i < 32; i++) {
                a = Math.max(a, Math.abs(y[32 * b + i]));
              }
              float d = a / 127, inverse = 1 / d;
              float stored = Float.float16ToFloat(Float.floatToFloat16(d));
              check(scale(blocks, 34 * b) == stored, "scale " + b);
              for (int i = 0; i < 32; i++) {
                float v = y[32 * b + i] * inverse;
                double code = Math.copySign(Math.floor(Math.abs(v) + 0.5), v);
                check(blocks[34 * b + 2 + i] == code, "code " + i + " of block " + b);
              }
            }
            Quantizer.defaults()
                .quantize(Rows.of(y, n), QuantizedRows.of(others, QuantizedType.Q8_0, n), 1);
            check(!Arrays.equals(others, blocks), "the rules differ");
          }
      """;

  private static final String APART =
      """
          {
            float[] weight = random(n), delta = random(tokens * n), h = random(tokens * n);
            float[] sum = h.clone(), y = new float[h.length];
            RmsNorm.llama(n).gain(weight).threads(1).build().addAndApply(delta, sum, y);
            byte[] codesOfTwo = new byte[y.length];
            float[] scalesOfTwo = new float[y.length / 32];
            QuantizedType type = QuantizedType.e4m3(32);
            Quantizer.vllm()
                .quantize(Rows.of(y, n), QuantizedRows.of(codesOfTwo, scalesOfTwo, type, n), 1);
            %s
            check(Arrays.equals(h, sum), "the residual of FP8");
            check(Arrays.equals(codes, codesOfTwo), "FP8 codes");
            check(Arrays.equals(scales, scalesOfTwo), "scales of FP8");
          }
      """;

  private static final String COMPILING =
      """
          {
            %s
            compiling.join();
            check(compiling.isDaemon(), "the program need not wait");
          }
      """;

  /** In the order of the page. */
  private static final List<String> LOOKS =
      List.of(
          LOOP, PROMPT, THREADS, MAPPED, NATIVE, TENSOR, BUFFER, HEADS, WIDE, SANDWICH, ADDED,
          OWNERS, BEHIND, BLOCKS, REFERENCE, APART, COMPILING);

  @TempDir Path folder;

  @Test
  void everyLineOfJavaDoesWhatThePageSays() throws Exception {
    List<String> members = new ArrayList<>();
    List<String> blocks = new ArrayList<>();
    Matcher block = BLOCK.matcher(page());
    while (block.find()) {
      String lines = block.group(1);
      if (lines.startsWith("static ")) {
        members.add(lines);
      } else {
        assertThat(blocks.size()).as("a look at: %s", lines).isLessThan(LOOKS.size());
        blocks.add(LOOKS.get(blocks.size()).formatted(lines));
      }
    }
    assertThat(members).hasSize(4);
    assertThat(blocks).hasSameSizeAs(LOOKS);
    String program = PROGRAM.formatted(String.join("", members), String.join("", blocks));
    assertThat(JavaSource.run(folder, program)).isEqualTo("done\n");
  }

  private static String page() throws IOException {
    return Files.readString(Shell.CHECKOUT.resolve("docs/engines.md"));
  }
}
