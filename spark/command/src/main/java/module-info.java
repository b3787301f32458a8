/** The command spark: starts a job on Apache Spark in a process of its own. */
module io.github.rmsnorm4j.spark.command {
  requires info.picocli;
  requires io.github.rmsnorm4j.cli;
  requires io.github.rmsnorm4j.measure;

  opens io.github.rmsnorm4j.spark.command to
      info.picocli;

  provides io.github.rmsnorm4j.cli.Commands with
      io.github.rmsnorm4j.spark.command.SparkCommands;
}
