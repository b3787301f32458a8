package io.github.rmsnorm4j.models.families;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * What a family's models look like: a {@code config.json}, and a line for each tensor.
 *
 * <p>A line holds a name, what the tensor is (see {@link #values}), and its axes. In a name, {@code
 * *} counts the layers, of which there are {@code L}, and {@code #} the layers of a decoder, of
 * which there are {@code M}. An axis is a sum of the sizes that {@link #sizes} has for letters,
 * such as {@code Q+2K}.
 *
 * @param config the fields of {@code config.json}
 * @param sizes a size for each letter
 * @param tensors the lines
 */
record Layout(Map<String, Object> config, Map<String, Integer> sizes, String tensors) {

  /** A model with random elements. */
  TinyModel model(StoredType type, long seed) {
    Random random = new Random(seed);
    Map<String, Values> values = new LinkedHashMap<>();
    for (String line : lines()) {
      String[] words = line.split(" +");
      List<Integer> shape = Arrays.stream(words).skip(2).map(this::size).toList();
      values.put(words[0], values(words[1], type, shape, random));
    }
    return new TinyModel(config, values);
  }

  /** The lines in the order of layers, with numbers in place of {@code *} and {@code #}. */
  private List<String> lines() {
    Map<String, List<String>> groups = new LinkedHashMap<>();
    for (String line : tensors.strip().split("\\s*\n\\s*")) {
      groups.computeIfAbsent(line.split("[*#]|$", 2)[0], _ -> new ArrayList<>()).add(line);
    }
    List<String> all = new ArrayList<>();
    for (List<String> group : groups.values()) {
      String first = group.getFirst();
      int layers = first.contains("*") ? sizes.get("L") : first.contains("#") ? sizes.get("M") : 1;
      for (int layer = 0; layer < layers; layer++) {
        for (String line : group) {
          all.add(line.replaceAll("[*#]", Integer.toString(layer)));
        }
      }
    }
    return all;
  }

  private int size(String sum) {
    int size = 0;
    for (String term : sum.split("\\+")) {
      String letter = term.replaceAll("[0-9]", "");
      String factor = term.replaceAll("[^0-9]", "");
      size += (factor.isEmpty() ? 1 : Integer.parseInt(factor)) * sizes.getOrDefault(letter, 1);
    }
    return size;
  }

  /**
   * Elements for what a tensor is. Means are far from 0 and gains far from 1, some are negative and
   * one is dead, so that no step of a rewriting can be left out unseen.
   */
  private static Values values(String what, StoredType type, List<Integer> shape, Random random) {
    double[] elements = new double[Values.count(shape)];
    int columns = shape.isEmpty() ? 1 : shape.getLast();
    StoredType stored =
        switch (what) {
          case "mask" -> StoredType.U8;
          case "frequencies" -> StoredType.F32;
          default -> type;
        };
    for (int i = 0; i < elements.length; i++) {
      elements[i] =
          stored.round(
              switch (what) {
                case "embedding" -> 0.7 + random.nextGaussian();
                case "matrix", "conv" ->
                    (0.5 + random.nextGaussian())
                        / Math.sqrt(what.equals("conv") ? shape.getFirst() : columns);
                case "bias" -> 0.4 + 0.5 * random.nextGaussian();
                case "gain" -> gain(i, random);
                case "gain-1" -> gain(i, random) - 1;
                case "mask" -> i % columns <= i / columns ? 1 : 0;
                case "frequencies" -> Math.pow(10_000, -i / (double) columns);
                default -> throw new IllegalArgumentException("'" + what + "' is no tensor");
              });
    }
    return new Values(stored, shape, elements);
  }

  private static double gain(int index, Random random) {
    double size = 0.3 + 2.2 * random.nextDouble();
    return index == 3 ? 0 : random.nextInt(4) == 0 ? -size : size;
  }

  /** The same with other fields in {@code config.json}. */
  Layout with(Object... fields) {
    Map<String, Object> changed = new LinkedHashMap<>(config);
    for (int i = 0; i < fields.length; i += 2) {
      changed.put((String) fields[i], fields[i + 1]);
    }
    return new Layout(changed, sizes, tensors);
  }

  /** The same with another text in the lines. */
  Layout replace(String text, String other) {
    return new Layout(config, sizes, tensors.replace(text, other));
  }

  /** The same less the lines that have one of the texts. */
  Layout without(String... texts) {
    StringBuilder kept = new StringBuilder();
    for (String line : tensors.split("\n")) {
      if (Arrays.stream(texts).noneMatch(line::contains)) {
        kept.append(line).append('\n');
      }
    }
    return new Layout(config, sizes, kept.toString());
  }

  /** The same with further lines. */
  Layout plus(String lines) {
    return new Layout(config, sizes, tensors + lines);
  }

  static Layout of(String type, String architecture, Map<String, Integer> sizes, String tensors) {
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("architectures", List.of(architecture));
    config.put("model_type", type);
    return new Layout(config, Map.copyOf(sizes), tensors);
  }
}
