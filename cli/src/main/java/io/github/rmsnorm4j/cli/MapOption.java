package io.github.rmsnorm4j.cli;

import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option that gives the rules of a family that is not known here. */
final class MapOption {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--map",
      paramLabel = "FILE",
      description =
          "Rules for the norms of a family that is not known here, as JSON; docs/models.md describes"
              + " them (default: those of the model's family).")
  private Path map;

  /**
   * The file.
   *
   * @throws ParameterException if its name is empty
   */
  Optional<Path> file() {
    if (map != null && map.toString().isEmpty()) {
      throw new ParameterException(spec.commandLine(), "--map is empty, it must name a file");
    }
    return Optional.ofNullable(map);
  }
}
