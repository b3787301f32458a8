package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parquet as other programs write it: its folders, types, encodings and compression. */
class ForeignParquetTest {
  private static final String VECTORIZED = "spark.sql.parquet.enableVectorizedReader";
  private static final String NANOS_AS_LONG = "spark.sql.legacy.parquet.nanosAsLong";
  private static final String INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled";

  @TempDir Path folder;
  private SparkSession session;
  private Path in;
  private Path out;
  private String err;

  @BeforeEach
  void start() {
    session = LocalSpark.of(2);
    in = folder.resolve("in");
    out = folder.resolve("out");
  }

  @AfterEach
  void unset() {
    Stream.of(VECTORIZED, NANOS_AS_LONG, INFERENCE).forEach(session.conf()::unset);
  }

  private int normalize(String... more) {
    List<String> words = new ArrayList<>(List.of(in.toString(), "-o", out.toString()));
    words.addAll(List.of("--column", "x", "--progress", "none"));
    words.addAll(List.of(more));
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream print = new PrintStream(said, true);
    int status = NormalizeParquet.status(words.toArray(String[]::new), print, print);
    err = said.toString();
    return status;
  }

  /** Rows of three and four, with another column or none. */
  private static void write(
      Path file,
      String other,
      Consumer<Group> fill,
      UnaryOperator<ExampleParquetWriter.Builder> options)
      throws IOException {
    String list = "optional group x (LIST) { repeated group list { required float element; } }";
    MessageType schema =
        MessageTypeParser.parseMessageType("message rows { " + list + other + " }");
    Files.createDirectories(file.getParent());
    ExampleParquetWriter.Builder builder =
        ExampleParquetWriter.builder(new LocalOutputFile(file)).withType(schema);
    try (ParquetWriter<Group> writer = options.apply(builder).build()) {
      for (int i = 0; i < 10; i++) {
        Group row = new SimpleGroup(schema);
        Group x = row.addGroup("x");
        x.addGroup("list").add("element", 3f + i);
        x.addGroup("list").add("element", 4f);
        fill.accept(row);
        writer.write(row);
      }
    }
  }

  private static void write(Path file) throws IOException {
    write(file, "", row -> {}, UnaryOperator.identity());
  }

  private static Set<String> folders(Path top) throws IOException {
    try (Stream<Path> paths = Files.walk(top)) {
      return paths
          .filter(path -> Files.isDirectory(path) && !path.equals(top))
          .map(path -> top.relativize(path).toString())
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "shard=007 | shard=7 | shard=08",
        "dt=2026-01-01 | dt=2026-1-2 | dt=today",
        "k=__HIVE_DEFAULT_PARTITION__ | k=a | k=null",
        "K=A | K=a | K=B",
        "K=A | k=a | K=B",
        "k=a%3Ab | k=a%3ac | k=a:d",
        "city=New York | city=New%20Orleans | city=%C3%A9",
        "k=[1]*{a}? | k='q' | k=a\\b",
        "k=+1 | k=1.50 | k=1e3",
        "k=a=b | k=é | k=漢",
        "a.b=01/c=2 | a.b=1/c=02 | a.b=1/c=2",
        "a=%20/b=x%2fy | a=%20/b=1 | a=b c/b=2",
        "k=true | k=12345678901234567890 | k=0x1F"
      })
  void foldersKeepTheirNames(String first, String second, String third) throws IOException {
    List<String> names = List.of(first, second, third);
    for (String name : names) {
      write(in.resolve(name).resolve("rows.parquet"));
    }
    assertThat(normalize()).as(() -> err).isZero();
    assertThat(folders(out)).isEqualTo(folders(in));
    for (String name : names) {
      assertThat(session.read().parquet(escaped(out.resolve(name))).count()).isEqualTo(10);
    }
    session.conf().set(INFERENCE, "false");
    assertThat(values(out)).isEqualTo(values(in));
  }

  @Test
  void twoSpellingsOfAValueAreOneFolder() throws IOException {
    for (String name : List.of("a=%20/b=x%2fy", "a=%20/b=1", "a= /b=2")) {
      write(in.resolve(name).resolve("rows.parquet"));
    }
    assertThat(normalize()).as(() -> err).isZero();
    assertThat(folders(out)).hasSize(4).contains("a=%20/b=2").doesNotContain("a= ");
    assertThat(values(out)).isEqualTo(values(in));
  }

  private static String escaped(Path path) {
    return path.toString().replaceAll("[{}\\[\\]*?\\\\]", "\\\\$0");
  }

  /** How many rows a partition has, whatever its columns are called. */
  private List<String> values(Path path) {
    return session.read().parquet(path.toString()).drop("x").collectAsList().stream()
        .map(Row::toString)
        .sorted()
        .toList();
  }

  @Test
  void aFolderOfOnePartitionHasNoFolders() throws IOException {
    in = in.resolve("k=1");
    write(in.resolve("a=b.parquet"));
    assertThat(normalize()).as(() -> err).isZero();
    assertThat(folders(out)).isEmpty();
    assertThat(session.read().parquet(out.toString()).columns()).containsExactly("x");
  }

  /** What is no Parquet, or hidden, may be there. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "k=1/a.parquet | rows.parquet | /rows.parquet: is",
        "k=1/a b.parquet | ro ws | /ro ws: is",
        "k=1/a.parquet | more/rows.parquet | : has files that are",
        "a.parquet | more/rows.parquet | /more/rows.parquet: is"
      })
  void aFileThatSparkPassesOverIsNamed(String read, String left, String said) throws IOException {
    write(in.resolve(read));
    write(in.resolve("_old/rows.parquet"));
    write(in.resolve(".rows.parquet"));
    if (!read.contains("/")) { // Beside folders of partitions Spark refuses it.
      Files.writeString(Files.createDirectory(in.resolve("notes")).resolve("README"), "PAR");
    }
    assertThat(normalize()).as(() -> err).isZero();
    assertThat(session.read().parquet(out.toString()).count()).isEqualTo(10);
    write(in.resolve(left));
    assertThat(normalize("--force")).isOne();
    assertThat(err)
        .isEqualTo(
            "rmsnorm spark: "
                + in
                + said
                + " left out: the files of a table must all be in one folder, or all in folders such"
                + " as day=1\n");
    assertThat(session.read().parquet(out.toString()).count()).isEqualTo(10);
  }

  @Test
  void aPartitionIsText() throws IOException {
    write(in.resolve("k=1/rows.parquet"));
    assertThat(normalize("--column", "k")).isEqualTo(2);
    assertThat(err).startsWith("rmsnorm spark: --column is 'k', a column of string, it may be of ");
    assertThat(normalize("--output-column", "K")).isEqualTo(2);
    assertThat(err).startsWith("rmsnorm spark: --output-column is 'K', there is such a column");
  }

  @Test
  void anEmptyValueIsNamed() throws IOException {
    write(in.resolve("k=/rows.parquet"));
    assertThat(normalize()).isOne();
    assertThat(err).contains("empty partition column value", "'k='").hasLineCount(1);
    assertThat(out).doesNotExist();
  }

  @Test
  void anEncodingOfFloatsIsReadWithASetting() throws IOException {
    Path file = in.resolve("ro ws.parquet");
    write(
        file,
        "",
        row -> {},
        builder -> builder.withByteStreamSplitEncoding(true).withDictionaryEncoding(false));
    assertThat(normalize()).isOne();
    assertThat(err)
        .isEqualTo(
            "rmsnorm spark: "
                + file
                + ": has a column in the encoding BYTE_STREAM_SPLIT: --conf "
                + VECTORIZED
                + "=false reads it, more slowly\n");
    assertThat(out).doesNotExist();
    assertThat(normalize("--conf", VECTORIZED + "=false")).as(() -> err).isZero();
    assertThat(session.read().parquet(out.toString()).count()).isEqualTo(10);
  }

  @Test
  void timestampsInNanosecondsAreReadWithASetting() throws IOException {
    write(
        in.resolve("rows.parquet"),
        "required int64 t (TIMESTAMP(NANOS,true));",
        row -> row.add("t", 1234567890123456789L),
        UnaryOperator.identity());
    assertThat(normalize()).isOne();
    assertThat(err)
        .isEqualTo(
            "rmsnorm spark: "
                + in
                + ": has timestamps in nanoseconds: cast them to microseconds, or let Spark read"
                + " them as whole numbers with --conf "
                + NANOS_AS_LONG
                + "=true\n");
    assertThat(normalize("--conf", NANOS_AS_LONG + "=true")).as(() -> err).isZero();
    assertThat(session.read().parquet(out.toString()).head().<Long>getAs("t"))
        .isEqualTo(1234567890123456789L);
  }

  /** As pyarrow writes float16, times of a day and identifiers. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fixed_len_byte_array(2) t (FLOAT16) | FLOAT16, which Spark does not read: cast it to"
            + " float32, or write it as binary for --packed f16",
        "fixed_len_byte_array(16) t (UUID) | FIXED_LEN_BYTE_ARRAY (UUID), which Spark does not read:"
            + " cast it, or leave it out",
        "fixed_len_byte_array(12) t (INTERVAL) | FIXED_LEN_BYTE_ARRAY (INTERVAL), which Spark does"
            + " not read: cast it, or leave it out",
        "int64 t (TIME(NANOS,true)) | INT64 (TIME(NANOS,true)), which Spark does not read: cast it,"
            + " or leave it out"
      })
  void aTypeThatSparkDoesNotReadIsNamed(String type, String message) throws IOException {
    write(
        in.resolve("rows.parquet"), "optional " + type + ";", row -> {}, UnaryOperator.identity());
    assertThat(normalize()).isOne();
    assertThat(err)
        .isEqualTo("rmsnorm spark: " + in + ": has a column of Parquet's " + message + "\n");
  }

  /** The bytes of the pages do not matter: Spark asks for the codec first. */
  @ParameterizedTest
  @CsvSource({"BROTLI, Brotli", "LZO, Lzo"})
  void aCompressionThatSparkDoesNotReadIsNamed(CompressionCodecName name, String said)
      throws IOException {
    Path file = in.resolve("rows.parquet");
    write(
        file,
        "",
        row -> {},
        builder -> builder.withCompressionCodec(name).withCodecFactory(new Uncompressed(name)));
    assertThat(normalize()).isOne();
    assertThat(err)
        .isEqualTo(
            "rmsnorm spark: "
                + file
                + ": is compressed with "
                + said
                + ", which Spark does not read: write it again with zstd or snappy\n");
    assertThat(out).doesNotExist();
  }

  /** Writes pages as they are, under the name of a compression. */
  private record Uncompressed(CompressionCodecName name) implements CompressionCodecFactory {
    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName codec) {
      return new BytesInputCompressor() {
        @Override
        public BytesInput compress(BytesInput bytes) {
          return bytes;
        }

        @Override
        public CompressionCodecName getCodecName() {
          return name;
        }

        @Override
        public void release() {}
      };
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void release() {}
  }
}
