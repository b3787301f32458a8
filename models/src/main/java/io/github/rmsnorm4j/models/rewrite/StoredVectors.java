package io.github.rmsnorm4j.models.rewrite;

import io.github.rmsnorm4j.formats.TensorFile;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Gains and biases of a model; the last few that were asked for stay in memory. */
final class StoredVectors implements Vectors {
  private static final int MOST = 8;

  private final TensorFile file;

  @SuppressWarnings("serial") // Never serialised.
  private final Map<String, double[]> last =
      new LinkedHashMap<>(MOST, 1, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, double[]> eldest) {
          return size() > MOST;
        }
      };

  StoredVectors(TensorFile file) {
    this.file = file;
  }

  @Override
  public double[] of(String tensor) throws IOException {
    double[] vector = last.get(tensor);
    if (vector == null) {
      vector = Blocks.vector(file, file.tensor(tensor));
      last.put(tensor, vector);
    }
    return vector;
  }
}
