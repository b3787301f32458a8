package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.NormSpec.Preset;
import java.util.Iterator;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.TypeConversionException;

/** A norm as text on the command line; the names of presets are what is completed. */
final class SpecText implements ITypeConverter<NormSpec>, Iterable<String> {
  @Override
  public NormSpec convert(String text) {
    try {
      return NormSpec.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

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
