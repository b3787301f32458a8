package io.github.rmsnorm4j.spark;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A standalone cluster of Spark on this machine: a master and workers, each a process of its own,
 * on ports that the system chooses. All of it ends with this, or with the JVM.
 */
final class Cluster implements AutoCloseable {
  private static final Pattern URL = Pattern.compile("spark://127\\.0\\.0\\.1:\\d+");
  private static final Pattern REGISTERED = Pattern.compile("Successfully registered with master");

  private final Path folder;
  private final Path home;
  private final List<Process> processes = new ArrayList<>();
  private final List<Process> workers = new ArrayList<>();
  private final Thread atExit = new Thread(this::kill);
  private final String url;

  /**
   * Starts a cluster and waits until it is there.
   *
   * @param folder where everybody writes
   */
  Cluster(Path folder, int workers) throws IOException, InterruptedException {
    this.folder = folder;
    home = installation(folder);
    Runtime.getRuntime().addShutdownHook(atExit);
    try {
      url = start("master", URL, "org.apache.spark.deploy.master.Master", "--port", "0");
      for (int i = 0; i < workers; i++) {
        String name = "worker" + i;
        List<String> words = new ArrayList<>(List.of("org.apache.spark.deploy.worker.Worker"));
        words.addAll(List.of("--cores", "1", "--memory", "1g"));
        words.addAll(List.of("--work-dir", folder.resolve(name).toString(), url));
        start(name, REGISTERED, words.toArray(String[]::new));
        this.workers.add(processes.getLast());
      }
    } catch (Throwable e) {
      close();
      throw e;
    }
  }

  /**
   * As workers and Spark's launcher expect it: the jars of Spark in one folder, without this
   * project.
   *
   * @param folder where it is made
   * @return what Spark calls its home
   */
  static Path installation(Path folder) throws IOException {
    Path jars = Files.createDirectories(folder.resolve("home/jars"));
    for (String entry : classPath()) {
      Path path = Path.of(entry);
      if (!isOurs(path)) {
        Files.createSymbolicLink(jars.resolve(path.getFileName()), path);
      }
    }
    return jars.getParent();
  }

  private static List<String> classPath() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).toList();
  }

  private static boolean isOurs(Path path) {
    return Files.isDirectory(path) || path.getFileName().toString().startsWith("rmsnorm4j");
  }

  /** What is of this project, for the class path of executors. */
  static String ours() {
    return classPath().stream()
        .filter(entry -> isOurs(Path.of(entry)))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** What the master answers to. */
  String url() {
    return url;
  }

  /** Starts one of them; returns what it says as soon as it is there. */
  private String start(String name, Pattern there, String... words)
      throws IOException, InterruptedException {
    Path log = folder.resolve(name + ".log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("@" + Path.of("java.options").toAbsolutePath(), "-Xmx256m"));
    command.add("-Dlog4j2.configurationFile=org/apache/spark/log4j2-defaults.properties");
    command.addAll(List.of("-cp", home.resolve("jars") + "/*", words[0]));
    command.addAll(List.of("--host", "127.0.0.1", "--webui-port", "0"));
    command.addAll(Arrays.asList(words).subList(1, words.length));
    Process process =
        processOf(home, command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    processes.add(process);
    while (process.isAlive()) {
      Matcher matcher = there.matcher(Files.readString(log));
      if (matcher.find()) {
        return matcher.group();
      }
      Thread.sleep(50);
    }
    throw new IOException(name + " has ended: " + Files.readString(log));
  }

  /** A command in the environment of an {@linkplain #installation installation}. */
  static ProcessBuilder processOf(Path home, List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("SPARK_HOME", home.toString());
    builder.environment().put("SPARK_SCALA_VERSION", "2.13");
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    builder.environment().put("SPARK_LOCAL_DIRS", home.resolveSibling("local").toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    return builder;
  }

  /** As if its machine were switched off. */
  void killWorker(int worker) {
    kill(workers.get(worker));
  }

  private static void kill(Process process) {
    try (Stream<ProcessHandle> executors = process.descendants()) {
      List<ProcessHandle> all = executors.toList();
      process.destroyForcibly();
      all.forEach(ProcessHandle::destroyForcibly);
    }
  }

  private void kill() {
    processes.reversed().forEach(Cluster::kill);
  }

  @Override
  public void close() {
    kill();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }
}
