package io.github.rmsnorm4j.models.rewrite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What the system says of a file, a folder, or a link itself. After a change or a replacement it
 * says something else: on Unix it keeps the time of the last change or renaming ({@code ctime}),
 * which programs cannot set. Of a folder this is not so.
 */
record FileState(Map<String, Object> attributes) {
  private static final String BASIC =
      "isRegularFile,isDirectory,isSymbolicLink,size,lastModifiedTime";

  static FileState of(Path path) throws IOException {
    boolean unix = path.getFileSystem().supportedFileAttributeViews().contains("unix");
    String names = unix ? "unix:" + BASIC + ",ctime,permissions" : BASIC;
    Map<String, Object> all =
        new HashMap<>(Files.readAttributes(path, names, LinkOption.NOFOLLOW_LINKS));
    if (all.get("isDirectory").equals(true)) {
      all.keySet().removeAll(Set.of("size", "lastModifiedTime", "ctime"));
    }
    return new FileState(all);
  }

  boolean isFile() {
    return (boolean) attributes.get("isRegularFile");
  }

  boolean isFolder() {
    return (boolean) attributes.get("isDirectory");
  }

  boolean isLink() {
    return (boolean) attributes.get("isSymbolicLink");
  }

  long size() {
    return (long) attributes.get("size");
  }

  /** The size and the time of change, which also stay over a restart of the machine. */
  @Override
  public String toString() {
    return size() + " " + attributes.get("lastModifiedTime");
  }

  /** Gives these permissions to another file, and more if there are more to give. */
  @SuppressWarnings("unchecked")
  void givePermissions(Path to, Set<PosixFilePermission> more) {
    if (attributes.get("permissions") instanceof Set<?> permissions) {
      Set<PosixFilePermission> all = new HashSet<>((Set<PosixFilePermission>) permissions);
      all.addAll(more);
      try {
        Files.setPosixFilePermissions(to, all);
      } catch (IOException _) {
        // The file system there keeps no permissions.
      }
    }
  }
}
