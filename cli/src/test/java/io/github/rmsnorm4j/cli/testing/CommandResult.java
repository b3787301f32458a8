package io.github.rmsnorm4j.cli.testing;

import io.github.rmsnorm4j.cli.Rmsnorm;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;

/** What a command line run inside this JVM answered. */
public record CommandResult(int status, String out, String err) {
  public static CommandResult of(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command =
        Rmsnorm.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int status = command.execute(args);
    return new CommandResult(status, out.toString(), err.toString());
  }

  /** Runs a command with words that are written as their texts: paths, numbers. */
  public static CommandResult of(String command, Object... words) {
    Stream<String> texts = Stream.of(words).map(Object::toString);
    return of(Stream.concat(Stream.of(command), texts).toArray(String[]::new));
  }

  public List<String> outLines() {
    return out.lines().toList();
  }
}
