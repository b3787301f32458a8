package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.FormatException;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.StoredModel;
import io.github.rmsnorm4j.models.transformer.LayerwiseLogits;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Rewrites a model in a folder of Hugging Face: folds its norms, or converts it from LayerNorm to
 * RMSNorm. The model is never written to. The result appears whole, or not at all, and only after
 * it was compared with the model; see {@link #write}. Not for use by several threads.
 */
public final class Rewriting implements Closeable {
  /**
   * What a model is rewritten to.
   *
   * @param goal what for
   * @param map a file of rules to use instead of the family's own
   * @param untie whether a head that is tied to the embedding may become a matrix of its own
   * @param trustGains whether gains are folded that look otherwise than the family stores them
   */
  public record Wish(Goal goal, Optional<Path> map, boolean untie, boolean trustGains) {}

  /**
   * What was written, and the comparison with the model, both as they are stored.
   *
   * @param rounding what the roundings to the stored types did
   * @param findings what was compared, norm by norm and tensor by tensor; none if it was not asked
   *     for
   * @param whole the logits of the whole model; empty if it was not run
   * @param notRun why the whole model was not run, if it was not
   */
  public record Result(
      RoundingCount rounding, List<Compared> findings, Optional<LogitsProof> whole, String notRun) {
    /** {@return what differs too much, so that nothing was put in place; empty if nothing does} */
    public Optional<String> difference() {
      return findings.stream()
          .filter(finding -> !finding.holds())
          .map(finding -> finding.what() + ", most in " + finding.where())
          .findFirst()
          .or(() -> whole.filter(logits -> !logits.holds()).map(_ -> "logits"));
    }
  }

  private final Wish wish;
  private final StoredModel model;
  private final Listing listing;
  private final ResultWriter writer;
  private final ModelNorms norms;
  final RewritingPlan plan;
  final DoubtfulGains doubts;

  private Rewriting(Wish wish, StoredModel model, Listing listing) throws IOException {
    this.wish = wish;
    this.model = model;
    this.listing = listing;
    TensorFile file = model.tensors();
    writer = new ResultWriter(file, listing);
    Inspection inspection = Inspection.of(model, wish.map);
    norms = inspection.model();
    plan = new RewritingPlan(norms, file, wish);
    doubts = DoubtfulGains.of(inspection, plan.norms);
    if (!wish.trustGains) {
      doubts.requireNotShifted(norms.family());
    }
  }

  /**
   * Opens a model and plans its rewriting. Only headers and the gains and biases of norms are read.
   *
   * @param folder the folder of the model
   * @param wish what it is rewritten to
   * @return the rewriting, to be closed
   * @throws RefusedException if the model cannot be rewritten so
   * @throws IOException if it cannot be read
   */
  public static Rewriting open(Path folder, Wish wish) throws IOException {
    if (!Files.exists(folder)) {
      throw new NoSuchFileException(folder.toString(), null, "there is no such folder");
    }
    if (!Files.isDirectory(folder)) {
      throw new FormatException(
          folder,
          "is a file; a folder of Hugging Face can be %s, GGUF is only read".formatted(wish.goal));
    }
    try {
      Listing listing = Listing.of(folder);
      StoredModel model = StoredModel.open(folder);
      try {
        return new Rewriting(wish, model, listing);
      } catch (Throwable e) {
        model.close();
        throw e;
      }
    } catch (RefusedException e) {
      throw new RefusedException(folder, wish.goal, e);
    }
  }

  /** {@return the norms of the model, as the rules of its family find them} */
  public ModelNorms norms() {
    return norms;
  }

  /** {@return what happens to each norm, in the model's order} */
  public List<NormOutcome> outcomes() {
    return plan.norms;
  }

  /** {@return whether the head was tied and is a matrix of its own from now on} */
  public boolean untied() {
    return plan.untied;
  }

  /** {@return the new {@code model_type}, if it changes} */
  public Optional<String> modelType() {
    return plan.modelType;
  }

  /** {@return the norms that are folded though their gains look otherwise than the family's} */
  public List<NormSite> doubtful() {
    return doubts.norms();
  }

  /** {@return the names of the folders within the model's folder, which are not copied} */
  public List<String> folders() {
    return listing.folders();
  }

  /** {@return the names of the files that hold no tensors of the model, which are copied} */
  public List<String> otherFiles() {
    return writer.others;
  }

  /** {@return the name of the file of weights that is read, or of the index of several} */
  public String weights() {
    return model.tensors().path().getFileName().toString();
  }

  /** {@return the names of the files with a second copy of the weights, which are not copied} */
  public List<String> copies() {
    return writer.copies;
  }

  /**
   * {@return about how many bytes {@link #write} reads}
   *
   * @param prove whether the result is compared with the model
   * @throws IOException if the settings cannot be read
   */
  public long bytes(boolean prove) throws IOException {
    int runs = LayerwiseLogits.unsupported(model.path()).isPresent() ? 0 : LogitsProof.DRAWS + 2;
    long bytes = model.tensors().tensors().stream().mapToLong(Tensor::bytes).sum();
    return bytes * (prove ? 3 + runs : 1);
  }

  /**
   * Checks where a result may be put, as {@link #write} does too.
   *
   * @param out the folder to write
   * @throws IllegalArgumentException if it exists and is not empty, is the model or in it, or its
   *     parent does not exist
   * @throws IOException if {@code OUT.partial} exists, or a folder cannot be read
   */
  public void requireFree(Path out) throws IOException {
    OutFolder.requireFree(model.path(), out);
  }

  /**
   * Writes the result. It grows in a folder {@code OUT.partial}, and the last step gives the folder
   * its name. If something is wrong, what was written is deleted.
   *
   * @param out the folder to write, which must not exist or be empty
   * @param prove whether to compare the result with the model before it is put in place
   * @param progress told of bytes as they are read
   * @return what was written, and the proof
   * @throws IllegalArgumentException if nothing can be written there
   * @throws RefusedException if a number is too large for its type, or a head that is stored though
   *     it is tied is no copy of the embedding
   * @throws IOException if something cannot be read or written
   */
  public Result write(Path out, boolean prove, LongConsumer progress) throws IOException {
    try {
      requireUnchanged();
      requireOneHead();
      Map<String, String> edited = writer.edited(norms, plan);
      try (OutFolder to = new OutFolder(model.path(), out)) {
        RoundingCount rounding = writer.write(to, edited, plan, progress);
        Result result =
            prove
                ? compared(to.folder(), rounding, progress)
                : new Result(rounding, List.of(), Optional.empty(), "");
        requireUnchanged();
        if (result.difference().isEmpty()) {
          to.putInPlace();
        }
        return result;
      }
    } catch (RefusedException e) {
      throw new RefusedException(model.path(), wish.goal, e);
    }
  }

  private void requireUnchanged() throws IOException {
    if (!Listing.of(model.path()).equals(listing)) {
      throw new FileSystemException(model.path().toString(), null, "was changed while it was read");
    }
  }

  private void requireOneHead() throws IOException {
    if (plan.untied && plan.storedHead.isPresent()) {
      TensorFile file = model.tensors();
      Tensor head = file.tensor(plan.storedHead.get());
      Tensor embedding = file.tensor(plan.edits.get(head.name()).source());
      if (!StoredMatrix.sameBytes(file, embedding, file, head)) {
        throw new RefusedException(
            "%s is not %s, although tie_word_embeddings is true. Programs disagree on which is the head"
                .formatted(head.name(), embedding.name()));
      }
    }
  }

  private Result compared(Path written, RoundingCount rounding, LongConsumer progress)
      throws IOException {
    List<Compared> findings;
    try (StoredModel result = StoredModel.open(written)) {
      MatrixProof.Side before = new MatrixProof.Side(norms, model.tensors(), progress);
      ModelNorms after = result.norms(wish.map);
      findings =
          new MatrixProof(before, new MatrixProof.Side(after, result.tensors(), progress))
              .findings(wish.goal == Goal.CONVERT, wish.map.isPresent());
    }
    Optional<String> notRun = LayerwiseLogits.unsupported(model.path());
    Optional<LogitsProof> whole =
        notRun.isPresent()
            ? Optional.empty()
            : LogitsProof.compare(model.path(), written, model.tensors(), progress);
    return new Result(rounding, findings, whole, notRun.orElse("its own logits are not finite"));
  }

  /** Closes the model. */
  @Override
  public void close() throws IOException {
    model.close();
  }
}
