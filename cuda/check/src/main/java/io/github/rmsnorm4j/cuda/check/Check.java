package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.CudaDeviceInfo;
import io.github.rmsnorm4j.cuda.CudaException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Checks the norms on the GPU of a machine, prints what it finds and keeps it as JSON. The exit
 * status is 0 if all is right, 1 if something is not, and 2 if the check could not be made.
 */
public final class Check {
  private final CheckOptions options;
  private final PrintStream out;
  private final PrintStream err;

  Check(CheckOptions options, PrintStream out, PrintStream err) {
    this.options = options;
    this.out = out;
    this.err = err;
  }

  /**
   * Checks.
   *
   * @param args see the usage that {@code --help} prints
   */
  public static void main(String[] args) {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    PrintStream err = new PrintStream(System.err, true, StandardCharsets.UTF_8);
    System.exit(run(out, err, args));
  }

  static int run(PrintStream out, PrintStream err, String... args) {
    try {
      CheckOptions options = CheckOptions.of(args);
      if (options.help()) {
        out.print(CheckOptions.USAGE);
        return 0;
      }
      return new Check(options, out, err).run();
    } catch (IllegalArgumentException | IOException e) {
      err.println("check: " + e.getMessage());
      return 2;
    } catch (CudaException e) {
      // A lost context also ends what came after it, so nothing of this run is kept.
      err.println("check: " + e.getMessage());
      return 1;
    }
  }

  private int run() throws IOException {
    try (CudaDevice device = open(options.device())) {
      Path file = options.file(device.info());
      if (Files.exists(file)) {
        throw new IOException(file + " exists already, --json must name another file");
      }
      String cannot = cannotWrite(file);
      if (cannot != null && options.json() != null) {
        throw new IOException(cannot);
      }
      if (cannot != null) {
        err.println("check: results will not be kept, --json names another file: " + cannot);
      }
      DeviceResults results = check(device);
      out.print(ResultText.of(results));
      if (cannot == null) {
        // Not in place of a file that came there meanwhile.
        Files.writeString(file, Json.text(results), StandardOpenOption.CREATE_NEW);
        err.println("check: results are in " + file);
      }
      return results.passed() ? 0 : 1;
    }
  }

  private DeviceResults check(CudaDevice device) {
    CheckRun run = new CheckRun(device, this::step);
    if (options.wants("bits")) {
      run.bits();
    }
    if (options.wants("errors")) {
      run.errors(options.small());
    }
    if (options.wants("times") && !options.small()) {
      run.times(Contest.all(options.quick()), options.quick());
    }
    return run.results();
  }

  private void step(String part, int step, int steps, String what) {
    err.println("%s %s of %s: %s".formatted(part, step, steps, what));
  }

  /** Null if it can be written. */
  private static String cannotWrite(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    if (!Files.isDirectory(folder)) {
      return "there is no folder " + folder;
    }
    return Files.isWritable(folder) ? null : "the folder " + folder + " is not writable";
  }

  private static CudaDevice open(Integer number) throws IOException {
    List<CudaDeviceInfo> devices = CudaDevice.devices();
    if (number == null || devices.isEmpty()) {
      return CudaDevice.open().orElseThrow(() -> new IOException(CudaDevice.missing().get()));
    }
    return CudaDevice.open(number)
        .orElseThrow(() -> new IOException(devices.get(number).missing().get()));
  }
}
