package io.github.rmsnorm4j.cli;

import io.github.rmsnorm4j.formats.DequantizedFile;
import io.github.rmsnorm4j.formats.Dtype;
import io.github.rmsnorm4j.formats.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What {@code show} gives to programs. */
record ShownFile(String file, List<ShownTensor> tensors, Map<String, String> metadata) {
  /** So many elements it may have, as it is made in memory. */
  private static final long MOST = 1 << 20;

  /** A tensor, with all elements of the rows that are shown. */
  record ShownTensor(
      String name,
      Dtype dtype,
      List<Long> shape,
      Optional<String> storedAs,
      long firstRow,
      List<List<Object>> rows) {}

  /**
   * Reads the rows of tensors.
   *
   * @param range the rows; null for none
   * @throws IllegalArgumentException if these are too many elements
   */
  static ShownFile of(DequantizedFile file, List<Tensor> chosen, RowRange range)
      throws IOException {
    List<ShownTensor> shown = new ArrayList<>();
    long left = MOST;
    for (Tensor tensor : chosen) {
      long width = Show.width(tensor);
      boolean read = range != null && width > 0 && ElementText.isKnown(tensor.dtype());
      long from = read ? range.from(Show.rows(tensor)) : 0;
      long to = read ? Math.max(from, range.to(Show.rows(tensor))) : 0;
      if (read && to - from > left / width) {
        throw new IllegalArgumentException(
            "--json gives %s elements at most, rows %s to %s of %s have more: choose with --rows"
                .formatted(MOST, from, to, tensor));
      }
      left -= (to - from) * width;
      List<List<Object>> rows = new ArrayList<>();
      try (Arena arena = Arena.ofConfined()) {
        ElementText elements =
            new ElementText(file, tensor, arena.allocate(to > from ? width * Double.BYTES : 0, 8));
        for (long row = from; row < to; row++) {
          rows.add(elements.values(row * width, (int) width));
        }
      }
      Optional<String> stored = file.type(tensor).map(Object::toString);
      shown.add(new ShownTensor(tensor.name(), tensor.dtype(), tensor.shape(), stored, from, rows));
    }
    return new ShownFile(file.path().toString(), shown, file.metadata());
  }
}
