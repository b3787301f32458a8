package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.cli.inspect.InspectionFigures;
import io.github.rmsnorm4j.cli.inspect.InspectionPage;
import io.github.rmsnorm4j.cli.inspect.InspectionText;
import io.github.rmsnorm4j.cli.inspect.UnknownModel;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.FamilyGuess;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import io.github.rmsnorm4j.models.rewrite.Prospects;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Help.Ansi.Style;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rmsnorm inspect}: the norms of a stored model. */
@Command(
    name = "inspect",
    description = {
      "Show the norms of a stored model: where they are, and what their gains are like.",
      "",
      "MODEL is a folder of Hugging Face (config.json and .safetensors files), a GGUF file, or a"
          + " config.json alone. The rules of the model's family say which norms there are, which"
          + " matrices take their output, and how the gain is stored. Only gains are read, and a"
          + " part of a second head. N in a name stands for the layer number. For a family without"
          + " rules, the tensors that look like gains are listed, and rules for --map are printed.",
      "",
      "A gain of 0 is dead: the norm gives 0 there for every row. \"looks like\" says from the"
          + " stored numbers only whether they are gains (g) or gains minus 1 (g - 1): nearer to 1"
          + " or to 0, and how many are below 0. \"either\" means that they do not show it.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm inspect Llama-3.2-1B",
      "  rmsnorm inspect gemma-3-1b.gguf --report norms.html",
      "  rmsnorm inspect Llama-3.2-1B/config.json",
      "  rmsnorm inspect my-model --map rules.json"
    })
final class Inspect implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "MODEL", description = "The folder, the GGUF file or the config.json.")
  private Path path;

  @Mixin private MapOption map;

  @Mixin private ReportOptions reports;

  @Override
  public Integer call() throws IOException {
    reports.requireDistinct();
    WrongUseException.requireName("MODEL", path, "a folder, a GGUF file or a config.json");
    if (String.valueOf(path.getFileName()).equals("config.json") && Files.isRegularFile(path)) {
      inspect(Optional.empty(), List.of(path));
    } else {
      try (StoredModel model = StoredModel.open(path)) {
        inspect(Optional.of(model), model.files());
      }
    }
    return ExitCode.OK;
  }

  /** Without a model there are settings alone. */
  private void inspect(Optional<StoredModel> model, List<Path> read) throws IOException {
    reports.requireNotRead(read);
    reports.requireNotRead(map.file().stream().toList());
    try (ReportOptions.Files files = reports.begin()) {
      try {
        show(
            model.isPresent()
                ? Inspection.of(model.get(), map.file())
                : Inspection.ofConfig(path, map.file()),
            files);
      } catch (FormatException e) {
        tell(model, e, files);
        throw e;
      }
    }
  }

  /** On standard output; no file is written of a model whose norms are not known. */
  private void tell(Optional<StoredModel> model, FormatException e, ReportOptions.Files files)
      throws IOException {
    UnknownModel unknown = new UnknownModel(e.getMessage(), List.of(), Optional.empty());
    if (model.isPresent() && map.file().isEmpty()) {
      try {
        unknown = UnknownModel.of(e.getMessage(), new FamilyGuess(model.get()));
      } catch (FormatException _) { // Its settings cannot be read, which is the error.
      }
    }
    if (files.data() != null && files.data().file() == null) {
      files.data().write(Records.write(unknown));
    }
    unknown.lines(path).forEach(this::print);
  }

  /** Colors all lines of each warning, and the first line: as good if there is no warning. */
  static void color(List<String> lines, UnaryOperator<String> good, UnaryOperator<String> warning) {
    boolean within = false;
    UnaryOperator<String> first = good;
    for (int i = 1; i < lines.size(); i++) {
      within = lines.get(i).matches("  warning: .*") || within && lines.get(i).startsWith("    ");
      if (within) {
        lines.set(i, warning.apply(lines.get(i)));
        first = warning;
      }
    }
    lines.set(0, first.apply(lines.getFirst()));
  }

  private void show(Inspection inspection, ReportOptions.Files files) throws IOException {
    Prospects prospects = Prospects.of(path, map.file());
    List<String> lines = InspectionText.lines(inspection, prospects);
    int stream = Terminal.STANDARD_OUTPUT;
    color(lines, Terminal.color(Style.fg_green, stream), Terminal.color(Style.fg_yellow, stream));
    lines.forEach(this::print);
    String name = String.valueOf(path.toAbsolutePath().normalize().getFileName());
    // Neither is made unasked: a start of the command line takes as long.
    files.write(
        files.page() == null
            ? ""
            : InspectionPage.of(inspection, prospects, name, reports.command()).html(),
        files.data() == null ? "" : Records.write(InspectionFigures.of(inspection, prospects)));
    reports.written().forEach(this::print);
  }

  private void print(String line) {
    spec.commandLine().getOut().println(line);
  }
}
