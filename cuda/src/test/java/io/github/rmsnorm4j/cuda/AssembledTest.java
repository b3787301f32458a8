package io.github.rmsnorm4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.CodeFactor;
import io.github.rmsnorm4j.CodeRounding;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Gate;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.ResidualRounding;
import io.github.rmsnorm4j.RowPart;
import io.github.rmsnorm4j.ScaleFloor;
import io.github.rmsnorm4j.cuda.driver.SharedMemory;
import io.github.rmsnorm4j.cuda.eager.OperationKernels;
import io.github.rmsnorm4j.cuda.ptx.Codes;
import io.github.rmsnorm4j.cuda.ptx.PtxKernel;
import io.github.rmsnorm4j.cuda.ptx.TreeKernel;
import io.github.rmsnorm4j.internal.backend.NormChoices;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.ForwardFormula;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.quantized.CodeFormat;
import io.github.rmsnorm4j.internal.quantized.CodeRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** NVIDIA's assembler takes the kernels, and keeps all of their registers; where it is there. */
class AssembledTest {
  /** Rows that one block of threads does, rows that a warp does several of or adds up. */
  private static final int[] WIDTHS = {4096, 512};

  /** Rows that one warp does, that do not fit in shared memory, and LayerNorm in two passes. */
  private static final int[] OTHER_WIDTHS = {1024, 1 << 16, 1 << 21};

  /** CUDA 13 has no assembler for older ones. */
  private static final List<String> DEVICES =
      List.of("sm_75", "sm_80", "sm_90", "sm_100", "sm_120");

  private static final boolean ALL = Boolean.getBoolean("rmsnorm4j.ptxas.all");

  /** One kernel of so many in order is assembled for a device: each for two or three of them. */
  private static final int ONE_OF = ALL ? 1 : 2;

  @TempDir Path folder;

  /** In one text with others, a kernel would have their shared memory. */
  private static boolean declaresWhatItUses(PtxKernel kernel) {
    int body = kernel.text().indexOf('{');
    boolean uses = kernel.text().substring(body).contains(", shared;");
    return !uses || kernel.text().substring(0, body).contains(" shared[];");
  }

  @Tag("long")
  @ParameterizedTest
  @FieldSource("DEVICES")
  void everyKernelFitsInRegisters(String device) throws IOException, InterruptedException {
    Path ptxas = ptxas();
    assumeTrue(ptxas != null, "there is no ptxas on the PATH or in /usr/local/cuda/bin");
    List<PtxKernel> kernels = kernels();
    assertThat(kernels).hasSizeGreaterThan(100).allMatch(AssembledTest::declaresWhatItUses);
    int turn = DEVICES.indexOf(device);
    List<PtxKernel> chosen = new ArrayList<>();
    for (int k = 0; k < kernels.size(); k++) {
      // The first one declares the shared memory of all.
      if (k == 0 || (k + turn) % ONE_OF == 0) {
        chosen.add(kernels.get(k));
      }
    }
    Path text = folder.resolve("kernels.ptx");
    Files.writeString(text, module(chosen));
    Path cubin = folder.resolve("kernels.cubin");
    Process process =
        new ProcessBuilder(
                ptxas.toString(), "-v", "-arch=" + device, text.toString(), "-o", cubin.toString())
            .redirectErrorStream(true)
            .start();
    String report = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as(report).isZero();
    System.out.println(report);
    List<String> spills = report.lines().filter(line -> line.contains("spill stores")).toList();
    assertThat(spills).hasSameSizeAs(chosen);
    assertThat(spills)
        .allMatch(
            line ->
                line.strip()
                    .equals("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"));
  }

  private static Path ptxas() {
    List<Path> folders = new ArrayList<>();
    for (String folder : System.getenv().getOrDefault("PATH", "").split(":")) {
      folders.add(Path.of(folder));
    }
    folders.add(Path.of("/usr/local/cuda/bin"));
    return folders.stream()
        .map(folder -> folder.resolve("ptxas"))
        .filter(Files::isExecutable)
        .findFirst()
        .orElse(null);
  }

  /**
   * All kernels in one module, whose first one needs shared memory, each with a name of its own.
   */
  private static String module(List<PtxKernel> kernels) {
    StringBuilder module = new StringBuilder();
    for (PtxKernel kernel : kernels) {
      int from = kernel.text().indexOf(module.isEmpty() ? ".version" : ".visible");
      String name = ".entry " + kernel.name() + module.length() + "(";
      module.append(kernel.text().substring(from).replace(".entry " + kernel.name() + "(", name));
    }
    return module.toString();
  }

  /** Every type, form and choice that changes what a kernel does. */
  private static List<PtxKernel> kernels() {
    List<PtxKernel> kernels = new ArrayList<>();
    for (ElementType type : ElementType.values()) {
      for (int width : WIDTHS) {
        specs(width).forEach(spec -> add(kernels, spec, type, width));
      }
      for (int width : new int[] {4096, 512}) {
        addWithCodes(kernels, type, width);
      }
      for (int width : OTHER_WIDTHS) {
        add(kernels, NormSpec.LAYERNORM, type, width);
      }
    }
    kernels.add(TreeKernel.of(ElementType.FLOAT32));
    kernels.add(TreeKernel.of(ElementType.FLOAT64));
    kernels.addAll(OperationKernels.all());
    return kernels;
  }

  private static Stream<NormSpec> specs(int width) {
    NormSpec usual = NormSpec.RMSNORM;
    return Stream.of(
        usual,
        NormSpec.LAYERNORM,
        NormSpec.L2,
        usual.withCastOrder(CastOrder.NONE),
        usual.withCastOrder(CastOrder.ONNX),
        usual.withGainOffset(1),
        usual.withGate(Gate.SILU),
        usual.withGate(Gate.SILU_BEFORE),
        NormSpec.LAYERNORM.withGate(Gate.SIGMOID),
        usual.withPart(RowPart.of(3, width)),
        NormSpec.LAYERNORM.withResidualRounding(ResidualRounding.LAST));
  }

  private static void add(List<PtxKernel> kernels, NormSpec spec, ElementType type, int width) {
    NormChoices choices =
        new NormChoices(spec, width, spec.part().elements(width), spec.epsilon(type));
    Map<Tensor, ElementType> types = new TreeMap<>(Map.of(Forward.X, type, Forward.Y, type));
    boolean gated = spec.gate() != Gate.NONE;
    types.put(gated ? Forward.Z : Forward.RESIDUAL, type);
    boolean biased = spec.castOrder() == CastOrder.FLOAT32;
    ForwardFormula forward = ForwardFormula.of(spec, type, ElementType.FLOAT32, biased);
    // A gain of the call, of the type that takes the most registers.
    boolean ofCall = spec.gainOffset() != 0;
    if (ofCall) {
      boolean narrow = type.bytes() == Short.BYTES;
      types.put(Forward.GAIN, narrow ? ElementType.FLOAT64 : ElementType.BFLOAT16);
    }
    kernels.add(NormKernels.of(forward, types, ofCall, choices, null, SharedMemory.LEAST));
    types.remove(Forward.Y);
    types.put(Backward.DY, type);
    types.put(Backward.DX, type);
    if (gated) {
      types.put(Backward.DZ, type);
    }
    for (boolean kept : new boolean[] {false, true}) {
      boolean bias = biased && spec.gate().isAfter();
      boolean sums = kept || width > 512;
      BackwardFormula formula =
          new BackwardFormula(spec, false, kept, true, bias, sums, sums && biased);
      kernels.add(NormKernels.of(formula, types, ofCall, choices, null, SharedMemory.LEAST));
    }
  }

  /** Formats of codes and rules that change a kernel, with some norms: each with some types. */
  private static void addWithCodes(List<PtxKernel> kernels, ElementType type, int width) {
    List<NormSpec> specs = specs(width).toList();
    List<CodeFormat> formats = QuantizedCase.FORMATS;
    for (int i = 0; i < formats.size(); i++) {
      if (!ALL && (i + type.ordinal() + width / 1024) % 4 != 0) {
        continue;
      }
      NormSpec spec = specs.get(i * 3 % specs.size());
      NormChoices choices =
          new NormChoices(spec, width, spec.part().elements(width), spec.epsilon(type));
      Map<Tensor, ElementType> types = new TreeMap<>(Map.of(Forward.X, type, Forward.Y, type));
      types.put(spec.gate() != Gate.NONE ? Forward.Z : Forward.RESIDUAL, type);
      ForwardFormula formula = ForwardFormula.of(spec, type, ElementType.FLOAT32, false);
      CodeFactor factor = CodeFactor.values()[i % CodeFactor.values().length];
      CodeRounding rounding = CodeRounding.values()[i / 2 % CodeRounding.values().length];
      CodeRule rule = new CodeRule(factor, rounding, ScaleFloor.VLLM);
      Codes codes = Codes.of(formats.get(i), rule, type, i % 2 == 0);
      kernels.add(NormKernels.of(formula, types, false, choices, codes, SharedMemory.LEAST));
      Codes alone = Codes.of(formats.get(i), rule, ElementType.FLOAT32, false);
      kernels.add(NormKernels.ofCodes(type, alone, width));
    }
  }
}
