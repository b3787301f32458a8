package io.github.rmsnorm4j.studies.train;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.ThreadLocalRandom;

/**
 * One process at a time works in a folder: the one that holds the lock on a file there. The file is
 * deleted at the end, while the lock is held.
 */
final class FolderLock implements Closeable {
  /** The name of the file. */
  static final String NAME = "lock";

  private static final int LARGEST = 1 << 16;

  private final Path file;
  private final FileChannel channel;

  private FolderLock(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /**
   * Takes the lock.
   *
   * @throws FileSystemException if it is held already
   */
  static FolderLock take(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    requireFile(file);
    while (true) {
      FileChannel channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
      if (!isLocked(channel)) {
        channel.close();
        throw new FileSystemException(
            folder.toString(), null, "is in use by another rmsnorm train");
      }
      if (isStillThere(file, channel)) {
        return new FolderLock(file, channel);
      }
      channel.close();
    }
  }

  /** To open a pipe of that name would wait for ever. */
  private static void requireFile(Path file) throws IOException {
    try {
      if (!Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
          .isRegularFile()) {
        throw new FileSystemException(file.toString(), null, "is no regular file");
      }
    } catch (NoSuchFileException _) {
      // It is made.
    }
  }

  private static boolean isLocked(FileChannel channel) {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false; // By this JVM: just as taken.
    } catch (IOException e) {
      return true; // A file system without locks.
    }
  }

  /**
   * Whether the locked file is the one in the folder. Its last holder may have deleted it after it
   * was opened here, and the next one may have made another. A size drawn at random tells them
   * apart: to open the file once more and to close it would give up the lock.
   */
  private static boolean isStillThere(Path file, FileChannel channel) throws IOException {
    channel.truncate(0);
    channel.write(ByteBuffer.allocate(1), ThreadLocalRandom.current().nextInt(LARGEST));
    try {
      return Files.size(file) == channel.size();
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Lets others take it, and leaves the file. */
  void release() throws IOException {
    channel.close();
  }

  /** Deletes the file and lets others take the lock. */
  @Override
  public void close() throws IOException {
    if (channel.isOpen()) {
      Files.deleteIfExists(file);
      channel.close();
    }
  }
}
