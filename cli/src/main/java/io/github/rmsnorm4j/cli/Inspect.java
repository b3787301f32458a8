package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.cli.inspect.InspectionPage;
import io.github.rmsnorm4j.cli.inspect.InspectionText;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.StoredModel;
import io.github.rmsnorm4j.models.rewrite.Prospects;
import io.github.rmsnorm4j.report.Records;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
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
      "MODEL is a folder of Hugging Face (config.json and .safetensors files) or a GGUF file. The"
          + " rules of the model's family say which norms there are, which matrices take their"
          + " output, and how the gain is stored. Of the tensors only the gains and biases of norms"
          + " are read. N in a name stands for the number of the layer.",
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
      "  rmsnorm inspect my-model --map rules.json"
    })
final class Inspect implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "MODEL", description = "The folder or the GGUF file.")
  private Path path;

  @Mixin private MapOption map;

  @Mixin private ReportOptions reports;

  @Override
  public Integer call() throws IOException {
    reports.requireDistinct();
    WrongUseException.requireName("MODEL", path, "a folder or a GGUF file");
    try (StoredModel model = StoredModel.open(path);
        ReportOptions.Files files = begin(model)) {
      Inspection inspection = Inspection.of(model, map.file());
      Prospects prospects = Prospects.of(path, map.file());
      InspectionText.lines(inspection, prospects).forEach(spec.commandLine().getOut()::println);
      String name = String.valueOf(path.toAbsolutePath().normalize().getFileName());
      files.write(
          InspectionPage.of(inspection, prospects, name, reports.command()).html(),
          Records.write(inspection));
    }
    return ExitCode.OK;
  }

  private ReportOptions.Files begin(StoredModel model) throws IOException {
    reports.requireNotRead(model.files());
    reports.requireNotRead(map.file().stream().toList());
    return reports.begin();
  }
}
