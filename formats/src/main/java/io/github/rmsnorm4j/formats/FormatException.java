package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A file is not what it should be.
 *
 * <p>The message is one line: the file, the tensor where there is one, what is wrong and what it
 * may be. Text that comes from the file is escaped and shortened, so that a message can be printed
 * whatever the file holds.
 */
public final class FormatException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * Something is wrong with a file as a whole.
   *
   * @param file the file
   * @param problem what is wrong with it, as the end of a sentence that begins with its name
   */
  public FormatException(Path file, String problem) {
    super(Printable.escaped(file.toString()) + ": " + Printable.escaped(problem));
  }

  /**
   * Something is wrong with one tensor of a file.
   *
   * @param file the file
   * @param tensor the name of the tensor, as the file has it
   * @param problem what is wrong with it
   */
  public FormatException(Path file, String tensor, String problem) {
    this(file, "tensor '" + Printable.shortened(tensor) + "' " + problem);
  }
}
