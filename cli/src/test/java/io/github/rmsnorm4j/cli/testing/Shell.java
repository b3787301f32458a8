package io.github.rmsnorm4j.cli.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Programs started as a user would from a shell, on a machine where {@code java} on the PATH is too
 * old and JAVA_HOME is unset.
 */
public final class Shell {
  /** The top folder of this checkout. Maven runs a module's tests in the module's folder. */
  public static final Path CHECKOUT = checkout();

  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

  private static Path checkout() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("mvnw"))) {
      folder = folder.getParent();
    }
    return folder;
  }

  /** The folders of this checkout's modules, as its pom names them. */
  public static Stream<Path> modules() throws IOException {
    return MODULE
        .matcher(Files.readString(CHECKOUT.resolve("pom.xml")))
        .results()
        .map(module -> CHECKOUT.resolve(module.group(1)));
  }

  private final Path folder;
  private final Map<String, String> environment = new HashMap<>(System.getenv());

  /**
   * @param folder where the programs start, and where this keeps the old JDK and their output
   */
  public Shell(Path folder) throws IOException {
    this.folder = folder;
    environment.keySet().removeIf(name -> name.matches("(JAVA|JDK|MAVEN|MVN|RMSNORM|SDKMAN).*"));
    Path old = fakeJdk(folder.resolve("old jdk"), "17.0.2");
    environment.put("PATH", old.resolve("bin") + ":" + System.getenv("PATH"));
    environment.put("RMSNORM_JDK_ROOT", folder.resolve("no such root").toString());
    environment.put("SDKMAN_DIR", folder.resolve("no such sdkman").toString());
  }

  public Shell with(String name, Object value) {
    environment.put(name, value.toString());
    return this;
  }

  public Shell without(String name) {
    environment.remove(name);
    return this;
  }

  /** A folder that passes for a JDK, whose java only fails. */
  public static Path fakeJdk(Path home, String version) throws IOException {
    Files.createDirectories(home.resolve("bin"));
    for (String program : List.of("java", "javac")) {
      Path file = home.resolve("bin").resolve(program);
      Files.writeString(file, "#!/bin/sh\necho 'this JDK is too old to be started' >&2\nexit 9\n");
      if (!file.toFile().setExecutable(true)) {
        throw new IOException("cannot make " + file + " executable");
      }
    }
    Files.writeString(
        home.resolve("release"), "IMPLEMENTOR=\"Nobody\"\nJAVA_VERSION=\"" + version + "\"\n");
    return home;
  }

  /** What a program left behind. */
  public record Result(int status, String out, String err) {}

  /** A program at work. */
  public record Running(Process process, Path out, Path err) {
    public Result result() throws IOException, InterruptedException {
      try {
        process.waitFor();
      } finally {
        process.destroyForcibly(); // where the test's time is over
      }
      return new Result(process.exitValue(), Files.readString(out), Files.readString(err));
    }
  }

  public Running start(Object... command) throws IOException {
    Path out = Files.createTempFile(folder, "out", ".txt");
    Path err = Files.createTempFile(folder, "err", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(List.of(command).stream().map(Object::toString).toList())
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().clear();
    builder.environment().putAll(environment);
    return new Running(builder.start(), out, err);
  }

  public Result run(Object... command) throws IOException, InterruptedException {
    return start(command).result();
  }
}
