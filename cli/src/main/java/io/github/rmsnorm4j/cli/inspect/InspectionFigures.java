package io.github.rmsnorm4j.cli.inspect;

import io.github.rmsnorm4j.models.InspectedNorm;
import io.github.rmsnorm4j.models.Inspection;
import io.github.rmsnorm4j.models.ModelNorms;
import io.github.rmsnorm4j.models.rewrite.Prospects;
import java.util.List;
import java.util.Optional;

/**
 * What {@code inspect --json} writes.
 *
 * @param model the norms with the names of the model's tensors
 * @param norms every norm, and what its gain is like
 * @param remarks what a user of the model should know
 * @param places the norms again, those of one place in all layers once, as the text has them
 */
public record InspectionFigures(
    ModelNorms model, List<InspectedNorm> norms, List<String> remarks, List<Place> places) {
  /**
   * One place.
   *
   * @param name the name, N for the number of the layer
   * @param norms how many there are; of settings alone 1
   * @param kind RMSNorm, LayerNorm or L2 norm
   * @param like the text of the norm, as {@code --like} takes it
   * @param per what has a statistic of its own: row, head or group
   * @param castOrder its cast order
   * @param gainOffset what is added to the stored gain
   * @param epsilon its epsilon
   * @param epsilonFrom the setting that holds it; empty if none does
   * @param java a line of Java that builds it
   */
  public record Place(
      String name,
      int norms,
      String kind,
      String like,
      String per,
      String castOrder,
      double gainOffset,
      double epsilon,
      Optional<String> epsilonFrom,
      String java) {}

  /** {@return what was found, and the places of it} */
  public static InspectionFigures of(Inspection found, Prospects prospects) {
    List<Place> places =
        NormGroup.of(found.norms(), prospects).stream()
            .map(group -> new GroupText(group).place())
            .toList();
    return new InspectionFigures(found.model(), found.norms(), found.remarks(), places);
  }
}
