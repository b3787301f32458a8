package io.github.rmsnorm4j.checkpoint.rewrite;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * What a rewriting was begun from, as text: the plan, and for each file of the model its name,
 * size, time of change, and the SHA-256 of its header or, for {@code config.json}, of all of it.
 * The numbers of tensors are not read, so a change of these that keeps size and time is not seen.
 */
final class Fingerprint {
  /** The version of this text, and of how files are written. */
  private static final String FIRST_LINE = "rmsnorm4j rewriting 1";

  private Fingerprint() {}

  static String of(Plan plan, ModelFiles files) throws IOException {
    List<Path> stored = files.shards().stream().map(TensorFile::path).toList();
    StringBuilder text = new StringBuilder(FIRST_LINE).append('\n');
    text.append("plan ").append(sha256(plan.toString().getBytes(UTF_8))).append('\n');
    for (Path file : files.all()) {
      text.append(
          "%s %s %s%s\n"
              .formatted(
                  file.getFileName(),
                  Files.size(file),
                  Files.getLastModifiedTime(file),
                  stored.contains(file) || file.endsWith(ModelFiles.CONFIG)
                      ? " " + sha256(start(file, stored.contains(file)))
                      : ""));
    }
    return text.toString();
  }

  /** The header of a shard, or all of a config; both were read and checked before. */
  private static byte[] start(Path file, boolean shard) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      if (!shard) {
        return in.readAllBytes();
      }
      long length =
          ByteBuffer.wrap(in.readNBytes(Long.BYTES)).order(ByteOrder.LITTLE_ENDIAN).getLong();
      return in.readNBytes(Math.toIntExact(length));
    }
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
