package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.RmsNorm;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The job on a real cluster, of which a part is lost while it runs. */
@Tag("long")
class ClusterIT {
  private static final int FILES = 40;
  private static final int ROWS = 40_000;
  private static final int WIDTH = 64;
  private static final int TASKS_BEFORE_THE_LOSS = 8;

  @TempDir Path folder;

  /** Until one was killed while the others had tasks left, which the first one nearly always is. */
  @Test
  void aWorkerThatIsKilledLosesDoublesAndChangesNoRow() throws Exception {
    int attempt = 0;
    while (!isKilledAtWork(Files.createDirectory(folder.resolve("attempt" + attempt)))) {
      attempt++;
    }
  }

  /** Whether tasks were done after the loss of the worker. */
  private static boolean isKilledAtWork(Path folder) throws Exception {
    try (Cluster cluster = new Cluster(folder, 2);
        SparkSession session = session(cluster)) {
      assertThat(session.sparkContext().master()).isEqualTo(cluster.url());
      Path in = write(session, folder);
      Loss loss = new Loss(cluster);
      session.sparkContext().addSparkListener(loss);
      Path out = folder.resolve("out.parquet");
      ByteArrayOutputStream said = new ByteArrayOutputStream();

      int status =
          NormalizeParquet.status(
              new String[] {
                in.toString(), "-o", out.toString(), "--column", "embedding", "--like", "llama"
              },
              System.out,
              new PrintStream(said, true, StandardCharsets.UTF_8));

      boolean atWork = loss.tasksAfter.get() > 0;
      String text = said.toString(StandardCharsets.UTF_8);
      assertThat(text).contains("out.parquet: " + ROWS + " rows, llama, column");
      if (atWork) {
        assertThat(text).contains(" was lost, its tasks are run again");
      }
      assertThat(status).isZero();
      assertSame(rows(session, in), rows(session, out));
      try (Stream<Path> left = Files.list(folder)) {
        assertThat(left.map(path -> path.getFileName().toString()))
            .noneMatch(n -> n.endsWith(".tmp"));
      }
      return atWork;
    }
  }

  private static SparkSession session(Cluster cluster) {
    return SparkSession.builder()
        .master(cluster.url())
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "512m")
        .config("spark.executor.extraClassPath", Cluster.ours())
        // So that every file has a task of its own.
        .config("spark.sql.files.openCostInBytes", "128m")
        .getOrCreate();
  }

  private static Path write(SparkSession session, Path folder) {
    Path in = folder.resolve("in.parquet");
    session
        .range(0, ROWS, 1, FILES)
        .selectExpr(
            "id",
            "transform(sequence(1, %d), i -> cast(hash(id, i) / 1e9 as float)) as embedding"
                .formatted(WIDTH))
        .write()
        .parquet(in.toString());
    return in;
  }

  private static Map<Long, float[]> rows(SparkSession session, Path path) {
    List<Row> rows = session.read().parquet(path.toString()).collectAsList();
    assertThat(rows).hasSize(ROWS);
    Map<Long, float[]> byId = new HashMap<>();
    for (Row row : rows) {
      List<Float> boxed = row.getList(1);
      float[] elements = new float[boxed.size()];
      for (int i = 0; i < elements.length; i++) {
        elements[i] = boxed.get(i);
      }
      byId.put(row.getLong(0), elements);
    }
    return byId;
  }

  private static void assertSame(Map<Long, float[]> in, Map<Long, float[]> out) {
    assertThat(out.keySet()).isEqualTo(in.keySet()).hasSize(ROWS);
    RmsNorm norm = RmsNorm.llama(WIDTH).build();
    in.forEach(
        (id, x) -> {
          float[] y = new float[WIDTH];
          norm.apply(x, y);
          assertThat(bits(out.get(id))).as("row %d", id).isEqualTo(bits(y));
        });
  }

  private static int[] bits(float[] row) {
    int[] bits = new int[row.length];
    Arrays.setAll(bits, i -> Float.floatToRawIntBits(row[i]));
    return bits;
  }

  /** Kills a worker when a part of the job is done, and counts what is done without it. */
  private static final class Loss extends SparkListener {
    private final Cluster cluster;
    private final AtomicInteger tasks = new AtomicInteger();
    private final AtomicInteger tasksAfter = new AtomicInteger();
    private volatile boolean lost;

    Loss(Cluster cluster) {
      this.cluster = cluster;
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd task) {
      if (task.reason() != Success$.MODULE$) {
        return;
      }
      if (lost) {
        tasksAfter.incrementAndGet();
      }
      if (tasks.incrementAndGet() == TASKS_BEFORE_THE_LOSS) {
        cluster.killWorker(0);
      }
    }

    @Override
    public void onExecutorRemoved(SparkListenerExecutorRemoved executor) {
      lost = true;
    }
  }
}
