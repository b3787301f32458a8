package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ResidualRounding;
import java.util.List;

/**
 * How much of Y one norm makes.
 *
 * @param norm the norm in words
 * @param spec the text of its {@link io.github.rmsnorm4j.NormSpec}; null if files as they are
 *     stored give other elements, because a type was rounded in between
 * @param kind RMSNorm, LayerNorm or L2 norm
 * @param castOrders the cast orders with this formula; more than one where the types make no
 *     difference between them
 * @param epsilon its epsilon
 * @param epsilonAt the place of epsilon: inside, outside or floor
 * @param part the number of elements that the mean square is of
 * @param groups the number of groups of a row
 * @param gainOffset what is added to the gain
 * @param gainType the type that the gain with its offset is rounded to, or null
 * @param residualRounding when the sum with the residual is rounded, or null
 * @param inputType the type of the row as the norm saw it
 * @param outputType the type that the output was rounded to
 * @param ownEqual how many elements are equal with the rstd that this library computes
 * @param equal how many elements are equal where the rstd of each row may be a few ulp off
 * @param elements how many elements were compared
 * @param largestUlp the largest difference, in last places of the output's type
 * @param greatestUlp the most that the rstd of a row is off, in ulp
 */
public record Finding(
    String norm,
    String spec,
    String kind,
    List<String> castOrders,
    double epsilon,
    String epsilonAt,
    int part,
    int groups,
    double gainOffset,
    String gainType,
    String residualRounding,
    String inputType,
    String outputType,
    long ownEqual,
    long equal,
    long elements,
    double largestUlp,
    long greatestUlp) {

  static Finding of(Candidate norm, Sample sample, Score score) {
    int groups = norm.spec().groups().count(sample.width());
    ResidualRounding rounding = norm.spec().residualRounding();
    boolean sums = sample.residual != null && Candidate.isNarrow(sample.residualType());
    return new Finding(
        norm.words(sample),
        norm.text(sample),
        norm.kind(),
        norm.orders().stream().map(Candidate::name).toList(),
        norm.epsilon(),
        Candidate.name(norm.place()),
        norm.spec().part().elements(sample.width() / groups),
        groups,
        norm.spec().gainOffset(),
        norm.gain() == null ? null : norm.gain().shortName(),
        sums ? Candidate.name(rounding) : null,
        norm.input().shortName(),
        norm.output().shortName(),
        score.own(),
        score.equal(),
        score.elements(),
        score.largest(),
        score.steps());
  }
}
