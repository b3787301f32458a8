package io.github.rmsnorm4j.cli;

import static io.github.rmsnorm4j.cli.testing.Shell.fakeJdk;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.cli.testing.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code .mvn/find-jdk.sh}, by which mvnw and the launcher choose the JDK. */
class FindJdkTest {
  private static final Path FIND_JDK = Shell.CHECKOUT.resolve(".mvn/find-jdk.sh");

  @TempDir private Path folder;
  private Path root;
  private Shell shell;

  @BeforeEach
  void hideTheMachinesOwn() throws IOException {
    root = folder.resolve("a root");
    shell =
        new Shell(folder)
            .with("RMSNORM_JDK_ROOT", root)
            .with("HOME", Files.createDirectory(folder.resolve("a home")));
  }

  private void finds(Path home) throws IOException, InterruptedException {
    assertThat(shell.run("/bin/sh", FIND_JDK)).isEqualTo(new Shell.Result(0, home + "\n", ""));
  }

  @Test
  void javaHomeComesFirst() throws IOException, InterruptedException {
    fakeJdk(root.resolve("usr/lib/jvm/jdk-25"), "25.0.1");
    Path home = fakeJdk(folder.resolve("my own"), "27-ea");
    shell.with("JAVA_HOME", home);
    finds(home);
  }

  @Test
  void anOldJavaHomeIsPassedOver() throws IOException, InterruptedException {
    Path home = fakeJdk(root.resolve("usr/lib/jvm/jdk-25"), "25");
    shell.with("JAVA_HOME", fakeJdk(folder.resolve("mine"), "1.8.0_402"));
    finds(home);
  }

  @Test
  void thenThePathAlsoThroughLinks() throws IOException, InterruptedException {
    fakeJdk(root.resolve("usr/lib/jvm/jdk-25"), "25.0.1");
    Path home = fakeJdk(folder.resolve("elsewhere"), "26.0.1").toRealPath();
    Path links = Files.createDirectory(folder.resolve("bin"));
    Files.createSymbolicLink(links.resolve("java"), Path.of("second"));
    Files.createSymbolicLink(links.resolve("second"), home.resolve("bin/java"));
    shell.with("PATH", links + ":" + System.getenv("PATH"));
    finds(home);
  }

  @Test
  void thenTheUsualFoldersWhere25IsPreferred() throws IOException, InterruptedException {
    fakeJdk(root.resolve("usr/lib/jvm/jdk-21"), "21.0.4");
    fakeJdk(root.resolve("usr/lib/jvm/jdk-27"), "27");
    fakeJdk(root.resolve("opt/jdk-26"), "26.0.2");
    Path home = fakeJdk(root.resolve("usr/java/jdk 25"), "25.0.3");
    finds(home);
  }

  @Test
  void without25TheNewest() throws IOException, InterruptedException {
    fakeJdk(root.resolve("usr/lib/jvm/jdk-26"), "26.0.2");
    Path home = fakeJdk(root.resolve("Library/Java/JavaVirtualMachines/x/Contents/Home"), "28");
    fakeJdk(root.resolve("opt/jdk-27"), "27");
    finds(home);
  }

  @Test
  void sdkmanCounts() throws IOException, InterruptedException {
    Path home = fakeJdk(folder.resolve("a home/.sdkman/candidates/java/25-tem"), "25");
    shell.with("SDKMAN_DIR", "");
    finds(home);
  }

  @Test
  void whatCannotCompileIsNoJdk() throws IOException, InterruptedException {
    Files.delete(fakeJdk(root.resolve("usr/lib/jvm/jre-25"), "25.0.3").resolve("bin/javac"));
    Path home = fakeJdk(root.resolve("usr/lib/jvm/jdk-26"), "26");
    finds(home);
  }

  @Test
  void releaseFilesThatSayNothingArePassedOver() throws IOException, InterruptedException {
    Files.writeString(fakeJdk(root.resolve("opt/jdk-a"), "25").resolve("release"), "");
    Files.writeString(
        fakeJdk(root.resolve("opt/jdk-b"), "25").resolve("release"), "JAVA_VERSION=\"soon\"\n");
    Files.writeString(
        fakeJdk(root.resolve("opt/jdk-c"), "25").resolve("release"), "JAVA_VERSION=\n\n=\n");
    Path home = fakeJdk(root.resolve("opt/jdk-d"), "25");
    finds(home);
  }

  @Test
  void whereThereIsNoneOneSentenceSaysSo() throws IOException, InterruptedException {
    fakeJdk(root.resolve("usr/lib/jvm/jdk-21"), "21.0.4");
    Shell.Result result = shell.run("/bin/sh", FIND_JDK);
    assertThat(result.status()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err())
        .contains("needs a JDK 25 or newer", "install", "JAVA_HOME")
        .hasLineCount(1);
  }
}
