package io.github.rmsnorm4j.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** {@code rmsnorm help}: what {@code --help} shows. */
@Command(
    name = "help",
    description = "Show the help of a command, or the list of commands.",
    footer = {"", "Examples:", "  rmsnorm help", "  rmsnorm help normalize"})
final class HelpCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(arity = "0..1", paramLabel = "COMMAND", description = "The command.")
  private String name;

  @Override
  public Integer call() {
    CommandLine root = spec.root().commandLine();
    CommandLine command = name == null ? root : root.getSubcommands().get(name);
    if (command == null) {
      throw new UnmatchedArgumentException(root, List.of(name));
    }
    HelpText.print(command, spec.commandLine().getOut(), Terminal.STANDARD_OUTPUT);
    return ExitCode.OK;
  }
}
