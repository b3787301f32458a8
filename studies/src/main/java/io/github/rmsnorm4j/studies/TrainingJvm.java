package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.cli.Rmsnorm;
import io.github.rmsnorm4j.measure.ChildJvm;
import io.github.rmsnorm4j.measure.ModuleBuild;
import io.github.rmsnorm4j.studies.train.StopSignal;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The same command in a JVM that has OpenBLAS on its class path. */
final class TrainingJvm {
  private TrainingJvm() {}

  /** Starts it, waits for its end, and returns its exit status. */
  static int run(List<String> arguments, PrintWriter err) throws IOException, InterruptedException {
    String home = System.getProperty(ModuleBuild.HOME);
    if (home == null || !Files.isRegularFile(Path.of(home, "pom.xml"))) {
      throw new IOException(
          "trainings need OpenBLAS, which is fetched for a checkout of rmsnorm4j: start"
              + " ./rmsnorm train there");
    }
    List<String> command = command(Path.of(home), new Natives(Path.of(home)).fetched(err));
    command.addAll(arguments);
    Process child = new ProcessBuilder(command).inheritIO().start();
    StopSignal signal = new StopSignal(child::destroyForcibly);
    boolean told = false;
    while (!child.waitFor(100, TimeUnit.MILLISECONDS)) {
      if (signal.came() && !told) {
        told = true; // Once: the child saves and ends, and then this one does.
        child.destroy();
      }
    }
    return told ? signal.status() : child.exitValue();
  }

  private static List<String> command(Path home, List<Path> natives) {
    List<String> classPath = new ArrayList<>(List.of(System.getProperty("java.class.path")));
    natives.forEach(jar -> classPath.add(jar.toString()));
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(ChildJvm.flags());
    words.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--add-exports=java.base/jdk.internal.module=ALL-UNNAMED",
            // Unpacked where `clean` takes it away again.
            "-Dorg.bytedeco.javacpp.cachedir="
                + home.resolve("studies/target/run/natives/unpacked"),
            "-cp",
            String.join(File.pathSeparator, classPath),
            Rmsnorm.class.getName()));
    return words;
  }
}
