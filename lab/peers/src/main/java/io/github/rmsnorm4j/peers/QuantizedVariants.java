package io.github.rmsnorm4j.peers;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.QuantizedRows;
import io.github.rmsnorm4j.QuantizedType;
import io.github.rmsnorm4j.Quantizer;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.benchmarks.peers.Contest;
import io.github.rmsnorm4j.benchmarks.peers.Variant;
import io.github.rmsnorm4j.peers.Entrant.Turn;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;

/**
 * Norms whose output is codes and scales, in one call and in two.
 *
 * @param variants of the contest
 */
record QuantizedVariants(Variants variants) {
  Stream<Entrant> entrants() {
    return Stream.of(
            QuantizedType.Q8_0,
            QuantizedType.int8(32),
            QuantizedType.e4m3PerRow(),
            QuantizedType.e4m3(128))
        .flatMap(type -> Stream.of(inOneCall(type), inTwoCalls(type)));
  }

  private Entrant inOneCall(QuantizedType type) {
    return variants.entrant(
        Variant.to(type),
        definition(type),
        (place, _) -> {
          Norm norm = norm(place);
          Rows x = place.view(place.x);
          QuantizedRows q = codes(place, type);
          return turn(place, q, () -> norm.apply(x, null, q));
        });
  }

  /** The second call has the kernels that are best here, for a quantizer has no choice of them. */
  private Entrant inTwoCalls(QuantizedType type) {
    return variants.entrant(
        Variant.twoCalls(type),
        definition(type),
        (place, _) -> {
          Norm norm = norm(place);
          Rows x = place.view(place.x);
          Rows y = place.view(place.y);
          QuantizedRows q = codes(place, type);
          return turn(
              place,
              q,
              () -> {
                norm.apply(x, y);
                Quantizer.defaults().quantize(y, q, 1);
              });
        });
  }

  private static Turn turn(Place place, QuantizedRows q, Runnable calls) {
    return new Turn() {
      @Override
      public void run() {
        calls.run();
      }

      @Override
      public void collect() {
        q.dequantize(place.view(place.y));
      }
    };
  }

  private Norm norm(Place place) {
    return variants.norm(place, variants.spec(place), place.gain);
  }

  private static QuantizedRows codes(Place place, QuantizedType type) {
    Contest contest = place.contest;
    int width = contest.width();
    int scales = contest.rows() * type.scales(width);
    MemorySegment codes = place.bytes(Math.toIntExact(contest.rows() * type.rowBytes(width)));
    return scales == 0
        ? QuantizedRows.of(codes, type, contest.rows(), width)
        : QuantizedRows.of(codes, place.bytes(scales * Float.BYTES), type, contest.rows(), width);
  }

  /** Half a code of int8, or half a unit in the last of the three places of FP8 E4M3. */
  private Definition definition(QuantizedType type) {
    double half = type.toString().startsWith("f8e4m3") ? 0x1p-4 : 0.5 / 127;
    double ofScale = type == QuantizedType.Q8_0 ? ElementType.FLOAT16.unitRoundoff() : 0;
    return Definition.of(variants.contest().kernel()).quantised(half + ofScale);
  }
}
