package io.github.rmsnorm4j.formats;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds out what a file or a folder is, and opens it as that. */
final class FileOpener {
  private static final String MODEL = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";
  private static final String CONFIG = "config.json";
  private static final String CONFIG_ALONE =
      "config.json alone is not enough: give the folder with the weights"
          + " (docs/choose.md reads a config.json by hand)";

  private FileOpener() {}

  static TensorFile open(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      return openFolder(path);
    }
    if (CONFIG.equals(String.valueOf(path.getFileName())) && Files.exists(path)) {
      throw new FormatException(path, "has no tensors; " + CONFIG_ALONE);
    }
    if (path.toString().endsWith(".json")) {
      return ShardedFile.ofIndex(path);
    }
    TensorFile file = open(StoredBytes.open(path));
    return file instanceof GgufFile gguf ? gguf.whole() : file;
  }

  private static TensorFile openFolder(Path folder) throws IOException {
    if (Files.exists(folder.resolve(MODEL))) {
      return open(folder.resolve(MODEL), SafetensorsFile.class);
    }
    if (Files.exists(folder.resolve(INDEX))) {
      return ShardedFile.ofIndex(folder.resolve(INDEX));
    }
    // By its name or the names of its files: programs write Parquet as a folder of files.
    try (DirectoryStream<Path> parts = Files.newDirectoryStream(folder, "*.parquet")) {
      if (folder.toString().endsWith(".parquet") || parts.iterator().hasNext()) {
        throw new FormatException(folder, FileSignature.PARQUET);
      }
    }
    String missing = "is a folder with neither %s nor %s".formatted(MODEL, INDEX);
    boolean isOfModel = Files.exists(folder.resolve(CONFIG));
    throw new FormatException(folder, isOfModel ? missing + "; " + CONFIG_ALONE : missing);
  }

  /** Opens a file that must be of one kind, because what it belongs to or its name says so. */
  static <F extends TensorFile> F open(Path path, Class<F> kind) throws IOException {
    TensorFile file = open(StoredBytes.open(path));
    if (kind.isInstance(file)) {
      return kind.cast(file);
    }
    file.close();
    throw new FormatException(
        path, "is a %s file, not %s: rename it".formatted(kindOf(file.getClass()), kindOf(kind)));
  }

  private static String kindOf(Class<?> kind) {
    return kind == NpyFile.class ? ".npy" : kind == GgufFile.class ? "GGUF" : ".safetensors";
  }

  /** Opens one file, which its first bytes name, or else its own name. */
  static TensorFile open(StoredBytes bytes) throws IOException {
    try {
      if (bytes.startWith(NpyHeader.MAGIC)) {
        return NpyFile.of(bytes);
      }
      if (bytes.startWith(GgufHeader.MAGIC)) {
        return new GgufFile(bytes);
      }
      boolean likely = SafetensorsFile.isLikely(bytes);
      if (!likely) {
        FileSignature.requireNone(bytes);
      }
      if (likely || bytes.path.toString().endsWith(".safetensors")) {
        return SafetensorsFile.of(bytes);
      }
      throw new FormatException(bytes.path, "is neither a .npy, a .safetensors nor a GGUF file");
    } catch (Throwable e) {
      bytes.close();
      throw e;
    }
  }

  /** Makes one file of several, which it adds to a list. */
  interface Joining<P extends TensorFile, F> {
    F from(List<P> opened) throws IOException;
  }

  /** Makes one file of several; closes them if that fails. */
  static <P extends TensorFile, F> F join(Joining<P, F> joining) throws IOException {
    List<P> opened = new ArrayList<>();
    try {
      return joining.from(opened);
    } catch (Throwable e) {
      for (P file : opened) {
        file.close();
      }
      throw e;
    }
  }
}
