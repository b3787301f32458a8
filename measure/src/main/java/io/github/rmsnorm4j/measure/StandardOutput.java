package io.github.rmsnorm4j.measure;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Standard output that remembers why it failed. {@code System.out} swallows that, so that a full
 * disk would look like success.
 */
public final class StandardOutput extends OutputStream {
  private final OutputStream out =
      new BufferedOutputStream(new FileOutputStream(FileDescriptor.out));
  private IOException failure;

  /** Of this process. */
  public StandardOutput() {}

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failed(e);
    }
  }

  @Override
  public void flush() throws IOException {
    try {
      out.flush();
    } catch (IOException e) {
      failed(e);
    }
  }

  private void failed(IOException e) throws IOException {
    if (failure == null) {
      failure = e;
    }
    throw e;
  }

  /**
   * The exit status for a command. A reader who has seen enough, as in {@code rmsnorm demo | head
   * -n 3}, is no failure.
   *
   * @param status that the command ended with
   * @return that status, or 1 if its output could not be written
   */
  public int status(int status) {
    if (status != 0 || failure == null || "Broken pipe".equals(failure.getMessage())) {
      return status;
    }
    System.err.println("rmsnorm: cannot write to standard output: " + failure.getMessage());
    return 1;
  }
}
