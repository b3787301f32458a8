package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.QuantizedTensor;
import io.github.rmsnorm4j.formats.Tensor;
import io.github.rmsnorm4j.formats.TensorFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Which tensors of a file are normalised: those that are named, or all floating ones, except gains
 * and biases.
 *
 * @param file the file
 * @param axis the first axis of a row
 * @param parameters the gain and the bias as far as there are any, which rows must be as wide as
 * @param scales the names of tensors that hold the scales of codes, which are no rows
 */
record TensorChoice(
    TensorFile file, int axis, List<StoredParameter> parameters, Set<String> scales) {
  /** So many are named in an error; a model has hundreds. */
  private static final int LISTED = 12;

  TensorChoice(TensorFile file, int axis, List<StoredParameter> parameters) {
    this(file, axis, parameters, QuantizedTensor.scales(file));
  }

  /**
   * Chooses.
   *
   * @param names names of tensors; if empty, all floating tensors are meant that have two axes or
   *     more and elements, or the only floating tensor
   * @throws IllegalArgumentException if there is no such tensor, or one that does not fit
   */
  List<Tensor> choose(List<String> names) {
    return names.isEmpty() ? allFloating() : named(names);
  }

  private List<Tensor> named(List<String> names) {
    List<Tensor> chosen = new ArrayList<>();
    for (String name : names) {
      Tensor tensor = find(file, name);
      String problem = problem(tensor);
      if (problem != null) {
        throw wrong("tensor " + tensor + ": " + problem);
      }
      if (!chosen.contains(tensor)) {
        chosen.add(tensor);
      }
    }
    return chosen;
  }

  private List<Tensor> allFloating() {
    List<Tensor> floating = floating();
    if (floating.isEmpty()) {
      String besides = scales.isEmpty() ? "" : " besides scales of codes";
      throw wrong("has no floating tensor" + besides + ", it has " + list(file.tensors()));
    }
    List<Tensor> offered = without(floating, tensor -> tensor.shape().isEmpty());
    List<Tensor> chosen =
        floating.size() == 1
            ? floating
            : offered.stream().filter(tensor -> !isParameter(tensor)).toList();
    chosen = without(chosen, tensor -> tensor.elements() == 0);
    if (chosen.isEmpty()) {
      throw wrong(
          "has only tensors of one axis, which are gains and biases in a model; choose with --tensor"
              + " from "
              + list(offered));
    }
    for (Tensor tensor : chosen) {
      String problem = problem(tensor);
      if (problem != null) {
        throw wrong(
            floating.size() == 1
                ? tensor + ": " + problem
                : "tensor %s: %s; choose with --tensor from %s"
                    .formatted(tensor, problem, list(offered)));
      }
    }
    return chosen;
  }

  /** Those that may be rows, gains or biases. */
  List<Tensor> floating() {
    return file.tensors().stream()
        .filter(t -> t.dtype().elementType().isPresent() && !scales.contains(t.name()))
        .toList();
  }

  /** Without those that are so, unless all are: a scale or an empty marker beside rows stays. */
  private static List<Tensor> without(List<Tensor> tensors, Predicate<Tensor> so) {
    List<Tensor> others = tensors.stream().filter(so.negate()).toList();
    return others.isEmpty() ? tensors : others;
  }

  /** Whether a tensor has one axis, as gains and biases have. */
  static boolean isParameter(Tensor tensor) {
    return tensor.shape().size() == 1;
  }

  /** Why a tensor cannot be normalised, or null if it can. */
  String problem(Tensor tensor) {
    if (tensor.dtype().elementType().isEmpty()) {
      return "its elements are neither f64, f32, f16 nor bf16";
    }
    if (scales.contains(tensor.name())) {
      return "its elements are scales of codes";
    }
    long width;
    try {
      width = tensor.width(axis);
    } catch (IllegalArgumentException e) {
      return e.getMessage();
    }
    if (width < 1 || width > Integer.MAX_VALUE) {
      return "its rows are %s wide, they may be 1 to %s".formatted(width, Integer.MAX_VALUE);
    }
    for (StoredParameter parameter : parameters) {
      if (parameter.length() != width) {
        return "the %s has %s elements, the rows are %s wide"
            .formatted(parameter.kind(), parameter.length(), width);
      }
    }
    return null;
  }

  /**
   * The tensor of a name.
   *
   * @throws IllegalArgumentException if there is none; the message lists those there are
   */
  static Tensor find(TensorFile file, String name) {
    return file.tensors().stream()
        .filter(tensor -> tensor.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "%s: has no tensor '%s', it has %s"
                        .formatted(file.path(), name, list(file.tensors()))));
  }

  private IllegalArgumentException wrong(String problem) {
    return new IllegalArgumentException(file.path() + ": " + problem);
  }

  /** Names, types and shapes on one line, cut where there are too many. */
  static String list(List<Tensor> tensors) {
    if (tensors.isEmpty()) {
      return "none";
    }
    String listed =
        tensors.stream().limit(LISTED).map(Tensor::toString).collect(Collectors.joining(", "));
    int more = tensors.size() - LISTED;
    return more > 0 ? listed + " and " + more + " more" : listed;
  }
}
