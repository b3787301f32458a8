package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.NormSite;
import io.github.rmsnorm4j.models.StoredModel;
import io.github.rmsnorm4j.models.transformer.LayerwiseLogits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Compares a model with a result that was made from it. It reads both as they are stored, and knows
 * the plan's goal alone. So it also finds the faults of a plan.
 *
 * @param model the model
 * @param norms its norms
 * @param map a file of rules that is used instead of the family's own
 * @param goal what the result is for
 * @param notRun why the whole model cannot be run, empty if it can
 */
record Comparison(
    StoredModel model, ModelNorms norms, Optional<Path> map, Goal goal, Optional<String> notRun) {

  Proof prove(Path written, LongConsumer progress) throws IOException {
    boolean converted = goal == Goal.CONVERT;
    try (StoredModel result = StoredModel.open(written)) {
      Side before = new Side(norms, model.tensors());
      Side after = new Side(norms(result), result.tensors());
      List<Finding> findings =
          new ArrayList<>(new SiteProof(before, after, converted, progress).findings());
      if (converted) {
        findings.addAll(new CentreProof(before, after, progress).findings());
      }
      findings.add(new CopyProof(before, after, converted, progress).finding());
      Optional<String> reason = notRun.isPresent() ? notRun : LayerwiseLogits.unsupported(written);
      Optional<WholeModel> whole =
          reason.isPresent()
              ? Optional.empty()
              : new LogitsProof(model.tensors(), progress).compare(model.path(), written);
      return new Proof(findings, whole, reason.orElse("its own logits are not finite"));
    }
  }

  /** The result's norms. A map describes the model, so its LayerNorm is RMSNorm in the result. */
  private ModelNorms norms(StoredModel result) throws IOException {
    ModelNorms found = result.norms(map);
    if (goal != Goal.CONVERT || map.isEmpty()) {
      return found;
    }
    return new ModelNorms(
        found.family(),
        found.norms().stream().map(Comparison::rms).toList(),
        found.embeddings(),
        found.writers(),
        found.head(),
        found.tied(),
        found.ownHead(),
        found.headScale(),
        found.untiedSettings(),
        found.convertedType(),
        found.notConverted(),
        found.unknown());
  }

  private static NormSite rms(NormSite site) {
    return site.withSpec(site.spec().withKind(NormSpec.Kind.RMS_NORM));
  }
}
