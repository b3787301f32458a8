package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.regex.Pattern.DOTALL;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What a file is that is not read here, by its name and its first bytes, and what to do with it.
 */
record FileSignature(Pattern name, Pattern start, String problem) {
  static final String PARQUET = "is Parquet, which the command rmsnorm spark reads";
  private static final String ARRAYS =
      "is a .npz archive: extract the array first, for example with unzip";
  private static final String PICKLE =
      "is a pickle, as torch.save writes it, and pickles are never loaded: in Python, write its"
          + " tensors with safetensors.torch.save_file";
  private static final String AGAIN = ", in place of the file: download the file again";

  /** The first bytes that are looked at: up to the mark of a tar archive. */
  private static final int LENGTH = 512;

  /** The first that fits counts. Of a zip archive, the name of the first entry is at byte 30. */
  private static final List<FileSignature> KNOWN =
      List.of(
          of(
              "version https://[a-z-]+[.]github[.]com/spec/",
              "is a Git LFS pointer: run git lfs pull"),
          of(
              "\\{\\s*\"(errors?|message|detail)\"\\s*:",
              "is the error message of a server" + AGAIN),
          of(
              "(\u00ef\u00bb\u00bf)?\\s*<(!|\\?xml|(?i:html|head|body|error))",
              "is a page of HTML or XML" + AGAIN),
          of("\0{8,}\\z", "begins with zeros" + AGAIN),
          of("PAR1", PARQUET),
          of("[.]parquet$", "", PARQUET),
          of("[.]npz$", "", ARRAYS),
          of("PK\3\4.{26}[\\w./ -]*[.]npy", ARRAYS),
          of("PK\3\4.{26}[\\w. -]+/([.]?(data|format_)|version|byteorder|code/)", PICKLE),
          of("[.](bin|pt|pth|ckpt)$", "PK", PICKLE),
          of("PK(\3\4|\5\6)", "is a zip archive: extract it first, for example with unzip"),
          of("\u0080[\2-\5]", PICKLE),
          of("\u001f\u008b", "is compressed by gzip: decompress it first, for example with gunzip"),
          of("(\\(\u00b5/\u00fd|\u00fd7zXZ|BZh)", "is compressed: decompress it first"),
          of(".{257}ustar", "is a tar archive: extract it first, for example with tar -x"),
          of("\u0089HDF", "is HDF5: in Python, write its arrays with numpy.save"),
          of("(tjgg|fmgg|lmgg)", "is GGML, which came before GGUF: get the model as GGUF"));

  private static FileSignature of(String start, String problem) {
    return of("", start, problem);
  }

  private static FileSignature of(String name, String start, String problem) {
    return new FileSignature(Pattern.compile(name), Pattern.compile(start, DOTALL), problem);
  }

  /** Refuses a file that is empty or of a known kind that is not read here. */
  static void requireNone(StoredBytes bytes) throws IOException {
    requireNone(bytes.path, bytes.start((int) Math.min(LENGTH, bytes.size)));
  }

  /** Refuses a file that begins with these bytes. */
  static void requireNone(Path file, byte[] content) throws FormatException {
    if (content.length == 0) {
      throw new FormatException(file, "the file is empty");
    }
    String start = new String(content, 0, Math.min(LENGTH, content.length), ISO_8859_1);
    for (FileSignature known : KNOWN) {
      if (known.name.matcher(file.toString()).find() && known.start.matcher(start).lookingAt()) {
        throw new FormatException(file, known.problem);
      }
    }
  }
}
