package io.github.rmsnorm4j.internal.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;

/** GNU as for x86-64, where it is installed; that of an ARM64 system knows no x86-64. */
final class GnuAssembler {
  private GnuAssembler() {}

  static boolean isInstalled() {
    try {
      return run("as", "--64", "--version").startsWith("GNU")
          && run("objcopy", "--version").length() > 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** The bytes of a listing. */
  static byte[] bytes(String listing, Path folder) throws IOException {
    Path source = folder.resolve("code.s");
    Path object = folder.resolve("code.o");
    Path binary = folder.resolve("code.bin");
    Files.writeString(source, unambiguous(listing));
    run("as", "--64", "-o", object.toString(), source.toString());
    run("objcopy", "-O", "binary", "-j", ".text", object.toString(), binary.toString());
    return Files.readAllBytes(binary);
  }

  /** A move between registers has two encodings: ours is the one that loads. */
  private static String unambiguous(String listing) {
    return listing
        .lines()
        .map(line -> line.matches("  vmovups [xyz]mm\\S+ [xyz]mm.*") ? "{load}" + line : line)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private static String run(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    try {
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", command) + ": " + output);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    return output;
  }
}
