/** Experiments with the norms that make pages: the commands compare, train and story. */
module io.github.rmsnorm4j.studies {
  requires com.fasterxml.jackson.databind;
  requires info.picocli;
  requires io.github.rmsnorm4j.cli;
  requires io.github.rmsnorm4j.cuda;
  requires io.github.rmsnorm4j.formats;
  requires io.github.rmsnorm4j.measure;
  requires io.github.rmsnorm4j.models;
  requires io.github.rmsnorm4j.report;
  requires static jdk.incubator.vector;
  requires jdk.management;
  requires jdk.unsupported;
  requires org.apache.commons.statistics.distribution;
  requires org.bytedeco.javacpp;
  requires org.bytedeco.openblas;

  opens io.github.rmsnorm4j.studies to
      info.picocli;
  opens io.github.rmsnorm4j.studies.compare to
      com.fasterxml.jackson.databind;
  opens io.github.rmsnorm4j.studies.story to
      com.fasterxml.jackson.databind;
  opens io.github.rmsnorm4j.studies.train to
      com.fasterxml.jackson.databind;

  provides io.github.rmsnorm4j.cli.Commands with
      io.github.rmsnorm4j.studies.Studies;
}
