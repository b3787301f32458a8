package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.file.Path;

/**
 * The content of a file is wrong.
 *
 * <p>The message is one line: the file, the tensor if there is one, what is wrong and what is
 * allowed. Text from the file is escaped and shortened, so that every message can be printed.
 */
public final class FormatException extends IOException {
  private static final long serialVersionUID = 1L;

  /**
   * An error of the file as a whole.
   *
   * @param file the file
   * @param problem what is wrong, as the end of a sentence that begins with the name of the file
   */
  public FormatException(Path file, String problem) {
    super(Printable.escaped(file.toString()) + ": " + Printable.message(problem));
  }

  /**
   * An error of one tensor of a file.
   *
   * @param file the file
   * @param tensor the name of the tensor in the file
   * @param problem what is wrong with the tensor
   */
  public FormatException(Path file, String tensor, String problem) {
    this(file, "tensor '" + Printable.shortened(tensor) + "' " + problem);
  }
}
