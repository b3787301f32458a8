package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.studies.training.BatchSource;
import io.github.rmsnorm4j.studies.training.CharacterVocabulary;
import io.github.rmsnorm4j.studies.training.TextBatches;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** A text to learn the characters of; its last tenth is held out. */
public final class Corpus {
  /** What {@code --text jdk} stands for. */
  public static final String JDK = "jdk";

  private static final long LARGEST = 64 << 20;
  private static final int JDK_BYTES = 4 << 20;
  private static final String JDK_FOLDER = "java.base/java/util/";
  private static final int MOST_TOKENS = 128;

  private final String name;
  private final int[] tokens;
  private final int vocabulary;
  private final long checksum;

  private Corpus(String name, String text) {
    this.name = name;
    CharacterVocabulary characters = CharacterVocabulary.of(text, MOST_TOKENS);
    vocabulary = characters.size();
    tokens = characters.encode(text);
    CRC32 crc = new CRC32();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    checksum = crc.getValue();
  }

  /** Reads a file of UTF-8, or for {@link #JDK} the sources of a JDK. */
  public static Corpus read(String from) throws IOException {
    if (from.equals(JDK)) {
      return ofJdk(jdkHomes());
    }
    if (from.isEmpty()) {
      throw new FileSystemException("--text", null, "is empty, it must name a file, or be jdk");
    }
    Path file = Path.of(from);
    if (Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file)) {
      throw new FileSystemException(
          from, null, "is no regular file, it must be one to be read twice");
    }
    if (Files.isDirectory(file)) {
      throw new FileSystemException(from, null, "is a folder, not a file");
    }
    if (Files.size(file) > LARGEST) {
      throw new FileSystemException(
          from, null, "has " + Files.size(file) + " bytes, at most " + LARGEST + " are read");
    }
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
      return new Corpus(from, StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
    } catch (CharacterCodingException e) {
      throw new FileSystemException(from, null, "is not UTF-8");
    }
  }

  private static List<Path> jdkHomes() {
    return Stream.of(System.getProperty("java.home"), System.getenv("JAVA_HOME"))
        .flatMap(Stream::ofNullable)
        .map(Path::of)
        .toList();
  }

  /** The sources of java.util of the first of these JDKs that has sources. */
  static Corpus ofJdk(List<Path> homes) throws IOException {
    Optional<Path> sources =
        homes.stream()
            .map(home -> home.resolve("lib/src.zip"))
            .filter(Files::isReadable)
            .findFirst();
    if (sources.isEmpty()) {
      throw new IOException(
          "--text jdk: there are no sources, lib/src.zip, in "
              + String.join(" or ", homes.stream().map(Path::toString).distinct().toList())
              + ": a JDK with sources as JAVA_HOME, or --text FILE, would do");
    }
    try (ZipFile zip = new ZipFile(sources.get().toFile())) {
      List<? extends ZipEntry> entries =
          zip.stream()
              .filter(e -> e.getName().startsWith(JDK_FOLDER) && e.getName().endsWith(".java"))
              .sorted(Comparator.comparing(ZipEntry::getName))
              .toList();
      StringBuilder text = new StringBuilder();
      for (ZipEntry entry : entries) {
        if (text.length() < JDK_BYTES) {
          try (InputStream in = zip.getInputStream(entry)) {
            text.append(new String(in.readNBytes(JDK_BYTES), StandardCharsets.UTF_8));
          }
        }
      }
      return new Corpus(JDK, text.toString());
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /**
   * What is to be learned from it.
   *
   * @throws IllegalArgumentException if it is shorter than a batch, or its last tenth than a
   *     sequence
   */
  public Task task(int sequence, int batch) {
    long least = Math.max(10L * (sequence + 1), Math.ceilDiv(10L * sequence * batch, 9) + 1);
    if (tokens.length < least) {
      throw new IllegalArgumentException(
          ("--text %s has %s characters; a batch is %s sequences of %s and a tenth is held out, so"
                  + " at least %s are needed")
              .formatted(name, tokens.length, batch, sequence, least));
    }
    return new Task(name, vocabulary, 0, sequence, tokens.length, checksum);
  }

  private int split() {
    return (int) (tokens.length * 9L / 10);
  }

  BatchSource training(int sequence, long seed) {
    return new TextBatches(Arrays.copyOf(tokens, split()), vocabulary, sequence, seed);
  }

  BatchSource heldOut(int sequence) {
    int[] rest = Arrays.copyOfRange(tokens, split(), tokens.length);
    return new TextBatches(rest, vocabulary, sequence, -1);
  }
}
