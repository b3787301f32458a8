package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.DequantizedFile;
import io.github.rmsnorm4j.formats.GgufFile;
import io.github.rmsnorm4j.formats.ShardedFile;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rmsnorm show}: what a file holds, and a slice of it. */
@Command(
    name = "show",
    description = {
      "List the tensors of a file or a model, or print some rows of one.",
      "",
      "Of a row of more than 5 elements it prints the first 3 and the last 2.",
      "",
      "FILE is a .npy, .safetensors or GGUF file, the folder of a Hugging Face model, or the index of"
          + " a sharded one. Quantized tensors of GGUF are listed, but their elements are not shown.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm show hidden.npy",
      "  rmsnorm show acts.safetensors",
      "  rmsnorm show acts.safetensors:layer.0 --rows 10:14",
      "  rmsnorm show acts.safetensors --tensor layer.0",
      "  rmsnorm show Llama-3.2-1B:model.norm.weight",
      "  rmsnorm show model.gguf:blk.0.attn_norm.weight"
    })
final class Show implements Callable<Integer> {
  /** With these, a line has less than 80 columns. */
  private static final int HEAD = 3;

  private static final int TAIL = 2;

  /** After so many rows it is asked whether anybody still reads. */
  private static final int CHECKED_ROWS = 1 << 10;

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FILE[:NAME]", description = "A file, a model, or one tensor of it.")
  private String reference;

  @Option(
      names = "--tensor",
      paramLabel = "NAME",
      description =
          "A tensor to show, as FILE:NAME chooses it too; may be repeated (default: all).")
  private List<String> tensors = List.of();

  @Option(
      names = "--rows",
      paramLabel = "FROM:TO",
      description =
          "The rows from FROM to before TO; either may be left out, or negative to count from the end"
              + " (default: 0:4).")
  private String rows;

  @Mixin private JsonOption json;

  @Override
  public Integer call() throws IOException {
    return WrongUseException.checked(
        () ->
            show(
                TensorReference.parse("FILE", reference),
                RowRange.parse(rows == null ? "0:4" : rows)));
  }

  private int show(TensorReference wanted, RowRange range) throws IOException {
    try (DequantizedFile file = DequantizedFile.open(wanted.file());
        JsonOption.JsonOutput data = json.begin(spec.commandLine())) {
      List<Tensor> chosen = wanted.allIn(file, tensors);
      boolean listed = rows == null && chosen.size() != 1 && tensors.isEmpty();
      if (data != null) {
        data.write(Records.write(ShownFile.of(file, chosen, listed ? null : range)));
      }
      if (listed) {
        list(file);
        return ExitCode.OK;
      }
      for (Tensor tensor : chosen) {
        out().println(label(file, tensor));
        print(file, tensor, range);
      }
    }
    return ExitCode.OK;
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** The tensor, with the type in which it is stored. */
  private static String label(DequantizedFile file, Tensor tensor) {
    return tensor + file.type(tensor).map(type -> ", stored as " + type).orElse("");
  }

  private void list(DequantizedFile dequantized) {
    dequantized.tensors().forEach(tensor -> out().println(label(dequantized, tensor)));
    TensorFile file = dequantized.stored();
    if (file instanceof GgufFile gguf) {
      gguf.fieldLabels().forEach(out()::println);
      return;
    }
    if (file instanceof ShardedFile sharded) {
      out()
          .println(
              counted(file.tensors().size(), "tensor", "tensors")
                  + " in "
                  + counted(sharded.shards().size(), "shard", "shards"));
    }
    int entries = file.metadata().size();
    if (entries > 0) {
      out().println(counted(entries, "entry of metadata", "entries of metadata"));
    }
  }

  private static String counted(int count, String one, String several) {
    return count + " " + (count == 1 ? one : several);
  }

  private void print(TensorFile file, Tensor tensor, RowRange range) throws IOException {
    if (!ElementText.isKnown(tensor.dtype())) {
      out().println("  elements of this type are not shown");
      return;
    }
    long width = width(tensor);
    long count = rows(tensor);
    if (width == 0) {
      return; // There may be 2^62 such rows in an empty file.
    }
    boolean whole = width <= HEAD + TAIL;
    try (Arena arena = Arena.ofConfined()) {
      ElementText elements = new ElementText(file, tensor, arena.allocate(HEAD * Double.BYTES, 8));
      for (long row = range.from(count); row < range.to(count); row++) {
        StringBuilder line = new StringBuilder(String.format("%7s", "[" + row + "]"));
        elements.append(line, row * width, (int) (whole ? Math.min(width, HEAD) : HEAD));
        line.append(whole ? "" : "  ...");
        int tail = (int) (whole ? Math.max(0, width - HEAD) : TAIL);
        elements.append(line, row * width + width - tail, tail);
        out().println(line);
        if (row % CHECKED_ROWS == 0 && out().checkError()) {
          return;
        }
      }
    }
  }

  /** The width of a row; a scalar is a row of one element. */
  static long width(Tensor tensor) {
    return tensor.shape().isEmpty() ? 1 : tensor.width(-1);
  }

  static long rows(Tensor tensor) {
    return tensor.shape().isEmpty() ? 1 : tensor.rows(-1);
  }
}
