package io.github.rmsnorm4j.internal.lowering.machine;

import io.github.rmsnorm4j.CoveringArray;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.EpsilonPlacement;
import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.NormSpec;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.formula.Backward;
import io.github.rmsnorm4j.internal.formula.BackwardFormula;
import io.github.rmsnorm4j.internal.formula.Forward;
import io.github.rmsnorm4j.internal.formula.Program;
import io.github.rmsnorm4j.internal.formula.Stage;
import io.github.rmsnorm4j.internal.formula.Storage;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What a backward kernel is for.
 *
 * @param x the type of what is kept
 * @param residual the type of the gradient that is added; null without one
 * @param over the rows that dx is written over; itself for rows of its own
 * @param bfloat16 whether the processor rounds to bfloat16 itself, if it has 512 bits
 * @param streams whether dx has non-temporal stores
 * @param strips whether rows of any width are added to columns strip by strip
 */
record BackwardKind(
    Keep keep,
    boolean centred,
    EpsilonPlacement placement,
    ElementType x,
    ElementType dy,
    ElementType dx,
    ElementType residual,
    Tensor over,
    boolean gain,
    boolean bias,
    boolean gainGradient,
    boolean biasGradient,
    boolean bfloat16,
    boolean streams,
    boolean strips) {
  private static final List<Tensor> OVER = List.of(Backward.DX, Backward.DY, Forward.RESIDUAL);

  /** How many values each choice has, in the order of the record. */
  private static final int[] SIZES = {3, 2, 3, 3, 3, 3, 4, 3, 2, 2, 2, 2, 2, 2, 2};

  private static final int DY = 4;
  private static final int DX = 5;
  private static final int RESIDUAL = 6;
  private static final int PLACE = 7;
  private static final int STREAMS = 13;

  /** Kinds that have all pairs of choices. */
  static List<BackwardKind> ofPairs(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return CoveringArray.ofPairs(SIZES, BackwardKind::isPossible, random).stream()
        .map(BackwardKind::of)
        .flatMap(kind -> random.nextInt(4) > 0 ? Stream.of(kind) : Stream.of(kind, kind.float64()))
        .toList();
  }

  /** The same with float64 rows. */
  private BackwardKind float64() {
    ElementType type = ElementType.FLOAT64;
    return new BackwardKind(
        keep,
        centred,
        placement,
        type,
        type,
        type,
        residual == null ? null : type,
        over,
        gain,
        bias,
        gainGradient,
        biasGradient,
        bfloat16,
        streams,
        strips);
  }

  boolean isFloat64() {
    return x == ElementType.FLOAT64;
  }

  /** The compute type, which columns are in. */
  ElementType columnType() {
    return isFloat64() ? x : ElementType.FLOAT32;
  }

  /** Rows that dx is written over are of its type; then its stores are as usual. */
  private static boolean isPossible(int[] row) {
    int open = CoveringArray.OPEN;
    if (row[STREAMS] == 1 && row[PLACE] > 0) {
      return false;
    }
    int over = row[PLACE] == open || row[PLACE] == 0 ? open : row[row[PLACE] == 1 ? DY : RESIDUAL];
    return over == open || row[DX] == open || over == row[DX];
  }

  private static BackwardKind of(int[] row) {
    List<ElementType> types = ForwardKind.TYPES;
    return new BackwardKind(
        Keep.values()[row[0]],
        row[1] == 1,
        EpsilonPlacement.values()[row[2]],
        types.get(row[3]),
        types.get(row[DY]),
        types.get(row[DX]),
        row[RESIDUAL] == types.size() ? null : types.get(row[RESIDUAL]),
        OVER.get(row[PLACE]),
        row[8] == 1,
        row[9] == 1,
        row[10] == 1,
        row[11] == 1,
        row[12] == 1,
        row[STREAMS] == 1,
        row[14] == 1);
  }

  boolean fromOutput() {
    return keep == Keep.OUTPUT;
  }

  /** The bias that the kernel needs to come back from the output. */
  boolean takesBias() {
    return fromOutput() && bias;
  }

  /**
   * Whether the last two vectors of a row are never rounded together. What is behind the row is 0
   * divided by a gain of 0 there, and vectors with a NaN are rounded one by one.
   */
  boolean roundsNoEnds(int bits) {
    boolean pairs = bits == 256 || bfloat16;
    return fromOutput() && gain && dx == ElementType.BFLOAT16 && pairs;
  }

  /** Of rows that are not long. */
  private static final int WIDTH = 1000;

  private boolean rounds(int bits) {
    return bfloat16 && bits == 512;
  }

  List<Stage> stages() {
    return stages(gainGradient);
  }

  /** The same with a gradient of the gain, or without it. */
  List<Stage> stages(boolean gainGradient) {
    Map<Tensor, ElementType> types =
        new TreeMap<>(Map.of(Forward.X, x, Backward.DY, dy, Backward.DX, dx));
    if (residual != null) {
      types.put(Forward.RESIDUAL, residual);
    }
    NormSpec spec = ForwardKind.spec(centred, placement);
    boolean keptStatistic = keep != Keep.NOTHING;
    BackwardFormula formula =
        new BackwardFormula(
            spec, fromOutput(), keptStatistic, gain, takesBias(), gainGradient, biasGradient);
    Storage storage = new Storage(isFloat64(), PlainBackEnd.NARROW, types);
    List<Stage> stages = new ArrayList<>();
    for (Program.Step step : formula.program(storage, WIDTH, WIDTH, true).steps()) {
      stages.add(step.stage());
    }
    return stages;
  }

  Target target(int bits, int width) {
    boolean adds = gainGradient || biasGradient;
    int narrow = MachineKernel.target(stages(), bits, width, streams).width();
    int group = narrow > 0 ? bits / Double.SIZE : strips && adds ? MachineKernel.STRIPPED : 1;
    return new Target(
        stages(), bits, narrow, group, rounds(bits), streams, prefetched(bits), false);
  }

  private int prefetched(int bits) {
    return !streams ? 0 : bits == 512 ? Short.BYTES : Long.BYTES;
  }

  /** Bytes that dx is off from where it is aligned, see {@link ForwardKind#shift}. */
  int shift(Target target, int width) {
    return target.peels() ? (width + 1) % 3 * dx.bytes() : 0;
  }
}
