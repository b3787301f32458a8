package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.benchmarks.Memory;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/** The memory that all entrants of a contest read and write. */
final class Place {
  final Contest contest;
  final double epsilon;
  final double[] gain;

  /** Null for a norm without. */
  final double[] bias;

  final MemorySegment x;
  final MemorySegment y;

  /** Null unless the contest is a backward one, as are the segments below. */
  final MemorySegment dy;

  final MemorySegment dx;

  /** Float32, whatever the rows are. */
  final MemorySegment dgain;

  final MemorySegment dbias;

  private final Memory memory;
  private final Arena arena;

  /** Made when it is first asked for. */
  private MemorySegment second;

  private Place(
      Contest contest, double epsilon, double[] gain, double[] bias, Memory memory, Arena arena) {
    this.contest = contest;
    this.epsilon = epsilon;
    this.gain = gain;
    this.bias = bias;
    this.memory = memory;
    this.arena = arena;
    x = rows();
    y = rows();
    dy = contest.backward() ? rows() : null;
    dx = contest.backward() ? rows() : null;
    dgain = contest.backward() ? allocate(ElementType.FLOAT32, contest.width()) : null;
    dbias = contest.backward() ? allocate(ElementType.FLOAT32, contest.width()) : null;
  }

  /** Rows as models have them; their elements have few bits, so that every type holds them. */
  static Place random(Contest contest, Arena arena) {
    return random(contest, Memory.NATIVE, arena);
  }

  static Place random(Contest contest, Memory memory, Arena arena) {
    int width = contest.width();
    // Forward 1 and -1: a norm in place goes over its own answers again and again, and other gains
    // would drive them out of range.
    double[] gain =
        new SplittableRandom(-1)
            .doubles(width, 0.5, 2)
            .map(g -> contest.backward() ? Math.round(g * 64) / 64.0 : g < 1.25 ? -1 : 1)
            .toArray();
    double[] bias = contest.kernel().hasBias() ? values(-2, width) : null;
    Place place =
        new Place(
            contest, contest.kernel().spec().epsilon().getAsDouble(), gain, bias, memory, arena);
    for (int r = 0; r < contest.rows(); r++) {
      place.fill(place.x, r, values(r, width));
      if (contest.backward()) {
        place.fill(place.dy, r, place.second(r));
      }
    }
    return place;
  }

  /** A given row, with a gain of 1 and a bias of 0. */
  static Place of(Contest contest, double epsilon, double[] row, Arena arena) {
    double[] gain = new double[contest.width()];
    Arrays.fill(gain, 1);
    double[] bias = contest.kernel().hasBias() ? new double[contest.width()] : null;
    Place place = new Place(contest, epsilon, gain, bias, Memory.NATIVE, arena);
    place.fill(place.x, 0, row);
    return place;
  }

  /** Given rows, with gain, bias and epsilon of another place. */
  static Place like(Place other, double[][] rows, Arena arena) {
    Contest contest = Contest.forward(other.contest.kernel(), rows.length, other.contest.width());
    Place place = new Place(contest, other.epsilon, other.gain, other.bias, Memory.NATIVE, arena);
    for (int r = 0; r < rows.length; r++) {
      place.fill(place.x, r, rows[r]);
    }
    return place;
  }

  /** Other rows that some calls read as well: a gate, or the residual before the call. */
  MemorySegment second() {
    if (second == null) {
      second = rows();
      for (int r = 0; r < contest.rows(); r++) {
        fill(second, r, second(r));
      }
    }
    return second;
  }

  /** What a row of them holds. */
  double[] second(int row) {
    return values(~row - 2L, contest.width());
  }

  private static double[] values(long seed, int width) {
    return new SplittableRandom(seed).ints(width, -127, 128).mapToDouble(i -> i / 64.0).toArray();
  }

  /** More memory of x's size. */
  MemorySegment rows() {
    return allocate(contest.type(), contest.elements());
  }

  /** Rows in such memory, as this library takes them. */
  Rows view(MemorySegment segment) {
    return Rows.of(segment, contest.type(), contest.rows(), contest.width());
  }

  /** Memory for codes or scales. */
  MemorySegment bytes(int count) {
    return memory.allocate(count, arena);
  }

  private MemorySegment allocate(ElementType type, int elements) {
    return memory.allocate(type, elements, arena);
  }

  /** A gain or a bias in a type of a system's choice. */
  MemorySegment parameter(double[] values, ElementType type) {
    MemorySegment segment = allocate(type, values.length);
    for (int i = 0; i < values.length; i++) {
      type.set(segment, i, values[i]);
    }
    return segment;
  }

  /** A gain or a bias, or null for none. */
  static float[] floats(double[] values) {
    if (values == null) {
      return null;
    }
    float[] floats = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      floats[i] = (float) values[i];
    }
    return floats;
  }

  /** Float32 memory for a statistic of each row. */
  MemorySegment statistic() {
    return allocate(ElementType.FLOAT32, contest.rows());
  }

  private void fill(MemorySegment segment, int row, double[] values) {
    for (int i = 0; i < values.length; i++) {
      contest.type().set(segment, (long) row * values.length + i, values[i]);
    }
  }

  double[] row(MemorySegment segment, int row) {
    return row(segment, contest.type(), row);
  }

  /** The gradient of a gain or a bias. */
  double[] parameter(MemorySegment gradient) {
    return row(gradient, ElementType.FLOAT32, 0);
  }

  private double[] row(MemorySegment segment, ElementType type, int row) {
    double[] values = new double[contest.width()];
    Arrays.setAll(values, i -> type.get(segment, (long) row * values.length + i));
    return values;
  }

  /** So that an answer of one system is not taken for that of the next. */
  void forget() {
    y.fill((byte) 0x55);
    if (contest.backward()) {
      dx.fill((byte) 0x55);
      dgain.fill((byte) 0x55);
      dbias.fill((byte) 0x55);
    }
  }
}
