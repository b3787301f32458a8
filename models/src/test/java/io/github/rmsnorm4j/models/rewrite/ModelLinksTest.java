package io.github.rmsnorm4j.models.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.models.rewrite.Rewriting.Wish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nothing from outside of a model's folder gets into the result, whatever is in the folder. */
class ModelLinksTest {
  private static final String SECRET = "not to be published";

  @TempDir private Path folder;
  private Path in;
  private Path out;
  private Path partial;
  private Path secret;

  @BeforeEach
  void write() throws IOException {
    folder = folder.toRealPath();
    in = TestModel.llama("llama", true).write(folder.resolve("in"), Dtype.F32, 2);
    out = folder.resolve("out");
    partial = folder.resolve("out.partial");
    secret = Files.writeString(folder.resolve("secret.txt"), SECRET);
  }

  private void fold(Path model, LongConsumer progress) throws IOException {
    try (Rewriting rewriting =
        Rewriting.open(model, new Wish(Goal.FOLD, Optional.empty(), true, true))) {
      assertThat(rewriting.write(out, true, progress).difference()).isEmpty();
    }
  }

  private void fold() throws IOException {
    fold(in, _ -> {});
  }

  private void refused(String end) {
    assertThatThrownBy(this::fold)
        .isInstanceOf(RefusedException.class)
        .hasMessage(in + " cannot be folded: " + end);
    assertThat(out).doesNotExist();
    assertThat(partial).doesNotExist();
  }

  private void refusedAsOutside(String name, Object target) throws IOException {
    Path link = in.resolve(name);
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, Path.of(target.toString()));
    refused(
        "%s in it is a link to %s, which is outside of the folder: allowed are links to files in it"
            .formatted(name, target));
    Files.delete(link);
  }

  @Test
  void aLinkThatLeadsOutIsRefusedBeforeAnythingIsWritten() throws IOException {
    Path through = Files.createSymbolicLink(folder.resolve("through"), secret);
    Path same = folder.resolve("in-and-more");
    Files.createDirectory(same);
    for (Object target :
        List.of(
            secret,
            "../secret.txt",
            "../through",
            through,
            folder,
            "..",
            same,
            "../in/../secret.txt")) {
      refusedAsOutside("notes.md", target);
    }
    refusedAsOutside("environ", "/proc/self/environ");
    refusedAsOutside("zero", "/dev/zero");
  }

  @Test
  void anyFileOfAModelAsALinkThatLeadsOutIsRefused() throws IOException {
    for (String name :
        List.of(
            "model.safetensors.index.json", "model-00001-of-00002.safetensors", "config.json")) {
      Path elsewhere = Files.move(in.resolve(name), folder.resolve("elsewhere"));
      refusedAsOutside(name, elsewhere);
      Files.move(elsewhere, in.resolve(name));
    }
    fold();
  }

  @Test
  void aLinkThroughALinkThatLeadsOutIsNamed() throws IOException {
    Files.createSymbolicLink(in.resolve("b"), secret);
    Files.createSymbolicLink(in.resolve("a"), Path.of("b"));
    refused(
        "a in it is a link to b, which is outside of the folder: allowed are links to files in it");
  }

  @Test
  void aLinkThatLeadsNowhereIsRefused() throws IOException {
    Files.createSymbolicLink(in.resolve("tokenizer.json"), Path.of("nowhere.json"));
    refused("tokenizer.json in it is a link to nowhere.json, which cannot be reached");
    Files.delete(in.resolve("tokenizer.json"));
    Files.createSymbolicLink(in.resolve("round"), Path.of("round"));
    refused("round in it is a link to round, which cannot be reached");
  }

  @Test
  void whatIsNoFileIsRefused() throws Exception {
    fifo(in.resolve("pipe"));
    refused("pipe in it is neither a file nor a folder");
  }

  private static void fifo(Path path) throws IOException, InterruptedException {
    assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor()).isZero();
  }

  @Test
  void aNameThatCannotBeWrittenIsRefused() throws Exception {
    String[] command = {"bash", "-c", "touch \"$1\"/$'bad\\xff'", "bash", in.toString()};
    assertThat(new ProcessBuilder(command).start().waitFor()).isZero();
    refused("bad\ufffd in it is a name that is not in the encoding of this system");
  }

  @Test
  void aLinkInsideBecomesAFile() throws IOException {
    Files.writeString(in.resolve("tokenizer.json"), "tokens");
    Files.createSymbolicLink(in.resolve("relative"), Path.of("tokenizer.json"));
    Files.createSymbolicLink(in.resolve("absolute"), in.resolve("tokenizer.json"));
    Files.createSymbolicLink(in.resolve("around"), Path.of("../in/relative"));
    Files.createDirectory(in.resolve("original"));
    Files.writeString(in.resolve("original/params.json"), "{}");
    Files.createSymbolicLink(in.resolve("params.json"), Path.of("original/params.json"));
    Files.createSymbolicLink(in.resolve("latest"), Path.of("original"));
    fold();
    for (String name : List.of("relative", "absolute", "around", "params.json")) {
      assertThat(Files.isSymbolicLink(out.resolve(name))).as(name).isFalse();
      assertThat(out.resolve(name)).hasSameTextualContentAs(in.resolve(name));
    }
    assertThat(out.resolve("original")).doesNotExist();
    assertThat(out.resolve("latest")).doesNotExist();
  }

  /** What changes is the name that programs open; the file behind the link is a copy. */
  @Test
  void theFilesThatChangeMayBeLinksInside() throws IOException {
    fold();
    var whole = RewritingTest.files(out);
    out = folder.resolve("out2");
    for (String name :
        List.of(
            "model.safetensors.index.json", "model-00002-of-00002.safetensors", "config.json")) {
      Files.move(in.resolve(name), in.resolve("x-" + name));
      Files.createSymbolicLink(in.resolve(name), Path.of("x-" + name));
    }
    fold();
    assertThat(RewritingTest.files(out)).containsAllEntriesOf(whole).hasSize(whole.size() + 3);
  }

  private Path snapshot(String repository, String folderName) throws IOException {
    Path cache = folder.resolve(repository);
    Path blobs = Files.createDirectories(cache.resolve("blobs"));
    Path snapshot = Files.createDirectories(cache.resolve(folderName).resolve("2fe3"));
    int hash = 0;
    for (String name : RewritingTest.files(in).keySet()) {
      Path blob = blobs.resolve("b10b" + hash++);
      Files.copy(in.resolve(name), blob);
      Files.createSymbolicLink(
          snapshot.resolve(name), Path.of("../../blobs").resolve(blob.getFileName()));
    }
    return snapshot;
  }

  /** As Hugging Face's hub library keeps what it has fetched. */
  @Test
  void aSnapshotOfTheCacheOfHuggingFaceIsCopied() throws IOException {
    fold();
    var whole = RewritingTest.files(out);
    Path snapshot = snapshot("models--org--name", "snapshots");
    Path link = Files.createSymbolicLink(folder.resolve("link"), snapshot);
    for (Path model : List.of(snapshot, link)) {
      out = folder.resolve("out-" + model.getFileName());
      fold(model, _ -> {});
      assertThat(RewritingTest.files(out)).isEqualTo(whole);
      for (String name : whole.keySet()) {
        assertThat(Files.isSymbolicLink(out.resolve(name))).as(name).isFalse();
      }
    }
    in = snapshot;
    out = folder.resolve("out2");
    partial = folder.resolve("out2.partial");
    refusedAsOutside("notes.md", "../../../secret.txt");
    refusedAsOutside("notes.md", "../../blobs");
    // A blob that is itself a link to elsewhere.
    Files.createSymbolicLink(snapshot.resolve("../../blobs/evil"), secret);
    refusedAsOutside("notes.md", "../../blobs/evil");
  }

  @Test
  void onlyInThatCacheMayLinksLeadToBlobs() throws IOException {
    for (Path model :
        List.of(snapshot("org--name", "snapshots"), snapshot("models--org--name", "others"))) {
      assertThatThrownBy(() -> fold(model, _ -> {}))
          .isInstanceOf(RefusedException.class)
          .hasMessageContaining("which is outside of the folder");
    }
    // A cache whose folder of blobs is another folder of this machine.
    Path snapshot = snapshot("models--org--evil", "snapshots");
    Path blobs = snapshot.resolve("../../blobs").normalize();
    Files.move(blobs, folder.resolve("mine"));
    Files.createSymbolicLink(blobs, folder.resolve("mine"));
    assertThatThrownBy(() -> fold(snapshot, _ -> {}))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("which is outside of the folder");
  }

  /** With an index in it, whose shards would come from there. */
  @Test
  void aFolderNamedAsTheFileOfTensorsIsNotOpened() throws IOException {
    for (boolean link : new boolean[] {false, true}) {
      Path model = folder.resolve("model" + link);
      Files.createDirectory(model);
      Files.copy(in.resolve("config.json"), model.resolve("config.json"));
      if (link) {
        Files.createSymbolicLink(model.resolve("model.safetensors"), in);
        assertThatThrownBy(() -> fold(model, _ -> {}))
            .isInstanceOf(RefusedException.class)
            .hasMessageContaining("model.safetensors in it is a link to " + in);
      } else {
        Files.move(in, model.resolve("model.safetensors"));
        assertThatThrownBy(() -> fold(model, _ -> {}))
            .isInstanceOf(FormatException.class)
            .hasMessage(model.resolve("model.safetensors") + ": is a folder, not a file");
        Files.move(model.resolve("model.safetensors"), in);
      }
    }
  }

  /** What a folder becomes while it is read. */
  private interface Change {
    void make() throws Exception;
  }

  private void refusedIf(Change change) throws IOException {
    AtomicBoolean changed = new AtomicBoolean();
    assertThatThrownBy(
            () ->
                fold(
                    in,
                    _ -> {
                      if (changed.compareAndSet(false, true)) {
                        try {
                          change.make();
                        } catch (Exception e) {
                          throw new AssertionError(e);
                        }
                      }
                    }))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(in.toString());
    assertThat(changed).isTrue();
    assertThat(out).doesNotExist();
  }

  @Test
  void aFolderThatChangesWhileItIsReadIsRefused() throws Exception {
    Path notes = Files.writeString(in.resolve("notes.md"), "mine");
    Path config = in.resolve("config.json");
    Path kept = folder.resolve("kept");

    refusedIf(() -> Files.writeString(in.resolve("added.txt"), "new"));
    Files.delete(in.resolve("added.txt"));

    refusedIf(() -> Files.move(notes, kept));
    Files.move(kept, notes);

    refusedIf(
        () -> {
          Files.move(notes, kept);
          Files.createSymbolicLink(notes, secret);
        });
    Files.delete(notes);
    Files.move(kept, notes);

    refusedIf(
        () -> {
          Files.move(config, kept);
          fifo(config);
        });
    Files.delete(config);
    Files.move(kept, config);

    fold();
    assertThat(out.resolve("notes.md")).hasContent("mine");
  }

  /** The file is opened as it was listed, or not at all. */
  @Test
  void aFileThatBecomesALinkBeforeItIsReadIsNotFollowed() throws IOException {
    Path notes = Files.writeString(in.resolve("notes.md"), "mine");
    try (Rewriting rewriting =
        Rewriting.open(in, new Wish(Goal.FOLD, Optional.empty(), true, true))) {
      Files.delete(notes);
      Files.createSymbolicLink(notes, secret);
      assertThatThrownBy(() -> rewriting.write(out, false, _ -> {}))
          .isInstanceOf(RefusedException.class)
          .hasMessageContaining("notes.md in it is a link to");
    }
    assertThat(out).doesNotExist();
    assertThat(partial).doesNotExist();
  }

  @Test
  void permissionsAreThoseOfTheModel() throws IOException {
    for (var file : RewritingTest.files(in).keySet()) {
      Files.setPosixFilePermissions(in.resolve(file), PosixFilePermissions.fromString("rw-------"));
    }
    Files.setPosixFilePermissions(in, PosixFilePermissions.fromString("r-x--x---"));
    fold(in, _ -> assertThat(partial).satisfies(path -> assertPermissions(path, "rwx--x---")));
    assertPermissions(out, "rwx--x---");
    for (var file : RewritingTest.files(out).keySet()) {
      assertPermissions(out.resolve(file), "rw-------");
    }
    Files.setPosixFilePermissions(in, PosixFilePermissions.fromString("rwx------"));
  }

  private static void assertPermissions(Path path, String permissions) {
    try {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .as(path.toString())
          .isEqualTo(permissions);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aNameMayBeAsLongAsTheSystemAllows() throws IOException {
    String name = "n".repeat(255);
    Files.writeString(in.resolve(name), "long");
    fold();
    assertThat(out.resolve(name)).hasContent("long");
  }
}
