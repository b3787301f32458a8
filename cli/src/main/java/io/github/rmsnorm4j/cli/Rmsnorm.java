package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.measure.ModuleBuild;
import io.github.rmsnorm4j.measure.StandardOutput;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
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
      Completion.class
    })
public final class Rmsnorm implements Callable<Integer> {
  private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

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
    OfferedCommands.list(root, System.getProperty(ModuleBuild.HOME));
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
        .setParameterExceptionHandler((e, args) -> wrongUse(e, e.getCommandLine()))
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
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCode.USAGE;
  }

  /** A request for help makes picocli forget that the command it was for is none. */
  private static int execute(ParseResult parsed) {
    if (!parsed.unmatched().isEmpty()) {
      throw new UnmatchedArgumentException(parsed.commandSpec().commandLine(), parsed.unmatched());
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  private static int wrongUse(Exception e, CommandLine command) {
    String name = command.getCommandSpec().qualifiedName();
    String message = e instanceof UnmatchedArgumentException u ? unmatched(u) : e.getMessage();
    command.getErr().println(name + ": " + oneLine(message) + " (" + name + " --help tells more)");
    return ExitCode.USAGE;
  }

  /** What is unknown, and what is spelled much like it. */
  private static String unmatched(UnmatchedArgumentException e) {
    String found = "'" + e.getUnmatched().getFirst() + "'";
    boolean option = e.isUnknownOption();
    if (!option && e.getCommandLine().getParent() != null) {
      return found + " is one argument too many";
    }
    String message = "there is no %s %s".formatted(option ? "option" : "command", found);
    // Of options these are all that begin alike; of commands all but the first are far from it.
    String first = e.getUnmatched().getFirst().replaceFirst("(?s)(.).*", "$1");
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
      return wrongUse(e, command);
    }
    command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + message(e));
    stackTrace(e);
    return ExitCode.SOFTWARE;
  }

  private static int error(Error e) {
    if (e instanceof OutOfMemoryError) {
      System.err.println(
          "rmsnorm: out of memory: the JVM may use "
              + (Runtime.getRuntime().maxMemory() >> 20)
              + " MiB for its heap (RMSNORM_OPTS=-Xmx4g gives it 4 GiB)");
    } else {
      System.err.println("rmsnorm: " + oneLine(e.toString()));
    }
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
    return oneLine(
        switch (e) {
          case NoSuchFileException f -> f.getFile() + ": no such file or folder";
          case AccessDeniedException f -> f.getFile() + ": permission denied";
          case FileSystemException f when f.getReason() == null ->
              f.getFile() + ": " + f.getClass().getSimpleName();
          default -> e.getMessage() == null ? e.toString() : e.getMessage();
        });
  }

  /** On one line, and without what a terminal would obey: names of files may hold anything. */
  static String oneLine(String message) {
    return UNPRINTABLE
        .matcher(message.strip().replaceAll("\\s*\\R\\s*", "; "))
        .replaceAll(
            found -> Matcher.quoteReplacement("\\u{%x}".formatted(found.group().codePointAt(0))));
  }
}
