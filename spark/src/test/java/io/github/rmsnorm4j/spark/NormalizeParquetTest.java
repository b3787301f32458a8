package io.github.rmsnorm4j.spark;

import static java.util.Comparator.comparing;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.L2Norm;
import io.github.rmsnorm4j.LayerNorm;
import io.github.rmsnorm4j.Norm;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.measure.ChildJvm;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileUtil;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The job as a command, from its words to what it leaves behind. */
class NormalizeParquetTest {
  /** What is said of work that takes long. */
  private static final String PROGRESS =
      "(waiting for an executor\n|\\d+ of \\d+ tasks, \\d+ rows written\n)*";

  private static SparkSession session;

  @TempDir Path folder;
  private Path in;
  private Path out;

  private record Result(int status, String out, String err) {
    Result(int status, String err) {
      this(status, "", err);
    }
  }

  @BeforeAll
  static void start() {
    session = LocalSpark.of(2);
  }

  @BeforeEach
  void writeInput() {
    in = folder.resolve("in [1]*{a}.parquet");
    out = folder.resolve("out put.parquet");
    write(in, "id", "array(cast(id + 1 as float), cast(-3 as float)) as `a.b`", "id * 2 as other");
  }

  private static void write(Path path, String... columns) {
    session.range(0, 10, 1, 3).selectExpr(columns).write().parquet(path.toString());
  }

  private static Result run(Object... words) {
    Result result = shown(words);
    assertThat(result.out()).isEmpty();
    return result;
  }

  private static Result shown(Object... words) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    String[] args = Stream.of(words).map(Object::toString).toArray(String[]::new);
    int status =
        NormalizeParquet.status(
            args,
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8));
    return new Result(
        status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  private Result normalize(Object... more) {
    List<Object> words = new ArrayList<>(List.of(in, "-o", out, "--column", "a.b"));
    words.addAll(List.of(more));
    return run(words.toArray());
  }

  /** In the order of their ids. */
  private static List<Row> read(Path path) {
    Dataset<Row> rows = session.read().parquet(path.toString().replaceAll("[\\[\\]{}*]", "?"));
    return rows.collectAsList().stream().sorted(comparing(row -> row.getLong(0))).toList();
  }

  private static List<Float> row(RmsNorm norm, int id) {
    float[] row = {id + 1, -3};
    norm.apply(row, row);
    return IntStream.range(0, row.length).mapToObj(i -> row[i]).toList();
  }

  private static void moveUp(Path inner, String prefix) {
    try (Stream<Path> files = Files.list(inner)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".parquet")).toList()) {
        Files.move(file, inner.resolveSibling(prefix + file.getFileName()));
      }
      FileUtil.fullyDelete(inner.toFile());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> left() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void theColumnIsReplacedInItsPlaceAndTheOthersStay() throws IOException {
    Result result = normalize();
    assertThat(result.err())
        .matches(
            PROGRESS
                + "\\S.*out put.parquet: 10 rows, rmsnorm, column a.b, on local\\[2], [0-9.]+ s\n");
    assertThat(result.status()).isZero();

    List<Row> rows = read(out);
    assertThat(rows.getFirst().schema().fieldNames()).containsExactly("id", "a.b", "other");
    RmsNorm norm = RmsNorm.builder(2).build();
    for (int id = 0; id < 10; id++) {
      assertThat(rows.get(id).getList(1)).isEqualTo(row(norm, id));
      assertThat(rows.get(id).getLong(2)).isEqualTo(2L * id);
    }
    assertThat(left()).containsExactly(in.getFileName().toString(), "out put.parquet");
  }

  @Test
  void anOutputColumnIsAddedAndParamsAreTheTransformers() throws IOException {
    Path gain = Files.writeString(folder.resolve("gain.txt"), "0.5\n2\n");
    Result result =
        normalize(
            "--output-column",
            "y",
            "--set",
            "gain=@" + gain,
            "--like",
            "gemma(eps=0.25)",
            "--progress",
            "none");
    assertThat(result).isEqualTo(new Result(0, ""));
    List<Row> rows = read(out);
    assertThat(rows.getFirst().schema().fieldNames()).containsExactly("id", "a.b", "other", "y");
    RmsNorm norm = RmsNorm.gemma(2).gain(new double[] {0.5, 2}).epsilon(0.25).build();
    assertThat(rows.get(4).getList(1)).isEqualTo(List.of(5f, -3f));
    assertThat(rows.get(4).getList(3)).isEqualTo(row(norm, 4));
  }

  @Test
  void filesOfOneFolderMayHaveOtherColumns() {
    Path both = folder.resolve("both");
    write(both.resolve("1.parquet"), "id", "array(1.0f, 2.0f) as e", "id as first");
    write(both.resolve("2.parquet"), "id + 10 as id", "array(1.0f, 2.0f) as e", "id as second");
    for (int part = 1; part <= 2; part++) {
      // As files, not folders, which Spark takes for other tables.
      moveUp(both.resolve(part + ".parquet"), "part" + part + "-");
    }
    assertThat(run(both, "-o", out, "--column", "e").status()).isZero();
    List<Row> rows = read(out);
    assertThat(rows).hasSize(20);
    assertThat(rows.get(3).<Long>getAs("first")).isEqualTo(3);
    assertThat(rows.get(13).<Long>getAs("second")).isEqualTo(3);
    assertThat(rows.get(13).<Long>getAs("first")).isNull();
  }

  @Test
  void whatABinaryColumnHoldsMustBeSaid() {
    Path packed = folder.resolve("packed.parquet");
    write(packed, "id", "unhex('0000803F00000040') as x");
    Result result = run(packed, "-o", out, "--column", "x");
    assertThat(result.status()).isEqualTo(2);
    assertThat(result.err())
        .contains("--packed is not set, column 'x' is binary: say whether it holds float16, ");
    assertThat(run(packed, "-o", out, "--column", "x", "--packed", "f32").status()).isZero();
  }

  @Test
  void unitLength() {
    assertThat(normalize("--like", "l2").err()).contains(": 10 rows, l2, column a.b, on ");
    L2Norm norm = Norm.l2(2).build();
    assertThat(read(out))
        .hasSize(10)
        .allSatisfy(
            row -> {
              float[] y = {row.getLong(0) + 1, -3};
              norm.apply(y, y);
              assertThat(row.getList(1)).isEqualTo(List.of(y[0], y[1]));
            });
  }

  @Test
  void layerNorm() {
    assertThat(normalize("--like", "layernorm").status()).isZero();
    float[] row = {4, -3};
    LayerNorm.builder(2).build().apply(row, row);
    assertThat(read(out).get(3).getList(1)).isEqualTo(List.of(row[0], row[1]));
  }

  @Test
  void whatExistsIsReplacedOnlyIfAskedFor() throws IOException {
    assertThat(normalize().status()).isZero();
    Result again = normalize("--like", "llama");
    assertThat(again.err())
        .isEqualTo("rmsnorm spark: " + out + ": exists already; --force replaces it\n");
    assertThat(again.status()).isEqualTo(2);

    assertThat(normalize("--force", "--like", "rmsnorm(eps=100)").status()).isZero();
    assertThat(read(out).get(1).getList(1))
        .isEqualTo(row(RmsNorm.builder(2).epsilon(100).build(), 1));
    assertThat(left()).hasSize(2);
  }

  @Test
  void inAndOutMayBeTheSame() throws IOException {
    assertThat(run(in, "-o", in, "--column", "a.b", "--force").status()).isZero();
    assertThat(read(in).get(7).getList(1)).isEqualTo(row(RmsNorm.builder(2).build(), 7));
    assertThat(left()).hasSize(1);
  }

  @Test
  void aFolderOfOtherThingsIsNeverReplaced() throws IOException {
    Files.createDirectory(out);
    Files.writeString(out.resolve("thesis.txt"), "years of work");
    Result result = normalize("--force");
    assertThat(result.err())
        .contains("holds thesis.txt: --force replaces a file, or a folder of nothing but Parquet");
    assertThat(result.status()).isEqualTo(2);
    assertThat(out.resolve("thesis.txt")).hasContent("years of work");
  }

  @Test
  void aFolderOfOtherThingsDeepInsideIsNeverReplaced() throws IOException {
    for (String deep : List.of("day=1/thesis.txt", "a.parquet/b=2/thesis.txt", "_old/a.parquet")) {
      Path file = out.resolve(deep);
      Files.createDirectories(file.getParent());
      Files.writeString(file, "years of work");
      assertThat(normalize("--force").err()).contains(": holds ", "nothing but Parquet");
      assertThat(file).hasContent("years of work");
      FileUtil.fullyDelete(out.toFile());
    }
    session.range(3).selectExpr("id", "id as k").write().partitionBy("k").parquet(out.toString());
    assertThat(normalize("--force").status()).isZero();
    assertThat(read(out)).hasSize(10);
  }

  @Test
  void aLinkStaysOneAndWhatItLeadsToIsReplaced() throws IOException {
    Path place = Files.createDirectory(folder.resolve("disk")).resolve("result");
    Files.createSymbolicLink(out, place);
    assertThat(normalize().err()).contains("out put.parquet: is a link that leads nowhere");
    write(place, "id");
    assertThat(normalize("--force").status()).isZero();
    assertThat(out).isSymbolicLink();
    assertThat(read(place)).hasSize(10);
    assertThat(read(place).getFirst().size()).isEqualTo(3);
    try (Stream<Path> files = Files.list(place.getParent())) {
      assertThat(files).containsExactly(place);
    }
  }

  @Test
  void aDeviceIsNotReplaced() {
    assertThat(run(in, "-o", "/dev/null", "--column", "a.b", "--force").err())
        .isEqualTo("rmsnorm spark: /dev/null: is neither a file nor a folder\n");
  }

  /** As with Ctrl-C, in a JVM of its own: it leaves nothing of what it has written so far. */
  @Tag("long")
  @Test
  void aJobThatIsEndedLeavesNothing() throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ChildJvm.flags());
    command.addAll(List.of("-Xmx512m", "-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(NormalizeParquet.class.getName(), in.toString(), "-o", out.toString()));
    // A task for every byte or two: none of them takes long, all together do.
    command.addAll(List.of("--column", "a.b", "--master", "local[1]"));
    command.addAll(List.of("--conf", "spark.sql.files.maxPartitionBytes=1"));
    command.addAll(List.of("--conf", "spark.sql.files.openCostInBytes=0"));
    Path said = folder.resolve("said");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      while (process.isAlive() && !isWriting()) {
        Thread.sleep(20);
      }
      assertThat(process.isAlive()).as(Files.readString(said)).isTrue();
      process.destroy();
      process.waitFor();
    } finally {
      process.destroyForcibly();
    }
    assertThat(left()).containsExactly(in.getFileName().toString(), "said");
  }

  private boolean isWriting() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.anyMatch(file -> Files.exists(file.resolve("_temporary/0/_temporary")));
    }
  }

  @Test
  void outInsideOfInAndInInsideOfOutAreRefusedAlsoThroughLinks() throws IOException {
    assertThat(run(in, "-o", in.resolve("out"), "--column", "a.b").err())
        .contains("OUT is inside of IN, it must be elsewhere");
    Path link = Files.createSymbolicLink(folder.resolve("link"), in);
    assertThat(run(in, "-o", link.resolve("out"), "--column", "a.b").err())
        .contains("OUT is inside of IN, it must be elsewhere");
    Path inner = in.resolve("part=1.parquet");
    write(inner, "id", "array(1.0f) as `a.b`");
    assertThat(run(inner, "-o", in, "--column", "a.b", "--force").err())
        .contains("IN is inside of OUT, which would replace it");
    assertThat(inner).isDirectory();
  }

  @Test
  void aJobThatFailsLeavesNothingNewAndSaysWhyInALine() throws IOException {
    assertThat(normalize().status()).isZero();
    Result result = normalize("--force", "--set", "width=3", "--progress", "none");
    assertThat(result.status()).isOne();
    assertThat(result.err())
        .isEqualTo(
            "rmsnorm spark: column 'a.b': a row is 2 wide, it must be 3; --handle-invalid 'keep' makes"
                + " such rows null, 'skip' leaves them out\n");
    assertThat(read(out)).hasSize(10);
    assertThat(left()).hasSize(2);

    assertThat(normalize("--force", "--set", "width=3", "--set", "handleInvalid=skip").err())
        .contains(": 0 rows, invalid rows left out: 10, rmsnorm, column");
    assertThat(read(out)).isEmpty();
  }

  private Result widthTwo(Path mixed, Object... more) {
    List<Object> words =
        new ArrayList<>(List.of(mixed, "-o", out, "--column", "c", "--set", "width=2", "--force"));
    words.addAll(List.of(more));
    return run(words.toArray());
  }

  /** Of ten rows the first has one element, the second none, and the third is null. */
  @Test
  void theRowsThatCannotBeNormalisedAreCounted() {
    Path mixed = folder.resolve("mixed.parquet");
    String row = "CASE id WHEN 0 THEN array(1f) WHEN 1 THEN array() WHEN 2 THEN NULL";
    write(mixed, "id", row + " ELSE array(1f, 2f) END as c");
    assertThat(run(mixed, "-o", out, "--column", "c", "--handle-invalid", "keep").err())
        .endsWith("\n")
        .contains(": 10 rows, invalid rows made null: 1, rmsnorm, column c");
    assertThat(widthTwo(mixed).status()).isOne();
    assertThat(widthTwo(mixed, "--handle-invalid", "keep").err())
        .contains(": 10 rows, invalid rows made null: 2, rmsnorm, column c");
    assertThat(read(out)).hasSize(10);
    assertThat(widthTwo(mixed, "--handle-invalid", "skip").err())
        .contains(": 8 rows, invalid rows left out: 2, rmsnorm, column c");
  }

  @Test
  void theOptionsOfTheCommandLineAreTakenToo() throws IOException {
    Path gain = Files.writeString(folder.resolve("gain.txt"), "0.5, 2\n");
    assertThat(normalize("--like", "gemma", "--gain", gain).status()).isZero();
    RmsNorm norm = RmsNorm.gemma(2).gain(new float[] {0.5f, 2}).build();
    assertThat(read(out).getFirst().getList(1)).isEqualTo(row(norm, 0));
    assertThat(wrong("a.b", "--force", "--like", "batch"))
        .contains("--like is 'batch', it may be rmsnorm");
    Path binary = Files.write(folder.resolve("gain.npy"), new byte[] {(byte) 0x93, 'N', 'U'});
    assertThat(wrong("a.b", "--force", "--gain", binary.toString()))
        .contains("--gain is " + binary + ": the file cannot be read: it is no text of numbers");
  }

  @Test
  void wrongUseIsOneLineAndStatusTwo() throws IOException {
    assertThat(wrong("a.c")).contains("--column is 'a.c', the columns are id, a.b, other");
    assertThat(wrong("other"))
        .startsWith("rmsnorm spark: --column is 'other', a column of bigint, it may be of array");
    assertThat(wrong("a.b", "--output-column", "ID"))
        .isEqualTo("rmsnorm spark: --output-column is 'ID', there is such a column already\n");
    assertThat(wrong("a.b", "--set", "gain=1,two,3"))
        .contains("gain cannot be \"two\"; it is: what normalized elements");
    assertThat(wrong("a.b", "--set", "width=1.5"))
        .contains("width cannot be \"1.5\"; it is: elements per row");
    assertThat(wrong("a.b", "--set", "width=0")).contains("it must be at least 1");
    assertThat(wrong("a.b", "--like", "llama(eps=-1)"))
        .startsWith("rmsnorm spark: --like is 'llama(eps=-1)', eps may be a finite number");
    assertThat(wrong("a.b", "--like", "llama", "--set", "bias=1 2"))
        .contains("cast order is LLAMA, with a bias it must be FLOAT32");
    assertThat(wrong("a.b", "--set", "eps=1")).contains("no such param, there are bias, ");
    assertThat(wrong("a.b", "--like", "batch")).contains("batch", "llama");
    assertThat(wrong("a.b", "--set", "=1")).contains("--set is =1, it must be NAME=VALUE");
    assertThat(wrong("a.b", "--master", "moon")).contains("--master is moon, it may be local");
    assertThat(wrong("a.b", "--set", "gain=@" + folder.resolve("none")))
        .contains("--gain is ", "none: the file cannot be read: ");
    assertThat(wrong("a.b", "--conf", "spark.driver.memory=8g"))
        .contains("--conf spark.driver.memory=8g comes too late", "RMSNORM_OPTS");
    assertThat(wrong("a.b", "--fast")).contains("unknown: --fast; usage: IN -o OUT");
    assertThat(wrong("a.b", "--conf")).contains("--conf takes a value");
    assertThat(wrong("a.b", "--progress", "loud")).contains("it may be lines, bar or none");
    assertThat(run("in", "-o", "out").err()).contains("--column is missing");
    assertThat(run("in", "-o", "/", "--column", "c").err()).contains("OUT must be a folder");
    assertThat(run(in, "-o", folder.resolve("no/out"), "--column", "a.b").err())
        .isEqualTo(
            "rmsnorm spark: %s: there is no folder %s\n"
                .formatted(folder.resolve("no/out"), folder.resolve("no")));
    assertThat(left()).hasSize(1);
  }

  private String wrong(String column, String... more) {
    List<Object> words = new ArrayList<>(List.of(in, "-o", out, "--column", column));
    words.addAll(List.of(more));
    Result result = run(words.toArray());
    assertThat(result.status()).as(result.err()).isEqualTo(2);
    assertThat(result.err()).startsWith("rmsnorm spark: ").hasLineCount(1);
    return result.err();
  }

  @Test
  void aMasterThatIsNotThereIsSaidAtOnce() throws IOException {
    int port;
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = taken.getLocalPort();
    }
    String url = "spark://127.0.0.1:" + port;
    assertThat(normalize("--master", url))
        .isEqualTo(new Result(1, "rmsnorm spark: --master is " + url + ": nobody answers there\n"));
    assertThat(wrong("a.b", "--master", "spark://here")).contains(", spark://HOST:PORT, ");
    assertThat(wrong("a.b", "--master", "spark://here:65536")).contains("spark://HOST:PORT");
  }

  @Test
  void whatCannotBeReadIsNamed() throws IOException {
    Path missing = folder.resolve("missing");
    assertThat(run(missing, "-o", out, "--column", "c"))
        .isEqualTo(
            new Result(1, "rmsnorm spark: " + missing + ": there is no such file or folder\n"));

    Path text = Files.writeString(folder.resolve("text.parquet"), "this is no Parquet at all");
    assertThat(run(text, "-o", out, "--column", "c"))
        .isEqualTo(new Result(1, "rmsnorm spark: " + text + ": is not a Parquet file\n"));

    Path empty = Files.createDirectory(folder.resolve("empty"));
    // Spark leaves such a file out, also where it is all that is asked for.
    Path hidden = Files.writeString(folder.resolve("_x.parquet"), "PAR1");
    for (Path none : List.of(empty, hidden)) {
      String problem = ": has no Parquet file; files whose names begin with _ or . do not count\n";
      assertThat(run(none, "-o", out, "--column", "c"))
          .isEqualTo(new Result(1, "rmsnorm spark: " + none + problem));
    }
    assertThat(left()).doesNotContain(out.getFileName().toString()).hasSize(4);
  }

  /** Also a file that is too short for one, and one file among others. */
  @Test
  void aFileOfAFolderThatIsNoParquetIsNamed() throws IOException {
    for (String content : List.of("", "this is no Parquet at all")) {
      Path text = Files.writeString(in.resolve("notes.parquet"), content);
      assertThat(normalize())
          .isEqualTo(new Result(1, "rmsnorm spark: " + text + ": is not a Parquet file\n"));
    }
  }

  /** Control characters of a file do not reach the terminal. */
  @Test
  void theFirstRowsAreShown() {
    Path hostile = folder.resolve("hostile.parquet");
    write(hostile, "id div 10 as id", "array(3f, 4f) as e", "concat('a', char(27), '[2J') as s");
    Result in = shown(hostile, "--show", "2");
    assertThat(in.err()).isEmpty();
    assertThat(in.status()).isZero();
    assertThat(in.out())
        .isEqualTo(
            """
            +---------+--------------+--------+
            |id bigint|e array<float>|s string|
            +---------+--------------+--------+
            |        0|    [3.0, 4.0]|   a?[2J|
            |        0|    [3.0, 4.0]|   a?[2J|
            +---------+--------------+--------+
            only showing top 2 rows
            """);

    Result result =
        shown(hostile, "--show", "1", "--column", "e", "--like", "l2", "--output-column", "y");
    assertThat(result.out()).contains("|y array<float>|", "|    [3.0, 4.0]|", " [0.6, 0.8]|");
    assertThat(out).doesNotExist();

    Result written = shown(hostile, "-o", out, "--column", "e", "--like", "l2", "--show", "100");
    assertThat(written.err()).contains(": 10 rows, l2, column e, on ");
    assertThat(written.out()).contains("|e array<float>|", " [0.6, 0.8]|").hasLineCount(14);
    assertThat(read(out)).hasSize(10);
  }

  @Test
  void longRowsAreShownInPart() {
    write(folder.resolve("wide.parquet"), "id", "array_repeat(1f, 1000) as e");
    assertThat(shown(folder.resolve("wide.parquet"), "--show", "1").out().lines())
        .allMatch(line -> line.length() < 60)
        .anyMatch(line -> line.contains("|[1.0, 1.0, "));
  }

  @Test
  void whatCannotBeShownIsWrongUse() {
    assertThat(run(in).err()).contains("-o is missing; usage: ");
    assertThat(run(in, "--show", "0").err()).contains("-o is missing; usage: ");
    assertThat(run(in, "--show", "some").err()).contains("--show is some, it may be a number");
    assertThat(run(in, "--show", "1", "--force").err()).contains("--force needs -o OUT");
    assertThat(run(in, "--show", "1", "--like", "l2").err()).contains("--column is missing; usage");
    assertThat(run(in, "--show", "1", "-o", out).err()).contains("--column is missing; usage: ");
    Result missing = run(folder.resolve("none"), "--show", "1");
    assertThat(missing.err()).endsWith("none: there is no such file or folder\n");
    assertThat(missing.status()).isOne();
  }
}
