package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file, or one tensor in it, as a user names it: {@code FILE} or {@code FILE:TENSOR}.
 *
 * @param file the file, or the folder of a model
 * @param name the tensor's name, null where none is given
 */
public record TensorReference(Path file, String name) {
  /** What the names of files with several tensors end in. */
  private static final Pattern EXTENSION =
      Pattern.compile("\\.(safetensors|gguf|safetensors\\.index\\.json):");

  /**
   * Splits at the colon behind a file or folder that exists, as both names may hold colons
   * themselves; where there is none, behind the first extension of a file with several tensors.
   *
   * @param argument what the text is to the user
   * @throws IllegalArgumentException if the text is empty
   */
  static TensorReference parse(String argument, String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException(argument + " is empty, it must name a file");
    }
    if (exists(text)) {
      return new TensorReference(Path.of(text), null);
    }
    for (int colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
      if (exists(text.substring(0, colon))) {
        return splitAt(text, colon);
      }
    }
    Matcher extension = EXTENSION.matcher(text);
    return extension.find()
        ? splitAt(text, extension.end() - 1)
        : new TensorReference(Path.of(text), null);
  }

  private static TensorReference splitAt(String text, int colon) {
    return new TensorReference(Path.of(text.substring(0, colon)), text.substring(colon + 1));
  }

  private static boolean exists(String text) {
    try {
      Path path = Path.of(text);
      return Files.isRegularFile(path) || Files.isDirectory(path) && !text.isEmpty();
    } catch (InvalidPathException _) {
      return false;
    }
  }

  /**
   * The tensor that is meant: the one of that name, or the only one there is.
   *
   * @throws IllegalArgumentException if there is none of that name, or no name was given and there
   *     are several
   */
  Tensor in(TensorFile opened) {
    List<Tensor> meant = allIn(opened, List.of());
    if (meant.size() == 1) {
      return meant.getFirst();
    }
    throw new IllegalArgumentException(
        "%s: has %s tensors, name one as FILE:TENSOR: %s"
            .formatted(file, meant.size(), TensorChoice.list(meant)));
  }

  /**
   * All tensors that may be meant: those that are named, or every one in the file.
   *
   * @param tensors what {@code --tensor} names
   * @throws IllegalArgumentException if there is none of such a name
   */
  List<Tensor> allIn(TensorFile opened, List<String> tensors) {
    List<String> names = names(tensors);
    return names.isEmpty()
        ? opened.tensors()
        : names.stream().distinct().map(name -> TensorChoice.find(opened, name)).toList();
  }

  /**
   * The names of tensors: the one behind the file's, or those of {@code --tensor}.
   *
   * @throws IllegalArgumentException if there are both
   */
  List<String> names(List<String> tensors) {
    if (name == null || tensors.isEmpty()) {
      return name == null ? tensors : List.of(name);
    }
    throw new IllegalArgumentException(
        "--tensor is %s, and %s:%s names a tensor too: give one of the two"
            .formatted(tensors.getFirst(), file, name));
  }
}
