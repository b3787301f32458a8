package io.github.rmsnorm4j.cli.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Copies of this checkout, whose launcher is started as on a machine with one JDK, without a
 * network.
 */
public final class Launchers implements AutoCloseable {
  private final Path folder;

  /**
   * @param folder where the copies are made; its path should have spaces
   */
  public Launchers(Path folder) {
    this.folder = folder;
  }

  /** A shell on a machine that has one JDK, in a folder whose name has a space. */
  public Shell shell() throws IOException {
    Path root = folder.resolve("root");
    Path jvm = Files.createDirectories(root.resolve("usr/lib/jvm"));
    Path jdk = jvm.resolve("the jdk");
    if (!Files.exists(jdk)) {
      Files.createSymbolicLink(jdk, Path.of(System.getProperty("java.home")));
    }
    return shellWithoutJdk()
        .with("RMSNORM_JDK_ROOT", root)
        .with("MAVEN_ARGS", "-o -Dmaven.repo.local=" + System.getProperty("localRepository"));
  }

  /** A shell on a machine without a JDK that is new enough. */
  public Shell shellWithoutJdk() throws IOException {
    return new Shell(Files.createTempDirectory(folder, "shell "));
  }

  /** What the launcher needs of this checkout, in a folder of its own. */
  public Path copyOfCheckout(String name) throws IOException {
    Path copy = Files.createDirectory(folder.resolve(name));
    for (String part : List.of("rmsnorm", "mvnw", ".mvn", "pom.xml")) {
      copy(Shell.CHECKOUT.resolve(part), copy.resolve(part));
    }
    try (Stream<Path> modules = Shell.modules()) {
      for (Path module : modules.toList()) {
        Path target = Files.createDirectories(copy.resolve(Shell.CHECKOUT.relativize(module)));
        copy(module.resolve("pom.xml"), target.resolve("pom.xml"));
        for (String file : List.of("java.options", "commands.properties", "help")) {
          if (Files.exists(module.resolve(file))) {
            copy(module.resolve(file), target.resolve(file));
          }
        }
        if (Files.exists(module.resolve("src/main"))) {
          Files.createDirectory(target.resolve("src"));
          copy(module.resolve("src/main"), target.resolve("src/main"));
        }
      }
    }
    return copy;
  }

  /** A folder with all that is in it. */
  public static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  /**
   * JUnit would remove the link to the JDK as well, but warns of links that lead out of its folder.
   */
  @Override
  public void close() throws IOException {
    Files.deleteIfExists(folder.resolve("root/usr/lib/jvm/the jdk"));
  }
}
