package io.github.rmsnorm4j.checkpoint.rewrite;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * The file that says what is in {@code OUT.partial}: in its first line what the result is made
 * from, then a line for each file that is finished. It stays open, and locked, as long as a process
 * is at work there. A line that a killed process did not finish is cut off.
 */
final class Journal implements Closeable {
  /** Some ten times as many lines as a model may have shards. */
  private static final long LONGEST = 1 << 20;

  private final FileChannel channel;
  private final List<String> lines;

  private Journal(FileChannel channel, List<String> lines) {
    this.channel = channel;
    this.lines = lines;
  }

  /**
   * Opens the journal, or begins it.
   *
   * @param first its first line
   * @throws FileSystemException if another process has it, or its first line is another one
   */
  static Journal open(Path path, String first) throws IOException {
    // A link, or something that is not read to an end, is not even opened.
    if (Files.exists(path, LinkOption.NOFOLLOW_LINKS) && !FileState.of(path).isFile()) {
      throw new FileSystemException(path.toString(), null, "is not a regular file");
    }
    FileChannel channel =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS);
    try {
      Path folder = path.getParent();
      if (!isLocked(channel)) {
        throw new FileSystemException(folder.toString(), null, "another process is at work there");
      }
      String text =
          channel.size() > LONGEST
              ? "too long"
              : new String(Channels.newInputStream(channel).readAllBytes(), UTF_8);
      String complete = text.substring(0, text.lastIndexOf('\n') + 1);
      List<String> lines = complete.lines().toList();
      if (lines.isEmpty() ? !first.startsWith(text) : !lines.getFirst().equals(first)) {
        throw ofAnother(folder);
      }
      channel.truncate(complete.getBytes(UTF_8).length);
      Journal journal = new Journal(channel, lines);
      if (lines.isEmpty()) {
        journal.append(first);
      }
      return journal;
    } catch (Throwable e) {
      channel.close();
      throw e;
    }
  }

  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException _) {
      return false;
    }
  }

  static FileSystemException ofAnother(Path folder) {
    return new FileSystemException(
        folder.toString(),
        null,
        "is of another command, or the model has changed since: delete it, or write elsewhere");
  }

  /** The lines that were there when it was opened; the first is that of {@link #open}. */
  List<String> lines() {
    return lines;
  }

  /** Adds a line, which is on the disk afterwards. */
  void append(String line) throws IOException {
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
