package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.cuda.check.DeviceResults.Times;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * PyTorch beside this library, in a process of Python's. Where there is no Python, no PyTorch or no
 * CUDA in it, it only says so. A process that does not answer is ended.
 */
public final class Torch implements AutoCloseable {
  private static final String SCRIPT = "torch_norms.py";
  private static final String OK = "ok ";
  private static final String FAILED = "failed ";
  private static final long SECONDS = 180;

  private final Path folder;
  private final Process process;
  private final BufferedReader answers;
  private final Writer questions;
  private final String text;

  private Torch(Path folder, Process process, String text) {
    this.folder = folder;
    this.process = process;
    answers = process == null ? null : process.inputReader(StandardCharsets.UTF_8);
    questions = process == null ? null : process.outputWriter(StandardCharsets.UTF_8);
    this.text = text == null ? first() : text;
  }

  /** {@return a start without PyTorch, for runs that time nothing beside it} */
  public static Torch none() {
    return new Torch(null, null, "not asked for");
  }

  /**
   * {@return the PyTorch of {@code python3}, started}
   *
   * @param device the number of the GPU, which both count alike
   */
  public static Torch start(int device) {
    return start(command(device));
  }

  /** Takes a folder for rows as one more argument. */
  static List<String> command(int device) {
    try (InputStream in = Torch.class.getResourceAsStream(SCRIPT)) {
      String script = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return List.of("python3", "-c", script, Integer.toString(device));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts such a command. */
  static Torch start(List<String> command) {
    Path folder;
    try {
      folder = Files.createTempDirectory("rmsnorm-torch");
    } catch (IOException e) {
      return new Torch(null, null, "no folder for its rows: " + e.getMessage());
    }
    List<String> whole = new ArrayList<>(command);
    whole.add(folder.toString());
    try {
      Process process =
          new ProcessBuilder(whole)
              .redirectError(folder.resolve("errors").toFile())
              .directory(folder.toFile())
              .start();
      return new Torch(folder, process, null);
    } catch (IOException _) {
      return new Torch(folder, null, command.getFirst() + " cannot be started");
    }
  }

  /** {@return its version and GPU, or why it is not there} */
  public String text() {
    return text.startsWith(OK) ? text.substring(OK.length()) : text;
  }

  /** What the process says first; without a word the last line of its errors says why. */
  private String first() {
    String said = read();
    if (said.startsWith(OK)) {
      return said;
    }
    if (said.startsWith(FAILED)) {
      return said.substring(FAILED.length());
    }
    try {
      String errors = Files.readString(folder.resolve("errors"), StandardCharsets.ISO_8859_1);
      return "python3 ended: " + errors.lines().reduce(said, (_, last) -> last).strip();
    } catch (IOException _) {
      return "python3 ended: " + said;
    }
  }

  /**
   * Times a contest, after its answers have been compared with the definitions.
   *
   * @param contest what is timed
   * @param rows of a call
   * @param places in memory that take turns
   * @param calls between two events
   * @param rounds how often
   * @return its times, or why it has none; empty if it is not there
   */
  Optional<Times> time(Contest contest, int rows, int places, int calls, int rounds) {
    if (!text.startsWith(OK)) {
      return Optional.empty();
    }
    String wrong;
    try {
      wrong = new TorchAnswer(contest, folder).wrong(this::ask);
    } catch (IOException e) {
      wrong = "rows cannot be passed: " + e.getMessage();
    }
    String said =
        wrong == null
            ? ask("time", contest, rows + "", "%s %s %s".formatted(places, calls, rounds))
            : FAILED + wrong;
    if (!said.startsWith(OK)) {
      return Optional.of(
          new Times(DeviceResults.TORCH, said.replaceFirst("^" + FAILED, ""), List.of()));
    }
    List<Double> micros =
        Arrays.stream(said.substring(OK.length()).split(" ")).map(Double::valueOf).toList();
    return Optional.of(new Times(DeviceResults.TORCH, null, micros));
  }

  /** Asks for an answer, or for times. */
  private String ask(String what, Contest contest, String rows, String more) {
    double epsilon = ContestPlaces.norm(contest).spec().epsilon(contest.type());
    try {
      questions.write(
          "%s %s %s %s %s %s %s %s\n"
              .formatted(
                  what,
                  contest.job().name(),
                  contest.kind().name(),
                  contest.type().name(),
                  rows,
                  contest.width(),
                  epsilon,
                  more));
      questions.flush();
    } catch (IOException _) {
      return "it has ended";
    }
    return read();
  }

  private String read() {
    try {
      String line =
          CompletableFuture.supplyAsync(
                  () -> {
                    try {
                      return answers.readLine();
                    } catch (IOException e) {
                      throw new UncheckedIOException(e);
                    }
                  })
              .get(SECONDS, TimeUnit.SECONDS);
      return line == null ? "it has ended" : line;
    } catch (TimeoutException _) {
      process.destroyForcibly();
      return "no answer in " + SECONDS + " seconds";
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return "interrupted";
    } catch (ExecutionException e) {
      return "it has ended: " + e.getCause().getMessage();
    }
  }

  /** Ends the process and removes its folder. */
  @Override
  public void close() {
    if (process != null) {
      process.destroyForcibly();
      process.onExit().join();
    }
    if (folder != null) {
      try (Stream<Path> files = Files.list(folder)) {
        for (Path file : files.toList()) {
          Files.deleteIfExists(file);
        }
        Files.deleteIfExists(folder);
      } catch (IOException _) {
        // It is in the folder for what is temporary.
      }
    }
  }
}
