package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.StoredModel;
import io.github.rmsnorm4j.models.transformer.LayerwiseLogits;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;

/**
 * Rewrites a model in a folder of Hugging Face: folds its norms, or converts it from LayerNorm to
 * RMSNorm. The model is never written to. The result appears whole, or not at all, and only after
 * it was compared with the model; see {@link #write}. Not for use by several threads.
 */
public final class Rewriting implements Closeable {
  private final StoredModel model;
  private final Optional<Path> map;
  private final ModelNorms norms;
  private final ModelFiles files;
  private final Plan plan;

  /** Why the whole model cannot be run here, empty if it can. */
  private final Optional<String> notRun;

  private Rewriting(
      Listing listing,
      StoredModel model,
      Optional<Path> map,
      Goal goal,
      boolean untie,
      UnaryOperator<Plan> altered)
      throws IOException {
    this.model = model;
    this.map = map;
    this.norms = model.norms(map);
    this.notRun = LayerwiseLogits.unsupported(model.path());
    this.files = ModelFiles.of(listing, model.tensors());
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    model.tensors().tensors().forEach(tensor -> tensors.put(tensor.name(), tensor));
    Planner planner = new Planner(norms, tensors, new StoredVectors(model.tensors()), untie);
    try {
      plan = altered.apply(goal == Goal.FOLD ? planner.fold() : planner.convert());
    } catch (RefusedException e) {
      throw new RefusedException(model.path() + " " + e.getMessage());
    }
  }

  /**
   * A tensor that {@link #write} takes for a copy of another one, which it compares first: of a
   * tied head and a head that is stored too, programs use one or the other.
   *
   * @return the head that is stored though the head is tied; empty if nothing is to be compared
   */
  public Optional<String> assumedCopy() {
    return plan.edits().entrySet().stream()
        .filter(edit -> !edit.getValue().source().equals(edit.getKey()))
        .map(Map.Entry::getKey)
        .filter(head -> plan.added().stream().noneMatch(tensor -> tensor.name().equals(head)))
        .findFirst();
  }

  private void requireOneHead() throws IOException {
    Optional<String> copy = assumedCopy();
    if (copy.isEmpty()) {
      return;
    }
    String head = copy.get();
    String source = plan.edits().get(head).source();
    TensorFile file = model.tensors();
    try (SameBytes same = new SameBytes(_ -> {})) {
      if (!same.of(file, file.tensor(source), file, file.tensor(head))) {
        throw new RefusedException(
            "%s cannot be %s: %s is not %s, although tie_word_embeddings is true. Programs disagree on which is the head"
                .formatted(model.path(), plan.goal(), head, source));
      }
    }
  }

  /**
   * Opens a model and plans its rewriting. Only headers and the gains and biases of norms are read.
   *
   * @param folder the folder of the model
   * @param map a file of rules to use instead of the family's own
   * @param goal what for
   * @param untie whether a head that is tied to the embedding may become a matrix of its own
   * @return the rewriting, to be closed
   * @throws RefusedException if the model cannot be rewritten so
   * @throws IOException if it cannot be read
   */
  public static Rewriting open(Path folder, Optional<Path> map, Goal goal, boolean untie)
      throws IOException {
    return open(folder, map, goal, untie, plan -> plan);
  }

  /** As {@link #open(Path, Optional, Goal, boolean)}, with a plan that is altered. */
  static Rewriting open(
      Path folder, Optional<Path> map, Goal goal, boolean untie, UnaryOperator<Plan> altered)
      throws IOException {
    if (!Files.exists(folder)) {
      throw new NoSuchFileException(folder.toString(), null, "there is no such folder");
    }
    if (!Files.isDirectory(folder)) {
      throw new FormatException(
          folder,
          "is a file; a folder of Hugging Face can be %s, GGUF is only read".formatted(goal));
    }
    Listing listing = Listing.of(folder, goal);
    StoredModel model = StoredModel.open(folder);
    try {
      return new Rewriting(listing, model, map, goal, untie, altered);
    } catch (Throwable e) {
      model.close();
      throw e;
    }
  }

  /** {@return what changes} */
  public Plan plan() {
    return plan;
  }

  /** {@return the norms of the model, as the rules of its family find them} */
  public ModelNorms norms() {
    return norms;
  }

  /**
   * {@return why this project's transformer cannot run the model, and so compare its logits, as one
   * line; empty if it can}
   */
  public Optional<String> notRun() {
    return notRun;
  }

  /** {@return the names of the folders within the model's folder, which are not copied} */
  public List<String> folders() {
    return files.listing().names(entry -> entry.state().isFolder());
  }

  /**
   * {@return the names of other files in the model's folder that look like weights; they are copied
   * as they are}
   */
  public List<String> otherWeights() {
    return files.otherWeights();
  }

  /**
   * {@return about how many bytes {@link #write} reads}
   *
   * @param prove whether the result is compared with the model
   * @throws IOException never, once the headers are read
   */
  public long bytes(boolean prove) throws IOException {
    long bytes = 0;
    int runs = notRun.isPresent() ? 0 : LogitsProof.DRAWS + 2;
    for (Tensor tensor : model.tensors().tensors()) {
      bytes += tensor.bytes() * (prove ? 3 + runs : 1);
    }
    for (Map.Entry<String, Edit> edit : plan.edits().entrySet()) {
      for (Step step : edit.getValue().steps()) {
        bytes +=
            switch (step) {
              case Step.AddProduct product -> model.tensors().tensor(product.weight()).bytes();
              case Step.CentreColumns _ ->
                  model.tensors().tensor(edit.getKey()).bytes() * (prove ? 3 : 1);
              default -> 0;
            };
      }
    }
    return bytes + plan.added().map(tensor -> tensor.bytes() * (prove ? 3 : 1)).orElse(0L);
  }

  /**
   * Checks where a result may be put, as {@link #write} does too. If that result was put there by a
   * process that was killed then, what it left of {@code OUT.partial} is deleted.
   *
   * @param out the folder to write
   * @throws IllegalArgumentException if it exists and is not empty, is the model or in it, or its
   *     parent does not exist
   * @throws IOException if a folder cannot be read
   */
  public void requireUsable(Path out) throws IOException {
    place(out);
  }

  private Path place(Path out) throws IOException {
    Path place = OutFolder.place(model.path(), out);
    WorkFolder.deleteEmptied(place, Fingerprint.of(plan, files));
    OutFolder.requireFree(out);
    return place;
  }

  /**
   * What was written.
   *
   * @param kept how many finished files with tensors were kept from an earlier run
   * @param rounding what the roundings to the stored types did
   * @param proof the comparison with the model; empty if it was not asked for
   */
  public record Result(int kept, RoundingCount rounding, Optional<Proof> proof) {

    /**
     * {@return whether the result is in place; if not, the proof does not hold, and it is in {@code
     * OUT.partial}}
     */
    public boolean isInPlace() {
      return proof.map(Proof::holds).orElse(true);
    }
  }

  /**
   * Writes the result. It grows in a folder {@code OUT.partial}. If that was left by a process that
   * was killed or that had a full disk, its finished files are kept, provided that they were made
   * from the same files by the same plan. The last step gives the folder its name.
   *
   * @param out the folder to write, which must not exist or be empty
   * @param prove whether to compare the result with the model before it is put in place
   * @param progress told of bytes as they are read
   * @return what was written, and the proof. If that does not hold, nothing is put in place
   * @throws IllegalArgumentException if nothing can be written there
   * @throws RefusedException if a number is too large for its type, or {@link #assumedCopy} is no
   *     copy
   * @throws IOException if something cannot be read or written
   */
  public Result write(Path out, boolean prove, LongConsumer progress) throws IOException {
    Path place = place(out);
    requireOneHead();
    TensorFile tensors = model.tensors();
    Listing listing = files.listing();
    new EditedSettings(plan, tensors, files).requireEditable();
    Set<String> names = Set.copyOf(listing.names(entry -> entry.state().isFile()));
    try (WorkFolder work = WorkFolder.begin(place, Fingerprint.of(plan, files), names)) {
      ResultWriter writer =
          new ResultWriter(plan, tensors, files, new StoredVectors(tensors), progress);
      RoundingCount rounding = writer.write(work);
      Optional<Proof> proof = prove ? Optional.of(prove(work, progress)) : Optional.empty();
      listing.requireSame(Listing.of(model.path(), plan.goal()));
      Result result = new Result(writer.kept(), rounding, proof);
      if (result.isInPlace()) {
        work.putInPlace(FileState.of(listing.folder()));
      } else {
        work.refuse();
      }
      return result;
    }
  }

  /** What cannot be compared is not taken up again, as little as what differs. */
  private Proof prove(WorkFolder work, LongConsumer progress) throws IOException {
    try {
      return new Comparison(model, norms, map, plan.goal(), notRun).prove(work.model, progress);
    } catch (FormatException | RefusedException e) {
      work.refuse();
      throw e;
    }
  }

  /** Closes the model. */
  @Override
  public void close() throws IOException {
    model.close();
  }
}
