package io.github.rmsnorm4j.cli;

import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** The {@code rmsnorm} command: the root that the others hang from. */
@Command(
    name = "rmsnorm",
    description = "RMSNorm and LayerNorm on your own numbers and files.",
    versionProvider = Version.class,
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {AutoComplete.GenerateCompletion.class},
    footer = {"", "Example:", "  rmsnorm demo 1 2 3 4"})
final class Rmsnorm implements Runnable {
  @Spec private CommandSpec spec;

  private Rmsnorm() {}

  /**
   * Runs the command line and ends the JVM: status 0 if all went well, 1 for a failure, 2 for wrong
   * use.
   *
   * @param args the command and its arguments
   */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Rmsnorm())
        .setParameterExceptionHandler(Rmsnorm::wrongUse)
        .setExecutionExceptionHandler(Rmsnorm::failure);
  }

  /** Without a command: the help, on stderr since nothing was asked for. */
  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }

  private static int wrongUse(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    command
        .getErr()
        .printf(
            "%s: %s (see '%1$s --help')%n",
            command.getCommandSpec().qualifiedName(), oneLine(e.getMessage()));
    return ExitCode.USAGE;
  }

  private static int failure(Exception e, CommandLine command, ParseResult parsed) {
    command.getErr().printf("%s: %s%n", command.getCommandSpec().qualifiedName(), message(e));
    return ExitCode.SOFTWARE;
  }

  private static String message(Exception e) {
    return oneLine(e.getMessage() == null ? e.toString() : e.getMessage());
  }

  private static String oneLine(String message) {
    return message.strip().replaceAll("\\s*\\R\\s*", "; ");
  }
}
