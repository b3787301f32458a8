package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.NormSpec;
import java.util.List;
import java.util.Locale;

/**
 * How well one norm explains Y.
 *
 * @param norm the norm in words
 * @param spec the text of its {@link NormSpec}, or null if this library does not have it
 * @param kind RMSNorm, or LayerNorm with the way its mean and variance are taken
 * @param castOrders the cast orders with this formula; more than one where the types make no
 *     difference between them
 * @param epsilon its epsilon
 * @param epsilonAt the place of epsilon: inside, outside or floor
 * @param part the number of elements that the mean square is of
 * @param gainOffset what is added to the gain
 * @param gainType the type that the gain with its offset is rounded to, or null
 * @param residualRounding when the sum with the residual is rounded, or null
 * @param inputType the type of the row as the norm saw it
 * @param outputType the type that the output was rounded to
 * @param biasAddition how the bias is added: rounded or fused
 * @param equal how many elements are equal to Y
 * @param elements how many elements were compared
 * @param largestUlp the largest difference, in last places of the output's type
 * @param explained the share of the residual that it explains: 1 - |Y - predicted|^2 / |Y -
 *     exact|^2
 * @param rowsByUlp how many rows need an rstd that is 0, 1, 2, 3 to 6, or more ulp from the exact
 *     one
 * @param greatestUlp the most that a row needs
 */
public record Finding(
    String norm,
    String spec,
    String kind,
    List<String> castOrders,
    double epsilon,
    String epsilonAt,
    int part,
    double gainOffset,
    String gainType,
    String residualRounding,
    String inputType,
    String outputType,
    String biasAddition,
    long equal,
    long elements,
    double largestUlp,
    double explained,
    List<Long> rowsByUlp,
    long greatestUlp) {
  private static final long[] CLASSES = {0, 1, 2, 6, Long.MAX_VALUE};

  static Finding of(Hypothesis norm, Types types, int width, Score score) {
    Form form = norm.form();
    return new Finding(
        norm.words(types, width),
        norm.spec(types, width).map(NormSpec::toString).orElse(null),
        norm.kind(),
        norm.orders().stream().map(CastForm::toString).toList(),
        norm.statistic().epsilon(),
        lower(norm.statistic().place()),
        norm.statistic().part(),
        form.offset(),
        form.gain() == null ? null : form.gain().shortName(),
        form.residual() == null ? null : lower(form.residual()),
        form.input().shortName(),
        form.output().shortName(),
        lower(form.bias()),
        score.equal(),
        score.elements(),
        score.largestUlp(),
        score.explained(),
        classes(score.distances()),
        Recovered.greatest(score.distances()));
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static List<Long> classes(long[] distances) {
    Long[] counts = {0L, 0L, 0L, 0L, 0L};
    for (long distance : distances) {
      int index = 0;
      while (distance > CLASSES[index]) {
        index++;
      }
      counts[index]++;
    }
    return List.of(counts);
  }
}
