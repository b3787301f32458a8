package io.github.rmsnorm4j.measure;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a child process wrote. */
public final class ChildOutput {
  private ChildOutput() {}

  /**
   * The encoding of programs whose output is no terminal: that of the system, which need not be
   * Java's default of UTF-8.
   *
   * @return the encoding
   */
  public static Charset charset() {
    return Charset.forName(System.getProperty("native.encoding"));
  }

  /**
   * Reads it all. Bytes that are no text in {@link #charset()} become U+FFFD, so that they do not
   * hide the rest.
   *
   * @param log the file that the output went to
   * @return the text
   * @throws IOException if the file cannot be read
   */
  public static String read(Path log) throws IOException {
    return new String(Files.readAllBytes(log), charset());
  }
}
