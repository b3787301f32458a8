package io.github.rmsnorm4j.cuda.ptx;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.internal.formula.Tensor;
import io.github.rmsnorm4j.internal.quantized.CodeFormat;
import io.github.rmsnorm4j.internal.quantized.CodeFormula;
import io.github.rmsnorm4j.internal.quantized.CodeRule;

/**
 * What decides the text of a kernel whose output becomes codes.
 *
 * @param formula of scales and codes
 * @param output the type to which numbers are rounded before they become codes
 * @param stored whether these numbers are stored, too
 */
public record Codes(CodeFormula formula, ElementType output, boolean stored) {
  /** The rows of codes. No other rows of a forward pass have this place. */
  public static final Tensor CODES = new Tensor("codes", Tensor.Access.ELEMENT, 3);

  /** The rows of scales. */
  public static final Tensor SCALES = new Tensor("scales", Tensor.Access.ELEMENT, 7);

  /** The parameter with a scale that is given for all. */
  public static final String GIVEN = "given_scale";

  /**
   * {@return what it is for codes of a format}
   *
   * @param format of the codes
   * @param rule how they come from numbers
   * @param output the type of these numbers
   * @param stored whether they are stored, too
   */
  public static Codes of(CodeFormat format, CodeRule rule, ElementType output, boolean stored) {
    return new Codes(new CodeFormula(format, rule), output, stored);
  }

  CodeFormat format() {
    return formula.format();
  }

  boolean isGiven() {
    return format().given();
  }

  /** Whether a scale is for the whole row. */
  boolean isOfRow() {
    return format().block() == 0;
  }

  void declare(KernelParameters parameters) {
    RowPlaces.declareRows(parameters, CODES);
    if (isGiven()) {
      parameters.add(KernelParameters.Type.F64, GIVEN);
    } else {
      RowPlaces.declareRows(parameters, SCALES);
    }
  }

  void addTo(RowPlaces places) {
    places.addBytes(CODES);
    if (!isGiven()) {
      places.addRows(SCALES, ElementType.FLOAT32);
    }
  }
}
