package io.github.rmsnorm4j.cli;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/** Wrong use of a command, which {@link Rmsnorm} says in one line, with status 2. */
public final class WrongUseException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WrongUseException(String message) {
    super(message);
  }

  /** A part of the work that can turn out to be wrong use. */
  public interface Step<T> {
    T make() throws IOException;
  }

  /** Does a step; what it refuses, and files that exist already, are wrong use. */
  public static <T> T checked(Step<T> step) throws IOException {
    try {
      return step.make();
    } catch (FileAlreadyExistsException e) {
      throw new WrongUseException(e.getMessage() + "; --force replaces it");
    } catch (IllegalArgumentException e) {
      throw new WrongUseException(e.getMessage());
    }
  }

  /** Does a step that begins the file of an option: it is wrong use if that cannot be begun. */
  public static <T> T begun(String option, Step<T> step) throws IOException {
    try {
      return step.make();
    } catch (FileAlreadyExistsException e) {
      throw new WrongUseException(option + " " + e.getMessage() + "; --force replaces it");
    } catch (FileSystemException e) {
      throw new WrongUseException(option + " " + e.getMessage());
    }
  }

  /** Refuses a number of an option, if it was given, that is not 1 to the most. */
  public static void requireRange(String option, Integer value, int most) {
    if (value != null && (value < 1 || value > most)) {
      throw new WrongUseException(option + " is " + value + ", it may be 1 to " + most);
    }
  }

  /** Refuses a name, if it was given, that is empty. */
  public static void requireName(String argument, Path name, String what) {
    if (name != null && name.toString().isEmpty()) {
      throw new WrongUseException(argument + " is empty, it must name " + what);
    }
  }
}
