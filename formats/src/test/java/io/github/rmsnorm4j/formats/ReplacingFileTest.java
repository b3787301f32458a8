package io.github.rmsnorm4j.formats;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplacingFileTest {
  @TempDir Path folder;

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  private static void write(Path target, boolean replace, String text) throws IOException {
    try (ReplacingFile file = ReplacingFile.create(target, replace)) {
      file.write(bytes(text));
      file.commit();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void appearsWithCommitAndNotBefore(boolean replace) throws IOException {
    Path target = folder.resolve("out");
    try (ReplacingFile file = ReplacingFile.create(target, replace)) {
      file.write(bytes("new "));
      file.write(bytes("content"));
      assertThat(target).doesNotExist();
      assertThat(TestFiles.names(folder).toList())
          .singleElement()
          .asString()
          .matches("\\.out\\.[0-9a-f]{8}\\.tmp");
      file.commit();
      assertThat(target).hasContent("new content");
    }
    assertThat(TestFiles.names(folder)).containsExactly("out");
  }

  @Test
  void withoutCommitWhatWasThereStays() throws IOException {
    Path target = Files.writeString(folder.resolve("out"), "old");
    try (ReplacingFile file = ReplacingFile.create(target, true)) {
      file.write(bytes("new"));
    }
    assertThat(target).hasContent("old");
    assertThat(TestFiles.names(folder)).containsExactly("out");
  }

  @Test
  void replacesOnlyWhatItMay() throws IOException {
    Path target = Files.writeString(folder.resolve("out"), "old");
    assertThatThrownBy(() -> ReplacingFile.create(target, false))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessage(target + ": exists already");
    write(target, true, "new");
    assertThat(target).hasContent("new");
    assertThat(TestFiles.names(folder)).containsExactly("out");
  }

  @Test
  void aFileThatAppearsMeanwhileIsNotReplaced() throws IOException {
    Path target = folder.resolve("out");
    try (ReplacingFile file = ReplacingFile.create(target, false)) {
      file.write(bytes("new"));
      Files.writeString(target, "someone else's");
      assertThatThrownBy(file::commit)
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessage(target + ": has appeared meanwhile");
    }
    assertThat(target).hasContent("someone else's");
    assertThat(TestFiles.names(folder)).containsExactly("out");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-------", "rw-rw-rw-", "rwxr-x---", "r--r--r--"})
  void keepsThePermissionsOfWhatItReplaces(String permissions) throws IOException {
    Path target = Files.writeString(folder.resolve("out"), "old");
    Files.setPosixFilePermissions(target, PosixFilePermissions.fromString(permissions));
    write(target, true, "new");
    assertThat(target).hasContent("new");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
        .isEqualTo(permissions);
  }

  /** Only root can give a file away; for others the file is their own before and after. */
  @Test
  void keepsTheOwnerOfWhatItReplaces() throws IOException {
    Path target = Files.writeString(folder.resolve("out"), "old");
    try {
      Files.setAttribute(target, "unix:uid", 12345);
      Files.setAttribute(target, "unix:gid", 23456);
    } catch (FileSystemException ignored) {
      assertThat(System.getProperty("user.name")).isNotEqualTo("root");
    }
    Object owner = Files.getAttribute(target, "unix:uid");
    Object group = Files.getAttribute(target, "unix:gid");
    write(target, true, "new");
    assertThat(target).hasContent("new");
    assertThat(Files.getAttribute(target, "unix:uid")).isEqualTo(owner);
    assertThat(Files.getAttribute(target, "unix:gid")).isEqualTo(group);
  }

  @Test
  void aSymbolicLinkStaysOne() throws IOException {
    Path other = Files.createDirectory(folder.resolve("other"));
    Path target = Files.writeString(other.resolve("target"), "old");
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("other", "target"));
    Path linkToLink = Files.createSymbolicLink(folder.resolve("link2"), Path.of("link"));
    assertThatThrownBy(() -> ReplacingFile.create(linkToLink, false))
        .isInstanceOf(FileAlreadyExistsException.class);
    write(linkToLink, true, "new");
    assertThat(target).hasContent("new");
    assertThat(link).isSymbolicLink();
    assertThat(linkToLink).isSymbolicLink();
    assertThat(TestFiles.names(other)).containsExactly("target");
  }

  @Test
  void aSymbolicLinkToNothingIsFollowedAllTheSame() throws IOException {
    Path target = folder.resolve("target");
    Path link = Files.createSymbolicLink(folder.resolve("link"), target);
    write(link, false, "new");
    assertThat(target).hasContent("new");
    assertThat(link).isSymbolicLink();
  }

  @Test
  void refusesWhatIsNoFile() throws IOException {
    Path around = folder.resolve("around");
    Files.createSymbolicLink(around, around);
    assertThatThrownBy(() -> ReplacingFile.create(around, true))
        .hasMessage(around + ": is a symbolic link that leads nowhere");
    assertThatThrownBy(() -> ReplacingFile.create(folder, true))
        .hasMessage(folder + ": is a folder, not a file");
    assertThatThrownBy(() -> ReplacingFile.create(Path.of("/dev/null"), true))
        .hasMessage("/dev/null: is not a regular file");
    Path nowhere = folder.resolve("none").resolve("out");
    assertThatThrownBy(() -> ReplacingFile.create(nowhere, true))
        .hasMessage(nowhere + ": there is no folder " + folder.resolve("none"));
  }

  /** Not even root may create a file in /sys, so this needs no other user. */
  @Test
  void unwritableFolder() {
    assertThatThrownBy(() -> ReplacingFile.create(Path.of("/sys/out.npy"), false))
        .isInstanceOf(FileSystemException.class)
        .hasMessageStartingWith("/sys/out.npy: cannot write to the folder /sys: ");
  }

  @Test
  void aFolderThatTakesNoFiles() {
    assertThatThrownBy(() -> ReplacingFile.create(Path.of("/proc/out.npy"), false))
        .isInstanceOf(FileSystemException.class)
        .hasMessageStartingWith("/proc/out.npy: cannot write to the folder /proc: ")
        .hasMessageNotContaining("null");
  }

  @Test
  void namesAsLongAsTheyMayBe() throws IOException {
    Path target = folder.resolve("\ud83d\ude00".repeat(62) + ".npy");
    write(target, false, "new");
    assertThat(target).hasContent("new");
    assertThat(TestFiles.names(folder)).hasSize(1);
  }

  @Test
  void aNameWithoutAFolderIsInTheCurrentOne() throws IOException {
    Path target = Path.of("target", "replacing-file-test.tmp");
    assertThat(target.isAbsolute()).isFalse();
    try {
      write(target, true, "new");
      assertThat(target).hasContent("new");
    } finally {
      Files.deleteIfExists(target);
    }
  }

  /** As in a server that loads an application anew: what it wrote must not keep its classes. */
  @Test
  void aFileThatIsWrittenDoesNotKeepItsClassLoader() throws Exception {
    WeakReference<ClassLoader> loader = new WeakReference<>(writtenByOtherLoader());
    assertThat(folder.resolve("out")).exists();
    while (loader.get() != null) { // Kept, it is kept until the time limit of tests.
      System.gc();
      Thread.sleep(20);
    }
  }

  private ClassLoader writtenByOtherLoader() throws Exception {
    List<URL> classPath = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      classPath.add(Path.of(entry).toUri().toURL());
    }
    ClassLoader parent = ClassLoader.getPlatformClassLoader();
    URLClassLoader loader = new URLClassLoader(classPath.toArray(URL[]::new), parent);
    Class<?> file = loader.loadClass(ReplacingFile.class.getName());
    assertThat(file).isNotSameAs(ReplacingFile.class);
    Object out =
        file.getMethod("create", Path.class, boolean.class)
            .invoke(null, folder.resolve("out"), false);
    file.getMethod("commit").invoke(out);
    file.getMethod("close").invoke(out);
    loader.close();
    return loader;
  }
}
