package io.github.rmsnorm4j.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code rmsnorm completion}: a script that teaches bash and zsh the commands and options. */
@Command(
    name = "completion",
    description = "Print a completion script for bash and zsh.",
    footer = {"", "Example, for this shell:", "  source <(rmsnorm completion)"})
final class Completion implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    CommandLine root = spec.root().commandLine();
    // Out of the PATH the command is started as ./rmsnorm, which completes by the same name.
    spec.commandLine().getOut().print(AutoComplete.bash(root.getCommandName(), root));
    return ExitCode.OK;
  }
}
