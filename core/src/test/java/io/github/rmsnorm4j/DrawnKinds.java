package io.github.rmsnorm4j;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Kinds of calls that have every pair of choices between them. */
final class DrawnKinds {
  private static final List<ElementType> TYPES = List.of(ElementType.values());
  private static final List<Place> PLACES = List.of(Place.ARRAY, Place.NATIVE);
  private static final List<Boolean> EITHER = List.of(false, true);
  private static final List<Integer> WIDTHS =
      List.of(64, 96, 256, 300, 768, 1000, 1024, 4096, 4100, 70_000);

  /** By the order of the record's components. */
  private static final List<List<?>> CHOICES =
      List.of(
          List.of(CallKind.Pass.values()),
          List.of(CallKind.Formula.values()),
          TYPES,
          TYPES,
          orNone(TYPES),
          List.of(CallKind.Gain.values()),
          EITHER,
          List.of(CastOrder.values()),
          List.of(EpsilonPlacement.values()),
          List.of(ResidualRounding.values()),
          orNone(List.of(ElementType.FLOAT32, ElementType.FLOAT64)),
          PLACES,
          PLACES,
          orNone(PLACES),
          EITHER,
          EITHER,
          WIDTHS,
          List.of(CallKind.Extent.values()));

  private static <T> List<Optional<T>> orNone(List<T> values) {
    return Stream.concat(Stream.of(Optional.<T>empty()), values.stream().map(Optional::of))
        .toList();
  }

  /**
   * Kinds that have every possible pair of choices. They may be shared out among several vector
   * widths, the width of vectors then being one more choice.
   *
   * @param sharing the vector widths that share, in bits
   * @param bits whose share it is
   */
  static List<CallKind> of(long seed, List<Integer> sharing, int bits) {
    int[] sizes =
        Stream.concat(CHOICES.stream().map(List::size), Stream.of(sharing.size()))
            .mapToInt(size -> size)
            .toArray();
    return CoveringArray.ofPairs(sizes, row -> kind(row).isPossible(), new SplittableRandom(seed))
        .stream()
        .filter(row -> sharing.get(row[CHOICES.size()]) == bits)
        .map(DrawnKinds::kind)
        .toList();
  }

  @SuppressWarnings("unchecked") // By the order of the choices.
  private static CallKind kind(int[] row) {
    Object[] values = new Object[CHOICES.size()];
    Arrays.setAll(values, i -> row[i] == CoveringArray.OPEN ? null : CHOICES.get(i).get(row[i]));
    Iterator<Object> next = Arrays.asList(values).iterator();
    return new CallKind(
        (CallKind.Pass) next.next(),
        (CallKind.Formula) next.next(),
        (ElementType) next.next(),
        (ElementType) next.next(),
        (Optional<ElementType>) next.next(),
        (CallKind.Gain) next.next(),
        (Boolean) next.next(),
        (CastOrder) next.next(),
        (EpsilonPlacement) next.next(),
        (ResidualRounding) next.next(),
        (Optional<ElementType>) next.next(),
        (Place) next.next(),
        (Place) next.next(),
        (Optional<Place>) next.next(),
        (Boolean) next.next(),
        (Boolean) next.next(),
        (Integer) next.next(),
        (CallKind.Extent) next.next());
  }

  private DrawnKinds() {}
}
