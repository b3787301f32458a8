package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A file that is something else than its name says is named for what it is, whatever its name. */
class FileSignatureTest {
  private static final String PICKLE =
      "is a pickle, as torch.save writes it, and pickles are never loaded: in Python, write its"
          + " tensors with safetensors.torch.save_file";
  private static final String PAGE =
      "is a page of HTML or XML, in place of the file: download the file again";
  private static final String ANSWER =
      "is the error message of a server, in place of the file: download the file again";
  private static final String ZEROS =
      "begins with zeros, in place of the file: download the file again";
  private static final String ARRAYS =
      "is a .npz archive: extract the array first, for example with unzip";

  @TempDir Path folder;

  private static byte[] bytes(String latin1) {
    return latin1.getBytes(ISO_8859_1);
  }

  private static byte[] zip(String... entries) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      for (String entry : entries) {
        zip.putNextEntry(new ZipEntry(entry));
        zip.write(1);
      }
    }
    return out.toByteArray();
  }

  private static byte[] gzip() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (OutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(new byte[100]);
    }
    return out.toByteArray();
  }

  static Stream<Arguments> files() throws IOException {
    String lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 14296064656\n";
    return Stream.of(
        Arguments.of("the file is empty", new byte[0]),
        Arguments.of("is a Git LFS pointer: run git lfs pull", bytes(lfs)),
        Arguments.of(ZEROS, new byte[8]),
        Arguments.of(ZEROS, new byte[5000]),
        Arguments.of(PAGE, bytes("<!DOCTYPE html>\n<html>")),
        Arguments.of(PAGE, bytes("\u00ef\u00bb\u00bf\n <HTML lang=\"en\">")),
        Arguments.of(
            PAGE, bytes("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>")),
        Arguments.of(ANSWER, bytes("{\"error\":\"Invalid username or password.\"}")),
        Arguments.of(ANSWER, bytes("{ \"error\" : {\"code\": 404}}")),
        Arguments.of(ANSWER, bytes("{\"message\":\"Not Found\",\"status\":\"404\"}")),
        Arguments.of(ARRAYS, zip("weights.npy", "bias.npy")),
        Arguments.of(ARRAYS, zip("layer/data.npy")),
        Arguments.of(PICKLE, zip("archive/data.pkl", "archive/data/0")),
        Arguments.of(PICKLE, zip("pytorch_model/.format_version", "pytorch_model/data.pkl")),
        Arguments.of("is a zip archive: extract it first, for example with unzip", zip("a/b.txt")),
        Arguments.of("is a zip archive: extract it first, for example with unzip", zip()),
        Arguments.of(PICKLE, bytes("\u0080\2\u008a\nl\u00fc\u009cF\u00f9 j\u00a8P\u0019.")),
        Arguments.of(PICKLE, bytes("\u0080\4\u0095\5\0\0\0\0\0\0\0}.")),
        Arguments.of("is compressed by gzip: decompress it first, for example with gunzip", gzip()),
        Arguments.of("is compressed: decompress it first", bytes("(\u00b5/\u00fd$ZSTD")),
        Arguments.of("is compressed: decompress it first", bytes("\u00fd7zXZ\0\0")),
        Arguments.of(
            "is a tar archive: extract it first, for example with tar -x",
            bytes("weights.ckpt" + "\0".repeat(245) + "ustar")),
        Arguments.of("is Parquet, which the command rmsnorm spark reads", bytes("PAR1\0\0\0\0{")),
        Arguments.of(
            "is HDF5: in Python, write its arrays with numpy.save", bytes("\u0089HDF\r\n")),
        Arguments.of(
            "is GGML, which came before GGUF: get the model as GGUF", bytes("tjgg\3\0\0\0")));
  }

  @ParameterizedTest
  @MethodSource("files")
  void isNamedUnderAnyName(String problem, byte[] content) throws IOException {
    for (String name : List.of("a.npy", "model.safetensors", "a.gguf", "a.index.json", "weights")) {
      Path path = Files.write(folder.resolve(name), content);
      assertThatThrownBy(() -> TensorFile.open(path).close())
          .isInstanceOf(FormatException.class)
          .hasMessage(path + ": " + problem);
    }
    Path config = Files.write(folder.resolve("config.json"), content);
    assertThatThrownBy(() -> JsonFile.read(config))
        .isInstanceOf(FormatException.class)
        .hasMessage(config + ": " + problem);
    // As a file of a model's folder, and as a shard that an index names.
    assertThatThrownBy(() -> TensorFile.open(folder).close())
        .hasMessage(folder.resolve("model.safetensors") + ": " + problem);
    Path index = folder.resolve("b.index.json");
    Files.writeString(index, "{\"weight_map\": {\"t\": \"model.safetensors\"}}");
    assertThatThrownBy(() -> TensorFile.open(index).close())
        .hasMessage(folder.resolve("model.safetensors") + ": " + problem);
  }

  /** What does not tell the two apart by its content. */
  @Test
  void aDamagedArchiveIsNamedByItsName() throws IOException {
    Path arrays = Files.write(folder.resolve("a.npz"), bytes("PK\3\4 and more"));
    assertThatThrownBy(() -> TensorFile.open(arrays)).hasMessage(arrays + ": " + ARRAYS);
    Path model = Files.write(folder.resolve("pytorch_model.bin"), bytes("PK\3\4 and more"));
    assertThatThrownBy(() -> TensorFile.open(model)).hasMessage(model + ": " + PICKLE);
  }

  /** The length of its header has the bytes of a pickle. */
  @Test
  void aHeaderOf640BytesIsNoPickle() throws IOException {
    String header = "{" + TestFiles.entry("t", "U8", "[1]", 0, 1) + "}";
    byte[] content = TestFiles.safetensors(header + " ".repeat(640 - header.length()), 1);
    TensorFile.open(Files.write(folder.resolve("a.bin"), content)).close();
  }

  @Test
  void textIsNoSafetensorsFile() throws IOException {
    Path path = Files.writeString(folder.resolve("model.safetensors"), "Entry not found");
    assertThatThrownBy(() -> TensorFile.open(path))
        .hasMessage(
            path
                + ": is text that begins with 'Entry no', no .safetensors file: download it again");
  }

  /** Where nothing else says what a file is, its content does; a folder and an index do say it. */
  @Test
  void aModelOfAnotherFormatIsNamed() throws IOException {
    Path gguf = Files.write(folder.resolve("model.safetensors"), TestFiles.golden("mixed.gguf"));
    assertThatThrownBy(() -> TensorFile.open(folder))
        .isInstanceOf(FormatException.class)
        .hasMessage(gguf + ": is a GGUF file, not .safetensors: rename it");
    TensorFile.open(gguf).close();
    Path safetensors = folder.resolve("a.gguf");
    Files.write(safetensors, TestFiles.golden("mixed.safetensors"));
    TensorFile.open(safetensors).close();
  }
}
