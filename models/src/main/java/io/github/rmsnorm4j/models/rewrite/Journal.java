package io.github.rmsnorm4j.models.rewrite;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file that says what is in {@code OUT.partial}: in its first line what the result is made
 * from, then a line for each file that is finished. It stays open, and locked, as long as a process
 * is at work there. A line that a killed process did not finish is cut off.
 */
final class Journal implements Closeable {
  /** Some ten times as many lines as a model may have shards. */
  private static final long LONGEST = 1 << 20;

  /** See {@link #isStillThere}. */
  private static final int MOST_GROWTH = 1 << 16;

  private static final String REFUSED = "refused";

  /** A shard's number, size, time of change, and the count of its roundings. */
  private static final Pattern SHARD =
      Pattern.compile(
          "(\\d{1,6}) (\\d{1,18} \\S+) (\\d{1,18}) (\\d{1,18}) (\\d{1,18}) (0x[0-9a-f.]+p-?\\d{1,4})");

  private final FileChannel channel;
  private final Map<Integer, Matcher> shards = new HashMap<>();

  private Journal(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Opens the journal, or begins it.
   *
   * @param first its first line
   * @throws FileSystemException if another process has it, or its first line is another one
   */
  static Journal open(Path path, String first) throws IOException {
    try {
      Files.createFile(path);
    } catch (FileAlreadyExistsException _) {
      // It is read.
    }
    BasicFileAttributes file = attributes(path);
    // A link, or something that is not read to an end, is not even opened.
    if (!file.isRegularFile()) {
      throw new FileSystemException(path.toString(), null, "is not a regular file");
    }
    FileChannel channel =
        FileChannel.open(
            path, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    try {
      Path folder = path.getParent();
      if (!isLocked(channel)) {
        throw atWork(folder);
      }
      Journal journal = new Journal(channel);
      String complete = journal.read(folder, first);
      // The last holder may have deleted the file after it was opened here.
      if (!isStillThere(path, file.fileKey(), channel)) {
        throw atWork(folder);
      }
      journal.begin(complete, first);
      return journal;
    } catch (Throwable e) {
      channel.close();
      throw e;
    }
  }

  private static FileSystemException atWork(Path folder) {
    return new FileSystemException(folder.toString(), null, "another process is at work there");
  }

  /** Reads the file, which stays as it is; its complete lines. */
  private String read(Path folder, String first) throws IOException {
    String text =
        channel.size() > LONGEST
            ? "too long"
            : new String(Channels.newInputStream(channel).readAllBytes(), UTF_8);
    text = withoutZeros(text);
    String complete = text.substring(0, text.lastIndexOf('\n') + 1);
    List<String> lines = complete.lines().toList();
    if (lines.isEmpty() ? !first.startsWith(text) : !lines.getFirst().equals(first)) {
      throw ofAnother(folder);
    }
    if (lines.contains(REFUSED)) {
      throw new FileSystemException(
          folder.toString(),
          null,
          "holds a result that differs from the model: delete it, or write elsewhere");
    }
    for (String line : lines) {
      Matcher shard = SHARD.matcher(line);
      if (shard.matches()) {
        shards.put(Integer.valueOf(shard.group(1)), shard);
      }
    }
    return complete;
  }

  /** Zeros are left at the end by a process that was killed while the file had grown. */
  private static String withoutZeros(String text) {
    int end = text.length();
    while (end > 0 && text.charAt(end - 1) == 0) {
      end--;
    }
    return text.substring(0, end);
  }

  /** Cuts off a line that is not complete, and writes the first one if there is none. */
  private void begin(String complete, String first) throws IOException {
    channel.truncate(complete.getBytes(UTF_8).length);
    if (complete.isEmpty()) {
      append(first);
    }
  }

  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException _) {
      return false;
    }
  }

  private static BasicFileAttributes attributes(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Whether the open file still has its name. The key alone does not tell: a system may give the
   * number of a deleted file to a new one. So the open file grows, and the one of that name must
   * have grown as much.
   */
  private static boolean isStillThere(Path path, Object key, FileChannel channel)
      throws IOException {
    long size = channel.size();
    long grown = size + ThreadLocalRandom.current().nextInt(1, MOST_GROWTH);
    try {
      if (!Objects.equals(attributes(path).fileKey(), key)) {
        return false;
      }
      channel.write(ByteBuffer.allocate(1), grown - 1);
      return attributes(path).size() == grown;
    } catch (NoSuchFileException _) {
      return false;
    } catch (IOException e) {
      throw new FileSystemException(path.toString(), null, "cannot be written: " + e.getMessage());
    } finally {
      channel.truncate(size);
    }
  }

  static FileSystemException ofAnother(Path folder) {
    return new FileSystemException(
        folder.toString(),
        null,
        "is of another command, or the model has changed since: delete it, or write elsewhere");
  }

  /**
   * {@return the count of a finished shard's roundings; empty if the file that is there is not the
   * one that was finished}
   *
   * @param shard its number in the model
   * @param state the state of the file that is there
   */
  Optional<RoundingCount> count(int shard, FileState state) {
    return Optional.ofNullable(shards.get(shard))
        .filter(line -> state.isFile() && line.group(2).equals(state.toString()))
        .map(
            line ->
                new RoundingCount(
                    Long.parseLong(line.group(3)),
                    Long.parseLong(line.group(4)),
                    Long.parseLong(line.group(5)),
                    Double.parseDouble(line.group(6))));
  }

  /** Remembers that a shard is finished. */
  void finish(int shard, FileState state, RoundingCount count) throws IOException {
    append(
        "%s %s %s %s %s %s"
            .formatted(
                shard,
                state,
                count.computed(),
                count.changed(),
                count.small(),
                Double.toHexString(count.largest())));
  }

  /** Remembers that the result is not equal to the model. It is kept, but not taken up again. */
  void refuse() throws IOException {
    append(REFUSED);
  }

  /** Adds a line, which is on the disk afterwards. */
  private void append(String line) throws IOException {
    ByteBuffer bytes = UTF_8.encode(line + "\n");
    while (bytes.hasRemaining()) {
      channel.write(bytes, channel.size());
    }
    channel.force(true);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
