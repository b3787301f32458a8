package io.github.rmsnorm4j.cli;

import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The option that gives the rules of a family that is not known here. */
final class MapOption {
  @Option(
      names = "--map",
      paramLabel = "FILE",
      description =
          "Rules for the norms of a family that is not known here, as JSON;"
              + " docs/models.md describes them (default: those of the model's family).")
  private Path map;

  Optional<Path> file() {
    WrongUseException.requireName("--map", map, "a file");
    return Optional.ofNullable(map);
  }
}
