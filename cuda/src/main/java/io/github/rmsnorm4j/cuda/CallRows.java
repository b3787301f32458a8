package io.github.rmsnorm4j.cuda;

import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.internal.device.RowChecks;
import io.github.rmsnorm4j.internal.formula.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The rows of a call, with the names that messages have for them. */
final class CallRows implements RowChecks.RowsOfCall {
  private record Named(String name, CudaRows rows) {}

  private final CudaDevice device;
  private final RowChecks checks;
  private final Map<Tensor, Named> byTensor = new TreeMap<>();

  /** Gain and bias, where they are not the norm's own. */
  private final List<Named> parameters = new ArrayList<>();

  CallRows(CudaNorm norm) {
    this.device = norm.device();
    this.checks = norm.parts().checks();
  }

  /** Adds rows, which must be on the device. */
  CallRows with(Tensor tensor, String name, CudaRows rows) {
    if (rows == null) {
      throw new NullPointerException(name + " is null");
    }
    requireOn(device, rows.memory(), name);
    byTensor.put(tensor, new Named(name, rows));
    return this;
  }

  /** Adds rows if the call has them. */
  CallRows withOptional(Tensor tensor, String name, CudaRows rows) {
    return rows == null ? this : with(tensor, name, rows);
  }

  /** Adds a gain or a bias that is not the norm's own; nothing for null. */
  CallRows withParameter(String name, CudaRows rows) {
    if (rows != null) {
      parameters.add(new Named(name, rows));
    }
    return this;
  }

  /** Null where the call has none. */
  CudaRows get(Tensor tensor) {
    Named named = byTensor.get(tensor);
    return named == null ? null : named.rows;
  }

  /** For the checks that are the same as on the CPU; null where the call has none. */
  @Override
  public Rows of(Tensor tensor) {
    CudaRows rows = get(tensor);
    return rows == null ? null : rows.forChecks();
  }

  /** Refuses rows that share memory of another use, such as that of a gradient. */
  void requireApart(String otherName, CudaRows other) {
    for (Collection<Named> all : List.of(byTensor.values(), parameters)) {
      for (Named named : all) {
        requireApart(checks, named.name, named.rows, otherName, other);
      }
    }
  }

  static void requireApart(
      RowChecks checks, String name, CudaRows rows, String otherName, CudaRows other) {
    if (checks.overlap(rows.forChecks(), other.forChecks())) {
      throw new IllegalArgumentException(
          name + " overlaps " + otherName + ": each must be memory of its own");
    }
  }

  /** Addresses for kernels, after all checks. */
  Map<Tensor, DeviceRows> onDevice() {
    Map<Tensor, DeviceRows> rows = new TreeMap<>();
    byTensor.forEach((tensor, named) -> rows.put(tensor, named.rows.onDevice()));
    return rows;
  }

  static void requireOn(CudaDevice device, CudaMemory memory, String name) {
    CudaDevice other = memory.device();
    if (!device.isSameAs(other)) {
      throw new IllegalArgumentException(
          name + " is in memory of " + other + ", the norm is on " + device);
    }
  }
}
