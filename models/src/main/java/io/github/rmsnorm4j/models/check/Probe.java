package io.github.rmsnorm4j.models.check;

import io.github.rmsnorm4j.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Rows that tell norms apart: run through the norm in question and checked again, they exclude what
 * the first rows could not.
 *
 * @param x the rows
 * @param residual what is added to each, empty without a residual
 * @param told pairs of norms that these rows tell apart
 * @param untold pairs that they do not, in words
 */
public record Probe(List<double[]> x, List<double[]> residual, int told, List<String> untold) {
  private static final int SEEDS = 6;
  private static final int MOST_NORMS = 24;
  private static final double LEAST_FLOAT16 = 0x1p-12;

  /** Makes a row out of normal numbers. */
  private interface Shape {
    double[] of(double[] normal);
  }

  static Probe of(List<Hypothesis> norms, Sample sample) {
    List<Hypothesis> some = norms.subList(0, Math.min(MOST_NORMS, norms.size()));
    Builder builder = new Builder(some, sample);
    for (int seed = 0; seed < SEEDS && !builder.done(); seed++) {
      for (Shape shape : shapes(some, sample.width())) {
        builder.offer(shape, new Random(seed));
      }
    }
    // So many show how accurate the sums are.
    for (int seed = SEEDS; builder.x.size() < Window.ENOUGH_ROWS; seed++) {
      builder.keep(builder.made(normal -> normal, new Random(seed)));
    }
    return new Probe(builder.x, builder.residual, builder.told(), builder.untold());
  }

  private static List<Shape> shapes(List<Hypothesis> norms, int width) {
    List<Shape> shapes = new ArrayList<>();
    shapes.add(normal -> normal);
    shapes.add(normal -> Arrays.stream(normal).map(v -> v + 8).toArray());
    shapes.add(
        normal -> {
          double[] row = normal.clone();
          row[width / 2] = 64;
          return row;
        });
    // Each part has another mean square.
    shapes.add(
        normal -> {
          double[] row = normal.clone();
          Arrays.setAll(row, i -> normal[i] * (4.0 - 3.5 * i / width));
          return row;
        });
    Set<Double> scales = new LinkedHashSet<>();
    for (Hypothesis norm : norms) {
      double epsilon = norm.statistic().epsilon();
      scales.addAll(List.of(Math.sqrt(epsilon), 8 * Math.sqrt(epsilon), epsilon));
    }
    scales.stream()
        .filter(scale -> scale > 0x1p-50)
        .sorted(Comparator.reverseOrder())
        .forEach(scale -> shapes.add(normal -> scaled(normal, scale)));
    return shapes;
  }

  private static double[] scaled(double[] row, double by) {
    return Arrays.stream(row).map(v -> v * by).toArray();
  }

  /** One row with its residual, or null. */
  private record Row(double[] x, double[] residual) {}

  /** Keeps the rows that tell a pair apart that no row before them did. */
  private static final class Builder {
    private final List<Hypothesis> norms;
    private final Sample sample;
    private final Types types;
    private final ElementType type;
    private final List<Parameters> parameters;
    private final boolean[][] told;
    private final List<double[]> x = new ArrayList<>();
    private final List<double[]> residual = new ArrayList<>();

    Builder(List<Hypothesis> norms, Sample sample) {
      this.norms = norms;
      this.sample = sample;
      this.types = sample.types();
      this.type =
          norms.stream()
              .map(norm -> norm.form().input())
              .filter(input -> input.bytes() <= types.x().bytes())
              .max(Comparator.comparingInt(ElementType::bytes))
              .orElse(types.x());
      this.parameters = norms.stream().map(norm -> Parameters.of(norm.form(), sample)).toList();
      this.told = new boolean[norms.size()][norms.size()];
    }

    boolean done() {
      return untold().isEmpty();
    }

    Row made(Shape shape, Random random) {
      double[] normal = new double[sample.width()];
      Arrays.setAll(normal, i -> random.nextGaussian());
      double[] row = rounded(shape.of(normal), type);
      if (types.residual() == null) {
        return new Row(row, null);
      }
      Arrays.setAll(normal, i -> random.nextGaussian());
      return new Row(row, rounded(shape.of(normal), types.residualNarrowest()));
    }

    private static double[] rounded(double[] row, ElementType type) {
      double least = Arrays.stream(row).map(Math::abs).max().orElse(0);
      boolean tooSmall = type == ElementType.FLOAT16 && least < LEAST_FLOAT16;
      double scale = tooSmall ? LEAST_FLOAT16 / least : 1;
      return Arrays.stream(row).map(v -> type.round(v * scale)).toArray();
    }

    void offer(Shape shape, Random random) {
      Row row = made(shape, random);
      List<Elements> elements = new ArrayList<>();
      for (int i = 0; i < norms.size(); i++) {
        Form form = norms.get(i).form();
        PreparedRow prepared = PreparedRow.of(form, types, row.x, row.residual);
        elements.add(new Elements(form, prepared, parameters.get(i)));
      }
      boolean tells = false;
      for (int made = 0; made < norms.size(); made++) {
        double[] y = predicted(norms.get(made), elements.get(made));
        for (int other = 0; y != null && other < norms.size(); other++) {
          if (made != other && !told[made][other] && !makes(other, elements.get(other), y)) {
            told[made][other] = true;
            tells = true;
          }
        }
      }
      if (tells) {
        keep(row);
      }
    }

    void keep(Row row) {
      x.add(row.x);
      if (row.residual != null) {
        residual.add(row.residual);
      }
    }

    /** Null where it is not finite, or all zero. */
    private static double[] predicted(Hypothesis norm, Elements row) {
      double scale = row.scale(norm.statistic());
      double[] y = new double[row.width()];
      Arrays.setAll(y, i -> row.at(i, scale, row.centre(scale)));
      boolean finite = Arrays.stream(y).allMatch(Double::isFinite);
      return finite && Arrays.stream(y).anyMatch(v -> v != 0) ? y : null;
    }

    private boolean makes(int norm, Elements row, double[] y) {
      Form form = norms.get(norm).form();
      long allowed = Window.of(form, row, Window.FULL) * Window.unit(form);
      double scale = row.scale(norms.get(norm).statistic());
      return ScaleRange.of(form, row, y)
          .filter(range -> range.distance(form.float64(), scale) <= allowed)
          .isPresent();
    }

    int told() {
      return norms.size() * (norms.size() - 1) / 2 - untold().size();
    }

    List<String> untold() {
      List<String> untold = new ArrayList<>();
      for (int a = 0; a < norms.size(); a++) {
        for (int b = a + 1; b < norms.size(); b++) {
          if (!told[a][b] || !told[b][a]) {
            String first = norms.get(a).words(types, sample.width());
            untold.add(first + " / " + norms.get(b).words(types, sample.width()));
          }
        }
      }
      return untold;
    }
  }
}
