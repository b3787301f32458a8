package io.github.rmsnorm4j.models.rewrite;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What finished shards were made from, as one line: the plan, and of each shard of the model its
 * name, size and time of change. What is in the shards is not read, so a change that keeps size and
 * time is not seen.
 */
final class Fingerprint {
  /** The version of this line, and of how files are written. */
  private static final String VERSION = "rmsnorm4j rewriting 2 ";

  private Fingerprint() {}

  static String of(Plan plan, ModelFiles files) {
    StringBuilder text = new StringBuilder(plan.toString());
    for (var shard : files.shards()) {
      String name = files.name(shard);
      text.append('\n').append(name).append(' ').append(files.listing().state(name));
    }
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      return VERSION + HexFormat.of().formatHex(sha256.digest(text.toString().getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
