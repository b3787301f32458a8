package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.Dtype;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What else is at OUT and in {@code OUT.partial} is neither removed nor written to. */
class WorkFolderTest {
  private static final int SHARDS = 4;
  private static final String SHARD = "model-00001-of-00004.safetensors";

  @TempDir private Path folder;
  private Path in;
  private Path out;
  private Path partial;
  private Path mine;
  private Map<String, String> whole;

  @BeforeEach
  void write() throws IOException {
    folder = folder.toRealPath();
    in = TestModel.llama("llama", true, 64).write(folder.resolve("in"), Dtype.F32, SHARDS);
    Files.writeString(in.resolve("notes.md"), "notes");
    Files.createSymbolicLink(in.resolve("link"), Path.of("notes.md"));
    out = folder.resolve("whole");
    fold();
    whole = RewritingTest.files(out);
    out = folder.resolve("out");
    partial = folder.resolve("out.partial");
    mine = Files.writeString(folder.resolve("mine.txt"), "mine");
  }

  private static UnaryOperator<Plan> unaltered() {
    return plan -> plan;
  }

  private Rewriting.Result fold(UnaryOperator<Plan> plan, boolean prove, LongConsumer progress)
      throws IOException {
    try (Rewriting rewriting = Rewriting.open(in, Optional.empty(), Goal.FOLD, true, plan)) {
      return rewriting.write(out, prove, progress);
    }
  }

  private void fold() throws IOException {
    assertThat(fold(unaltered(), true, _ -> {}).isInPlace()).isTrue();
  }

  /** Does something at the first block that is read. */
  private interface Act {
    void take() throws IOException;
  }

  private ThrowingCallable foldWith(Act step) {
    return () -> fold(unaltered(), true, first(step));
  }

  private static LongConsumer first(Act step) {
    AtomicBoolean done = new AtomicBoolean();
    return _ -> {
      if (done.compareAndSet(false, true)) {
        try {
          step.take();
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
    };
  }

  /** Leaves what a process leaves that ends after its first shard. */
  private void leave() throws IOException {
    assertThatThrownBy(
            () ->
                fold(
                    unaltered(),
                    true,
                    _ -> {
                      if (Files.exists(partial.resolve("model").resolve(SHARD))) {
                        throw new IllegalStateException("stopped");
                      }
                    }))
        .hasMessage("stopped");
  }

  private static void delete(Path path) throws IOException {
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      try (var entries = Files.list(path)) {
        for (Path entry : entries.toList()) {
          delete(entry);
        }
      }
    }
    Files.delete(path);
  }

  private void assertRefused(String message) throws IOException {
    for (boolean prove : new boolean[] {false, true}) {
      assertThatThrownBy(() -> fold(unaltered(), prove, _ -> {}))
          .isInstanceOf(FileSystemException.class)
          .hasMessage(message);
    }
    assertThat(out).doesNotExist();
    assertThat(mine).hasContent("mine");
  }

  private static void fifo(Path path) throws IOException {
    try {
      assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor()).isZero();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void whatAppearsAtOutStays() throws IOException {
    Map<String, Act> steps = new LinkedHashMap<>();
    steps.put("a file", () -> Files.writeString(out, "mine"));
    steps.put("a link to a file", () -> Files.createSymbolicLink(out, mine));
    steps.put("a link to a folder", () -> Files.createSymbolicLink(out, in));
    steps.put("a link to nothing", () -> Files.createSymbolicLink(out, Path.of("nothing")));
    steps.put("a pipe", () -> fifo(out));
    steps.put(
        "a folder", () -> Files.writeString(Files.createDirectory(out).resolve("file"), "mine"));
    for (var step : steps.entrySet()) {
      Path empty = Files.createDirectory(out);
      assertThatThrownBy(
              foldWith(
                  () -> {
                    Files.delete(empty);
                    step.getValue().take();
                  }))
          .as(step.getKey())
          .isInstanceOf(FileAlreadyExistsException.class)
          .hasMessage(out + ": has appeared meanwhile");
      switch (step.getKey()) {
        case "a file" -> assertThat(out).hasContent("mine");
        case "a folder" -> assertThat(out.resolve("file")).hasContent("mine");
        case "a pipe" -> assertThat(out).exists();
        default -> assertThat(out).isSymbolicLink();
      }
      assertThat(mine).hasContent("mine");
      delete(out);
    }
    fold();
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
    assertThat(partial).doesNotExist();
  }

  @Test
  void anEmptyFolderThatAppearsIsReplaced() throws IOException {
    fold(unaltered(), true, first(() -> Files.createDirectory(out)));
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
  }

  @Test
  void aLinkInPlaceOfTheFolderIsNotFollowed() throws IOException {
    for (Path target :
        List.of(Files.createDirectory(folder.resolve("theirs")), in, folder.resolve("nothing"))) {
      Files.createSymbolicLink(partial, target);
      assertRefused(partial + ": is no folder, and OUT grows in a folder of that name");
      assertThat(partial).isSymbolicLink();
      Files.delete(partial);
    }
    assertThat(folder.resolve("theirs")).isEmptyDirectory();
    assertThat(folder.resolve("nothing")).doesNotExist();
    fifo(partial);
    assertRefused(partial + ": is no folder, and OUT grows in a folder of that name");
  }

  private String changed(String name) {
    return partial.resolve(name)
        + ": is not as this command left it: delete "
        + partial
        + ", or write elsewhere";
  }

  /** Every name in the folder, as everything that it can be. */
  @Test
  void whatIsNotOfThisCommandIsRefusedAndStays() throws IOException {
    leave();
    Path kept = Files.move(partial, folder.resolve("kept"));
    Path empty = Files.createDirectory(folder.resolve("empty"));
    for (String name :
        List.of(
            "journal",
            "part.safetensors",
            ".part.safetensors.00c0ffee.tmp",
            "model",
            "model/" + SHARD,
            "model/model-00002-of-00004.safetensors",
            "model/config.json",
            "model/notes.md",
            "model/link")) {
      Path path = partial.resolve(name);
      String message = name.equals("journal") ? path + ": is not a regular file" : changed(name);
      List<Act> kinds =
          List.of(
              () -> Files.createSymbolicLink(path, mine),
              () -> Files.createSymbolicLink(path, empty),
              () -> Files.createSymbolicLink(path, folder.resolve("nothing")),
              () -> fifo(path),
              () -> Files.createDirectory(path));
      for (int kind = 0; kind < kinds.size(); kind++) {
        if (kind == 4 && name.equals("model")) {
          continue;
        }
        copy(kept, partial);
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
          delete(path);
        }
        kinds.get(kind).take();
        assertRefused(message);
        assertThat(Files.exists(path, LinkOption.NOFOLLOW_LINKS)).isTrue();
        assertThat(empty).isEmptyDirectory();
        assertThat(folder.resolve("nothing")).doesNotExist();
        delete(partial);
      }
    }
    copy(kept, partial);
    fold();
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
  }

  /** Whatever the umask, the group may not write to it. */
  private void createPartial() throws IOException {
    Files.createDirectory(
        partial,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
  }

  private static void copy(Path from, Path to) throws IOException {
    try (var paths = Files.walk(from)) {
      for (Path path : paths.toList()) {
        Files.copy(
            path,
            to.resolve(from.relativize(path).toString()),
            StandardCopyOption.COPY_ATTRIBUTES,
            LinkOption.NOFOLLOW_LINKS);
      }
    }
  }

  @Test
  void filesThatWereChangedAreNotPutInPlace() throws IOException {
    leave();
    for (String name : List.of(SHARD, "config.json", "notes.md")) {
      Path file = partial.resolve("model").resolve(name);
      byte[] bytes = Files.readAllBytes(file);
      FileTime time = Files.getLastModifiedTime(file);
      bytes[bytes.length - 1] ^= 1;
      Files.write(file, bytes);
      if (!name.equals(SHARD)) {
        Files.setLastModifiedTime(file, time);
      }
      assertRefused(changed("model/" + name));
      assertThat(file).hasBinaryContent(bytes);
      bytes[bytes.length - 1] ^= 1;
      Files.write(file, bytes);
      Files.setLastModifiedTime(file, time);
    }
    Files.writeString(partial.resolve("model/more.txt"), "mine");
    assertRefused(changed("model/more.txt"));
    Files.move(partial.resolve("model/more.txt"), partial.resolve("more.txt"));
    assertRefused(
        partial
            + ": is of another command, or the model has changed since: delete it, or write elsewhere");
    Files.delete(partial.resolve("more.txt"));
    fold();
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
  }

  @Test
  void filesThatChangeDuringTheRunAreNotPutInPlace() throws IOException {
    for (String name : List.of("config.json", "link", "more.txt")) {
      Path file = partial.resolve("model").resolve(name);
      assertThatThrownBy(
              foldWith(
                  () -> {
                    Files.deleteIfExists(file);
                    Files.createSymbolicLink(file, mine);
                  }))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(file.toString());
      assertThat(mine).hasContent("mine");
      assertThat(file).isSymbolicLink();
      assertThat(out).doesNotExist();
      delete(partial);
    }
  }

  /** At the place to which the next file is written, and at the place that it gets then. */
  @Test
  void aLinkThatAppearsIsNotWrittenThrough() throws IOException {
    for (String name : List.of("part.safetensors", "model/" + SHARD)) {
      assertThatThrownBy(foldWith(() -> Files.createSymbolicLink(partial.resolve(name), mine)))
          .isInstanceOf(FileSystemException.class);
      assertThat(mine).hasContent("mine");
      assertThat(partial.resolve(name)).isSymbolicLink();
      assertThat(out).doesNotExist();
      delete(partial);
    }
  }

  /** A corrupt shard: what differs is not taken up, and never put in place without a proof. */
  @Test
  void whatDiffersIsNotTakenUp() throws IOException {
    String tensor = "model.layers.1.self_attn.o_proj.weight";
    Plan[] plans = new Plan[1];
    assertThat(
            fold(
                    plan -> {
                      plans[0] = plan;
                      return plan;
                    },
                    true,
                    first(() -> {}))
                .isInPlace())
        .isTrue();
    delete(out);
    assertThat(plans[0].edits()).doesNotContainKey(tensor);
    UnaryOperator<Plan> wrong =
        plan -> {
          Map<String, Edit> edits = new LinkedHashMap<>(plan.edits());
          edits.put(tensor, new Edit(tensor, List.of(new Step.Scale(1.1))));
          return new Plan(
              plan.goal(),
              plan.norms(),
              edits,
              plan.added(),
              plan.falseSettings(),
              plan.modelType());
        };
    assertThat(fold(wrong, true, _ -> {}).isInPlace()).isFalse();
    for (boolean prove : new boolean[] {false, true}) {
      assertThatThrownBy(() -> fold(wrong, prove, _ -> {}))
          .isInstanceOf(FileSystemException.class)
          .hasMessage(
              partial
                  + ": holds a result that differs from the model: delete it, or write elsewhere");
    }
    assertThat(out).doesNotExist();
    delete(partial);
    fold();
  }

  /** A shard that cannot be read any more differs, too. */
  @Test
  void whatCannotBeComparedIsNotTakenUp() throws IOException {
    leave();
    Path shard = partial.resolve("model").resolve(SHARD);
    FileTime time = Files.getLastModifiedTime(shard);
    try (FileChannel channel = FileChannel.open(shard, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap("no header".getBytes()), 8);
    }
    Files.setLastModifiedTime(shard, time);
    assertThatThrownBy(() -> fold(unaltered(), true, _ -> {}))
        .hasMessageContaining(shard.toString());
    assertRefused(
        partial + ": holds a result that differs from the model: delete it, or write elsewhere");
  }

  @Test
  void aFileThatIsAddedLaterLosesNoFinishedShard() throws IOException {
    leave();
    Files.writeString(in.resolve("added.txt"), "added");
    assertThat(fold(unaltered(), true, _ -> {}).kept()).isPositive();
    assertThat(out.resolve("added.txt")).hasContent("added");
  }

  /** Killed after the last step, a process leaves a folder with its journal alone. */
  @Test
  void whatIsLeftOfAFinishedResultIsDeleted() throws IOException {
    byte[][] journal = new byte[1][];
    fold(
        unaltered(),
        true,
        _ -> {
          try {
            journal[0] = Files.readAllBytes(partial.resolve("journal"));
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
    createPartial();
    Files.write(partial.resolve("journal"), journal[0]);
    assertThatThrownBy(this::fold)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("which exists already");
    assertThat(partial).doesNotExist();
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
    createPartial();
    Files.writeString(partial.resolve("journal"), "of somebody else");
    assertThatThrownBy(this::fold).isInstanceOf(IllegalArgumentException.class);
    assertThat(partial.resolve("journal")).hasContent("of somebody else");
  }

  /** Whose it is can change it when it has become OUT. */
  @Test
  void aFolderOfAnotherUserIsNotTakenUp() throws IOException {
    leave();
    try {
      Files.setAttribute(partial, "unix:uid", 12345);
    } catch (FileSystemException _) {
      assertThat(System.getProperty("user.name")).isNotEqualTo("root");
      return;
    }
    assertRefused(partial + ": belongs to another user: delete it, or write elsewhere");
  }

  /** Others could have put files there; a folder that they may only read is closed. */
  @Test
  void aFolderThatOthersMayWriteIsRefusedBeforeAnythingIsWritten() throws IOException {
    leave();
    for (String open : List.of("rwx-w----", "rwx----w-")) {
      Files.setPosixFilePermissions(partial, PosixFilePermissions.fromString(open));
      byte[] journal = Files.readAllBytes(partial.resolve("journal"));
      Files.write(partial.resolve("journal"), new byte[0]);
      assertRefused(partial + ": may be written by other users: delete it, or write elsewhere");
      assertThat(partial.resolve("journal")).isEmptyFile();
      Files.write(partial.resolve("journal"), journal);
    }
    Files.setPosixFilePermissions(partial, PosixFilePermissions.fromString("rwxr-xr-x"));
    fold(
        unaltered(),
        true,
        first(
            () ->
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(partial)))
                    .isEqualTo("rwx------")));
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
  }

  @Test
  void onlyWhatIsAtOutHasAppeared() throws IOException {
    Path missing = folder.resolve("missing");
    Files.createDirectory(out);
    assertThatThrownBy(() -> OutFolder.put(missing, out))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining(missing.toString());
    Files.writeString(out.resolve("theirs"), "theirs");
    assertThatThrownBy(() -> OutFolder.put(in, out)).isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void aJournalThatAKilledProcessDidNotFinishIsTakenUp() throws IOException {
    leave();
    Path journal = partial.resolve("journal");
    String text = Files.readString(journal);
    Files.writeString(journal, text + "1 2 3");
    assertThat(fold(unaltered(), true, _ -> {}).kept()).isEqualTo(1);
    assertThat(RewritingTest.files(out)).isEqualTo(whole);
    delete(out);
    for (String begun : List.of("", text.substring(0, 20))) {
      createPartial();
      Files.writeString(journal, begun);
      fold();
      assertThat(RewritingTest.files(out)).isEqualTo(whole);
      delete(out);
    }
  }

  /** OUT is where its path leads, also past a link and back. */
  @Test
  void thePlaceThatIsCheckedIsTheOneThatIsWritten() throws IOException {
    Path other = Files.createDirectories(folder.resolve("other/deep"));
    Path link = Files.createSymbolicLink(folder.resolve("to"), other);
    Path place = link.resolve("../result");
    out = place;
    fold();
    assertThat(RewritingTest.files(folder.resolve("other/result"))).isEqualTo(whole);
    assertThat(folder.resolve("result")).doesNotExist();
    for (String name : List.of(".", "..")) {
      assertThatThrownBy(
              () -> {
                out = other.resolve(name);
                fold();
              })
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("it must name a folder");
    }
  }
}
