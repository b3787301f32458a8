package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.NormSpec.Preset;
import java.util.Iterator;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;

/** The names of presets, which are completed where a norm is wanted. */
public final class SpecText implements Iterable<String> {
  /** For picocli. */
  public SpecText() {}

  @Override
  public Iterator<String> iterator() {
    return NormSpec.presets().stream().map(Preset::name).iterator();
  }

  /** Puts the table of the presets before a command's examples. */
  static void explain(CommandSpec command) {
    String[] examples = command.usageMessage().footer();
    Stream<String> presets =
        NormSpec.presets().stream().map(p -> "  %-10s %s".formatted(p.name(), p.source()));
    command
        .usageMessage()
        .footer(
            Stream.of(Stream.of("", "Presets:"), presets, Stream.of(examples))
                .flatMap(lines -> lines)
                .toArray(String[]::new));
  }
}
