package io.github.rmsnorm4j.internal.kernel;

import io.github.rmsnorm4j.internal.formula.Stage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The listings of kernels. With the environment variable {@code RMSNORM_KERNELS} each is written to
 * that folder, under the kernel's name, with the descriptions that the kernel was made from.
 */
public final class Listings {
  private static final String FOLDER = System.getenv("RMSNORM_KERNELS");

  private Listings() {}

  /** Whether they are asked for. */
  public static boolean areWanted() {
    return FOLDER != null && !FOLDER.isEmpty();
  }

  /** Writes one if that is asked for. */
  public static void write(String name, CharSequence listing, List<Stage> stages) {
    if (!areWanted()) {
      return;
    }
    StringBuilder text = new StringBuilder(listing).append('\n');
    stages.forEach(stage -> text.append(stage.text()).append('\n'));
    try {
      Path folder = Files.createDirectories(Path.of(FOLDER));
      Files.writeString(folder.resolve(name + ".txt"), text);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "RMSNORM_KERNELS is " + FOLDER + ", it must be a folder that can be written to", e);
    }
  }
}
