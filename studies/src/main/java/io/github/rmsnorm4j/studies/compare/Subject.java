package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.ElementType;

/**
 * What the variants are compared on.
 *
 * @param pass which way
 * @param type of the elements
 * @param shape of the tensors
 */
public record Subject(Pass pass, ElementType type, Shape shape) {
  /** Bytes of one tensor. */
  long tensorBytes() {
    return shape.elements() * type.bytes();
  }

  /** For example {@code forward, float32, 128 x 4096}. */
  @Override
  public String toString() {
    return pass + ", " + type + ", " + shape;
  }
}
