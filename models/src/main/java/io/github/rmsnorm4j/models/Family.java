package io.github.rmsnorm4j.models;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.github.rmsnorm4j.NormSpec;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rules for the norms of a family of models, as a file has them; a text that is not there is
 * empty. Names are patterns, without the ending {@code .weight} or {@code .bias}.
 *
 * @param name what users call the family
 * @param source where the rules were read: files, each with its version
 * @param modelTypes the values of {@code model_type} in {@code config.json}
 * @param ggufArchitectures the values of {@code general.architecture} in a GGUF file
 * @param prefixes what may stand for {@code {prefix}}; the first with which there is an embedding
 * @param counts for each word that counts layers, the settings that say how many there are
 * @param further for such a word, the settings that say how many layers for further tokens are
 *     stored behind the others
 * @param mayLack for such a word, a tensor without which there are no such layers; {@code *} at its
 *     end stands for anything
 * @param width the settings that say how wide the residual stream is
 * @param inputsFirst last parts of the names of matrices that are stored (inputs, outputs)
 * @param embeddings the token embedding, and learned positions
 * @param head the projection to the logits
 * @param tied when the head is the token embedding
 * @param tiedHeadPowerOfWidth a tied head's logits are multiplied by this power of the width
 * @param headScaled the settings that say whether they are; none, or not set: if it is tied
 * @param norms the norms, in the order in which a token meets them within a layer
 * @param writers the projections whose outputs are added to the residual stream
 * @param others tensors that no norm's output is multiplied by; {@code *} at the end stands for
 *     anything
 * @param premises settings without which the rules do not hold
 * @param converted the {@code model_type} with RMSNorm instead of LayerNorm
 */
record Family(
    @JsonProperty("family") String name,
    List<String> source,
    List<String> modelTypes,
    List<String> ggufArchitectures,
    List<String> prefixes,
    Map<String, List<String>> counts,
    Map<String, List<String>> further,
    Map<String, String> mayLack,
    List<String> width,
    Set<String> inputsFirst,
    List<NamePattern> embeddings,
    NamePattern head,
    Tied tied,
    double tiedHeadPowerOfWidth,
    List<String> headScaled,
    List<NormRule> norms,
    List<NamePattern> writers,
    List<NamePattern> others,
    List<Premise> premises,
    String converted) {

  Family {
    require(!name.isEmpty(), "lacks family");
    present("head", head);
    present("tied", tied);
    present("counts", counts);
    further = further == null ? Map.of() : further;
    mayLack = mayLack == null ? Map.of() : mayLack;
    counts.forEach(Family::some);
    further.forEach(Family::some);
    some("width", width);
    some("embeddings", embeddings);
    some("norms", norms);
    prefixes = prefixes.isEmpty() ? List.of("") : prefixes;
    for (String prefix : prefixes) {
      require(
          !prefix.matches("(?s).*[{}].*"), "prefixes has '" + prefix + "', a prefix has no braces");
    }
    require(
        Double.isFinite(tiedHeadPowerOfWidth),
        "tied_head_power_of_width is " + tiedHeadPowerOfWidth + ", it must be finite");
  }

  private static void require(boolean holds, String problem) {
    if (!holds) {
      throw new IllegalArgumentException(problem);
    }
  }

  private static void present(String field, Object value) {
    require(value != null, "lacks " + field);
  }

  private static void some(String field, Collection<?> values) {
    require(!values.isEmpty(), field + " is empty, it must have one entry or more");
  }

  /**
   * When the head is the token embedding.
   *
   * @param keys the setting that says so; none if it is tied where no head is stored
   * @param absent what holds where it is not set
   */
  record Tied(List<String> keys, @JsonProperty("default") boolean absent) {
    private static final String IF_NOT_STORED = "if the head is not stored";

    @JsonCreator
    Tied {}

    @JsonCreator
    static Tied of(String text) {
      require(text.equals(IF_NOT_STORED), "it must be an object or '" + IF_NOT_STORED + "'");
      return new Tied(List.of(), true);
    }
  }

  /**
   * A setting without which the rules do not hold.
   *
   * @param key the setting
   * @param mustBe what it must be
   * @param absent what holds where it is not set
   * @param otherwise what the model is like otherwise
   */
  record Premise(
      String key,
      Boolean mustBe,
      @JsonProperty("default") Boolean absent,
      @JsonProperty("else") String otherwise) {
    Premise {
      require(!key.isEmpty(), "lacks key");
      require(!otherwise.isEmpty(), "lacks else");
      mustBe = mustBe == null || mustBe;
      absent = absent == null || absent;
    }
  }

  /**
   * A norm of each layer, or one outside of them.
   *
   * @param name its name
   * @param norm which norm; its epsilon holds where no setting does
   * @param epsilon the settings that hold epsilon
   * @param groups the settings that hold the number of groups of a row; none if the norm has them
   * @param gain whether there is a gain
   * @param heads whether its rows are heads, several of which make the input of a matrix
   * @param consumers the matrices that take its output
   * @param orConsumers those that take it if the first are not there
   * @param kept why the gain cannot be moved into matrices
   * @param note what the model does not tell of it
   * @param optional whether a model may lack it
   * @param onlyIf a setting without which, or with false or 0 in it, a model lacks it
   */
  record NormRule(
      NamePattern name,
      NormSpec norm,
      List<String> epsilon,
      List<String> groups,
      Boolean gain,
      boolean heads,
      List<NamePattern> consumers,
      List<NamePattern> orConsumers,
      String kept,
      String note,
      boolean optional,
      String onlyIf) {
    NormRule {
      present("name", name);
      present("norm", norm);
      gain = gain == null || gain;
      optional |= !onlyIf.isEmpty();
      String is = "norm is '" + norm + "', ";
      // A folded gain is 1, and 1 less the offset must be a number of every type.
      require(norm.gainOffset() == 0 || norm.gainOffset() == 1, is + "its offset must be 0 or 1");
      require(groups.isEmpty() || norm.part().isWhole(), is + "with groups its part must be 1");
    }
  }
}
