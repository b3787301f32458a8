package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.RmsNorm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The line of {@code spark-submit} in docs/spark.md, with the jar that it names. Spark's own
 * launcher makes the command of it, as the script does, and the class path of that has nothing of
 * this project.
 */
@Tag("long")
class SparkSubmitIT {
  private static final Path PAGE = Path.of("..", "docs", "spark.md");
  private static final Path JAR = Path.of("target", "rmsnorm4j-spark.jar");
  private static final Pattern LINE = Pattern.compile("(?m)^spark-submit ((?:.*\\\\\n)*.*)$");
  private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(?!\\\\\n)\\S+");
  private static final String BEFORE_THE_COMMAND = "\0\n";
  private static final int ROWS = 5000;
  private static final double[] GAIN = {0.5, 1, 2, -1.5};

  @TempDir Path folder;
  private Path in;
  private Path out;

  @BeforeEach
  void writeInput() throws IOException {
    in = folder.resolve("in.parquet");
    out = folder.resolve("out.parquet");
    Files.writeString(folder.resolve("gain.txt"), "0.5 1 2 -1.5\n");
    try (SparkSession session = LocalSpark.of(2)) {
      session
          .range(0, ROWS, 1, 5)
          .selectExpr(
              "id", "transform(sequence(1, 4), i -> cast(hash(id, i) / 1e9 as float)) as embedding")
          .write()
          .parquet(in.toString());
    }
  }

  @Test
  void onThisMachine() throws Exception {
    String said = submit(Cluster.installation(folder));
    assertThat(said).contains("out.parquet: 5000 rows, llama, column embedding, on local[*], ");
    assertThatRowsAreTheLibrarys();
  }

  @Test
  void onAClusterWhoseExecutorsGetTheJar() throws Exception {
    try (Cluster cluster = new Cluster(folder, 1)) {
      String memory = "spark.executor.memory=512m";
      String said = submit(folder.resolve("home"), "--master", cluster.url(), "--conf", memory);
      assertThat(said).contains("rows, llama, column embedding, on " + cluster.url() + ", ");
    }
    assertThatRowsAreTheLibrarys();
  }

  /** Runs the page's line with more options of {@code spark-submit}. */
  private String submit(Path home, String... options) throws IOException, InterruptedException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> launcher = new ArrayList<>(List.of(java, "-cp", home.resolve("jars") + "/*"));
    launcher.add("org.apache.spark.launcher.Main");
    launcher.add("org.apache.spark.deploy.SparkSubmit");
    launcher.addAll(Arrays.asList(options));
    launcher.addAll(words());
    String command = output(home, launcher);
    assertThat(command).contains(BEFORE_THE_COMMAND);
    int start = command.indexOf(BEFORE_THE_COMMAND) + BEFORE_THE_COMMAND.length();
    return output(home, List.of(command.substring(start).split("\0")));
  }

  private List<String> words() throws IOException {
    assertThat(JAR).as("made by ./mvnw package").isRegularFile();
    Map<String, Path> files =
        Map.of(
            "spark/target/rmsnorm4j-spark.jar",
            JAR.toAbsolutePath(),
            "in.parquet",
            in,
            "out.parquet",
            out,
            "gain.txt",
            folder.resolve("gain.txt"));
    List<String> lines =
        LINE.matcher(Files.readString(PAGE)).results().map(line -> line.group(1)).toList();
    assertThat(lines).hasSize(1);
    List<String> words =
        WORD.matcher(lines.getFirst())
            .results()
            .map(word -> word.group(1) == null ? word.group() : word.group(1))
            .toList();
    assertThat(words).containsAll(files.keySet()).contains("--like", "llama", "--gain");
    return words.stream()
        .map(word -> files.containsKey(word) ? files.get(word).toString() : word)
        .toList();
  }

  private String output(Path home, List<String> command) throws IOException, InterruptedException {
    Path said = Files.createTempFile(folder, "said", ".txt");
    Process process =
        Cluster.processOf(home, command)
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      int status = process.waitFor();
      assertThat(status).as(Files.readString(said)).isZero();
      return Files.readString(said);
    } finally {
      process.destroyForcibly();
    }
  }

  private void assertThatRowsAreTheLibrarys() throws IOException {
    RmsNorm norm = RmsNorm.llama(GAIN.length).gain(GAIN).build();
    try (SparkSession session = LocalSpark.of(2)) {
      List<Row> before = session.read().parquet(in.toString()).orderBy("id").collectAsList();
      List<Row> after = session.read().parquet(out.toString()).orderBy("id").collectAsList();
      assertThat(after).hasSize(ROWS).hasSameSizeAs(before);
      for (int i = 0; i < ROWS; i++) {
        float[] row = row(before.get(i));
        norm.apply(row, row);
        assertThat(after.get(i).getLong(0)).isEqualTo(before.get(i).getLong(0));
        assertThat(row(after.get(i))).isEqualTo(row);
      }
    }
  }

  private static float[] row(Row row) {
    List<Float> boxed = row.getList(1);
    float[] elements = new float[boxed.size()];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = boxed.get(i);
    }
    return elements;
  }
}
