package io.github.rmsnorm4j.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.IVersionProvider;

/** The version of this build and of the Java it runs on. */
public final class Version implements IVersionProvider {
  /** For picocli. */
  public Version() {}

  @Override
  public String[] getVersion() throws IOException {
    try (InputStream in = Version.class.getResourceAsStream("version.txt")) {
      String version = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
      return new String[] {"rmsnorm " + version + " (Java " + Runtime.version() + ")"};
    }
  }
}
