package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.measure.ModuleBuild;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Loader;

/**
 * OpenBLAS's native libraries, 20 MB that only trainings need. They are no part of the command
 * line: Maven fetches them, into the folder that the command line was built in, when a training is
 * first asked for.
 */
final class Natives {
  private static final String VERSIONS = "natives.properties";

  private final Path checkout;
  private final Path folder;
  private final String platform = Loader.getPlatform();

  /** Of the checkout with this top folder. */
  Natives(Path checkout) {
    this.checkout = checkout;
    folder = checkout.resolve("studies/target/run/natives");
  }

  /** Whether this JVM has them on its class path, so that matrices can be multiplied here. */
  static boolean areThere() {
    String library = "/org/bytedeco/openblas/" + Loader.getPlatform() + "/";
    return Stream.of("libopenblas.so.0", "libopenblas.0.dylib", "libopenblas.dll")
        .anyMatch(name -> Natives.class.getResource(library + name) != null);
  }

  /**
   * The jars for a class path, fetched if they are not there.
   *
   * @param err where it is said that they are fetched
   */
  List<Path> fetched(PrintWriter err) throws IOException, InterruptedException {
    Properties versions = new Properties();
    try (InputStream in = Natives.class.getResourceAsStream(VERSIONS)) {
      versions.load(in);
    }
    List<Path> jars = new ArrayList<>();
    for (String artifact : versions.stringPropertyNames().stream().sorted().toList()) {
      String version = versions.getProperty(artifact);
      Path jar = folder.resolve("%s-%s-%s.jar".formatted(artifact, version, platform));
      if (!Files.exists(jar)) {
        fetch("org.bytedeco:%s:%s:jar:%s".formatted(artifact, version, platform), jar, err);
      }
      jars.add(jar);
    }
    return jars;
  }

  private void fetch(String artifact, Path jar, PrintWriter err)
      throws IOException, InterruptedException {
    err.println("rmsnorm train: fetching " + artifact + ", once (OpenBLAS takes 20 MB)");
    // In a folder of its own first, since a jar that is half there would be taken for whole.
    Path work = Files.createTempDirectory(Files.createDirectories(folder), "fetch");
    List<String> arguments =
        List.of("-N", "dependency:copy", "-Dartifact=" + artifact, "-DoutputDirectory=" + work);
    try {
      if (!ModuleBuild.maven(checkout, work.resolve("log"), arguments, err)) {
        throw new IOException(artifact + " cannot be fetched; trainings need it");
      }
      Files.move(work.resolve(jar.getFileName()), jar);
    } catch (FileAlreadyExistsException _) {
      // Another training has fetched the same jar meanwhile, and may have it open. It is as good.
    } finally {
      try (Stream<Path> files = Files.list(work)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(work);
    }
  }
}
