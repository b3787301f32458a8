package io.github.rmsnorm4j.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.RmsNorm;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class RmsNormalizerTest {
  @Test
  void arraysOfFloat() {
    SparkSession spark =
        SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").getOrCreate();
    Random random = new Random(1);
    List<Row> rows = new ArrayList<>();
    List<float[]> wanted = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      float[] x = new float[64];
      Float[] boxed = new Float[64];
      for (int j = 0; j < 64; j++) {
        x[j] = (float) random.nextGaussian();
        boxed[j] = x[j];
      }
      rows.add(RowFactory.create(i, boxed));
      RmsNorm.builder(64).build().apply(x, x);
      wanted.add(x);
    }
    StructType schema =
        new StructType()
            .add("id", DataTypes.IntegerType)
            .add("x", DataTypes.createArrayType(DataTypes.FloatType));
    Dataset<Row> data = spark.createDataFrame(rows, schema).repartition(7);
    Dataset<Row> out =
        new RmsNormalizer().setInputCol("x").setOutputCol("y").transform(data).orderBy("id");
    List<Row> got = out.collectAsList();
    for (int i = 0; i < 100; i++) {
      List<Float> y = got.get(i).getList(2);
      for (int j = 0; j < 64; j++) {
        assertThat(Float.floatToIntBits(y.get(j)))
            .isEqualTo(Float.floatToIntBits(wanted.get(i)[j]));
      }
    }
    spark.stop();
  }
}
