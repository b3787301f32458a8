package io.github.rmsnorm4j.cuda.check;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.Keep;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** All memory of a call, drawn anew from its name. What the call does not have is null. */
final class CallRows {
  private static final int DIGEST_BYTES = 8;

  final GuardedRows x;
  final GuardedRows residual;
  final GuardedRows z;
  final GuardedRows gain;
  final GuardedRows bias;
  final GuardedRows y;
  final GuardedRows mean;
  final GuardedRows rstd;
  final GuardedRows dy;
  final GuardedRows dresidual;
  final GuardedRows dx;
  final GuardedRows dz;
  final GuardedRows dgain;
  final GuardedRows dbias;
  private final Map<String, GuardedRows> all = new LinkedHashMap<>();

  CallRows(NormCall call) {
    SplittableRandom random = call.random().split();
    boolean leaves = call.has(Trait.OUT_OF_RANGE);
    boolean back = call.has(Trait.BACKWARD);
    x = rows("x", call, call.x()).draw(random, leaves);
    boolean adds = call.has(Trait.RESIDUAL);
    residual = adds ? rows("residual", call, call.other()).draw(random, false) : null;
    z = call.isGated() ? rows("z", call, call.other()).draw(random, false) : null;
    boolean own = call.hasOwnParameters();
    gain = own && call.has(Trait.GAIN) ? parameter("gain", call, call.other()) : null;
    bias = own && call.has(Trait.BIAS) ? parameter("bias", call, call.other()) : null;
    for (GuardedRows numbers : new GuardedRows[] {gain, bias}) {
      if (numbers != null) {
        numbers.put(call.numbers(random));
      }
    }
    y = call.has(Trait.IN_PLACE) ? x : rows("y", call, call.y());
    boolean rstdKept = call.keeps() && call.keep() != Keep.NOTHING;
    boolean hasMean = call.spec().isCentred() && call.keep() == Keep.INPUT;
    rstd = rstdKept ? numbers("rstd", call) : null;
    mean = rstdKept && hasMean ? numbers("mean", call) : null;
    dy = back ? rows("dy", call, call.y()).draw(random, false) : null;
    dresidual = back && adds ? rows("dresidual", call, call.other()).draw(random, false) : null;
    dx = back ? rows("dx", call, call.x()) : null;
    dz = back && call.isGated() ? rows("dz", call, call.other()) : null;
    boolean wanted = back && call.has(Trait.GRADIENTS);
    dgain = wanted && call.has(Trait.GAIN) ? parameter("dgain", call, call.arithmetic()) : null;
    dbias = wanted && call.has(Trait.BIAS) ? parameter("dbias", call, call.arithmetic()) : null;
  }

  private GuardedRows rows(String name, NormCall call, ElementType type) {
    return put(name, GuardedRows.of(type, call.rows(), call.width(), call.has(Trait.APART)));
  }

  private GuardedRows numbers(String name, NormCall call) {
    return put(name, GuardedRows.of(ElementType.FLOAT64, call.rows(), call.groups(), false));
  }

  private GuardedRows parameter(String name, NormCall call, ElementType type) {
    return put(name, GuardedRows.of(type, call.samples(), call.parameters(), false));
  }

  GuardedRows put(String name, GuardedRows rows) {
    all.put(name, rows);
    return rows;
  }

  /** The first difference from the rows of the same call elsewhere; null if there is none. */
  String difference(CallRows wanted) {
    for (Map.Entry<String, GuardedRows> entry : all.entrySet()) {
      String difference = entry.getValue().difference(wanted.all.get(entry.getKey()));
      if (difference != null) {
        return entry.getKey() + ": " + difference;
      }
    }
    return null;
  }

  /** Sixteen digits of the SHA-256 of all bytes. */
  String digest() {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
    all.values().forEach(rows -> rows.digest(digest));
    return HexFormat.of().formatHex(digest.digest(), 0, DIGEST_BYTES);
  }
}
