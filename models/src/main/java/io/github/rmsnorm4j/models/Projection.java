package io.github.rmsnorm4j.models;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * A stored matrix W of {@code y = W x + b}.
 *
 * @param weight the tensor of W
 * @param inputsFirst whether its shape is (inputs, outputs), as GPT-2 stores it; otherwise it is
 *     (outputs, inputs)
 * @param bias the tensor of b; empty if the projection has none
 */
public record Projection(String weight, boolean inputsFirst, Optional<String> bias) {

  /** {@return the tensors of W and b} */
  public Stream<String> tensors() {
    return Stream.concat(Stream.of(weight), bias.stream());
  }
}
