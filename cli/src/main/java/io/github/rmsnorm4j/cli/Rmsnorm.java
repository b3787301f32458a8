package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.formats.Printable;
import io.github.rmsnorm4j.measure.StandardOutput;
import java.io.File;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code rmsnorm} command: the root that the others hang from. */
@Command(
    name = "rmsnorm",
    description = "RMSNorm and LayerNorm on your own numbers and files.",
    versionProvider = Version.class,
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:done", "1:it failed", "2:wrong use"},
    footer = {"", "Example:", "  rmsnorm demo 1 2 3 4"},
    subcommands = {
      Demo.class,
      Explain.class,
      Normalize.class,
      Gradient.class,
      Stats.class,
      Show.class,
      Inspect.class,
      CheckCommand.class,
      Fold.class,
      Convert.class,
      Doctor.class,
      HelpCommand.class,
      Completion.class
    })
public final class Rmsnorm implements Callable<Integer> {
  @Spec private CommandSpec spec;

  private Rmsnorm() {}

  /**
   * Runs the command line and ends the JVM: status 0 if all went well, 1 for a failure, 2 for wrong
   * use.
   */
  public static void main(String[] args) {
    StandardOutput output = new StandardOutput();
    PrintWriter out = new PrintWriter(output, false, System.out.charset());
    int status;
    try {
      status = commandLine().setOut(out).execute(args);
    } catch (Error e) {
      status = error(e);
    }
    out.flush();
    System.exit(output.status(status));
  }

  /** {@return the command line, with the commands of all modules that are on the path} */
  public static CommandLine commandLine() {
    CommandLine root = new CommandLine(new Rmsnorm());
    for (Commands module : ServiceLoader.load(Commands.class)) {
      module.commands().forEach(root::addSubcommand);
    }
    Stream.concat(Stream.of(root), root.getSubcommands().values().stream())
        .forEach(HelpText::breakAtSpaces);
    OfferedCommands.add(root);
    // So that numbers may be negative.
    root.getSubcommands().get("demo").setUnmatchedOptionsArePositionalParams(true);
    root.getSubcommands().values().stream()
        .map(CommandLine::getCommandSpec)
        .filter(command -> command.findOption("--like") != null)
        .forEach(SpecText::explain);
    // A file may be named @x; an argument means what it says.
    root.setExpandAtFiles(false);
    return root.registerConverter(Double.class, NumberText::number)
        .registerConverter(double.class, NumberText::number)
        .registerConverter(Integer.class, NumberText::integer)
        .registerConverter(int.class, NumberText::integer)
        // Types by their names in NumPy, PyTorch and safetensors.
        .registerConverter(ElementType.class, text -> converted(ElementType::ofName, text))
        .registerConverter(NormSpec.class, text -> converted(NormSpec::parse, text))
        .setExecutionStrategy(Rmsnorm::execute)
        .setParameterExceptionHandler(Rmsnorm::wrongUse)
        .setExecutionExceptionHandler(Rmsnorm::failure);
  }

  private static <T> T converted(Function<String, T> converter, String text) {
    try {
      return converter.apply(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }

  /** Without a command: what there is, but not as a success. */
  @Override
  public Integer call() {
    HelpText.print(spec.commandLine(), spec.commandLine().getErr(), Terminal.STANDARD_ERROR);
    return ExitCode.USAGE;
  }

  private static int execute(ParseResult parsed) {
    for (CommandLine command : parsed.asCommandLineList()) {
      requireKnown(command, parsed.commandSpec().commandLine());
      if (command.isUsageHelpRequested()) {
        HelpText.print(command, command.getOut(), Terminal.STANDARD_OUTPUT);
        return ExitCode.OK;
      }
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  /** A request for help makes picocli forget a command that is none, and what is behind -h. */
  private static void requireKnown(CommandLine command, CommandLine root) {
    List<String> unknown = command.getUnmatchedArguments();
    if (unknown.stream().anyMatch(word -> command == root || word.matches("(?s)-[^-].*"))) {
      throw new UnmatchedArgumentException(command, unknown);
    }
  }

  private static int wrongUse(ParameterException e, String[] args) {
    List<String> unknown = e.getCommandLine().getUnmatchedArguments();
    // It may be that what is missing was taken for an option.
    if (e instanceof MissingParameterException
        && !unknown.isEmpty()
        && unknown.getFirst().startsWith("-")) {
      return wrongUse(new UnmatchedArgumentException(e.getCommandLine(), unknown), args);
    }
    return wrongUse(
        e instanceof UnmatchedArgumentException u ? unmatched(u, args) : e.getMessage(),
        e.getCommandLine());
  }

  private static int wrongUse(String message, CommandLine command) {
    String name = command.getCommandSpec().qualifiedName();
    String line = name + ": " + Printable.escaped(message) + " (" + name + " --help tells more)";
    command.getErr().println(Terminal.error(line));
    return ExitCode.USAGE;
  }

  /** What is unknown, and what is spelled much like it. */
  private static String unmatched(UnmatchedArgumentException e, String[] args) {
    String unknown = e.getUnmatched().getFirst();
    boolean option = e.isUnknownOption();
    if (!option && e.getCommandLine().getParent() != null) {
      return "'" + unknown + "' is one argument too many";
    }
    // Of -f.npy picocli takes -f off.
    String found =
        Stream.of(args)
            .filter(arg -> option && arg.startsWith("-") && arg.endsWith(unknown.substring(1)))
            .findFirst()
            .orElse(unknown);
    String message = "there is no %s '%s'".formatted(option ? "option" : "command", found);
    if (option && new File(found).exists()) {
      return message + "; the file is ./" + found;
    }
    // Of options these are all that begin alike; of commands all but the first are far from it.
    String first = unknown.replaceFirst("(?s)(.).*", "$1");
    List<String> similar =
        e.getSuggestions().stream()
            .limit(option ? 3 : 1)
            .filter(known -> option || known.startsWith(first))
            .toList();
    return similar.isEmpty()
        ? message
        : message + "; did you mean " + String.join(" or ", similar) + "?";
  }

  private static int failure(Exception e, CommandLine command, ParseResult parsed) {
    if (e instanceof WrongUseException) {
      return wrongUse(e.getMessage(), command);
    }
    String line = command.getCommandSpec().qualifiedName() + ": " + message(e);
    command.getErr().println(Terminal.error(line));
    stackTrace(e);
    return ExitCode.SOFTWARE;
  }

  private static int error(Error e) {
    String message =
        e instanceof OutOfMemoryError
            ? "out of memory: the JVM may use %s MiB for its heap (RMSNORM_OPTS=-Xmx4g gives it 4 GiB)"
                .formatted(Runtime.getRuntime().maxMemory() >> 20)
            : Printable.escaped(e.toString());
    System.err.println(Terminal.error("rmsnorm: " + message));
    stackTrace(e);
    return ExitCode.SOFTWARE;
  }

  private static void stackTrace(Throwable e) {
    if (System.getenv("RMSNORM_STACKTRACE") != null) {
      e.printStackTrace();
    }
  }

  /** What went wrong in one line; the JDK's own exceptions for files often only name the file. */
  private static String message(Exception e) {
    return Printable.escaped(
        switch (e) {
          case NoSuchFileException f -> f.getFile() + ": no such file or folder";
          case AccessDeniedException f -> f.getFile() + ": permission denied";
          case FileSystemException f when f.getReason() == null ->
              f.getFile() + ": " + f.getClass().getSimpleName();
          default -> e.getMessage() == null ? e.toString() : e.getMessage();
        });
  }
}
