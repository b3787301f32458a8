package io.github.rmsnorm4j.cuda.check;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What the driver's own tool says of version, clocks and heat. */
final class NvidiaSmi {
  private static final List<String> COMMAND =
      List.of(
          "nvidia-smi",
          "--query-gpu=index,name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,clocks.max.mem,"
              + "temperature.gpu,power.draw,power.limit,ecc.mode.current,mig.mode.current",
          "--format=csv,noheader");
  private static final int SECONDS = 20;
  private static final int MOST_LINES = 16;

  private NvidiaSmi() {}

  /** A line for each device, or one that says why there is none. */
  static List<String> lines(String when) {
    return lines(when, COMMAND);
  }

  static List<String> lines(String when, List<String> command) {
    String name = command.getFirst();
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return List.of(when + ": no answer of " + name + " in " + SECONDS + " seconds");
      }
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return said.lines().limit(MOST_LINES).map(line -> when + ": " + line.strip()).toList();
    } catch (IOException _) {
      return List.of(when + ": " + name + " is not there");
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return List.of();
    }
  }
}
