package io.github.rmsnorm4j.internal.norm;

import io.github.rmsnorm4j.internal.backend.BackEnd;
import io.github.rmsnorm4j.internal.backend.Call;
import io.github.rmsnorm4j.internal.backend.Compiled;
import io.github.rmsnorm4j.internal.backend.OutputStores;
import io.github.rmsnorm4j.internal.backend.PlainBackEnd;
import io.github.rmsnorm4j.internal.backend.RowMemory;
import io.github.rmsnorm4j.internal.formula.Formula;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What runs one kind of call. */
final class Plan {
  private final Formula formula;

  /** By place: {@link RowMemory#kind} of the rows, 0 where there are none. */
  private final int[] kinds = new int[Tensor.Access.ELEMENT.places()];

  private final boolean ofNorm;
  private final OutputStores stores;

  /** Whether it is for the start of a process. */
  private final boolean start;

  final Compiled compiled;

  /** Whether a better back end may serve a later call. */
  private volatile boolean forNow;

  /** Of what it is found by. */
  private final int hash;

  /** Whether a call found it lately; not synchronised, as nothing but an eviction depends on it. */
  private boolean used;

  /** Does rows that are out of range; null until there are any. */
  private volatile PlainBackEnd.@Nullable Rows plain;

  /**
   * Takes the first back end that runs calls like this one.
   *
   * @param backEnds the last one runs every call
   */
  Plan(Call call, OutputStores stores, boolean start, List<BackEnd> backEnds) {
    formula = call.formula();
    ofNorm = call.ofNorm() != null;
    this.stores = stores;
    this.start = start;
    for (int place = 0; place < kinds.length; place++) {
      kinds[place] = kind(call.rows(place));
    }
    hash = hash(call, stores);
    compiled = compile(call, stores, backEnds);
  }

  /** A number that differs for most calls; those of other formulas share it. */
  static int hash(Call call, OutputStores stores) {
    int hash = stores.ordinal();
    for (int place = 0; place < Tensor.Access.ELEMENT.places(); place++) {
      hash = 31 * hash + kind(call.rows(place));
    }
    hash = 2 * hash + (call.ofNorm() == null ? 0 : 1);
    hash *= 0x9e3779b9;
    return hash >>> 16;
  }

  int hash() {
    return hash;
  }

  void noteUse() {
    if (!used) {
      used = true;
    }
  }

  /** Whether a call found it since this was asked last. */
  boolean wasUsed() {
    boolean was = used;
    used = false;
    return was;
  }

  /** Whether it runs the calls that another plan runs. */
  boolean isForCallsOf(Plan other) {
    return stores == other.stores
        && ofNorm == other.ofNorm
        && Arrays.equals(kinds, other.kinds)
        && formula.equals(other.formula);
  }

  private Compiled compile(Call call, OutputStores stores, List<BackEnd> backEnds) {
    for (BackEnd backEnd : backEnds) {
      try {
        return backEnd.compile(call, stores);
      } catch (BackEnd.Refusal refusal) {
        forNow |= refusal.isForNow();
        if (refusal != BackEnd.Refusal.ABSENT) {
          System.getLogger("io.github.rmsnorm4j")
              .log(System.Logger.Level.DEBUG, "another back end: {0}", refusal.getMessage());
        }
      }
    }
    throw new IllegalStateException("no back end runs " + call.formula());
  }

  /** Whether it is worth keeping: no better back end may serve a later call. */
  boolean lasts() {
    return !forNow;
  }

  /** Whether it is for the start of a process. */
  boolean isForStart() {
    return start;
  }

  /** Whether it runs a call. */
  boolean fits(Call call, OutputStores stores) {
    boolean same = this.stores == stores && ofNorm == (call.ofNorm() != null);
    for (int place = 0; same && place < kinds.length; place++) {
      same = kinds[place] == kind(call.rows(place));
    }
    return same && formula.equals(call.formula());
  }

  private static int kind(@Nullable RowMemory rows) {
    return rows == null ? 0 : rows.kind();
  }

  /** What does rows that are out of range. */
  PlainBackEnd.Rows plain(Call call) {
    if (plain == null) {
      plain = new PlainBackEnd().compile(call, OutputStores.CACHED);
    }
    return plain;
  }
}
